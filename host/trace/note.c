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

bool th_trace_note_is_played(void)
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
    if (!th_trace_note_is_played() || (!th_is_local_pid(id) && !th_is_local_port(id)))
        return TH_NONE;
    return (th_term)(uintptr_t)th_hash_table_get(&noted, id);
}

th_term th_trace_note_owner(th_term name, unsigned index)
{
    if (!th_trace_note_is_played() || !th_is_atom(name))
        return TH_NONE;
    return (th_term)(uintptr_t)th_hash_table_get(&noted, key_of_name(name, index));
}

const struct th_mfa *th_trace_note_first_call(th_term id)
{
    return th_trace_note_is_played() ? th_hash_table_get(&first_calls, id) : NULL;
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

/* --- First functions -------------------------------------------------------------------------- */

/* Keeps {MODULE, FUNCTION, ARITY} as the first function of the process ID. A process that was started
 * with a fun is known by erlang:apply/2, or proc_lib:init_p, which tell nothing. */
static void keep_first_call(th_term id, th_term module, th_term function, uint64_t arity)
{
    struct th_mfa *first;

    if (!th_is_local_pid(id) || !th_is_atom(module) || !th_is_atom(function) || arity > UINT8_MAX ||
        (module == TH_AM(erlang) && function == th_atom("apply")) ||
        (module == th_atom("proc_lib") && function == th_atom("init_p")))
        return;
    first = th_alloc(sizeof *first);
    *first = (struct th_mfa){module, function, (uint32_t)arity};
    th_free(th_hash_table_set(&first_calls, id, first));
}

static void take_first_calls(th_term calls)
{
    const th_term *call, *function;
    uint64_t arity;

    for (; th_is_list(calls); calls = th_cell(calls)[1]) {
        call = pair_of(th_cell(calls)[0]);
        if (!call || !th_is_tuple(call[1]) || th_tuple_arity(call[1]) != 3)
            continue;
        function = th_tuple_elements(call[1]);
        if (th_get_uint64(function[2], &arity))
            keep_first_call(call[0], function[0], function[1], arity);
    }
}

/* The elements of a list, as far as there are so many. */
struct arguments {
    th_term items[8];
    uint64_t count; /* of the list; UINT64_MAX: it is no list */
};

static struct arguments spawn_arguments(th_term list)
{
    struct arguments all = {.count = 0};

    for (; th_is_list(list); list = th_cell(list)[1], all.count++)
        if (all.count < sizeof all.items / sizeof all.items[0])
            all.items[all.count] = th_cell(list)[0];
    if (list != TH_NIL)
        all.count = UINT64_MAX;
    return all;
}

/* Keeps the first function of ID, which proc_lib has started with MODULE:FUNCTION and ARGUMENTS. Behaviours
 * are known by the `init` of their modules, as proc_lib:translate_initial_call/1 tells them. */
static void keep_translated(th_term id, th_term module, th_term function,
                            const struct arguments *arguments)
{
    const th_term *items = arguments->items, *supervised;
    uint64_t count = arguments->count;

    if (module != th_atom("gen") || function != th_atom("init_it") || count < 6 || count > 7) {
        keep_first_call(id, module, function, count);
    } else if (items[0] == th_atom("gen_event")) {
        keep_first_call(id, items[0], function, 6);
    } else if (items[count - 3] != th_atom("supervisor")) { /* behind it: its argument, options */
        keep_first_call(id, items[count - 3], th_atom("init"), 1);
    } else if (th_is_tuple(items[count - 2]) && th_tuple_arity(items[count - 2]) == 3) {
        supervised = th_tuple_elements(items[count - 2]);
        keep_first_call(id, items[count - 3], supervised[1], 1);
    }
}

void th_trace_note_birth(const struct th_event *event)
{
    th_term id = event->tag == TH_TAG_spawn ? event->term : event->tracee;
    struct arguments arguments;
    const th_term *function;

    if (!th_is_tuple(event->extra) || th_tuple_arity(event->extra) != 3)
        return;
    function = th_tuple_elements(event->extra);
    arguments = spawn_arguments(function[2]);
    if (function[0] == th_atom("proc_lib") && function[1] == th_atom("init_p") &&
        arguments.count == 5) {
        struct arguments inner = spawn_arguments(arguments.items[4]);
        keep_translated(id, arguments.items[2], arguments.items[3], &inner);
    } else {
        keep_first_call(id, function[0], function[1], arguments.count);
    }
}

void th_trace_note_death(th_term id)
{
    th_free(th_hash_table_remove(&first_calls, id));
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
        {"port_rate", "--max-rate=N allows more"},
        {"port_bytes", "--max-bytes=BYTES allows more"},
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
