/* Tests processes, messages and port commands. */
#include "nif_api.h"

#include <stdio.h>

ERL_NIF_TERM identifiers(ErlNifEnv *env, int argc, const ERL_NIF_TERM argv[])
{
    ERL_NIF_TERM dead = dead_pid(env), others[3];
    ErlNifPid self, other;
    const ErlNifPid *same;

    (void)argc;
    (void)argv;
    topic("identifier");
    same = enif_self(env, &self);
    say_int("self", same == &self);
    name_pid(enif_make_pid(env, &self), "self");
    say(env, "self", enif_make_pid(env, &self));
    name_pid(dead, "dead");
    say_int("get_local_pid", enif_get_local_pid(env, dead, &other));
    say(env, "a dead pid", enif_make_pid(env, &other));
    say_int("is_pid", enif_is_pid(env, dead));
    say_int("is_process_alive", enif_is_process_alive(env, &self));
    say_int("is_process_alive", enif_is_process_alive(env, &other));
    say_int("is_current_process_alive", enif_is_current_process_alive(env));
    say_int("compare_pids", enif_compare_pids(&self, &self));
    say_int("compare_pids", enif_compare_pids(&self, &other) != 0);
    say_int("is_pid_undefined", enif_is_pid_undefined(&self));
    enif_set_pid_undefined(&other);
    say_int("is_pid_undefined", enif_is_pid_undefined(&other));
    say(env, "set_pid_undefined", enif_make_pid(env, &other));
    say_int("is_process_alive", enif_is_process_alive(env, &other));
    others[0] = enif_make_ref(env);
    others[1] = enif_make_pid(env, &self);
    others[2] = dead;
    for (size_t i = 0; i < COUNT(others); i++) {
        say_int("term_type", enif_term_type(env, others[i]));
        say_int("is_ref", enif_is_ref(env, others[i]));
        say_int("whereis_pid", enif_whereis_pid(env, others[i], &other));
    }
    say_int("whereis_pid", enif_whereis_pid(env, atom(env, "nobody_has_this_name"), &other));
    return atom(env, "ok");
}

ERL_NIF_TERM sending(ErlNifEnv *env, int argc, const ERL_NIF_TERM argv[])
{
    ErlNifEnv *own = enif_alloc_env();
    struct terms terms = make_terms(env);
    ERL_NIF_TERM all = enif_make_list_from_array(env, terms.all, (unsigned)terms.count);
    ERL_NIF_TERM message = text(env, "a message");
    ErlNifPid self, dead;

    (void)argc;
    (void)argv;
    topic("sending");
    enif_self(env, &self);
    dead.pid = dead_pid(env);
    say_int("send", enif_send(env, &self, NULL, message));
    for (int i = 0; i < 2; i++) { /* the environment can be used again after it was cleared */
        say_int("send", enif_send(env, &self, own, enif_make_copy(own, message)));
        enif_clear_env(own);
    }
    say_int("send", enif_send(env, &self, own, enif_make_atom(own, "an atom")));
    enif_clear_env(own);
    say_int("send to nobody", enif_send(env, &dead, NULL, message));
    message = enif_make_copy(own, message);
    say_int("send to nobody", enif_send(env, &dead, own, message));
    say(env, "a message that was not sent", enif_make_copy(env, message));
    say_int("send hash of all terms",
            enif_send(env, &self, NULL, enif_make_ulong(env, enif_hash(ERL_NIF_PHASH2, all, 0))));
    enif_free_env(own);
    free_terms(&terms);
    return atom(env, "ok");
}

/* ports(Name): sends commands to the port Name. */
ERL_NIF_TERM ports(ErlNifEnv *env, int argc, const ERL_NIF_TERM argv[])
{
    ErlNifEnv *own;
    ErlNifPort port = {number(env, 77)}, other = {number(env, 77)};
    ErlNifPid pid;
    int result = enif_whereis_port(env, argv[0], &port);

    (void)argc;
    topic("port");
    say_pair(env, "whereis_port", result, port.port_id);
    if (!result)
        return atom(env, "no_port");
    say_int("whereis_pid", enif_whereis_pid(env, argv[0], &pid));
    say_int("is_port", enif_is_port(env, port.port_id));
    say_int("is_port_alive", enif_is_port_alive(env, &port));
    say_int("get_local_port", enif_get_local_port(env, port.port_id, &other));
    say_int("the same", port.port_id == other.port_id);
    say_int("term_type", enif_term_type(env, port.port_id));
    say_int("port_command", enif_port_command(env, &port, NULL, text(env, "a line\n")));
    say_int("port_command",
            enif_port_command(env, &port, NULL,
                              enif_make_list2(env, bytes(env, "bytes", 5), text(env, "\n"))));
    own = enif_alloc_env();
    say_int("port_command",
            enif_port_command(env, &port, own, enif_make_string(own, "its own\n", ERL_NIF_LATIN1)));
    enif_free_env(own);
    return atom(env, "ok");
}
