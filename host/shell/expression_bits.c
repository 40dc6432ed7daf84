/* Bit strings in expressions: parses their segments, and builds bit strings. */
#include "shell_internal.h"

#include "host/term/make.h"
#include "host/term/text.h"
#include "host/term/text_segment.h"

/* --- Parsing ---------------------------------------------------------------------------------- */

/* Parses a segment; or a value before "||". A constant size is stored in the specification. */
static struct th_node *parse_segment(struct th_expression_parser *p)
{
    bool string = p->scanner.token == TH_TOKEN_STRING;
    struct th_node *value = th_shell_parse_primary(p), *size = NULL, *segment;
    struct th_spec *spec;
    const char *wrong;

    if (th_shell_at(p, "||"))
        return value;
    spec = th_shell_source_alloc(p->source, sizeof *spec);
    *spec = (struct th_spec){.place = value->at};
    if (th_shell_skip(p, ":")) {
        size = th_shell_parse_primary(p);
        spec->sized = true;
        if (size->kind == TH_NODE_CONSTANT) {
            if (!th_get_uint64(size->value, &spec->size) || spec->size > TH_EXPRESSION_BITS)
                return th_shell_fail(p, size->at, "expected a size from 0 to %d",
                                     TH_EXPRESSION_BITS);
            size = NULL;
        }
    }
    if (th_shell_at(p, "/") && th_text_spec_read_types(&p->scanner, spec) != TH_OK)
        return th_shell_stop(p);
    wrong = th_text_spec_complete(spec);
    if (wrong)
        return th_shell_fail(p, value->at, "expected %s", wrong);
    segment =
        th_shell_make_node_of(p, TH_NODE_SEGMENT, value->at, (struct th_node *[]){value, size}, 2);
    segment->spec = spec;
    segment->exact = string;
    return segment;
}

struct th_node *th_shell_parse_bits(struct th_expression_parser *p, const char *at)
{
    size_t first = p->count;

    if (!th_shell_skip(p, ">>")) {
        th_shell_parse_several(p, parse_segment, ",");
        if (th_shell_at(p, "||") && p->count == first + 1 &&
            p->parts[first]->kind != TH_NODE_SEGMENT)
            return th_shell_parse_comprehension(p, TH_NODE_COMPREHENSION_BITS, p->parts[--p->count],
                                                ">>");
        if (!th_shell_skip(p, ">>"))
            th_shell_fail_here(p, "',' or '>>'");
    }
    return th_shell_make_node(p, TH_NODE_BITS, at, first);
}

/* --- Building --------------------------------------------------------------------------------- */

bool th_shell_segment_spec(const struct th_node *segment, th_term value, struct th_spec *spec)
{
    *spec = *segment->spec;
    if (!segment->parts[1])
        return true;
    return th_get_uint64(value, &spec->size) && spec->size <= TH_EXPRESSION_BITS;
}

static const char *const type_names[] = {
    [TH_SEGMENT_INTEGER] = "integer", [TH_SEGMENT_FLOAT] = "float",
    [TH_SEGMENT_BINARY] = "binary",   [TH_SEGMENT_BITSTRING] = "bitstring",
    [TH_SEGMENT_UTF8] = "utf8",       [TH_SEGMENT_UTF16] = "utf16",
    [TH_SEGMENT_UTF32] = "utf32",
};

/* Adds SEGMENT, number I, with VALUE: one value, or a string's characters. Returns false, with an
 * exception, if VALUE does not fit. */
static bool expression_bits_add_segment(struct th_evaluation *e, struct th_segments *built,
                                        const struct th_node *segment, size_t i, th_term value,
                                        th_term size)
{
    const char *wrong = NULL;
    struct th_buffer note = {0};
    struct th_spec spec;
    th_term got = value;

    if (!th_shell_segment_spec(segment, size, &spec)) {
        wrong = "a non-negative integer as size";
        got = size;
    } else if (!segment->exact) {
        wrong = th_text_segment_put(built, &spec, value);
    } else if (spec.type == TH_SEGMENT_BINARY || spec.type == TH_SEGMENT_BITSTRING) {
        wrong = "a binary";
    } else {
        for (; !wrong && th_is_list(value); value = th_cell(value)[1]) {
            got = th_cell(value)[0];
            wrong = th_text_segment_put(built, &spec, got);
        }
    }
    if (!wrong)
        return true;
    th_buffer_printf(&note, "segment %zu of type '%s': expected %s but got: ", i + 1,
                     type_names[spec.type], wrong);
    th_text_show_limited(&note, got, TH_EXCEPTION_TEXT / 2);
    th_shell_raise(e, TH_CLASS_ERROR, TH_AM(badarg));
    e->exception.construction = true;
    th_shell_add_note(e, th_buffer_text(&note));
    th_buffer_free(&note);
    return false;
}

/* All values are evaluated before the first segment is built. */
th_term th_shell_evaluate_bits(struct th_evaluation *e, const struct th_node *bits)
{
    struct th_segments built = {.left = TH_EXPRESSION_BITS};
    size_t first = e->stacked, at;
    th_term result = TH_NONE;
    bool good = true;

    for (size_t i = 0; i < bits->count; i++) {
        const struct th_node *segment = bits->parts[i];
        if (!th_shell_evaluate_all(e, segment->parts, segment->parts[1] ? 2 : 1, &at))
            return TH_NONE;
    }
    at = first;
    for (size_t i = 0; good && i < bits->count; i++) {
        const struct th_node *segment = bits->parts[i];
        th_term value = e->stack[at++];
        good = expression_bits_add_segment(e, &built, segment, i, value,
                                           segment->parts[1] ? e->stack[at++] : TH_NONE);
    }
    if (good)
        result = th_shell_make_bits(&e->heap, built.bytes.data, built.bits);
    e->stacked = first;
    th_buffer_free(&built.bytes);
    return result;
}
