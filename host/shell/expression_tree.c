/* Trees: their memory, and whether all in them may stand where it does. */
#include "expression.h"

#include <stdatomic.h>
#include <string.h>

/* --- Memory ----------------------------------------------------------------------------------- */

enum { BLOCK_BYTES = 4096 };

struct th_arena_block {
    struct th_arena_block *next;
    size_t used, size;
    _Alignas(16) unsigned char bytes[];
};

void *th_shell_source_alloc(struct th_source *source, size_t size)
{
    struct th_arena_block *block = source->blocks;
    void *place;

    size = (size + 15) & ~(size_t)15;
    if (!block || block->size - block->used < size) {
        size_t room = size > BLOCK_BYTES ? size : BLOCK_BYTES;
        block = th_alloc(sizeof *block + room);
        *block = (struct th_arena_block){.next = source->blocks, .size = room};
        source->blocks = block;
    }
    place = block->bytes + block->used;
    block->used += size;
    return place;
}

void th_shell_source_keep(struct th_source *source)
{
    atomic_fetch_add_explicit(&source->shares, 1, memory_order_relaxed);
}

/* What others have read of it happens before it goes: each share is given back with release, and
 * whoever has the last one acquires. */
void th_shell_source_drop(struct th_source *source)
{
    if (atomic_fetch_sub_explicit(&source->shares, 1, memory_order_acq_rel) > 1)
        return;
    while (source->blocks) {
        struct th_arena_block *block = source->blocks;
        source->blocks = block->next;
        th_free(block);
    }
    th_env_release(&source->env);
    th_free(source->funs);
    th_free(source->text);
    th_free(source);
}

void th_shell_program_free(struct th_program *program)
{
    if (program->source)
        th_shell_source_drop(program->source);
    th_free(program->forms);
    *program = (struct th_program){0};
}

void th_shell_push_part(struct th_expression_parser *p, struct th_node *part)
{
    TH_ARRAY_GROW(p->parts, p->count, p->capacity);
    p->parts[p->count++] = part;
}

struct th_node *th_shell_make_node_of(struct th_expression_parser *p, enum th_node_kind kind,
                                      const char *at, struct th_node *const parts[], size_t count)
{
    struct th_node *node = th_shell_source_alloc(p->source, sizeof *node + count * sizeof parts[0]);

    *node = (struct th_node){.kind = (unsigned char)kind, .at = at, .count = count};
    for (size_t i = 0; i < count; i++) {
        node->parts[i] = parts[i];
        if (parts[i] && parts[i]->depth > node->depth)
            node->depth = parts[i]->depth;
    }
    if (++node->depth > TH_EXPRESSION_DEPTH)
        return th_shell_fail(p, at, "expected at most %d expressions inside each other",
                             TH_EXPRESSION_DEPTH);
    return node;
}

struct th_node *th_shell_make_node(struct th_expression_parser *p, enum th_node_kind kind,
                                   const char *at, size_t first)
{
    size_t count = p->count - first;

    p->count = first;
    return th_shell_make_node_of(p, kind, at, p->parts + first, count);
}

struct th_node *th_shell_make_leaf(struct th_expression_parser *p, enum th_node_kind kind,
                                   const char *at, th_term value)
{
    struct th_node *leaf = th_shell_make_node_of(p, kind, at, NULL, 0);

    leaf->value = value;
    return leaf;
}

/* --- Funs ------------------------------------------------------------------------------------- */

/* Names that were met, each once. */
struct names {
    th_term *items;
    size_t count, capacity;
};

static void collect_names(struct names *names, const struct th_node *node)
{
    size_t i = 0;

    for (size_t k = 0; k < node->count; k++)
        if (node->parts[k])
            collect_names(names, node->parts[k]);
    if (node->kind != TH_NODE_VARIABLE)
        return;
    while (i < names->count && names->items[i] != node->value)
        i++;
    if (i == names->count) {
        TH_ARRAY_GROW(names->items, names->count, names->capacity);
        names->items[names->count++] = node->value;
    }
}

void th_shell_source_add_fun(struct th_source *source, struct th_node *node)
{
    struct names names = {0};
    th_term *kept;

    collect_names(&names, node);
    kept = th_shell_source_alloc(source, (names.count + 1) * sizeof *kept);
    for (size_t i = 0; i < names.count; i++)
        kept[i] = names.items[i];
    th_free(names.items);
    node->value = th_small((int64_t)source->fun_count);
    TH_ARRAY_GROW(source->funs, source->fun_count, source->fun_capacity);
    source->funs[source->fun_count++] = (struct th_fun_source){node, kept, names.count};
}

/* --- Checks ----------------------------------------------------------------------------------- */

static enum th_status fail(const struct th_source *source, const struct th_node *node,
                           const char *wanted)
{
    struct th_scanner s = th_scanner(NULL, source->text, source->size);

    return th_scan_fail(&s, node->at, "expected %s", wanted);
}

static enum th_status check_expression(const struct th_source *source, const struct th_node *node);
static enum th_status check_guard_test(const struct th_source *source, const struct th_node *node);

/* All parts from FIRST on, by CHECK. */
static enum th_status
check_parts(const struct th_source *source, const struct th_node *node, size_t first,
            enum th_status (*check)(const struct th_source *, const struct th_node *))
{
    enum th_status status = TH_OK;

    for (size_t i = first; status == TH_OK && i < node->count; i++)
        if (node->parts[i])
            status = check(source, node->parts[i]);
    return status;
}

static enum th_status check_pattern(const struct th_source *source, const struct th_node *node);

static enum th_status check_map_pattern(const struct th_source *source, const struct th_node *map)
{
    enum th_status status = TH_OK;

    if (map->parts[0])
        return fail(source, map, "a pattern, which no map with an update is");
    for (size_t i = 1; status == TH_OK && i < map->count; i++) {
        const struct th_node *pair = map->parts[i];
        if (!pair->exact)
            return fail(source, pair, "':=' between key and value, as this is a pattern");
        status = check_guard_test(source, pair->parts[0]);
        if (status == TH_OK)
            status = check_pattern(source, pair->parts[1]);
    }
    return status;
}

static bool is_leaf_pattern(const struct th_node *node)
{
    return node->kind == TH_NODE_CONSTANT || node->kind == TH_NODE_VARIABLE ||
           node->kind == TH_NODE_ANY;
}

static enum th_status check_bits_pattern(const struct th_source *source, const struct th_node *bits)
{
    enum th_status status = TH_OK;

    for (size_t i = 0; status == TH_OK && i < bits->count; i++) {
        const struct th_node *segment = bits->parts[i];
        bool last = i + 1 == bits->count;
        if (!is_leaf_pattern(segment->parts[0]))
            return fail(source, segment, "a variable or a constant, as this is a pattern");
        if (!last && !segment->parts[1] && !segment->spec->sized &&
            (segment->spec->type == TH_SEGMENT_BINARY ||
             segment->spec->type == TH_SEGMENT_BITSTRING))
            return fail(source, segment, "a size, as only the last segment takes all that is left");
        if (segment->parts[1])
            status = check_guard_test(source, segment->parts[1]);
    }
    return status;
}

static enum th_status check_pattern(const struct th_source *source, const struct th_node *node)
{
    switch ((enum th_node_kind)node->kind) {
    case TH_NODE_CONSTANT:
    case TH_NODE_VARIABLE:
    case TH_NODE_ANY:
        return TH_OK;
    case TH_NODE_LIST:
    case TH_NODE_TUPLE:
    case TH_NODE_MATCH:
        return check_parts(source, node, 0, check_pattern);
    case TH_NODE_MAP:
        return check_map_pattern(source, node);
    case TH_NODE_BITS:
        return check_bits_pattern(source, node);
    default:
        return fail(source, node,
                    "a pattern: variables, _, constants, and lists, tuples, maps and "
                    "bit strings of these");
    }
}

static enum th_status check_guard_call(const struct th_source *source, const struct th_node *node)
{
    const struct th_node *module = node->parts[0];
    const struct th_node *function = node->parts[1];

    if ((module && (module->kind != TH_NODE_CONSTANT || module->value != TH_AM(erlang))) ||
        function->kind != TH_NODE_CONSTANT || !th_is_atom(function->value) ||
        !th_shell_in_guards(th_atom_name(function->value)->text, node->count - 2))
        return fail(source, node, "a guard, which may call is_atom/1 and the like, but not this");
    return check_parts(source, node, 2, check_guard_test);
}

static enum th_status check_guard_test(const struct th_source *source, const struct th_node *node)
{
    switch ((enum th_node_kind)node->kind) {
    case TH_NODE_CALL:
        return check_guard_call(source, node);
    case TH_NODE_BINARY:
        if (node->op == TH_OPERATOR_APPEND || node->op == TH_OPERATOR_LESS_ALL)
            return fail(source, node, "a guard, which has no ++ and --");
        return check_parts(source, node, 0, check_guard_test);
    case TH_NODE_MATCH:
    case TH_NODE_SEND:
    case TH_NODE_CATCH:
    case TH_NODE_BLOCK:
    case TH_NODE_CASE:
    case TH_NODE_IF:
    case TH_NODE_RECEIVE:
    case TH_NODE_TRY:
    case TH_NODE_FUN:
    case TH_NODE_EXPORT:
    case TH_NODE_COMPREHENSION:
    case TH_NODE_COMPREHENSION_BITS:
    case TH_NODE_COMPREHENSION_MAP:
        return fail(source, node, "a guard: tests without effects");
    case TH_NODE_MAP:
    case TH_NODE_ANY: {
        enum th_status status = check_expression(source, node);
        return status == TH_OK ? check_parts(source, node, 0, check_guard_test) : status;
    }
    default:
        return check_parts(source, node, 0, check_guard_test);
    }
}

static enum th_status check_guard(const struct th_source *source, const struct th_node *guard)
{
    enum th_status status = TH_OK;

    for (size_t i = 0; status == TH_OK && i < guard->count; i++)
        status = check_parts(source, guard->parts[i], 0, check_guard_test);
    return status;
}

static enum th_status check_clause(const struct th_source *source, const struct th_node *clause)
{
    enum th_status status = clause->parts[0] ? check_pattern(source, clause->parts[0]) : TH_OK;

    if (status == TH_OK && clause->parts[1])
        status = check_guard(source, clause->parts[1]);
    return status == TH_OK ? check_expression(source, clause->parts[2]) : status;
}

static enum th_status check_generator(const struct th_source *source,
                                      const struct th_node *generator)
{
    const struct th_node *pattern = generator->parts[0];
    enum th_status status = pattern->kind == TH_NODE_PAIR
                                ? check_parts(source, pattern, 0, check_pattern)
                                : check_pattern(source, pattern);

    return status == TH_OK ? check_expression(source, generator->parts[1]) : status;
}

static enum th_status check_expression(const struct th_source *source, const struct th_node *node)
{
    enum th_status status;

    switch ((enum th_node_kind)node->kind) {
    case TH_NODE_MATCH:
        status = check_pattern(source, node->parts[0]);
        return status == TH_OK ? check_expression(source, node->parts[1]) : status;
    case TH_NODE_CLAUSE:
        return check_clause(source, node);
    case TH_NODE_GENERATOR:
        return check_generator(source, node);
    case TH_NODE_ANY:
        return fail(source, node, "an expression; '_' has no value");
    case TH_NODE_MAP:
        for (size_t i = 1; !node->parts[0] && i < node->count; i++)
            if (node->parts[i]->exact)
                return fail(source, node->parts[i], "'=>' between key and value of a new map");
        return check_parts(source, node, 0, check_expression);
    default:
        return check_parts(source, node, 0, check_expression);
    }
}

enum th_status th_shell_check(const struct th_source *source, const struct th_node *form)
{
    return check_expression(source, form);
}

bool th_shell_is_test(const struct th_source *source, const struct th_node *node)
{
    bool good = check_guard_test(source, node) == TH_OK;

    th_error_clear();
    return good;
}
