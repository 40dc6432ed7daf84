#include "shrink.h"

#include "minimize.h"

#include "host/base/memory.h"
#include "host/term/make.h"
#include "host/term/map.h"

#include <string.h>

enum {
    DEPTH = 100,  /* deeper terms stay as they are */
    CHILDREN = 16 /* elements that are tried in place of the whole term */
};

struct shrink {
    struct th_event *event;
    th_env *env;
    size_t most;
    th_term *field; /* the member of EVENT that is being shrunk */
    th_replay_event_trial *trial;
    void *context;
};

/* The place of a term: an element of WHOLE. The elements of a map are its values. */
struct place {
    struct place *outer; /* of WHOLE; NULL: WHOLE is the event's field */
    th_term whole;
    size_t index;
};

static void shrink_term(struct shrink *s, struct place *place, th_term term, unsigned depth);

/* --- Elements --------------------------------------------------------------------------------- */

/* Copies the elements of WHOLE, a tuple, list or map. *TAIL gets the tail of a list. Owner: the
 * caller frees the elements with th_free(). */
static th_term *copy_elements(th_term whole, size_t *count, th_term *tail)
{
    th_term *elements;
    size_t i = 0;

    *count = 0;
    *tail = whole;
    if (!th_is_list(whole)) {
        const th_term *from = th_is_map(whole) ? th_map_values(whole) : th_tuple_elements(whole);
        *count = th_is_map(whole) ? th_map_size(whole) : th_tuple_arity(whole);
        elements = th_alloc((*count + 1) * sizeof *elements);
        memcpy(elements, from, *count * sizeof *elements);
        return elements;
    }
    for (; th_is_list(*tail); *tail = th_cell(*tail)[1])
        ++*count;
    elements = th_alloc(*count * sizeof *elements);
    for (; i < *count; whole = th_cell(whole)[1])
        elements[i++] = th_cell(whole)[0];
    return elements;
}

/* Makes a term like WHOLE from those of its ELEMENTS whose numbers are KEPT. */
static th_term make_like(th_env *env, th_term whole, const th_term elements[], const size_t kept[],
                         size_t count, th_term tail)
{
    th_term *chosen = th_alloc((2 * count + 1) * sizeof *chosen), made = tail;

    for (size_t i = 0; i < count; i++)
        chosen[i] = elements[kept[i]];
    if (th_is_tuple(whole)) {
        made = th_make_tuple(env, chosen, count);
    } else if (th_is_map(whole)) {
        for (size_t i = 0; i < count; i++)
            chosen[count + i] = th_map_keys(whole)[kept[i]];
        made = th_make_map(env, chosen + count, chosen, count, true);
    } else {
        for (size_t i = count; i-- > 0;)
            made = th_make_cons(env, chosen[i], made);
    }
    th_free(chosen);
    return made;
}

/* Returns PLACE's whole with TERM at the place. */
static th_term with_element(th_env *env, const struct place *place, th_term term)
{
    size_t count, *all;
    th_term tail, made, *elements = copy_elements(place->whole, &count, &tail);

    all = th_alloc((count + 1) * sizeof *all);
    for (size_t i = 0; i < count; i++)
        all[i] = i;
    elements[place->index] = term;
    made = make_like(env, place->whole, elements, all, count, tail);
    th_free(elements);
    th_free(all);
    return made;
}

/* --- Attempts --------------------------------------------------------------------------------- */

/* Puts TERM in PLACE if the test holds then. */
static bool attempt(struct shrink *s, struct place *place, th_term term)
{
    const th_term before = *s->field;
    th_term made = term;

    if (th_env_footprint(s->env) > s->most)
        return false;
    for (const struct place *p = place; p; p = p->outer)
        made = with_element(s->env, p, made);
    *s->field = made;
    if (!s->trial(s->context, s->event)) {
        *s->field = before;
        return false;
    }
    for (struct place *p = place; p; p = p->outer)
        p->whole = term = with_element(s->env, p, term);
    *s->field = term;
    return true;
}

struct unit_attempt {
    struct shrink *shrink;
    struct place *place;
    th_term whole, tail;
    const th_term *elements;
};

static size_t attempt_units(void *context, const size_t units[], size_t count)
{
    struct unit_attempt *a = context;

    return attempt(a->shrink, a->place,
                   make_like(a->shrink->env, a->whole, a->elements, units, count, a->tail))
               ? count + (count == 0)
               : 0;
}

/* Drops elements of WHOLE, a list or map at PLACE. Returns what is left. */
static th_term drop_elements(struct shrink *s, struct place *place, th_term whole)
{
    struct unit_attempt a = {.shrink = s, .place = place, .whole = whole};
    size_t count, *kept;
    th_term *elements = copy_elements(whole, &count, &a.tail);

    a.elements = elements;
    kept = th_alloc((count + 1) * sizeof *kept);
    for (size_t i = 0; i < count; i++)
        kept[i] = i;
    count = th_replay_minimize_units(kept, count, false,
                                     &(struct th_replay_trials){attempt_units, &a, NULL});
    whole = make_like(s->env, whole, elements, kept, count, a.tail);
    th_free(elements);
    th_free(kept);
    return whole;
}

static void shrink_elements(struct shrink *s, struct place *place, th_term whole, unsigned depth)
{
    struct place inner = {.outer = place, .whole = whole};
    size_t count;
    th_term tail, *elements = copy_elements(whole, &count, &tail);

    for (size_t i = 0; i < count; i++) {
        inner.index = i;
        shrink_term(s, &inner, elements[i], depth + 1);
    }
    th_free(elements);
}

/* --- Terms ------------------------------------------------------------------------------------ */

/* Cuts the bit string TERM to the shortest prefix of whole bytes that suffices. */
static void shrink_bits(struct shrink *s, struct place *place, th_term term)
{
    const unsigned char *data = th_bits_data(term);
    size_t fails = 0, holds = (th_bits_size(term) + 7) / 8, size = 1;

    if (attempt(s, place, th_make_binary(s->env, data, 0)))
        return;
    for (; size < holds && !attempt(s, place, th_make_binary(s->env, data, size)); size *= 4)
        fails = size;
    holds = size < holds ? size : holds;
    while (fails + 1 < holds) {
        size = fails + (holds - fails) / 2;
        if (attempt(s, place, th_make_binary(s->env, data, size)))
            holds = size;
        else
            fails = size;
    }
}

/* Replaces WHOLE by one of its elements. */
static bool replace_by_element(struct shrink *s, struct place *place, th_term whole, unsigned depth)
{
    size_t count;
    th_term tail, *elements = copy_elements(whole, &count, &tail);
    bool replaced = false;

    for (size_t i = 0; i < count && i < CHILDREN && !replaced; i++)
        if ((replaced = attempt(s, place, elements[i])))
            shrink_term(s, place, elements[i], depth + 1);
    th_free(elements);
    return replaced;
}

static void shrink_term(struct shrink *s, struct place *place, th_term term, unsigned depth)
{
    if (term == TH_NIL || depth > DEPTH || attempt(s, place, TH_NIL))
        return;
    if (th_is_integer(term)) {
        if (term != th_small(0))
            attempt(s, place, th_small(0));
    } else if (th_is_float(term)) {
        attempt(s, place, th_make_float(s->env, 0.0));
    } else if (th_is_bitstring(term)) {
        shrink_bits(s, place, term);
    } else if (th_is_list(term) || th_is_map(term) || th_is_tuple(term)) {
        if (replace_by_element(s, place, term, depth))
            return;
        if (!th_is_tuple(term))
            term = drop_elements(s, place, term);
        if (th_is_list(term) || th_is_map(term) || th_is_tuple(term))
            shrink_elements(s, place, term, depth);
    }
}

/* --- Events ----------------------------------------------------------------------------------- */

static bool is_tuple_of(th_term term, size_t arity)
{
    return th_is_tuple(term) && th_tuple_arity(term) == arity;
}

/* True for {M, F, Arguments} with arguments. */
static bool has_arguments(th_term call)
{
    return is_tuple_of(call, 3) && th_is_list(th_tuple_elements(call)[2]);
}

size_t th_replay_event_places(struct th_event *event, struct th_event_place places[TH_EVENT_PLACES])
{
    size_t count = 0;

    switch (event->tag) {
    case TH_TAG_send:
    case TH_TAG_send_to_non_existing_process:
    case TH_TAG_receive:
    case TH_TAG_exit:
    case TH_TAG_closed:
        places[count++] = (struct th_event_place){&event->term, TH_PLACE_WHOLE, 0};
        break;
    case TH_TAG_call:
        if (has_arguments(event->term))
            places[count++] = (struct th_event_place){&event->term, TH_PLACE_ARGUMENTS, 2};
        break;
    case TH_TAG_return_from:
        places[count++] = (struct th_event_place){&event->extra, TH_PLACE_WHOLE, 0};
        break;
    case TH_TAG_exception_from:
        if (is_tuple_of(event->extra, 2))
            places[count++] = (struct th_event_place){&event->extra, TH_PLACE_ELEMENT, 1};
        break;
    case TH_TAG_spawn:
    case TH_TAG_spawned:
        if (has_arguments(event->extra))
            places[count++] = (struct th_event_place){&event->extra, TH_PLACE_ARGUMENTS, 2};
        break;
    case TH_TAG_seq_trace:
        places[count++] = (struct th_event_place){&event->label, TH_PLACE_WHOLE, 0};
        if (is_tuple_of(event->term, 5))
            places[count++] = (struct th_event_place){&event->term, TH_PLACE_ELEMENT, 4};
        break;
    default:
        break;
    }
    return count;
}

/* Sets the numbers of [{Key, Words}] to 0. */
static void shrink_words(struct shrink *s, th_term *field)
{
    struct place pair = {.whole = *field};
    size_t length = 0;
    th_term at = *field;

    th_get_list_length(at, &length);
    s->field = field;
    for (size_t i = 0; i < length; i++, at = th_cell(at)[1]) {
        struct place words = {.outer = &pair, .whole = th_cell(at)[0], .index = 1};
        pair.index = i;
        if (is_tuple_of(words.whole, 2) && th_tuple_elements(words.whole)[1] != th_small(0))
            attempt(s, &words, th_small(0));
    }
}

static void shrink_place(struct shrink *s, const struct th_event_place *at)
{
    const bool whole = at->kind == TH_PLACE_WHOLE;
    struct place place = {.whole = *at->field, .index = at->index};
    th_term term = whole ? *at->field : th_tuple_elements(*at->field)[at->index];

    s->field = at->field;
    if (at->kind != TH_PLACE_ARGUMENTS) {
        shrink_term(s, whole ? NULL : &place, term, 0);
        return;
    }
    term = drop_elements(s, &place, term);
    if (th_is_list(term))
        shrink_elements(s, &place, term, 0);
}

/* Leaves the result of a match specification out, or shrinks it. */
static void shrink_result(struct shrink *s)
{
    struct th_event *event = s->event;
    const th_term result = event->match_spec_result;

    if (result == TH_NONE)
        return;
    event->match_spec_result = TH_NONE;
    event->tuple_size--;
    if (s->trial(s->context, event))
        return;
    event->match_spec_result = result;
    event->tuple_size++;
    s->field = &event->match_spec_result;
    shrink_term(s, NULL, result, 0);
}

void th_replay_shrink(struct th_event *event, th_env *env, size_t most,
                      th_replay_event_trial *trial, void *context)
{
    struct shrink s = {
        .event = event, .env = env, .most = most, .trial = trial, .context = context};
    struct th_event_place places[TH_EVENT_PLACES];
    size_t count;

    shrink_result(&s);
    count = th_replay_event_places(event, places);
    for (size_t i = 0; i < count; i++)
        shrink_place(&s, &places[i]);
    if (event->tag >= TH_TAG_gc_minor_start && event->tag <= TH_TAG_gc_max_heap_size)
        shrink_words(&s, &event->term);
}
