/*
 * Processes that follow a script, which is a list of:
 *
 *   {spawn, Name, Options, Script}   Options of th_spawn(); the child knows its parent as `parent`
 *   {send, To, Message}              To, as below, is a name that was given to a process
 *   {await, Milliseconds}            the next message, or none
 *   {link, Who}, {unlink, Who}, {monitor, Who}, {exit, Who, Reason}
 *   trap                             traps exits
 *   cpu                              continues on a dirty thread
 *   until_dead                       waits there until the process has ended
 *   {register, Name, Who}, {unregister, Name}
 *   {token, Component, Value}, no_token, {print, Label, Info}
 *   {raise, Class, Reason}
 *
 * tests/oracle/live/play.erl does the same in a BEAM.
 */
#include <nif_module.h>

#include <string.h>

static ERL_NIF_TERM atom(ErlNifEnv *env, const char *name)
{
    return enif_make_atom(env, name);
}

static ErlNifPid who(ErlNifEnv *env, ERL_NIF_TERM names, ERL_NIF_TERM name)
{
    ERL_NIF_TERM found;
    ErlNifPid pid = {0};

    if (enif_get_map_value(env, names, name, &found))
        enif_get_local_pid(env, found, &pid);
    return pid;
}

static ERL_NIF_TERM named(ErlNifEnv *env, ERL_NIF_TERM names, ERL_NIF_TERM name, ErlNifPid pid)
{
    enif_make_map_put(env, names, name, enif_make_pid(env, &pid), &names);
    return names;
}

static ERL_NIF_TERM spawn(ErlNifEnv *env, const ERL_NIF_TERM op[], ERL_NIF_TERM names)
{
    ERL_NIF_TERM arguments[2], monitor;
    ErlNifPid self, child;
    int options = 0;

    enif_self(env, &self);
    enif_get_int(env, op[2], &options);
    arguments[0] = op[3];
    arguments[1] = named(env, names, atom(env, "parent"), self);
    if (!th_spawn(env, atom(env, "play"), atom(env, "run"), 2, arguments, options, &child,
                  &monitor))
        return names;
    return named(env, names, op[1], child);
}

/* Performs an operation on the process OP[1]. */
static void act(ErlNifEnv *env, const char *what, const ERL_NIF_TERM op[], ERL_NIF_TERM names)
{
    ErlNifPid pid = who(env, names, op[1]);

    if (strcmp(what, "send") == 0)
        enif_send(env, &pid, NULL, op[2]);
    else if (strcmp(what, "link") == 0)
        th_link(env, &pid);
    else if (strcmp(what, "unlink") == 0)
        th_unlink(env, &pid);
    else if (strcmp(what, "monitor") == 0)
        th_monitor(env, &pid);
    else if (strcmp(what, "exit") == 0)
        th_exit_signal(env, &pid, op[2]);
    else if (strcmp(what, "unregister") == 0)
        th_unregister(env, op[1]);
    else if (strcmp(what, "token") == 0)
        th_seq_set_token(env, op[1], op[2]);
    else if (strcmp(what, "print") == 0)
        th_seq_print(env, op[1], op[2]);
    else if (strcmp(what, "register") == 0) {
        pid = who(env, names, op[2]);
        th_register(env, op[1], &pid);
    }
}

static ERL_NIF_TERM raise(ErlNifEnv *env, ERL_NIF_TERM class, ERL_NIF_TERM reason)
{
    if (enif_is_identical(class, atom(env, "exit")))
        return th_exit(env, reason);
    return enif_is_identical(class, atom(env, "throw")) ? th_throw(env, reason)
                                                        : enif_raise_exception(env, reason);
}

static ERL_NIF_TERM awaited(ErlNifEnv *env, int argc, const ERL_NIF_TERM argv[]);
static ERL_NIF_TERM run(ErlNifEnv *env, int argc, const ERL_NIF_TERM argv[]);

static ERL_NIF_TERM go_on(ErlNifEnv *env, ERL_NIF_TERM script, ERL_NIF_TERM names)
{
    ERL_NIF_TERM op, kept[2];
    const ERL_NIF_TERM *parts;
    char what[16];
    long time;
    int size;

    while (enif_get_list_cell(env, script, &op, &script)) {
        if (!enif_get_tuple(env, op, &size, &parts)) {
            kept[0] = script;
            kept[1] = names;
            if (enif_is_identical(op, atom(env, "cpu")))
                return enif_schedule_nif(env, "run", ERL_NIF_DIRTY_JOB_CPU_BOUND, run, 2, kept);
            if (enif_is_identical(op, atom(env, "until_dead")))
                while (enif_is_current_process_alive(env))
                    ;
            else if (enif_is_identical(op, atom(env, "trap")))
                th_trap_exit(env, 1);
            else
                th_seq_reset_token(env);
            continue;
        }
        enif_get_atom(env, parts[0], what, sizeof what, ERL_NIF_LATIN1);
        if (strcmp(what, "raise") == 0)
            return raise(env, parts[1], parts[2]);
        if (strcmp(what, "await") == 0) {
            kept[0] = script;
            kept[1] = names;
            return th_await(env, awaited, enif_get_long(env, parts[1], &time) ? time : -1, 2, kept);
        }
        if (strcmp(what, "spawn") == 0)
            names = spawn(env, parts, names);
        else
            act(env, what, parts, names);
    }
    return atom(env, "done");
}

static ERL_NIF_TERM awaited(ErlNifEnv *env, int argc, const ERL_NIF_TERM argv[])
{
    (void)argc;
    return go_on(env, argv[1], argv[2]);
}

/* run(Script, Names) */
static ERL_NIF_TERM run(ErlNifEnv *env, int argc, const ERL_NIF_TERM argv[])
{
    ErlNifPid self;

    (void)argc;
    enif_self(env, &self);
    return go_on(env, argv[0], named(env, argv[1], atom(env, "self"), self));
}

static ERL_NIF_TERM collected(ErlNifEnv *env, int argc, const ERL_NIF_TERM argv[])
{
    (void)argc;
    (void)argv;
    return atom(env, "done");
}

/* collects(N): makes N words of garbage, then continues. */
static ERL_NIF_TERM collects(ErlNifEnv *env, int argc, const ERL_NIF_TERM argv[])
{
    ERL_NIF_TERM list = enif_make_list(env, 0);
    long count = 0;

    (void)argc;
    enif_get_long(env, argv[0], &count);
    for (; count > 0; count -= 2)
        list = enif_make_list_cell(env, argv[0], list);
    return enif_schedule_nif(env, "collected", 0, collected, 0, NULL);
}

static ErlNifFunc functions[] = {
    {"run", 2, run, 0},
    {"collects", 1, collects, 0},
    {"dirty", 0, collected, ERL_NIF_DIRTY_JOB_IO_BOUND},
};

ERL_NIF_INIT(play, functions, NULL, NULL, NULL, NULL)
