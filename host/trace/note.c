/* Notes of a recording: note.h has their shapes. */
#include "note.h"

#include "callback.h"
#include "tracing.h"

#include "host/base/buffer.h"
#include "host/base/error.h"
#include "host/base/hash.h"
#include "host/process/process.h"
#include "host/term/make.h"
#include "host/trace/recorded/recordings.h"

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

/* The names and their owners, in both directions. Of the replaying thread. */
static struct th_table noted;

th_term th_trace_note_of(th_term word)
{
    return th_trace_callback_recorded() ? (th_term)(uintptr_t)th_hash_table_get(&noted, word)
                                        : TH_NONE;
}

void th_trace_note_forget(void)
{
    th_hash_table_free(&noted);
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
            th_hash_table_set(&noted, name[1], (void *)(uintptr_t)name[0]);
        }
        th_trace_inheritance_meet(tracing, name[0], name[1]);
    }
    th_trace_unlock(tracing);
    th_trace_leave(tracing);
}

bool th_trace_note_offset(const struct th_note *note, int64_t *ns)
{
    const th_term *times = pair_of(note->value);
    int64_t monotonic, system;

    return note->key == TH_AM(clock) && times && th_get_int64(times[0], &monotonic) &&
           th_get_int64(times[1], &system) && !__builtin_sub_overflow(system, monotonic, ns);
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

    if (note->key == TH_AM(counts))
        th_trace_note_counts(tracing, note->value);
    else if (note->key == TH_AM(names))
        take_names(tracing, note->value);
    else if (th_trace_note_offset(note, &offset))
        th_recorded_streams_set_offset(offset);
}
