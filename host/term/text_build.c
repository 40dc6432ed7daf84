#include "text_parse_internal.h"

#include "env_internal.h"
#include "make.h"
#include "map_internal.h"
#include "text_internal.h"

#include <string.h>

void th_text_builder_init(struct th_builder *b, th_env *env, size_t length)
{
    b->env = env; /* the rest is not cleared: most of it is room */
    b->segments = (struct th_segments){.left = TH_TEXT_BITS(length)};
    th_stack_begin(&b->brackets, b->few_brackets, TH_FEW_BRACKETS);
    th_stack_begin(&b->terms, b->few_terms, TH_FEW_TERMS);
}

void th_text_builder_free(struct th_builder *b)
{
    th_buffer_free(&b->segments.bytes);
    th_stack_try_end(&b->brackets, sizeof(struct th_bracket));
    th_stack_try_end(&b->terms, sizeof(th_term));
}

bool th_text_builder_open(struct th_builder *b, enum th_bracket_kind kind, const char *place)
{
    struct th_segments *segments = &b->segments;
    struct th_bracket *bracket = th_stack_try_push(&b->brackets, sizeof *bracket);

    if (!bracket)
        return false;
    *bracket =
        (struct th_bracket){kind, true, b->terms.depth, segments->start, segments->bits, place};
    if (kind == TH_OPEN_BITS) {
        segments->start = segments->bytes.size;
        segments->bits = 0;
    }
    return true;
}

bool th_text_builder_add(struct th_builder *b, th_term t)
{
    th_term *place = th_stack_try_push(&b->terms, sizeof t);

    if (!place)
        return false;
    *place = t;
    th_text_builder_top(b)->fresh = false;
    return true;
}

/* Takes the innermost bracket and its terms away; they stay readable until the next one comes. */
static const th_term *pop(struct th_builder *b, size_t *count)
{
    size_t first = th_text_builder_top(b)->first;

    *count = b->terms.depth - first;
    b->terms.depth = first;
    b->brackets.depth--;
    return (const th_term *)b->terms.items + first;
}

th_term th_text_builder_list(struct th_builder *b, th_term tail)
{
    size_t count;
    const th_term *terms = pop(b, &count);
    th_term *cells;

    if (count == 0)
        return tail;
    cells = th_env_try(b->env, 2 * count);
    if (!cells)
        return TH_NONE;
    for (size_t i = 0; i < count; i++) {
        cells[2 * i] = terms[i];
        cells[2 * i + 1] = i + 1 < count ? th_listed(cells + 2 * i + 2) : tail;
    }
    return th_listed(cells);
}

th_term th_text_builder_tuple(struct th_builder *b)
{
    size_t count;
    const th_term *terms = pop(b, &count);

    return th_env_room(b->env, count + 1) ? th_make_tuple(b->env, terms, count) : TH_NONE;
}

th_term th_text_builder_map(struct th_builder *b)
{
    size_t count;
    const th_term *terms = pop(b, &count);
    size_t pairs = count / 2;
    th_term few[2 * TH_MAP_SMALL] = {0};
    th_term *apart = pairs <= TH_MAP_SMALL ? few : th_try_alloc(count * sizeof *apart);
    th_term map = TH_NONE;

    if (!apart)
        return TH_NONE;
    for (size_t i = 0; i < pairs; i++) {
        apart[i] = terms[2 * i];
        apart[pairs + i] = terms[2 * i + 1];
    }
    if (th_env_room(b->env, th_map_room(apart, pairs)))
        map = th_make_map(b->env, apart, apart + pairs, pairs, true);
    if (apart != few)
        th_try_free(apart, count * sizeof *apart);
    return map;
}

th_term th_text_builder_bits(struct th_builder *b)
{
    struct th_segments *segments = &b->segments;
    const struct th_bracket *bracket = th_text_builder_top(b);
    size_t bytes = segments->bytes.size - segments->start;
    unsigned char *data;
    th_term t;

    if (!th_env_room(b->env, th_term_heap_binary_words(segments->bits)))
        return TH_NONE;
    t = th_make_heap_binary(b->env, segments->bits, &data);
    if (bytes > 0)
        memcpy(data, segments->bytes.data + segments->start, bytes);
    segments->bytes.size = segments->start;
    segments->start = bracket->start;
    segments->bits = bracket->bits;
    b->brackets.depth--;
    return t;
}
