/*
 * Changes recordings at random. A change leaves each record a sound trace message: a tracee is
 * replaced by one of its kind, a term by one that may stand in the same place.
 */
#include "generate_internal.h"

#include "part.h"
#include "shrink.h"

#include "host/base/memory.h"
#include "host/term/env.h"
#include "host/term/make.h"
#include "host/trace/event.h"

#include <string.h>

/* The longest run that is moved or whose tracees are exchanged. */
enum { LONGEST_RUN = 50 };

/* Records of the copy, in order. They share the terms of `part`, and those of `env`. */
struct mutation {
    struct th_generate_random random;
    const struct th_writer_options *how;
    th_env env;
    struct th_event *events;
    size_t count, capacity;
};

static size_t any_record(struct mutation *m)
{
    return th_replay_generate_number(&m->random, m->count);
}

static void insert_record(struct mutation *m, size_t at, struct th_event event)
{
    TH_ARRAY_GROW(m->events, m->count, m->capacity);
    memmove(m->events + at + 1, m->events + at, (m->count++ - at) * sizeof event);
    m->events[at] = event;
}

static struct th_event remove_record(struct mutation *m, size_t at)
{
    const struct th_event taken = m->events[at];

    memmove(m->events + at, m->events + at + 1, (--m->count - at) * sizeof taken);
    return taken;
}

/* --- Changes of the order --------------------------------------------------------------------- */

static void drop_record(struct mutation *m)
{
    if (m->count > 1)
        remove_record(m, any_record(m));
}

static void double_record(struct mutation *m)
{
    const struct th_event event = m->events[any_record(m)];

    insert_record(m, any_record(m), event);
}

static void exchange_neighbours(struct mutation *m)
{
    const size_t at = any_record(m);

    if (at > 0)
        insert_record(m, at - 1, remove_record(m, at));
}

/* Returns the length of a run that begins at AT. */
static size_t run_at(struct mutation *m, size_t at)
{
    const size_t rest = m->count - at;

    return 1 + th_replay_generate_number(&m->random, rest < LONGEST_RUN ? rest : LONGEST_RUN);
}

static void move_run(struct mutation *m)
{
    const size_t from = any_record(m), length = run_at(m, from), rest = m->count - length;
    const size_t to = th_replay_generate_number(&m->random, rest + 1);
    struct th_event run[LONGEST_RUN];

    memcpy(run, m->events + from, length * sizeof run[0]);
    memmove(m->events + from, m->events + from + length, (rest - from) * sizeof run[0]);
    memmove(m->events + to + length, m->events + to, (rest - to) * sizeof run[0]);
    memcpy(m->events + to, run, length * sizeof run[0]);
}

/* --- Changes of records ----------------------------------------------------------------------- */

/* Exchanges two processes or two ports as tracees of a run. */
static void exchange_tracees(struct mutation *m)
{
    const size_t from = any_record(m), length = run_at(m, from);
    const struct th_event *a = &m->events[from], *b = &m->events[any_record(m)];
    const th_term one = a->tracee, other = b->tracee;

    if (one == TH_NONE || other == TH_NONE || th_is_port(one) != th_is_port(other))
        return;
    for (struct th_event *event = m->events + from; event < m->events + from + length; event++) {
        if (event->tracee == one)
            event->tracee = other;
        else if (event->tracee == other)
            event->tracee = one;
    }
}

/* Returns TUPLE with TERM as element INDEX. */
static th_term replace_element(struct mutation *m, th_term tuple, size_t index, th_term term)
{
    th_term *elements;
    const th_term made = th_make_tuple_space(&m->env, th_tuple_arity(tuple), &elements);

    memcpy(elements, th_tuple_elements(tuple), th_tuple_arity(tuple) * sizeof *elements);
    elements[index] = term;
    return made;
}

/* Returns LIST, which is not empty, with TERM as one of its elements. */
static th_term replace_argument(struct mutation *m, th_term list, th_term term)
{
    size_t length = 0;
    th_term *elements, rest = list;

    for (; th_is_list(rest); rest = th_cell(rest)[1])
        length++;
    elements = th_alloc(length * sizeof *elements);
    for (size_t i = 0; i < length; i++, list = th_cell(list)[1])
        elements[i] = th_cell(list)[0];
    elements[th_replay_generate_number(&m->random, length)] = term;
    while (length-- > 0)
        rest = th_make_cons(&m->env, elements[length], rest);
    th_free(elements);
    return rest;
}

/* Puts TERM in a place of EVENT where any term may stand. */
static void put_any_term(struct mutation *m, struct th_event *event, th_term term)
{
    struct th_event_place places[TH_EVENT_PLACES], *at;
    const size_t count = th_replay_event_places(event, places);

    if (event->match_spec_result != TH_NONE && th_replay_generate_chance(&m->random, 30)) {
        event->match_spec_result = term;
        return;
    }
    if (count == 0)
        return;
    at = &places[th_replay_generate_number(&m->random, count)];
    if (at->kind == TH_PLACE_ARGUMENTS)
        term = replace_argument(m, th_tuple_elements(*at->field)[at->index], term);
    *at->field =
        at->kind == TH_PLACE_WHOLE ? term : replace_element(m, *at->field, at->index, term);
}

static void put_odd_term(struct mutation *m)
{
    struct th_event *event = &m->events[any_record(m)];

    put_any_term(m, event, th_replay_generate_term(&m->random, &m->env));
}

static void put_term_of_other(struct mutation *m)
{
    struct th_event *event = &m->events[any_record(m)];
    const struct th_event *other = &m->events[any_record(m)];

    put_any_term(m, event, other->term);
}

/* Gives a record the terms of another one with the same tag, of a tracee of the same kind. */
static void put_terms_of_same_tag(struct mutation *m)
{
    struct th_event *event = &m->events[any_record(m)];
    const size_t begin = any_record(m);

    for (size_t i = 0; i < m->count; i++) {
        const struct th_event *other = &m->events[(begin + i) % m->count];
        if (other == event || other->tag != event->tag ||
            th_is_port(other->tracee) != th_is_port(event->tracee))
            continue;
        event->term = other->term;
        if (th_replay_generate_chance(&m->random, 50))
            event->extra = other->extra;
        return;
    }
}

/* --- The copy --------------------------------------------------------------------------------- */

static void (*const changes[])(struct mutation *m) = {
    drop_record,      double_record, exchange_neighbours, move_run,
    exchange_tracees, put_odd_term,  put_term_of_other,   put_terms_of_same_tag,
};

/* Begins with the sound records of PART. */
static void copy_records(struct mutation *m, const struct th_replay_part *part)
{
    m->events = NULL;
    for (size_t i = 0; i < part->count; i++)
        if (part->records[i].event.source)
            insert_record(m, m->count, part->records[i].event);
}

static void write_records(struct mutation *m, struct th_buffer *stream)
{
    th_replay_writer_encode_head(stream, m->how);
    for (size_t i = 0; i < m->count; i++)
        th_replay_generate_add(stream, m->how, &m->events[i]);
}

static bool equal_buffers(const struct th_buffer *a, const struct th_buffer *b)
{
    return a->size == b->size && memcmp(a->data, b->data, a->size) == 0;
}

/* Changes about one record in eight, and at least one; goes on while the changes undo each other. */
static void change_copy(struct mutation *m, struct th_buffer *stream)
{
    const size_t kinds = sizeof changes / sizeof changes[0];
    struct th_buffer before = {0};

    write_records(m, &before);
    do {
        const size_t count = 1 + th_replay_generate_number(&m->random, m->count / 4 + 4);
        for (size_t i = 0; i < count; i++)
            changes[th_replay_generate_number(&m->random, kinds)](m);
        stream->size = 0;
        write_records(m, stream);
    } while (equal_buffers(&before, stream));
    th_buffer_free(&before);
}

enum th_status th_replay_generate_mutated(struct th_buffer *stream,
                                          const struct th_buffer *recording,
                                          const struct th_writer_options *how, uint64_t seed)
{
    struct mutation m = {.random.state = seed, .how = how};
    struct th_buffer mutated = {0};
    struct th_replay_part part;
    enum th_status status = th_replay_part_read(&part, recording, how, false);

    th_env_init(&m.env, TH_ENV_PLAIN);
    if (status == TH_OK)
        copy_records(&m, &part);
    if (m.count > 0)
        change_copy(&m, &mutated);
    th_buffer_add(stream, mutated.data, mutated.size);
    th_buffer_free(&mutated);
    th_free(m.events);
    th_env_release(&m.env);
    th_replay_part_free(&part);
    return status;
}
