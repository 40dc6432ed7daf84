/* Notes of a recording: note.h has their shapes. */
#include "note.h"

#include "tracing.h"

#include "host/base/buffer.h"
#include "host/base/error.h"
#include "host/base/hash.h"
#include "host/base/memory.h"
#include "host/process/process.h"
#include "host/term/make.h"
#include "host/trace/recorded/recordings.h"

#include <pthread.h>
#include <stdatomic.h>

bool th_trace_note(struct th_event *event, th_env *env, struct th_note *note)
{
    const th_term *e;
    th_term tuple;

    if (event->kind != TH_EVENT_OTHER)
        return false;
    if (event->source->whole(event, env, &tuple) != TH_OK) {
        th_error_clear();
        return false;
    }
    if (!th_is_tuple(tuple) || th_tuple_arity(tuple) != 3)
        return false;
    e = th_tuple_elements(tuple);
    *note = (struct th_note){.key = e[1], .value = e[2]};
    return e[0] == TH_AM(tracehost) && th_is_atom(note->key);
}

/* Returns the elements of TERM, if it is a pair; else NULL. */
static const th_term *pair_of(th_term term)
{
    return th_is_tuple(term) && th_tuple_arity(term) == 2 ? th_tuple_elements(term) : NULL;
}

/* The names and their owners, in both directions: the word of an owner, and a name with the index of
 * its node; by process, its first function, a struct th_mfa. They belong to the thread `noting`, which
 * has played a note. */
static struct th_table noted, first_calls;
static _Atomic pthread_t noting; /* relaxed: a thread reads its own write; 0: no note was played */

static bool is_noting(void)
{
    return atomic_load_explicit(&noting, memory_order_relaxed) == pthread_self();
}

/* Returns the key of NAME, an atom, in the node with INDEX. */
static uint64_t key_of_name(th_term name, unsigned index)
{
    return name | (uint64_t)index << 56;
}

th_term th_trace_note_name(th_term id)
{
    if (!is_noting() || (!th_is_local_pid(id) && !th_is_local_port(id)))
        return TH_NONE;
    return (th_term)(uintptr_t)th_hash_table_get(&noted, id);
}

th_term th_trace_note_owner(th_term name, unsigned index)
{
    if (!is_noting() || !th_is_atom(name))
        return TH_NONE;
    return (th_term)(uintptr_t)th_hash_table_get(&noted, key_of_name(name, index));
}

const struct th_mfa *th_trace_note_first_call(th_term id)
{
    return is_noting() ? th_hash_table_get(&first_calls, id) : NULL;
}

void th_trace_note_forget(void)
{
    struct th_slot *slot;
    size_t position = 0;

    while ((slot = th_hash_table_next(&first_calls, &position)))
        th_free(slot->value);
    th_hash_table_free(&first_calls);
    th_hash_table_free(&noted);
    atomic_store_explicit(&noting, 0, memory_order_relaxed);
}

static void take_names(struct th_tracing *tracing, th_term names)
{
    const th_term *name;

    th_trace_enter(tracing);
    th_trace_lock(tracing);
    for (; th_is_list(names); names = th_cell(names)[1]) {
        name = pair_of(th_cell(names)[0]);
        if (!name || (!th_is_pid(name[0]) && !th_is_port(name[0])) || !th_is_atom(name[1]))
            continue;
        th_process_world_register(name[0], name[1]);
        if (th_is_immediate(name[0])) {
            th_hash_table_set(&noted, name[0], (void *)(uintptr_t)name[1]);
            th_hash_table_set(&noted, key_of_name(name[1], th_peer_of(name[0])),
                              (void *)(uintptr_t)name[0]);
        }
        th_trace_inheritance_meet(tracing, name[0], name[1]);
    }
    th_trace_unlock(tracing);
    th_trace_leave(tracing);
}

/* A process that was started with a fun is known by erlang:apply/2, which tells nothing. */
static void take_first_calls(th_term calls)
{
    const th_term *call, *function;
    struct th_mfa *first;
    uint64_t arity;

    for (; th_is_list(calls); calls = th_cell(calls)[1]) {
        call = pair_of(th_cell(calls)[0]);
        if (!call || !th_is_local_pid(call[0]) || !th_is_tuple(call[1]) ||
            th_tuple_arity(call[1]) != 3)
            continue;
        function = th_tuple_elements(call[1]);
        if (!th_is_atom(function[0]) || !th_is_atom(function[1]) ||
            !th_get_uint64(function[2], &arity) || arity > UINT8_MAX ||
            (function[0] == TH_AM(erlang) && function[1] == th_atom("apply")))
            continue;
        first = th_alloc(sizeof *first);
        *first = (struct th_mfa){function[0], function[1], (uint32_t)arity};
        th_free(th_hash_table_set(&first_calls, call[0], first));
    }
}

bool th_trace_note_offset(const struct th_note *note, int64_t *ns)
{
    const th_term *times = pair_of(note->value);
    int64_t monotonic, system;

    return note->key == TH_AM(clock) && times && th_get_int64(times[0], &monotonic) &&
           th_get_int64(times[1], &system) && !__builtin_sub_overflow(system, monotonic, ns);
}

bool th_trace_note_round_trip(const struct th_note *note, int64_t times[4])
{
    bool told = note->key == TH_AM(round_trip) && th_is_tuple(note->value) &&
                th_tuple_arity(note->value) == 4;

    for (int i = 0; i < 4 && told; i++)
        told = th_get_int64(th_tuple_elements(note->value)[i], &times[i]) &&
               times[i] > -(INT64_C(1) << 61) && times[i] < INT64_C(1) << 61;
    return told;
}

/* Appends the options against the limit REASON. */
static void add_remedy(struct th_buffer *text, th_term reason)
{
    static const char less[] = "-p and --processes ask for fewer events, "
                               "--flags=call,arity for events without arguments";
    static const struct {
        const char *reason, *remedy;
    } remedies[] = {
        {"max_rate", "--max-rate=N allows more, --sample=N goes on with fewer processes"},
        {"max_bytes", "--max-bytes=BYTES allows more, --sample=N goes on with fewer processes"},
        {"backlog", less},
        {"memory", less},
    };

    for (size_t i = 0; i < sizeof remedies / sizeof remedies[0]; i++)
        if (reason == th_atom(remedies[i].reason))
            th_buffer_printf(text, "; %s", remedies[i].remedy);
}

bool th_trace_note_told(const struct th_note *note, struct th_buffer *text)
{
    bool triple = th_is_tuple(note->value) && th_tuple_arity(note->value) == 3;
    const th_term third = triple ? th_tuple_elements(note->value)[2] : TH_NONE;
    const unsigned char *data = NULL;
    bool ended = note->key == TH_AM(off);
    size_t bytes = 0;
    uint64_t processes;

    if (note->key == TH_AM(unmatched))
        return th_trace_note_unmatched_told(note->value, text);
    if (note->key == TH_AM(sampled) && triple && th_get_uint64(third, &processes)) {
        th_buffer_printf(text, "beyond a limit, the node goes on with one of %llu processes",
                         (unsigned long long)processes);
        return true;
    }
    if (ended && triple && th_get_bytes(third, &data, &bytes))
        th_buffer_add_text(text, "the node has ended the tracing: ");
    else if (note->key != TH_AM(notice) || !th_get_bytes(note->value, &data, &bytes))
        return false;
    for (size_t i = 0; i < bytes; i++)
        th_buffer_add_byte(text, data[i] < ' ' || data[i] > '~' ? '?' : (char)data[i]);
    if (ended)
        add_remedy(text, th_tuple_elements(note->value)[0]);
    return true;
}

void th_trace_note_play(struct th_tracing *tracing, const struct th_note *note)
{
    int64_t offset;

    atomic_store_explicit(&noting, pthread_self(), memory_order_relaxed);
    if (note->key == TH_AM(counts))
        th_trace_note_counts(tracing, note->value);
    else if (note->key == TH_AM(unmatched))
        th_trace_note_unmatched_play(tracing, note->value);
    else if (note->key == TH_AM(names))
        take_names(tracing, note->value);
    else if (note->key == th_atom("initial_calls"))
        take_first_calls(note->value);
    else if (th_trace_note_offset(note, &offset))
        th_recorded_streams_set_offset(offset);
}
