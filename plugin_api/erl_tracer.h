/*
 * The erl_tracer behaviour for C: its trace tags and callbacks as tables, and macros for a tracer.
 *
 * For each event the host first calls an `enabled` callback, which returns trace, discard or
 * remove; only after trace does it build the event and call the `trace` callback. `enabled` is
 * called very often, must be quick and must have no side effects. Callbacks may run in many threads
 * at once. They must never send to the tracee, nor send it port commands.
 *
 * A complete tracer:
 *
 *     #include <erl_tracer.h>
 *
 *     TH_TRACER_ENABLED(generic)
 *     {
 *         return TH_TRACER_ATOM(env, trace);
 *     }
 *
 *     TH_TRACER_TRACE(generic)
 *     {
 *         enif_fprintf(stdout, "%T %T %T\n", tracee, tag, term);
 *     }
 *
 * Its callbacks are exported C symbols, `enabled` and `trace` here, which tracehost finds by name.
 * A BEAM also needs an entry, of a version that it supports (see erl_nif.h). The same functions
 * serve in it:
 *
 *     static ErlNifFunc functions[] = {{"enabled", 3, enabled, 0},
 *                                      {"trace", 5, trace, 0}};
 *     ERL_NIF_INIT(my_tracer, functions, NULL, NULL, NULL, NULL)
 *
 * The header works with the erl_nif.h of OTP and with that of tracehost. If a source has included
 * one already, this header includes none. C11 or C++11, gcc or clang.
 */
#ifndef TH_ERL_TRACER_H
#define TH_ERL_TRACER_H

#ifndef __ERL_NIF_H__
#include <erl_nif.h>
#endif

#include <stdlib.h>
#include <string.h>

/* --- Groups, callbacks and tags --------------------------------------------------------------- */

/* clang-format off */

/*
 * TH_TRACER_GROUPS(X): X(group, self) for each group of events.
 *
 * A group has two callbacks, enabled_GROUP and trace_GROUP. If the library does not define one of
 * them, the generic group's callback, `enabled` or `trace`, takes its place; these two are
 * mandatory. `self` is 1 if enif_self() returns the tracee in the trace callback for an event of
 * this group, provided that the tracee is a process; otherwise, and in all enabled callbacks,
 * enif_self() returns NULL. `self` depends on the event's group, also when the generic callback is
 * called.
 */
#define TH_TRACER_GROUPS(X) \
    X(generic, 0) \
    X(call, 1) \
    X(send, 1) \
    X(receive, 0) \
    X(procs, 0) \
    X(ports, 0) \
    X(running_procs, 1) \
    X(running_ports, 0) \
    X(garbage_collection, 1)

/*
 * TH_TRACER_SLOTS(X): X(name, arity, group) for each callback.
 *
 * In the order of the groups, enabled before trace: a group's slots are 2 * group and 2 * group +
 * 1, and slot % 2 is the slot that replaces an empty one. Callbacks under any other name
 * (enabled_spawn, trace_return_to) are never called.
 */
#define TH_TRACER_SLOTS(X) \
    X(enabled, 3, generic) \
    X(trace, 5, generic) \
    X(enabled_call, 3, call) \
    X(trace_call, 5, call) \
    X(enabled_send, 3, send) \
    X(trace_send, 5, send) \
    X(enabled_receive, 3, receive) \
    X(trace_receive, 5, receive) \
    X(enabled_procs, 3, procs) \
    X(trace_procs, 5, procs) \
    X(enabled_ports, 3, ports) \
    X(trace_ports, 5, ports) \
    X(enabled_running_procs, 3, running_procs) \
    X(trace_running_procs, 5, running_procs) \
    X(enabled_running_ports, 3, running_ports) \
    X(trace_running_ports, 5, running_ports) \
    X(enabled_garbage_collection, 3, garbage_collection) \
    X(trace_garbage_collection, 5, garbage_collection)

/*
 * TH_TRACER_TAGS(X): X(tag, process, port, calls, term, extra) for each trace tag.
 *
 * `process` and `port` are the tag's groups for a tracee of that kind; `none` if such a tracee has
 * no such event. `calls` names the callbacks: `both`, enabled and then trace; `trace` alone,
 * because return and exception events follow from a call that was enabled; `enabled` alone, a
 * question. `term` and `extra` describe the trace callback's argument and the value of opts' key;
 * "" is nothing.
 */
#define TH_TRACER_TAGS(X) \
    X(send, send, send, both, "the message", "the receiver, as the sender named it") \
    X(send_to_non_existing_process, send, send, both, "the message", "the receiver") \
    X(receive, receive, receive, both, "the message", "") \
    X(call, call, none, both, "{M, F, Args}, or {M, F, Arity} with flag arity", "") \
    X(return_to, call, none, trace, "{M, F, Arity}, or undefined", "") \
    X(return_from, call, none, trace, "{M, F, Arity}", "the value returned") \
    X(exception_from, call, none, trace, "{M, F, Arity}", "{Class, Value}") \
    X(spawn, procs, none, both, "the child", "{M, F, Args}") \
    X(spawned, procs, none, both, "the parent", "{M, F, Args}") \
    X(exit, procs, none, both, "the reason", "") \
    X(link, procs, ports, both, "the other process or port", "") \
    X(unlink, procs, ports, both, "the other process or port", "") \
    X(getting_linked, procs, ports, both, "the other process or port", "") \
    X(getting_unlinked, procs, ports, both, "the other process or port", "") \
    X(register, procs, ports, both, "the name", "") \
    X(unregister, procs, ports, both, "the name", "") \
    X(open, none, ports, both, "the process that opens it", "the driver's name or command") \
    X(closed, none, ports, both, "the reason", "") \
    X(in, running_procs, running_ports, both, "{M, F, Arity}, a port's command, or 0", "") \
    X(out, running_procs, running_ports, both, "{M, F, Arity}, a port's command, or 0", "") \
    X(in_exiting, running_procs, running_ports, both, "{M, F, Arity}, or 0", "") \
    X(out_exiting, running_procs, running_ports, both, "{M, F, Arity}, or 0", "") \
    X(out_exited, running_procs, running_ports, both, "{M, F, Arity}, or 0", "") \
    X(gc_minor_start, garbage_collection, none, both, "[{Key, Words}]", "") \
    X(gc_minor_end, garbage_collection, none, both, "[{Key, Words}]", "") \
    X(gc_major_start, garbage_collection, none, both, "[{Key, Words}]", "") \
    X(gc_major_end, garbage_collection, none, both, "[{Key, Words}]", "") \
    X(gc_max_heap_size, garbage_collection, none, both, "[{Key, Words}]", "") \
    X(seq_trace, generic, generic, both, "{send | 'receive' | print, ...}", "") \
    X(trace_status, generic, generic, enabled, "", "")

/* clang-format on */

enum th_tracer_group {
    TH_GROUP_none = -1,
#define TH_TRACER_ROW(group, self) TH_GROUP_##group,
    TH_TRACER_GROUPS(TH_TRACER_ROW)
#undef TH_TRACER_ROW
        TH_GROUPS
};

enum th_tracer_slot {
#define TH_TRACER_ROW(name, arity, group) TH_SLOT_##name,
    TH_TRACER_SLOTS(TH_TRACER_ROW)
#undef TH_TRACER_ROW
        TH_SLOTS
};

enum th_tracer_tag {
#define TH_TRACER_ROW(tag, process, port, calls, term, extra) TH_TAG_##tag,
    TH_TRACER_TAGS(TH_TRACER_ROW)
#undef TH_TRACER_ROW
        TH_TAGS
};

enum th_tracer_calls { TH_CALLS_both, TH_CALLS_enabled, TH_CALLS_trace };

/* --- Definitions of callbacks ----------------------------------------------------------------- */

/*
 * TH_TRACER_ENABLED(GROUP) { ... } defines GROUP's enabled callback. The block returns one of
 *
 *     TH_TRACER_ATOM(env, trace)      the event shall be delivered
 *     TH_TRACER_ATOM(env, discard)    the event shall be dropped
 *     TH_TRACER_ATOM(env, remove)     for the tag trace_status: stop tracing this tracee
 *
 * and has the arguments
 *
 *     ErlNifEnv *env          for this call only, without a process
 *     ERL_NIF_TERM tag        an atom; in the generic callback also trace_status
 *     ERL_NIF_TERM state      the tracer's state, as given when tracing was started
 *     ERL_NIF_TERM tracee     the process or port; for seq_trace the one that sends, receives or
 *                             prints; `undefined` for a trace_status without a tracee
 */
#define TH_TRACER_ENABLED(GROUP)                                   \
    TH_TRACER_CHECK(GROUP);                                        \
    static ERL_NIF_TERM th_enabled_##GROUP(TH_TRACER_QUESTION);    \
    TH_TRACER_NIF(enabled_##GROUP)                                 \
    {                                                              \
        return th_enabled_##GROUP(env, argv[0], argv[1], argv[2]); \
    }                                                              \
    static ERL_NIF_TERM th_enabled_##GROUP(TH_TRACER_QUESTION)

/*
 * TH_TRACER_TRACE(GROUP) { ... } defines GROUP's trace callback. The block returns nothing: the
 * result of a trace callback is ignored. In addition to the arguments above it has
 *
 *     ERL_NIF_TERM term       the content of the event, by tag: TH_TRACER_TAGS
 *     ERL_NIF_TERM opts       a map with any of the keys extra, match_spec_result, scheduler_id,
 *                             and timestamp: the kind of clock that the tracer shall read
 *
 * For seq_trace, which has no tracee, `tracee` is the label.
 */
#define TH_TRACER_TRACE(GROUP)                                              \
    TH_TRACER_CHECK(GROUP);                                                 \
    static void th_trace_##GROUP(TH_TRACER_EVENT);                          \
    TH_TRACER_NIF(trace_##GROUP)                                            \
    {                                                                       \
        th_trace_##GROUP(env, argv[0], argv[1], argv[2], argv[3], argv[4]); \
        return argv[0];                                                     \
    }                                                                       \
    static void th_trace_##GROUP(TH_TRACER_EVENT)

/*
 * Optional functions: TH_TRACER_LOAD() { ... } runs before the first callback; TH_TRACER_UPGRADE()
 * runs instead of it when the tracer replaces an older instance of itself; TH_TRACER_UNLOAD() runs
 * after the last callback. load and upgrade return 0, or any other value to refuse.
 * enif_priv_data(env) returns the pointer that they stored in *priv_data to all callbacks; unload
 * gets the pointer as its argument. Arguments as in ErlNifEntry: env, priv_data, old_priv_data
 * (upgrade), load_info (load, upgrade).
 */
#define TH_TRACER_LOAD()                                                                    \
    TH_TRACER_FUNCTION(int, load,                                                           \
                       (TH_TRACER_ARG(ErlNifEnv *, env), TH_TRACER_ARG(void **, priv_data), \
                        TH_TRACER_ARG(ERL_NIF_TERM, load_info)))
#define TH_TRACER_UPGRADE()                                                                 \
    TH_TRACER_FUNCTION(int, upgrade,                                                        \
                       (TH_TRACER_ARG(ErlNifEnv *, env), TH_TRACER_ARG(void **, priv_data), \
                        TH_TRACER_ARG(void **, old_priv_data),                              \
                        TH_TRACER_ARG(ERL_NIF_TERM, load_info)))
#define TH_TRACER_UNLOAD()           \
    TH_TRACER_FUNCTION(void, unload, \
                       (TH_TRACER_ARG(ErlNifEnv *, env), TH_TRACER_ARG(void *, priv_data)))

/*
 * The atom NAME, which the first use makes; later uses are one load. For results of `enabled`, for
 * keys of opts, and for comparisons: tag == TH_TRACER_ATOM(env, send).
 */
#define TH_TRACER_ATOM(env, NAME)                       \
    __extension__({                                     \
        static ERL_NIF_TERM th_tracer_atom_;            \
        th_tracer_atom((env), &th_tracer_atom_, #NAME); \
    })

/* Returns *CACHE, which the first call sets to the atom NAME. Relaxed: threads that set *CACHE at
 * the same time store the same word. */
static __inline__ ERL_NIF_TERM th_tracer_atom(ErlNifEnv *env, ERL_NIF_TERM *cache, const char *name)
{
    ERL_NIF_TERM atom = __atomic_load_n(cache, __ATOMIC_RELAXED);
    if (__builtin_expect(atom == 0, 0)) {
        atom = enif_make_atom(env, name);
        __atomic_store_n(cache, atom, __ATOMIC_RELAXED);
    }
    return atom;
}

/* --- Settings --------------------------------------------------------------------------------- */

/*
 * A tracer's state may be a map of settings, as `-t NAME,key=value,...` makes one. If the tracer
 * declares its settings, tracehost refuses, before any callback gets it, a state with another key
 * or value, or a state that is neither a map nor []; it suggests the nearest key, shows the
 * settings (`tracehost tracers NAME`) and completes them in shells. A tracer without a declaration
 * takes any state. A BEAM ignores the declaration. The table is data, found by its name, also in a
 * library with nif_init():
 *
 *     const struct th_tracer_setting th_tracer_settings[] = {
 *         {"output", TH_SETTING_OUTPUT, .help = "the file to write to"},
 *         {"level", TH_SETTING_NUMBER, .otherwise = "1"},
 *         {"format", TH_SETTING_WORD, "text json", "text", "the form"},
 *         {0}};
 *
 * In C++ a row gives all members, in their order. The last row, {0}, must be inside of the table's
 * size in the file's symbol table. tracehost refuses the library if a pointer leads to no memory,
 * if a name cannot be an atom, if a TH_SETTING_WORD has no words, or if it does not know a type: a
 * tracer that uses types of a later version of this header needs that version of tracehost.
 */
enum th_setting_type {
    TH_SETTING_TEXT,   /* a binary, string or atom, or an integer for its digits; the next three
                          take the same terms */
    TH_SETTING_WORD,   /* one of `words` */
    TH_SETTING_INPUT,  /* a file to read; the tracer is refused if the file cannot be read */
    TH_SETTING_OUTPUT, /* a file to write, "-" for stdout. Refused, unless it is a device or FIFO: a
                          stream that is read, a file that another tracer writes, or the target of
                          stdout or stderr. When a tracer is replaced, only a new one with upgrade()
                          continues in the file */
    TH_SETTING_NUMBER, /* an integer from 0 to 4294967295 */
    TH_SETTING_TIME    /* a text as TH_SETTING_TEXT, which th_setting_time() reads */
};

/* Reads a time, a number with ns, us, ms, s or min, seconds without a unit: "1.5", "250ms". Sets *NS to
 * the nanoseconds and returns 1. Returns 0 for any other TEXT, and beyond 292 years. */
static __inline__ int th_setting_time(const char *text, ErlNifTime *ns)
{
    static const struct {
        const char *name;
        long double ns;
    } units[] = {{"", 1e9L}, {"s", 1e9L}, {"ms", 1e6L}, {"us", 1e3L}, {"ns", 1}, {"min", 60e9L}};
    char *end;
    /* 64 bits of mantissa: exact nanoseconds since 1970. */
    long double value = strtold(text, &end), time;
    size_t i;

    for (i = 0; end != text && i < sizeof units / sizeof units[0]; i++) {
        time = value * units[i].ns;
        if (strcmp(end, units[i].name) == 0 && time > -9.2e18L && time < 9.2e18L) {
            *ns = (ErlNifTime)(time < 0 ? time - 0.5L : time + 0.5L);
            return 1;
        }
    }
    return 0;
}

struct th_tracer_setting {
    const char *name;      /* the key, an atom; NULL: end of the table */
    int type;              /* enum th_setting_type */
    const char *words;     /* words of TH_SETTING_WORD, separated by blanks; else NULL */
    const char *otherwise; /* the default, as text; NULL: none */
    const char *help;      /* one line */
};

#ifdef __cplusplus
extern "C" {
#endif
extern const struct th_tracer_setting th_tracer_settings[] __attribute__((visibility("default")));
#ifdef __cplusplus
}
#endif

/* --- A promise -------------------------------------------------------------------------------- */

/*
 * A tracer may promise that it looks at no term of an event but module, function and arity: then
 * tracehost need not decode all others, which makes up to three quarters of the cost of a recorded
 * event. The promise is data, found by its name, also in a library with nif_init():
 *
 *     const char th_tracer_functions_only = 1;
 *
 * Then, for recorded events,
 *   * the term of a call, return_to, return_from or exception_from is {M, F, Arity} where it would
 *     be {M, F, Arguments};
 *   * the term of an event of another tag may be `undefined`;
 *   * all keys of Opts but `timestamp` may be missing.
 * Tag, state and tracee are as ever, and so are events of this host. A damaged
 * term that is left out is still reported, and the event then not delivered. A BEAM ignores the
 * promise: it sends all terms.
 */
#ifdef __cplusplus
extern "C" {
#endif
extern const char th_tracer_functions_only __attribute__((visibility("default")));
#ifdef __cplusplus
}
#endif

/* --- Shares of a recording -------------------------------------------------------------------- */

/*
 * `tracehost replay --shards=N` plays a recording in N processes: each delivers one contiguous part
 * of the records to a tracer of its own. Then the tracer of the first part takes over what the
 * others have gathered, one after the other, in the order of the recording, and is unloaded as if
 * it had seen all events. A tracer supports this by two functions, which are found by their names,
 * also in a library with nif_init():
 *
 *     TH_TRACER_SAVE() { ... }     returns a term: all that the tracer has gathered in its part
 *     TH_TRACER_MERGE() { ... }    adds SAVED, which save() returned in the part that follows
 *
 *     ERL_NIF_TERM save(ErlNifEnv *env);
 *     int merge(ErlNifEnv *env, ERL_NIF_TERM saved);
 *
 * After all merges the tracer must give exactly the result that it gives for the whole recording.
 * What began before a part is unknown in that part: a return without its call is the part's left
 * end, and merge() joins it to the call that is open at the end of the parts before. All parts have
 * the same sessions and states.
 *
 * If a part needs the events before it, the tracer declares
 *
 *     unsigned char th_tracer_past = 5;
 *
 * whose value, from 2 to 99, is the time that the tracer needs for such an event, in percent of the
 * time for an event of the part. Then each part but the first gets all events before it, too, while
 * th_tracer_past is 1; then the host drops the result of a first save(), and sets th_tracer_past to
 * 0. While it is 1, the tracer need not format anything.
 *
 * A tracer with th_tracer_past may take the calls before its part, and their ends, in another way,
 * at a fraction of the cost:
 *
 *     TH_TRACER_PAST_CALLS() { ... }    handles COUNT events, in their order
 *
 *     void past_calls(ErlNifEnv *env, ERL_NIF_TERM state, const struct th_past_event *events,
 *                     size_t count);
 *
 * Each has the effect of one trace_call() with the same state. The host chooses the way of each
 * event, and keeps their order: all other events, and calls that a struct th_past_call cannot
 * describe, come to the callbacks. Only a tracer whose enabled_call() always answers `trace` may
 * declare this.
 *
 * Owner: the terms belong to ENV, and end with the call. The term of save() passes to another
 * process as an external term, so pids, atoms and binaries keep their meaning, and pointers do not.
 * In all parts but the first the tracer writes no output: th_share_file() of nif_module.h gives a
 * tracer that writes while events come another file. unload() is not called there.
 * Thread: the one that replays; no callback runs, nor comes after save().
 * Order: save() after the last event of the part; it hands over what the tracer has gathered since
 * the last save(). merge() once for each part but the first, after the last event of the first
 * part, before unload().
 * Errors: if save() returns 0, or the tracer fails or prints anything in its part, the program
 * plays the rest of the recording again in the first process: for states that cannot be merged.
 * merge() returns 0; any other value ends the command with status 1.
 */
#ifdef __cplusplus
extern "C" {
#endif
extern unsigned char th_tracer_past __attribute__((visibility("default")));
#ifdef __cplusplus
}
#endif

/*
 * A tracer whose output needs more than one event, for example because it prints a table at the end, declares
 *
 *     const char th_tracer_gathers = 1;
 *
 * `tracehost replay --resume` refuses it: what the tracer knows ends with its process. Without the declaration a
 * tracer gathers if it has th_tracer_past, or save() and no th_share_file(). All others must have written all
 * that they tell about an event when its callback returns, by stdio or by a system call.
 */
#ifdef __cplusplus
extern "C" {
#endif
extern const char th_tracer_gathers __attribute__((visibility("default")));
#ifdef __cplusplus
}
#endif

/* A call or its end, as many events repeat it. Module and function are atoms. */
struct th_past_call {
    enum th_tracer_tag tag; /* TH_TAG_call, return_to, return_from or exception_from */
    unsigned arity;
    ERL_NIF_TERM module, function; /* return_to `undefined`: this atom, and 0 */
    /* The caller of a call, from match_spec_result, likewise; module 0: none. */
    ERL_NIF_TERM caller_module, caller_function;
    unsigned caller_arity;
    ERL_NIF_TERM timestamp; /* the value of opts; never absent */
};

struct th_past_event {
    const struct th_past_call *call; /* for this call of past_calls() */
    ERL_NIF_TERM tracee;             /* a local pid */
    ErlNifTime time;                 /* nanoseconds since th_recording_zero() */
};

#define TH_TRACER_PAST_CALLS()                                                               \
    TH_TRACER_FUNCTION(void, past_calls,                                                     \
                       (TH_TRACER_ARG(ErlNifEnv *, env), TH_TRACER_ARG(ERL_NIF_TERM, state), \
                        const struct th_past_event *events, TH_TRACER_ARG(size_t, count)))
#define TH_TRACER_SAVE() TH_TRACER_FUNCTION(ERL_NIF_TERM, save, (TH_TRACER_ARG(ErlNifEnv *, env)))
#define TH_TRACER_MERGE()          \
    TH_TRACER_FUNCTION(int, merge, \
                       (TH_TRACER_ARG(ErlNifEnv *, env), TH_TRACER_ARG(ERL_NIF_TERM, saved)))

/*
 * Internals of the macros above.
 *
 * Protected visibility: the symbols are found by name from outside, and references of the library
 * itself never bind to another definition. With default visibility an entry's array would contain
 * whatever `trace_send` the program has, and a BEAM has one.
 */
#ifdef __cplusplus
#define TH_TRACER_EXPORT extern "C" __attribute__((visibility("protected")))
#define TH_TRACER_ASSERT static_assert
#else
#define TH_TRACER_EXPORT __attribute__((visibility("protected")))
#define TH_TRACER_ASSERT _Static_assert
#endif

#define TH_TRACER_ARG(type, name) type name __attribute__((unused))
#define TH_TRACER_QUESTION                                             \
    TH_TRACER_ARG(ErlNifEnv *, env), TH_TRACER_ARG(ERL_NIF_TERM, tag), \
        TH_TRACER_ARG(ERL_NIF_TERM, state), TH_TRACER_ARG(ERL_NIF_TERM, tracee)
#define TH_TRACER_EVENT \
    TH_TRACER_QUESTION, TH_TRACER_ARG(ERL_NIF_TERM, term), TH_TRACER_ARG(ERL_NIF_TERM, opts)

/* The generic callbacks have no group in their names. */
#define enabled_generic enabled
#define trace_generic trace

#define TH_TRACER_CHECK(GROUP) \
    TH_TRACER_ASSERT(TH_GROUP_##GROUP >= 0, #GROUP " is no group of callbacks")
#define TH_TRACER_NIF(name)                \
    TH_TRACER_FUNCTION(ERL_NIF_TERM, name, \
                       (ErlNifEnv * env, TH_TRACER_ARG(int, argc), const ERL_NIF_TERM argv[]))
#define TH_TRACER_FUNCTION(type, name, parameters) \
    TH_TRACER_EXPORT type name parameters;         \
    TH_TRACER_EXPORT type name parameters

#endif
