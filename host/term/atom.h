/*
 * The table of atoms.
 *
 * Each distinct name is one word for ever, in all environments and threads. A look-up takes no
 * lock; a new name takes a mutex. The table grows by publishing a larger table and never frees:
 * memory is bounded by TH_ATOM_LIMIT atoms, the BEAM's default, of at most TH_ATOM_BYTES bytes
 * each.
 */
#ifndef TH_ATOM_H
#define TH_ATOM_H

#include "word.h"

#include <stdatomic.h>

enum {
    TH_ATOM_LIMIT = 1048576,
    TH_ATOM_PAGE = 1024, /* names in a page */
    TH_ATOM_CHARACTERS = 255,
    TH_ATOM_BYTES = 4 * TH_ATOM_CHARACTERS /* of UTF-8 */
};

/* The atoms that the host itself uses, as constants: TH_AM(ok) is a th_term. X(name, text) */
#define TH_ATOMS(X)                                                 \
    X(false, "false")                                               \
    X(true, "true")                                                 \
    X(undefined, "undefined")                                       \
    X(ok, "ok")                                                     \
    X(error, "error")                                               \
    X(badarg, "badarg")                                             \
    X(null, "null")                                                 \
    X(trace, "trace")                                               \
    X(trace_ts, "trace_ts")                                         \
    X(drop, "drop")                                                 \
    X(discard, "discard")                                           \
    X(remove, "remove")                                             \
    X(extra, "extra")                                               \
    X(match_spec_result, "match_spec_result")                       \
    X(scheduler_id, "scheduler_id")                                 \
    X(timestamp, "timestamp")                                       \
    X(cpu_timestamp, "cpu_timestamp")                               \
    X(monotonic, "monotonic")                                       \
    X(strict_monotonic, "strict_monotonic")                         \
    X(monotonic_timestamp, "monotonic_timestamp")                   \
    X(strict_monotonic_timestamp, "strict_monotonic_timestamp")     \
    X(print, "print")                                               \
    X(apply, "apply")                                               \
    X(erlang, "erlang")                                             \
    X(noproc, "noproc")                                             \
    X(normal, "normal")                                             \
    X(kill, "kill")                                                 \
    X(killed, "killed")                                             \
    X(DOWN, "DOWN")                                                 \
    X(process, "process")                                           \
    X(undef, "undef")                                               \
    X(nocatch, "nocatch")                                           \
    X(throw, "throw")                                               \
    X(label, "label")                                               \
    X(serial, "serial")                                             \
    X(nonode, "nonode@nohost")                                      \
    X(console, "console")                                           \
    X(output, "output")                                             \
    X(select, "select")                                             \
    X(ready_input, "ready_input")                                   \
    X(ready_output, "ready_output")                                 \
    X(ready_error, "ready_error")                                   \
    X(EXIT, "EXIT")                                                 \
    X(system, "system")                                             \
    X(clock_service, "clock_service")                               \
    X(timeout, "timeout")                                           \
    X(anything, "_")                                                \
    X(target, "$_")                                                 \
    X(bindings, "$$")                                               \
    X(name, "name")                                                 \
    X(records, "records")                                           \
    X(lost, "lost")                                                 \
    X(gaps, "gaps")                                                 \
    X(interrupted, "interrupted")                                   \
    X(damaged, "damaged")                                           \
    X(tracehost, "tracehost")                                       \
    X(clock, "clock")                                               \
    X(names, "names")                                               \
    X(round_trip, "round_trip")                                     \
    X(sampled, "sampled")                                           \
    X(notice, "notice")                                             \
    X(unmatched, "unmatched")                                       \
    X(counts, "counts")                                             \
    X(off, "off")                                                   \
    X(send, "send")                                                 \
    X(send_to_non_existing_process, "send_to_non_existing_process") \
    X(receive, "receive")                                           \
    X(call, "call")                                                 \
    X(return_to, "return_to")                                       \
    X(return_from, "return_from")                                   \
    X(exception_from, "exception_from")                             \
    X(spawn, "spawn")                                               \
    X(spawned, "spawned")                                           \
    X(exit, "exit")                                                 \
    X(link, "link")                                                 \
    X(unlink, "unlink")                                             \
    X(getting_linked, "getting_linked")                             \
    X(getting_unlinked, "getting_unlinked")                         \
    X(register, "register")                                         \
    X(unregister, "unregister")                                     \
    X(open, "open")                                                 \
    X(closed, "closed")                                             \
    X(in, "in")                                                     \
    X(out, "out")                                                   \
    X(in_exiting, "in_exiting")                                     \
    X(out_exiting, "out_exiting")                                   \
    X(out_exited, "out_exited")                                     \
    X(gc_minor_start, "gc_minor_start")                             \
    X(gc_minor_end, "gc_minor_end")                                 \
    X(gc_major_start, "gc_major_start")                             \
    X(gc_major_end, "gc_major_end")                                 \
    X(gc_max_heap_size, "gc_max_heap_size")                         \
    X(seq_trace, "seq_trace")                                       \
    X(trace_status, "trace_status")

enum {
#define X(name, text) TH_ATOM_INDEX_##name,
    TH_ATOMS(X)
#undef X
        TH_ATOM_CONSTANTS
};

#define TH_AM(name) ((th_term)TH_ATOM_INDEX_##name << 6 | TH_TAG_ATOM)

struct th_atom_name {
    uint16_t bytes; /* of text, without the 0 byte behind it */
    uint16_t characters;
    bool latin1;         /* no character is above 255 */
    uint64_t hash;       /* of the bytes */
    uint32_t sort;       /* the first four bytes, big-endian: for quick comparison */
    uint32_t weinberger; /* another hash of the name, for erlang:phash2/1 */
    char text[];         /* UTF-8 */
};

/* Returns the atom of a name, and creates it if it is new; TH_NONE if TEXT is no valid UTF-8 or too
 * long, or the table is full. */
th_term th_atom_utf8(const char *text, size_t bytes);
th_term th_atom_latin1(const char *text, size_t bytes);

/* Returns the atom of a C string in Latin-1, the encoding of the host's own names. */
th_term th_atom(const char *text);

/* Returns the atom of a name, or TH_NONE if no such atom exists yet; creates none. */
th_term th_atom_existing_utf8(const char *text, size_t bytes);
th_term th_atom_existing_latin1(const char *text, size_t bytes);

/* The pages of the names by the index of the atom; only atom.c writes. Release: a page is clear, and
 * a name is complete; acquire. */
typedef struct th_atom_name *_Atomic th_atom_slot;
extern th_atom_slot *_Atomic th_atom_pages[TH_ATOM_LIMIT / TH_ATOM_PAGE]
    __attribute__((visibility("hidden")));

/* Returns the name of an atom, valid for ever; NULL if ATOM is no atom of this table. */
static inline const struct th_atom_name *th_atom_name(th_term atom)
{
    uint64_t index = atom >> 6;
    th_atom_slot *page;

    if (!th_is_atom(atom) || index >= TH_ATOM_LIMIT)
        return NULL;
    page = atomic_load_explicit(&th_atom_pages[index / TH_ATOM_PAGE], memory_order_acquire);
    return page ? atomic_load_explicit(&page[index % TH_ATOM_PAGE], memory_order_acquire) : NULL;
}

/* For tests: the longest run of used cells, the worst case of a search. */
size_t th_atom_longest_search(void);

/* Compares two atoms by their names: below, equal to or above 0. */
int th_atom_compare_names(const struct th_atom_name *a, const struct th_atom_name *b);
static inline int th_atom_compare(th_term a, th_term b)
{
    const struct th_atom_name *x = th_atom_name(a), *y = th_atom_name(b);

    if (x->sort != y->sort)
        return x->sort < y->sort ? -1 : 1;
    return a == b ? 0 : th_atom_compare_names(x, y);
}

/* The number of atoms. */
size_t th_atom_count(void);

#endif
