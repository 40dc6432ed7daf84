/*
 * Trace tags, the 18 callback slots, and which tag goes to which slot under which flag.
 */
#ifndef TH_TAGS_H
#define TH_TAGS_H

#include "host/term/term.h"

/*
 * X(tag, slot group of a process, slot group of a port, flag of a process, flag of a port). The
 * tags stand in the order of their atoms in term/atom.h, so that tag and atom are one subtraction
 * apart.
 */
#define TH_TAGS(X)                                                      \
    X(send, SEND, SEND, SEND, SEND)                                     \
    X(send_to_non_existing_process, SEND, SEND, SEND, SEND)             \
    X(receive, RECEIVE, RECEIVE, RECEIVE, RECEIVE)                      \
    X(call, CALL, CALL, CALL, CALL)                                     \
    X(return_to, CALL, CALL, RETURN_TO, RETURN_TO)                      \
    X(return_from, CALL, CALL, CALL, CALL)                              \
    X(exception_from, CALL, CALL, CALL, CALL)                           \
    X(spawn, PROCS, PROCS, PROCS, PROCS)                                \
    X(spawned, PROCS, PROCS, PROCS, PROCS)                              \
    X(exit, PROCS, PROCS, PROCS, PROCS)                                 \
    X(link, PROCS, PORTS, PROCS, PORTS)                                 \
    X(unlink, PROCS, PORTS, PROCS, PORTS)                               \
    X(getting_linked, PROCS, PORTS, PROCS, PORTS)                       \
    X(getting_unlinked, PROCS, PORTS, PROCS, PORTS)                     \
    X(register, PROCS, PORTS, PROCS, PORTS)                             \
    X(unregister, PROCS, PORTS, PROCS, PORTS)                           \
    X(open, PORTS, PORTS, PORTS, PORTS)                                 \
    X(closed, PORTS, PORTS, PORTS, PORTS)                               \
    X(in, RUNNING_PROCS, RUNNING_PORTS, RUNNING_PROCS, RUNNING_PORTS)   \
    X(out, RUNNING_PROCS, RUNNING_PORTS, RUNNING_PROCS, RUNNING_PORTS)  \
    X(in_exiting, RUNNING_PROCS, RUNNING_PORTS, EXITING, EXITING)       \
    X(out_exiting, RUNNING_PROCS, RUNNING_PORTS, EXITING, EXITING)      \
    X(out_exited, RUNNING_PROCS, RUNNING_PORTS, EXITING, EXITING)       \
    X(gc_minor_start, GARBAGE_COLLECTION, GARBAGE_COLLECTION, GC, GC)   \
    X(gc_minor_end, GARBAGE_COLLECTION, GARBAGE_COLLECTION, GC, GC)     \
    X(gc_major_start, GARBAGE_COLLECTION, GARBAGE_COLLECTION, GC, GC)   \
    X(gc_major_end, GARBAGE_COLLECTION, GARBAGE_COLLECTION, GC, GC)     \
    X(gc_max_heap_size, GARBAGE_COLLECTION, GARBAGE_COLLECTION, GC, GC) \
    X(seq_trace, GENERIC, GENERIC, NONE, NONE)

enum th_tag {
#define X(tag, process_slot, port_slot, process_flag, port_flag) TH_TAG_##tag,
    TH_TAGS(X)
#undef X
        TH_TAG_COUNT
};

static inline th_term th_tag_atom(enum th_tag tag)
{
    return (th_term)(TH_ATOM_INDEX_send + tag) << 6 | TH_TAG_ATOM;
}

/* The tag that ATOM names; TH_TAG_COUNT if it is none. */
static inline enum th_tag th_tag_of(th_term atom)
{
    uint32_t index = th_atom_index(atom) - TH_ATOM_INDEX_send;

    return th_is_atom(atom) && index < TH_TAG_COUNT ? (enum th_tag)index : TH_TAG_COUNT;
}

/*
 * Trace flags: what a session wants of a tracee. X(name in Erlang, bit, what --help says). The time
 * stamp flags, arity and scheduler_id say how events look, the others which there are.
 */
#define TH_FLAGS(X)                                                                        \
    X(send, SEND, "messages sent")                                                         \
    X(receive, RECEIVE, "messages received")                                               \
    X(call, CALL, "calls, returns and exceptions")                                         \
    X(return_to, RETURN_TO, "returns to a function")                                       \
    X(procs, PROCS, "spawn, exit, link, register and the like")                            \
    X(ports, PORTS, "the same of ports")                                                   \
    X(running_procs, RUNNING_PROCS, "processes scheduled in and out; running is the same") \
    X(running_ports, RUNNING_PORTS, "ports scheduled in and out")                          \
    X(exiting, EXITING, "exiting processes scheduled in and out")                          \
    X(garbage_collection, GC, "garbage collections")                                       \
    X(timestamp, TIMESTAMP, "ask the tracer for a time stamp")                             \
    X(cpu_timestamp, CPU_TIMESTAMP, "ask for CPU time")                                    \
    X(monotonic_timestamp, MONOTONIC, "ask for monotonic time")                            \
    X(strict_monotonic_timestamp, STRICT_MONOTONIC, "ask for strictly monotonic time")     \
    X(arity, ARITY, "calls tell the number of arguments, not the arguments")               \
    X(scheduler_id, SCHEDULER_ID, "tell the scheduler, where it was recorded")

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
        TH_FLAG_AS_RECORDED =
            1 << TH_FLAG_BITS, /* time stamps, arity and scheduler as the recording has them */
    TH_FLAGS_EVENTS = TH_FLAG_SEND | TH_FLAG_RECEIVE | TH_FLAG_CALL | TH_FLAG_RETURN_TO |
                      TH_FLAG_PROCS | TH_FLAG_PORTS | TH_FLAG_RUNNING_PROCS |
                      TH_FLAG_RUNNING_PORTS | TH_FLAG_EXITING | TH_FLAG_GC
};

/* The flag that lets an event pass: 0 for seq_trace, which no flag holds back. */
extern const uint32_t th_tag_flags[2][TH_TAG_COUNT]; /* [is a port][tag] */

static inline uint32_t th_tag_flag(enum th_tag tag, th_term tracee)
{
    return th_tag_flags[th_is_port(tracee)][tag];
}

/*
 * Reads a list of flags: names separated by commas; "all" is all but cpu_timestamp, as in
 * erlang:trace/3. TH_USAGE with the names that there are.
 */
enum th_status th_flags_parse(const char *list, uint32_t *flags);

#endif
