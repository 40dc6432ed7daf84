/* Patterns without a function in a node: notes {tracehost, unmatched, _}. */
#include "note.h"

#include "tracing.h"

#include "host/base/buffer.h"
#include "host/base/memory.h"
#include "host/library/name_list.h"
#include "host/term/make.h"

/* Takes an atom, TH_NONE for `_`. */
static bool take_noted_name(th_term term, th_term *name)
{
    *name = term == TH_AM(anything) ? TH_NONE : term;
    return th_is_atom(term);
}

/* Takes the pattern of the elements M, F and A. */
static bool take_noted_pattern(const th_term *e, struct th_pattern *pattern)
{
    int64_t arity = TH_ANY_ARITY;

    *pattern = (struct th_pattern){.module = TH_NONE};
    if (!take_noted_name(e[0], &pattern->module) || !take_noted_name(e[1], &pattern->function) ||
        (e[2] != TH_AM(anything) && (!th_get_int64(e[2], &arity) || arity < 0 || arity > 255)))
        return false;
    pattern->arity = (int)arity;
    return true;
}

/* Returns the elements of {{M, F, A}, Kinds, Functions}, with the pattern in *PATTERN, or NULL. */
static const th_term *take_unmatched(th_term value, struct th_pattern *pattern)
{
    const th_term *e =
        th_is_tuple(value) && th_tuple_arity(value) == 3 ? th_tuple_elements(value) : NULL;

    return e && th_is_tuple(e[0]) && th_tuple_arity(e[0]) == 3 &&
                   take_noted_pattern(th_tuple_elements(e[0]), pattern)
               ? e
               : NULL;
}

/* Adds to NAMES what PATTERN could mean: each of FUNCTIONS, of the same module. */
static void add_similar(struct th_names *names, struct th_pattern pattern, th_term functions)
{
    const int arity = pattern.arity;
    struct th_buffer text = {0};
    int64_t number;

    for (; th_is_list(functions); functions = th_cell(functions)[1]) {
        th_term pair = th_cell(functions)[0];
        const th_term *e =
            th_is_tuple(pair) && th_tuple_arity(pair) == 2 ? th_tuple_elements(pair) : NULL;
        if (!e || !th_is_atom(e[0]) || !th_get_int64(e[1], &number) || number < 0 || number > 255)
            continue;
        pattern.function = e[0];
        pattern.arity = arity == TH_ANY_ARITY ? arity : (int)number;
        text.size = 0;
        th_trace_pattern_show(&text, &pattern);
        th_library_names_add(names, th_buffer_text(&text));
    }
    th_buffer_free(&text);
}

bool th_trace_note_unmatched_told(th_term value, struct th_buffer *text)
{
    struct th_names similar = {0};
    struct th_buffer name = {0};
    struct th_pattern pattern;
    const th_term *e = take_unmatched(value, &pattern);
    char *question;
    bool exported;

    if (!e)
        return false;
    exported =
        th_is_list(e[1]) && th_cell(e[1])[0] == th_atom("global") && !th_is_list(th_cell(e[1])[1]);
    th_trace_pattern_show(&name, &pattern);
    add_similar(&similar, pattern, e[2]);
    if (exported && th_library_names_contain(&similar, th_buffer_text(&name))) {
        th_buffer_printf(text, "-p %s: the node does not export this function",
                         th_buffer_text(&name));
    } else {
        question = th_library_suggest_question(th_buffer_text(&name),
                                               (const char *const *)similar.items, similar.count);
        th_buffer_printf(text, "-p %s: the node has no such function%s", th_buffer_text(&name),
                         question);
        th_free(question);
    }
    th_buffer_free(&name);
    th_library_names_free(&similar);
    return true;
}

void th_trace_note_unmatched_play(struct th_tracing *tracing, th_term value)
{
    struct th_pattern pattern;

    if (!take_unmatched(value, &pattern) || th_trace_note_unmatched(tracing, &pattern))
        return;
    TH_ARRAY_GROW(tracing->unmatched, tracing->unmatched_count, tracing->unmatched_capacity);
    tracing->unmatched[tracing->unmatched_count++] = pattern;
}

bool th_trace_note_unmatched(const struct th_tracing *tracing, const struct th_pattern *pattern)
{
    for (size_t i = 0; i < tracing->unmatched_count; i++) {
        const struct th_pattern *noted = &tracing->unmatched[i];
        if (noted->module == pattern->module && noted->function == pattern->function &&
            noted->arity == pattern->arity)
            return true;
    }
    return false;
}
