/*
 * Trace tags and trace flags: their names, the group of callbacks for each tag, the flag that lets
 * a tag pass.
 */
#ifndef TH_TAGS_H
#define TH_TAGS_H

#include "host/base/error.h"
#include "host/term/atom.h"
#include "plugin_api/erl_nif.h"
#include "plugin_api/erl_tracer.h"

/* Number of tags that events have: those of erl_tracer.h but the last, trace_status, which is a
 * query. Tags have the order of their atoms in term/atom.h: tag and atom are one subtraction
 * apart. */
enum { TH_TAG_COUNT = TH_TAG_trace_status };

static inline th_term th_trace_tag_atom(enum th_tracer_tag tag)
{
    return (th_term)(TH_ATOM_INDEX_send + tag) << 6 | TH_TAG_ATOM;
}

/* Returns the name of TAG: "send". */
static inline const char *th_trace_tag_name(enum th_tracer_tag tag)
{
    return th_atom_name(th_trace_tag_atom(tag))->text;
}

/* Returns the tag that ATOM names; TH_TAG_COUNT: none. */
static inline enum th_tracer_tag th_trace_tag_of(th_term atom)
{
    uint32_t index = th_atom_index(atom) - TH_ATOM_INDEX_send;

    return th_is_atom(atom) && index < TH_TAG_COUNT ? (enum th_tracer_tag)index
                                                    : (enum th_tracer_tag)TH_TAG_COUNT;
}

/*
 * Trace flags of a session for a tracee. X(name in Erlang, bit, text of --help). The time stamp
 * flags, arity and scheduler_id choose how events look; silent holds back wanted calls; the set_on
 * flags choose the heirs (inheritance.c); the others choose the events.
 */
#define TH_FLAGS(X)                                                                           \
    X(send, SEND, "messages sent")                                                            \
    X(receive, RECEIVE, "messages received")                                                  \
    X(call, CALL, "calls, returns and exceptions")                                            \
    X(return_to, RETURN_TO, "returns to a function")                                          \
    X(procs, PROCS, "spawns, exits, links, registrations")                                    \
    X(ports, PORTS, "the same for ports")                                                     \
    X(running, RUNNING, "processes scheduled in and out")                                     \
    X(running_procs, RUNNING_PROCS, "the same")                                               \
    X(running_ports, RUNNING_PORTS, "ports scheduled in and out")                             \
    X(exiting, EXITING, "exiting processes scheduled in and out")                             \
    X(garbage_collection, GC, "garbage collections")                                          \
    X(timestamp, TIMESTAMP, "request time stamps")                                            \
    X(cpu_timestamp, CPU_TIMESTAMP, "request CPU time stamps")                                \
    X(monotonic_timestamp, MONOTONIC, "request monotonic time stamps")                        \
    X(strict_monotonic_timestamp, STRICT_MONOTONIC, "request strictly monotonic time stamps") \
    X(arity, ARITY, "calls have the number of arguments only")                                \
    X(scheduler_id, SCHEDULER_ID, "add the scheduler, if it is known")                        \
    X(silent, SILENT, "match calls, but deliver none")                                        \
    X(set_on_spawn, SET_ON_SPAWN, "spawned processes inherit all flags")                      \
    X(set_on_first_spawn, SET_ON_FIRST_SPAWN, "the first spawned process inherits all flags") \
    X(set_on_link, SET_ON_LINK, "spawned and linked processes inherit all flags")             \
    X(set_on_first_link, SET_ON_FIRST_LINK, "the first of these inherits all flags")

enum th_flag_bit {
#define X(name, bit, help) TH_FLAG_BIT_##bit,
    TH_FLAGS(X)
#undef X
        TH_FLAG_BITS
};

enum th_flag {
    TH_FLAG_NONE = 0,
#define X(name, bit, help) TH_FLAG_##bit = 1 << TH_FLAG_BIT_##bit,
    TH_FLAGS(X)
#undef X
    /* Time stamps, arity and scheduler as the recording has them. */
    TH_FLAG_AS_RECORDED = 1 << TH_FLAG_BITS,
    /* The flag of seq_trace, which no session's flags hold back. For comparisons only, never
     * given. */
    TH_FLAG_ALWAYS = 1 << (TH_FLAG_BITS + 1),

    TH_FLAGS_RUNNING = TH_FLAG_RUNNING | TH_FLAG_RUNNING_PROCS,
    TH_FLAGS_EVENTS = TH_FLAG_SEND | TH_FLAG_RECEIVE | TH_FLAG_CALL | TH_FLAG_RETURN_TO |
                      TH_FLAG_PROCS | TH_FLAG_PORTS | TH_FLAGS_RUNNING | TH_FLAG_RUNNING_PORTS |
                      TH_FLAG_EXITING | TH_FLAG_GC,
    TH_FLAGS_STAMPS = TH_FLAG_TIMESTAMP | TH_FLAG_MONOTONIC | TH_FLAG_STRICT_MONOTONIC,
    TH_FLAGS_ON_SPAWN = TH_FLAG_SET_ON_SPAWN | TH_FLAG_SET_ON_FIRST_SPAWN,
    TH_FLAGS_ON_LINK = TH_FLAG_SET_ON_LINK | TH_FLAG_SET_ON_FIRST_LINK,

    /* The flag `all` of OTP. */
    TH_FLAGS_ALL = TH_FLAGS_EVENTS | TH_FLAGS_STAMPS | TH_FLAG_ARITY | TH_FLAG_SCHEDULER_ID |
                   TH_FLAG_SILENT | TH_FLAGS_ON_SPAWN | TH_FLAGS_ON_LINK,
    /* Flags that ports accept. */
    TH_FLAGS_OF_PORTS = TH_FLAG_SEND | TH_FLAG_RECEIVE | TH_FLAG_PORTS | TH_FLAG_RUNNING_PORTS |
                        TH_FLAG_SILENT | TH_FLAGS_STAMPS | TH_FLAG_CPU_TIMESTAMP |
                        TH_FLAG_SCHEDULER_ID | TH_FLAG_AS_RECORDED,
    TH_FLAGS_OF_PROCESSES = (TH_FLAGS_ALL | TH_FLAG_CPU_TIMESTAMP | TH_FLAG_AS_RECORDED) &
                            ~(TH_FLAG_PORTS | TH_FLAG_RUNNING_PORTS)
};

/* Group of callbacks for an event by the kind of its tracee; TH_GROUP_none if such a tracee cannot
 * have the event. */
extern const int8_t th_trace_tag_groups[2][TH_TAG_COUNT + 1]; /* [is a port][tag] */

static inline enum th_tracer_group th_trace_tag_group(enum th_tracer_tag tag, th_term tracee)
{
    return (enum th_tracer_group)th_trace_tag_groups[th_is_port(tracee)][tag];
}

/* Flags of which any one lets events of a group pass. */
extern const uint32_t th_trace_group_flags[TH_GROUPS];

static inline uint32_t th_trace_tag_flag(enum th_tracer_tag tag, enum th_tracer_group group)
{
    if (tag == TH_TAG_return_to)
        return TH_FLAG_RETURN_TO;
    /* Ports cannot have the flag `exiting`. */
    if (tag >= TH_TAG_in_exiting && tag <= TH_TAG_out_exited && group == TH_GROUP_running_procs)
        return TH_FLAG_EXITING;
    return th_trace_group_flags[group];
}

/*
 * Reads a list of flags: names separated by commas. "all" means OTP's `all` without silent, which
 * would hide all calls, and without the set_on flags.
 * Errors: TH_USAGE with the names of all flags, or the nearest one.
 */
enum th_status th_trace_flags_parse(const char *list, uint32_t *flags);

#endif
