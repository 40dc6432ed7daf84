/*
 * The rules of the NIF API and of erl_tracer that the checker and `tracehost check` know.
 *
 * Each finding breaks one rule. A rule has a short name, which users give and see; a sentence, what a
 * library must do; and the source of the rule.
 */
#ifndef TH_CHECK_RULE_H
#define TH_CHECK_RULE_H

#define TH_ALL_RULES(RULE)                                                                         \
    /* Terms and environments. */                                                                  \
    RULE(TERM, "term", "Return a term of the environment that was given, or raise an exception.",  \
         "erl_nif, ERL_NIF_TERM")                                                                  \
    RULE(KEPT, "kept",                                                                             \
         "Use a term only while its environment lives: to keep a term, copy it with "              \
         "enif_make_copy() to an environment of your own.",                                        \
         "erl_nif, ErlNifEnv")                                                                     \
    RULE(SENT, "sent", "After enif_send() clear the message's environment before you use it.",     \
         "erl_nif, enif_send()")                                                                   \
    RULE(BYTES, "bytes", "Do not change the bytes of a binary that you inspect.",                  \
         "erl_nif, enif_inspect_binary()")                                                         \
    /* Objects. */                                                                                 \
    RULE(OWNER, "owner", "Give back only what you own, once, to the function that takes it.",      \
         "erl_nif, enif_free(), enif_release_binary(), enif_release_resource()")                   \
    RULE(FREED, "freed", "Do not write to memory that you have given back.",                       \
         "erl_nif, enif_free()")                                                                   \
    RULE(LEAK, "leak", "Give back what you get, in unload() at the latest.",                       \
         "erl_nif, enif_alloc(), enif_alloc_env(), enif_alloc_resource()")                         \
    RULE(LOCK, "lock",                                                                             \
         "Lock what you do not hold, unlock what you hold, and return without a lock.",            \
         "erl_nif, enif_mutex_lock()")                                                             \
    RULE(MEMORY, "memory", "Expect that an allocation fails: enif_alloc() can return NULL.",       \
         "erl_nif, enif_alloc(), enif_alloc_binary()")                                             \
    /* Callbacks of tracers. */                                                                    \
    RULE(TRACEE, "tracee", "Never send a message or a port command to the tracee.",                \
         "erl_tracer, Warning")                                                                    \
    RULE(ANSWER, "answer", "Answer `enabled` with trace, discard or remove.",                      \
         "erl_tracer, enabled/3")                                                                  \
    RULE(                                                                                          \
        EFFECT, "effect",                                                                          \
        "Let `enabled` have no side effect: it is called more often than `trace`, and a node may " \
        "call it again.",                                                                          \
        "erl_tracer, enabled/3")                                                                   \
    RULE(SLOW, "slow", "Be quick in `enabled`: each event of the tracee waits for it.",            \
         "erl_tracer, enabled/3")                                                                  \
    RULE(WAIT, "wait", "Do not wait in a callback: the tracee and its scheduler wait, too.",       \
         "erl_tracer, Module Description; erl_nif, Long-running NIFs")                             \
    RULE(CALL, "call", "In a callback, do not call functions that are for NIFs of a process.",     \
         "erl_nif, enif_schedule_nif()")                                                           \
    RULE(PROCESS, "process",                                                                       \
         "Leave alone what belongs to the whole process: signal handlers, folder, "                \
         "child processes.",                                                                       \
         "erl_nif, Functionality")                                                                 \
    RULE(RACE, "race",                                                                             \
         "Protect what several threads use, for example by enif_mutex_lock(): all schedulers run " \
         "callbacks.",                                                                             \
         "erl_nif, Threads and Concurrency")                                                       \
    /* Deaths, and what a node refuses. */                                                         \
    RULE(CRASH, "crash", "Do not crash, whatever the event, the state and the order of calls.",    \
         "erl_nif, Warning")                                                                       \
    RULE(HANG, "hang", "Return: no event, state or order of calls may block a callback.",          \
         "erl_nif, Long-running NIFs")                                                             \
    RULE(NODE, "node",                                                                             \
         "Call no function that this host alone has, except a weak one, and give a tracer "        \
         "enabled/3 and trace/5: nodes refuse others.",                                            \
         "erlang, load_nif/2; erl_tracer, Module Description")

enum th_check_rule {
#define TH_RULE_NAME(name, ...) TH_RULE_##name,
    TH_ALL_RULES(TH_RULE_NAME) TH_RULES
};

/* Short name, sentence and source. Indexed by enum th_check_rule. */
struct th_check_rule_text {
    const char *name, *rule, *source;
};
extern const struct th_check_rule_text th_check_rules[TH_RULES];

#endif
