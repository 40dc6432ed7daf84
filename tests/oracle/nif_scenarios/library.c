/* Defines the library's functions, its load, upgrade and unload. */
#include "scenarios.h"

#include <fcntl.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdlib.h>
#include <unistd.h>

void note(const char *format, ...)
{
    char line[512];
    int size = enif_snprintf(line, sizeof line, "%d ", VERSION);
    int journal = open(getenv("JOURNAL"), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0666);
    va_list values;

    va_start(values, format);
    size += enif_vsnprintf(line + size, sizeof line - (size_t)size - 1, format, values);
    va_end(values);
    line[size] = '\n';
    if (write(journal, line, (size_t)size + 1) != size + 1)
        abort();
    close(journal);
}

ERL_NIF_TERM atom(ErlNifEnv *env, const char *name)
{
    return enif_make_atom(env, name);
}

int integer(ErlNifEnv *env, ERL_NIF_TERM term)
{
    int value = -1;

    enif_get_int(env, term, &value);
    return value;
}

/* The private data is a number instead of a pointer. */
static int load(ErlNifEnv *env, void **priv_data, ERL_NIF_TERM info)
{
    note("load, private data %d", (int)(intptr_t)*priv_data);
    *priv_data = (void *)(intptr_t)VERSION;
    return open_types(env, info);
}

static int upgrade(ErlNifEnv *env, void **priv_data, void **old_priv_data, ERL_NIF_TERM info)
{
    note("upgrade, private data %d, before %d", (int)(intptr_t)*priv_data,
         (int)(intptr_t)*old_priv_data);
    *priv_data = (void *)((intptr_t)*old_priv_data * 10 + VERSION);
    *old_priv_data = (void *)((intptr_t)*old_priv_data + 1000);
    return open_types(env, info);
}

static void unload(ErlNifEnv *env, void *priv_data)
{
    (void)env;
    free_message();
    note("unload, private data %d", (int)(intptr_t)priv_data);
}

static ERL_NIF_TERM version(ErlNifEnv *env, int argc, const ERL_NIF_TERM argv[])
{
    (void)argc;
    (void)argv;
    return enif_make_tuple2(env, enif_make_int(env, VERSION),
                            enif_make_int(env, (int)(intptr_t)enif_priv_data(env)));
}

#define ARGUMENTS(N)         \
    {                        \
        "a", N, arguments, 0 \
    }

static ErlNifFunc functions[] = {
    ARGUMENTS(0),
    ARGUMENTS(1),
    ARGUMENTS(2),
    ARGUMENTS(3),
    ARGUMENTS(4),
    ARGUMENTS(7),
    ARGUMENTS(16),
    ARGUMENTS(20),
    {"badarg", 1, badarg, 0},
    {"badarg_first", 1, badarg_first, 0},
    {"binary", 2, binary, 0},
    {"chain", 1, chain, 0},
    {"demonitor", 2, demonitor, 0},
    {"dynamic_call", 3, dynamic_call, 0},
    {"frenzy", 3, frenzy, 0},
    {"get", 2, get, 0},
    {"let_go", 0, let_go, 0},
    {"make", 2, make, 0},
    {"message_add", 1, message_add, 0},
    {"message_clear", 0, message_clear, 0},
    {"message_send", 1, message_send, 0},
    {"monitor", 3, monitor, 0},
    {"raise_term", 1, raise_term, 0},
    {"raise_dirty", 1, raise_term, ERL_NIF_DIRTY_JOB_CPU_BOUND},
    {"registered", 1, registered, 0},
    {"registered_in_thread", 1, registered_in_thread, ERL_NIF_DIRTY_JOB_IO_BOUND},
    {"release", 1, release, 0},
    {"release_in_thread", 1, release_in_thread, ERL_NIF_DIRTY_JOB_IO_BOUND},
    {"same_monitor", 2, same_monitor, 0},
    {"send_to", 2, send_to, 0},
    {"slices", 2, slices, 0},
    {"stay", 1, stay, ERL_NIF_DIRTY_JOB_CPU_BOUND},
    {"stay_io", 1, stay, ERL_NIF_DIRTY_JOB_IO_BOUND},
    {"term", 1, term, 0},
    {"version", 0, version, 0},
};

ERL_NIF_INIT(scenarios, functions, load, NULL, upgrade, unload)
