/* Tests enif_select() on a pipe, step by step; between the steps the caller waits for messages. */
#define _GNU_SOURCE /* declares pipe2() */
#include "nif_api.h"

#include <fcntl.h>
#include <unistd.h>

/* The pipe, and a resource for each end; valid from the first to the last of these calls. */
static int ends[2];
static void *reader, *writer;
static int stopped, stopped_right; /* atomics: stop runs on any thread */

void on_stop(ErlNifEnv *env, void *object, ErlNifEvent event, int is_direct_call)
{
    (void)env;
    (void)is_direct_call;
    if ((object == reader && event == ends[0]) || (object == writer && event == ends[1]))
        __atomic_fetch_add(&stopped_right, 1, __ATOMIC_RELAXED);
    close(event);
    __atomic_fetch_add(&stopped, 1, __ATOMIC_RELEASE); /* publishes the other count */
}

static void read_byte(void)
{
    char byte;

    if (read(ends[0], &byte, 1) != 1)
        say_int("no byte can be read", 0);
}

static void write_byte(void)
{
    if (write(ends[1], "x", 1) != 1)
        say_int("no byte can be written", 0);
}

/* No byte to read yet, but room to write. */
ERL_NIF_TERM select_pipe(ErlNifEnv *env, int argc, const ERL_NIF_TERM argv[])
{
    ErlNifPid self;

    (void)argc;
    (void)argv;
    say_int("enif_select: a pipe is made", pipe2(ends, O_NONBLOCK | O_CLOEXEC));
    reader = enif_alloc_resource(eventful_type, 64);
    writer = enif_alloc_resource(eventful_type, 64);
    for (int i = 0; i < 2; i++)
        say_int("read, nothing to read", enif_select(env, ends[0], ERL_NIF_SELECT_READ, reader,
                                                     NULL, atom(env, "undefined")));
    say_int("write", enif_select(env, ends[1], ERL_NIF_SELECT_WRITE, writer, enif_self(env, &self),
                                 enif_make_ref(env)));
    return atom(env, "ok");
}

/* Fulfils the earlier select. */
ERL_NIF_TERM select_ready(ErlNifEnv *env, int argc, const ERL_NIF_TERM argv[])
{
    (void)argc;
    (void)argv;
    write_byte();
    return atom(env, "ok");
}

/* A byte is still unread; only a new select is notified of it. */
ERL_NIF_TERM select_again(ErlNifEnv *env, int argc, const ERL_NIF_TERM argv[])
{
    ErlNifEnv *own = enif_alloc_env();
    ERL_NIF_TERM message = enif_make_tuple2(own, enif_make_atom(own, "readable"),
                                            enif_make_string(own, "again", ERL_NIF_LATIN1));

    (void)argc;
    (void)argv;
    say_int("enif_select_x: read, a message of its own",
            enif_select_x(env, ends[0], ERL_NIF_SELECT_READ | ERL_NIF_SELECT_CUSTOM_MSG, reader,
                          NULL, message, own));
    enif_free_env(own);
    say_int("write, a message of its own",
            enif_select_write(env, ends[1], writer, NULL, text(env, "writable"), NULL));
    return atom(env, "ok");
}

/* No notification comes after this. */
ERL_NIF_TERM select_cancel(ErlNifEnv *env, int argc, const ERL_NIF_TERM argv[])
{
    ERL_NIF_TERM undefined = atom(env, "undefined");

    (void)argc;
    (void)argv;
    read_byte();
    say_int("read, a message that is cancelled",
            enif_select_read(env, ends[0], reader, NULL, text(env, "unheard"), NULL));
    say_int("enif_select: cancel write, which is not selected",
            enif_select(env, ends[0], ERL_NIF_SELECT_CANCEL | ERL_NIF_SELECT_WRITE, reader, NULL,
                        undefined));
    say_int("cancel read", enif_select(env, ends[0], ERL_NIF_SELECT_CANCEL | ERL_NIF_SELECT_READ,
                                       reader, NULL, undefined));
    say_int("cancel read again",
            enif_select(env, ends[0], ERL_NIF_SELECT_CANCEL | ERL_NIF_SELECT_READ, reader, NULL,
                        undefined));
    say_int("cancel both, neither is selected",
            enif_select(env, ends[1],
                        ERL_NIF_SELECT_CANCEL | ERL_NIF_SELECT_READ | ERL_NIF_SELECT_WRITE, writer,
                        NULL, undefined));
    write_byte();
    return atom(env, "ok");
}

/* The host decides whether stop runs at once. */
static void stop(ErlNifEnv *env, int event, void *object)
{
    int result = enif_select(env, event, ERL_NIF_SELECT_STOP, object, NULL, atom(env, "undefined"));
    int called = ERL_NIF_SELECT_STOP_CALLED | ERL_NIF_SELECT_STOP_SCHEDULED;

    say_int("stop is called or scheduled",
            result >= 0 && (result & called) && (result & called) != called);
    say_int("and nothing else", result & ~called);
}

ERL_NIF_TERM select_stop(ErlNifEnv *env, int argc, const ERL_NIF_TERM argv[])
{
    (void)argc;
    (void)argv;
    read_byte();
    say_int("read, before stop",
            enif_select(env, ends[0], ERL_NIF_SELECT_READ, reader, NULL, atom(env, "undefined")));
    stop(env, ends[0], reader);
    stop(env, ends[1], writer);
    return atom(env, "ok");
}

ERL_NIF_TERM select_stopped(ErlNifEnv *env, int argc, const ERL_NIF_TERM argv[])
{
    (void)argc;
    (void)argv;
    for (int i = 0; i < 500 && __atomic_load_n(&stopped, __ATOMIC_ACQUIRE) < 2; i++)
        sleep_ms(10);
    say_int("stop callbacks", __atomic_load_n(&stopped, __ATOMIC_ACQUIRE));
    say_int("each with its own object and event",
            __atomic_load_n(&stopped_right, __ATOMIC_RELAXED));
    say_int("the events are closed",
            fcntl(ends[0], F_GETFD) == -1 && fcntl(ends[1], F_GETFD) == -1);
    enif_release_resource(reader);
    enif_release_resource(writer);
    return atom(env, "ok");
}

/* Two resources select one descriptor: the second one steals it, which the host may log. */
static void steal(ErlNifEnv *env)
{
    void *first = enif_alloc_resource(eventful_type, 8);
    void *second = enif_alloc_resource(eventful_type, 8);
    ERL_NIF_TERM undefined = atom(env, "undefined");

    if (pipe2(ends, O_NONBLOCK | O_CLOEXEC) != 0)
        return;
    say_int("read by a first resource",
            enif_select(env, ends[0], ERL_NIF_SELECT_READ, first, NULL, undefined));
    say_int("read by a second one, which steals the event",
            enif_select(env, ends[0], ERL_NIF_SELECT_READ, second, NULL, undefined));
    say_int("cancel by the second",
            enif_select(env, ends[0], ERL_NIF_SELECT_CANCEL | ERL_NIF_SELECT_READ, second, NULL,
                        undefined));
    stop(env, ends[0], second);
    close(ends[1]);
    enif_release_resource(first);
    enif_release_resource(second);
}

ERL_NIF_TERM select_wrong(ErlNifEnv *env, int argc, const ERL_NIF_TERM argv[])
{
    void *object = enif_alloc_resource(eventful_type, 8);
    int result = enif_select(env, -1, ERL_NIF_SELECT_READ, object, NULL, atom(env, "undefined"));

    (void)argc;
    (void)argv;
    say_int("enif_select: below 0 with no event", result < 0);
    say_int("an invalid event", (result & ERL_NIF_SELECT_INVALID_EVENT) != 0);
    result = enif_select(env, -1, ERL_NIF_SELECT_STOP, object, NULL, atom(env, "undefined"));
    say_int("stop of no event, below 0", result < 0);
    enif_release_resource(object);
    steal(env);
    return atom(env, "ok");
}
