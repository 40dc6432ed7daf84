/* Tests processes, messages and port commands. */
#include "nif_api.h"

#include <fcntl.h>
#include <string.h>
#include <unistd.h>

static void ask_alive(ErlNifEnv *env, ErlNifPid *self, ErlNifPid *dead)
{
    ErlNifPid nobody;

    say_int("enif_is_process_alive: the caller", enif_is_process_alive(env, self));
    say_int("a process that never was", enif_is_process_alive(env, dead));
    enif_set_pid_undefined(&nobody);
    say_int("undefined", enif_is_process_alive(env, &nobody));
    say_int("enif_is_current_process_alive: during a call", enif_is_current_process_alive(env));
    say_int("enif_is_pid_undefined: the caller", enif_is_pid_undefined(self));
    say_int("a process that never was", enif_is_pid_undefined(dead));
    say_int("undefined", enif_is_pid_undefined(&nobody));
    say(env, "enif_set_pid_undefined: as a term", enif_make_pid(env, &nobody));
    say_int("is an atom", enif_is_atom(env, enif_make_pid(env, &nobody)));
    say_int("compared with a pid", enif_compare_pids(&nobody, self) < 0);
}

static void ask_whereis(ErlNifEnv *env, ERL_NIF_TERM self)
{
    ErlNifPid pid;
    ErlNifPort port;

    say_int("enif_whereis_pid: a name of nobody",
            enif_whereis_pid(env, atom(env, "nobody_has_this_name"), &pid));
    say_int("a pid", enif_whereis_pid(env, self, &pid));
    say_int("a reference", enif_whereis_pid(env, enif_make_ref(env), &pid));
    say_int("the atom undefined", enif_whereis_pid(env, atom(env, "undefined"), &pid));
    say_int("enif_whereis_port: a pid", enif_whereis_port(env, self, &port));
    say_int("the atom undefined", enif_whereis_port(env, atom(env, "undefined"), &port));
}

ERL_NIF_TERM identifiers(ErlNifEnv *env, int argc, const ERL_NIF_TERM argv[])
{
    ErlNifEnv *own = enif_alloc_env();
    ErlNifPid self, other;
    ERL_NIF_TERM dead = dead_pid(env), me;

    (void)argc;
    (void)argv;
    say_int("enif_self: returns its argument", enif_self(env, &self) == &self);
    me = enif_make_pid(env, &self);
    name_pid(me, "self");
    say(env, "the caller", me);
    say_int("in an environment without a process", enif_self(own, &other) != NULL);
    enif_free_env(own);
    name_pid(dead, "dead");
    say_int("enif_get_local_pid: a process that never was", enif_get_local_pid(env, dead, &other));
    say(env, "its pid", enif_make_pid(env, &other));
    say_int("enif_is_pid: a process that never was", enif_is_pid(env, dead));
    say_int("the caller", enif_is_pid(env, me));
    say_int("enif_term_type: a pid of this node", enif_term_type(env, me));
    say_int("enif_compare: the caller's pid with itself", enif_compare(me, me));
    say_int("with one that never was", enif_compare(me, dead) != 0);
    ask_alive(env, &self, &other);
    ask_whereis(env, me);
    return atom(env, "ok");
}

/* named(Name): looks for the caller, which has the name or has lost it. */
ERL_NIF_TERM named(ErlNifEnv *env, int argc, const ERL_NIF_TERM argv[])
{
    ErlNifPid pid, self;
    ErlNifPort port;
    int result = enif_whereis_pid(env, argv[0], &pid);

    (void)argc;
    say_int("enif_whereis_pid: a name that the caller has, or had", result);
    if (result)
        say_int("it is the caller", enif_compare_pids(enif_self(env, &self), &pid) == 0);
    say_int("enif_whereis_port: the name of a process", enif_whereis_port(env, argv[0], &port));
    return atom(env, "ok");
}

/* The caller receives the messages, and checks them. */
ERL_NIF_TERM sending(ErlNifEnv *env, int argc, const ERL_NIF_TERM argv[])
{
    ErlNifEnv *own = enif_alloc_env();
    struct terms terms = make_terms(env);
    ERL_NIF_TERM all = enif_make_list_from_array(env, terms.all, (unsigned)terms.count);
    ERL_NIF_TERM message = text(env, "a message");
    ErlNifPid self, dead;

    (void)argc;
    (void)argv;
    enif_self(env, &self);
    dead.pid = dead_pid(env);
    say_int("enif_send: without an environment", enif_send(env, &self, NULL, message));
    for (int i = 0; i < 2; i++) { /* the environment can be used again after it was cleared */
        say_int("a copy in an environment of its own",
                enif_send(env, &self, own, enif_make_copy(own, message)));
        enif_clear_env(own);
    }
    say_int("an atom", enif_send(env, &self, own, enif_make_atom(own, "an atom")));
    enif_clear_env(own);
    say_int("to nobody", enif_send(env, &dead, NULL, message));
    message = enif_make_copy(own, message);
    say_int("to nobody, from an environment of its own", enif_send(env, &dead, own, message));
    say(env, "the message that was not sent", enif_make_copy(env, message));
    say_int("the hash of all terms",
            enif_send(env, &self, NULL, enif_make_ulong(env, enif_hash(ERL_NIF_PHASH2, all, 0))));
    enif_free_env(own);
    free_terms(&terms);
    return atom(env, "ok");
}

static void command(ErlNifEnv *env, const ErlNifPort *port)
{
    ErlNifEnv *own = enif_alloc_env();
    ERL_NIF_TERM list = enif_make_list2(env, bytes(env, "bytes", 5), text(env, "\n"));

    say_int("enif_port_command: a string",
            enif_port_command(env, port, NULL, text(env, "a line\n")));
    say_int("a list with a binary", enif_port_command(env, port, NULL, list));
    say_int("in an environment of its own",
            enif_port_command(env, port, own, enif_make_string(own, "its own\n", ERL_NIF_LATIN1)));
    enif_free_env(own);
}

/* ports(Name): sends commands to the port Name. */
ERL_NIF_TERM ports(ErlNifEnv *env, int argc, const ERL_NIF_TERM argv[])
{
    ErlNifPort port = {number(env, 77)}, other = {number(env, 77)};
    ErlNifPid pid;
    int result = enif_whereis_port(env, argv[0], &port);

    (void)argc;
    say_pair(env, result ? "enif_whereis_port: a name" : "enif_whereis_port: a name of none",
             result, port.port_id);
    if (!result)
        return atom(env, "no_port");
    say_int("enif_whereis_pid: the name of a port", enif_whereis_pid(env, argv[0], &pid));
    say_int("enif_is_port: of this node", enif_is_port(env, port.port_id));
    say_int("a pid", enif_is_port(env, dead_pid(env)));
    say_int("enif_is_port_alive: an open one", enif_is_port_alive(env, &port));
    say_int("enif_get_local_port: an open one", enif_get_local_port(env, port.port_id, &other));
    say_int("the same", port.port_id == other.port_id);
    say_int("enif_term_type: a port of this node", enif_term_type(env, port.port_id));
    command(env, &port);
    return port.port_id;
}

/* port_closed(Port): asks about a port that is closed. */
ERL_NIF_TERM port_closed(ErlNifEnv *env, int argc, const ERL_NIF_TERM argv[])
{
    ErlNifPort port = {argv[0]};

    (void)argc;
    say_int("enif_is_port_alive: a closed one", enif_is_port_alive(env, &port));
    say_int("enif_port_command: to a closed one",
            enif_port_command(env, &port, NULL, text(env, "unheard\n")));
    say_int("enif_is_port: a closed one", enif_is_port(env, port.port_id));
    return atom(env, "ok");
}

/* The port writes the file port_output; its process may still do so. */
ERL_NIF_TERM port_output(ErlNifEnv *env, int argc, const ERL_NIF_TERM argv[])
{
    char all[100] = "";
    ssize_t size = 0;

    (void)argc;
    (void)argv;
    for (int i = 0; i < 500 && size < 21; i++) {
        int file = open("port_output", O_RDONLY | O_CLOEXEC);
        if (file >= 0) {
            size = read(file, all, sizeof all - 1);
            close(file);
        }
        if (size < 21)
            sleep_ms(10);
    }
    say(env, "enif_port_command: the port's output", text(env, all));
    return atom(env, "ok");
}
