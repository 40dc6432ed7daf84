/* The library NAME in version VERSION. Writes each of its callbacks at the program's end to the
 * file $JOURNAL. DELAYS: the program's end waits for its functions. */
#include <erl_nif.h>

#include <fcntl.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define TEXT_OF(name) #name
#define TEXT(name) TEXT_OF(name)

static atomic_bool halting;

static void say(const char *what)
{
    char line[100];
    int file = open(getenv("JOURNAL"), O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC, 0666);

    snprintf(line, sizeof line, TEXT(NAME) " " TEXT(VERSION) ": %s\n", what);
    if (file < 0 || write(file, line, strlen(line)) < 0)
        abort();
    close(file);
}

static void on_halt(void *private_data)
{
    say(private_data);
    atomic_store_explicit(&halting, true, memory_order_relaxed);
}

static int set_options(ErlNifEnv *env, void **private_data)
{
    *private_data = "on_halt";
    return (DELAYS && enif_set_option(env, ERL_NIF_OPT_DELAY_HALT)) ||
           enif_set_option(env, ERL_NIF_OPT_ON_HALT, on_halt);
}

static int load(ErlNifEnv *env, void **private_data, ERL_NIF_TERM info)
{
    (void)info;
    say("load");
    return set_options(env, private_data);
}

static int upgrade(ErlNifEnv *env, void **private_data, void **old, ERL_NIF_TERM info)
{
    (void)old;
    (void)info;
    say("upgrade");
    return set_options(env, private_data);
}

static void unload(ErlNifEnv *env, void *private_data)
{
    (void)env;
    (void)private_data;
    say("unload");
}

static ERL_NIF_TERM go_on(ErlNifEnv *env, int argc, const ERL_NIF_TERM argv[])
{
    (void)argc;
    (void)argv;
    say("what was scheduled is run");
    return enif_make_atom(env, "ok");
}

/* Returns a moment after the library was notified of the halt. */
static ERL_NIF_TERM block(ErlNifEnv *env, int argc, const ERL_NIF_TERM argv[])
{
    (void)argc;
    (void)argv;
    say("block begins");
    while (!atomic_load_explicit(&halting, memory_order_relaxed))
        usleep(1000);
    usleep(50000);
    say("block ends");
    return enif_schedule_nif(env, "go_on", ERL_NIF_DIRTY_JOB_IO_BOUND, go_on, 0, NULL);
}

static ErlNifFunc functions[] = {{"block", 0, block, ERL_NIF_DIRTY_JOB_IO_BOUND}};

#define INIT(name) ERL_NIF_INIT(name, functions, load, NULL, upgrade, unload)
INIT(NAME)
