/* Adds faults of match specifications; prints and finds places in specifications. */
#include "match_internal.h"

#include "host/term/text.h"

enum { SHOWN = 200 /* bytes of a term, or a few more */, FAULT_TEXT = 4096 };

const char *th_match_shown(struct th_match_compiler *c, th_term t)
{
    c->shown.size = 0;
    th_text_print_beam(&c->shown, t, TH_TEXT_BEAM_LIMIT);
    return th_buffer_text(&c->shown);
}

static char *part_text(th_term t, void (*print)(struct th_buffer *, th_term, size_t))
{
    struct th_buffer text = {0};
    char *copy;

    if (t == TH_NONE)
        return NULL;
    print(&text, t, SHOWN);
    copy = th_strdup(th_buffer_text(&text));
    th_buffer_free(&text);
    return copy;
}

void th_match_add_fault(struct th_match_compiler *c, th_term t, const char *format, ...)
{
    struct th_match_faults *faults = &c->faults;
    char text[FAULT_TEXT];
    va_list rest;

    if (faults->count == TH_MATCH_FAULTS)
        return;
    va_start(rest, format);
    vsnprintf(text, sizeof text, format, rest);
    va_end(rest);
    TH_ARRAY_GROW(faults->items, faults->count, faults->capacity);
    faults->items[faults->count++] =
        (struct th_match_fault){c->place, th_strdup(text), part_text(t, th_text_print_limited),
                                part_text(t, th_text_show_limited)};
}

void th_match_repeat_fault(struct th_match_compiler *c, size_t i)
{
    struct th_match_faults *faults = &c->faults;
    struct th_match_fault again;

    if (faults->count == TH_MATCH_FAULTS)
        return;
    again = faults->items[i];
    again.text = th_strdup(again.text);
    again.term = again.term ? th_strdup(again.term) : NULL;
    again.shown = again.shown ? th_strdup(again.shown) : NULL;
    TH_ARRAY_GROW(faults->items, faults->count, faults->capacity);
    faults->items[faults->count++] = again;
}

void th_match_faults_free(struct th_match_faults *faults)
{
    for (size_t i = 0; i < faults->count; i++) {
        th_free(faults->items[i].text);
        th_free(faults->items[i].term);
        th_free(faults->items[i].shown);
    }
    th_free(faults->items);
    *faults = (struct th_match_faults){0};
}

/* --- Places ----------------------------------------------------------------------------------- */

void th_match_print_place(struct th_buffer *out, struct th_match_place place)
{
    static const struct {
        const char *whole, *item;
    } names[] = {
        [TH_MATCH_HEAD] = {"head", "head, element"},
        [TH_MATCH_GUARD] = {"guards", "guard"},
        [TH_MATCH_BODY] = {"body", "body, expression"},
    };

    if (place.clause == 0)
        return;
    th_buffer_printf(out, "clause %zu", place.clause);
    if (place.part == TH_MATCH_WHOLE)
        return;
    if (place.item > 0)
        th_buffer_printf(out, ", %s %zu", names[place.part].item, place.item);
    else
        th_buffer_printf(out, ", %s", names[place.part].whole);
}

/* Returns element I (from 1) of a list or tuple; TH_NONE: none. */
static th_term item_in(th_term t, size_t i)
{
    if (th_is_tuple(t))
        return i <= th_tuple_arity(t) ? th_tuple_elements(t)[i - 1] : TH_NONE;
    for (; th_is_list(t) && i > 1; i--)
        t = th_cell(t)[1];
    return th_is_list(t) ? th_cell(t)[0] : TH_NONE;
}

th_term th_match_part(const struct th_match_spec *spec, struct th_match_place place)
{
    th_term clause = place.clause ? item_in(spec->source, place.clause) : TH_NONE;

    if (clause == TH_NONE || place.part == TH_MATCH_WHOLE)
        return clause;
    clause = th_tuple_elements(clause)[place.part - TH_MATCH_HEAD];
    return place.item ? item_in(clause, place.item) : clause;
}
