/* Syntax trees: their memory, and the checks of patterns and guards. */
#include "shell_internal.h"

#include "host/term/text_segment.h"

#include <stdatomic.h>
#include <string.h>

/* --- Memory ----------------------------------------------------------------------------------- */

void *th_shell_source_alloc(struct th_source *source, size_t size)
{
    return th_env_take(&source->env, (size + sizeof(th_term) - 1) / sizeof(th_term));
}

/* A source begins with its struct th_magic. */
void th_shell_source_keep(struct th_magic *kept)
{
    struct th_source *source = (struct th_source *)kept;

    atomic_fetch_add_explicit(&source->shares, 1, memory_order_relaxed);
}

/* Memory order: each drop releases, so that earlier reads by other threads come before the free;
 * the last drop acquires. */
void th_shell_source_drop(struct th_source *source)
{
    if (atomic_fetch_sub_explicit(&source->shares, 1, memory_order_acq_rel) > 1)
        return;
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
    return th_shell_make_node_of(p, kind, at, count ? p->parts + first : NULL, count);
}

struct th_node *th_shell_make_leaf(struct th_expression_parser *p, enum th_node_kind kind,
                                   const char *at, th_term value)
{
    struct th_node *leaf = th_shell_make_node_of(p, kind, at, NULL, 0);

    leaf->value = value;
    return leaf;
}

/* --- Funs ------------------------------------------------------------------------------------- */

/* Names of variables, each once. */
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

/* A walk over a tree, up to the first invalid part. */
struct check {
    const struct th_node *wrong; /* NULL: none */
    const char *wanted;          /* the text for the error */
};

typedef void check_node(struct check *c, const struct th_node *node);

static check_node check_expression, check_pattern, check_guard_test;

static void expression_tree_refuse(struct check *c, const struct th_node *node, const char *wanted)
{
    c->wrong = node;
    c->wanted = wanted;
}

/* A missing part is valid. */
static void expression_tree_check_part(struct check *c, const struct th_node *part,
                                       check_node *check)
{
    if (part && !c->wrong)
        check(c, part);
}

static void check_parts(struct check *c, const struct th_node *node, size_t first,
                        check_node *check)
{
    for (size_t i = first; i < node->count; i++)
        expression_tree_check_part(c, node->parts[i], check);
}

static void check_map_pair(struct check *c, const struct th_node *pair)
{
    if (!pair->exact)
        expression_tree_refuse(c, pair, "':=' between key and value, as this is a pattern");
    expression_tree_check_part(c, pair->parts[0], check_guard_test);
    expression_tree_check_part(c, pair->parts[1], check_pattern);
}

static void check_pattern(struct check *c, const struct th_node *node)
{
    switch ((enum th_node_kind)node->kind) {
    case TH_NODE_CONSTANT:
    case TH_NODE_VARIABLE:
    case TH_NODE_ANY:
        break;
    case TH_NODE_LIST:
    case TH_NODE_TUPLE:
    case TH_NODE_MATCH:
        check_parts(c, node, 0, check_pattern);
        break;
    case TH_NODE_MAP:
        if (node->parts[0])
            expression_tree_refuse(c, node, "a pattern, which no map with an update is");
        check_parts(c, node, 1, check_map_pair);
        break;
    case TH_NODE_BITS:
        for (size_t i = 0; !c->wrong && i < node->count; i++) {
            const struct th_node *segment = node->parts[i];
            unsigned kind = segment->parts[0]->kind;
            if (kind != TH_NODE_CONSTANT && kind != TH_NODE_VARIABLE && kind != TH_NODE_ANY)
                expression_tree_refuse(c, segment,
                                       "a variable or a constant, as this is a pattern");
            else if (i + 1 < node->count && !segment->parts[1] && !segment->spec->sized &&
                     (segment->spec->type == TH_SEGMENT_BINARY ||
                      segment->spec->type == TH_SEGMENT_BITSTRING))
                expression_tree_refuse(c, segment,
                                       "a size, as only the last segment takes all that is left");
            expression_tree_check_part(c, segment->parts[1], check_guard_test);
        }
        break;
    default:
        expression_tree_refuse(c, node,
                               "a pattern: variables, _, constants, and lists, tuples, maps and "
                               "bit strings of these");
    }
}

static void check_guard_test(struct check *c, const struct th_node *node)
{
    const struct th_node *module = node->count ? node->parts[0] : NULL, *function;

    switch ((enum th_node_kind)node->kind) {
    case TH_NODE_CALL:
        function = node->parts[1];
        if ((module && (module->kind != TH_NODE_CONSTANT || module->value != TH_AM(erlang))) ||
            function->kind != TH_NODE_CONSTANT || !th_is_atom(function->value) ||
            !th_shell_in_guards(th_atom_name(function->value)->text, node->count - 2))
            expression_tree_refuse(c, node,
                                   "a guard, which may call is_atom/1 and the like, but not this");
        check_parts(c, node, 2, check_guard_test);
        break;
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
        expression_tree_refuse(c, node, "a guard: tests without effects");
        break;
    case TH_NODE_MAP:
    case TH_NODE_ANY:
        check_expression(c, node);
        check_parts(c, node, 0, check_guard_test);
        break;
    default:
        if (node->op == TH_OPERATOR_APPEND || node->op == TH_OPERATOR_LESS_ALL)
            expression_tree_refuse(c, node, "a guard, which has no ++ and --");
        check_parts(c, node, 0, check_guard_test);
    }
}

/* The blocks of a guard are no expressions. */
static void check_guard_block(struct check *c, const struct th_node *tests)
{
    check_parts(c, tests, 0, check_guard_test);
}

static void check_guard(struct check *c, const struct th_node *guard)
{
    check_parts(c, guard, 0, check_guard_block);
}

static void check_expression(struct check *c, const struct th_node *node)
{
    switch ((enum th_node_kind)node->kind) {
    case TH_NODE_MATCH:
        expression_tree_check_part(c, node->parts[0], check_pattern);
        expression_tree_check_part(c, node->parts[1], check_expression);
        break;
    case TH_NODE_CLAUSE:
        expression_tree_check_part(c, node->parts[0], check_pattern);
        expression_tree_check_part(c, node->parts[1], check_guard);
        expression_tree_check_part(c, node->parts[2], check_expression);
        break;
    case TH_NODE_GENERATOR:
        if (node->parts[0]->kind == TH_NODE_PAIR)
            check_parts(c, node->parts[0], 0, check_pattern);
        else
            expression_tree_check_part(c, node->parts[0], check_pattern);
        expression_tree_check_part(c, node->parts[1], check_expression);
        break;
    case TH_NODE_ANY:
        expression_tree_refuse(c, node, "an expression; '_' has no value");
        break;
    case TH_NODE_MAP:
        for (size_t i = 1; !node->parts[0] && !c->wrong && i < node->count; i++)
            if (node->parts[i]->exact)
                expression_tree_refuse(c, node->parts[i],
                                       "'=>' between key and value of a new map");
        check_parts(c, node, 0, check_expression);
        break;
    default:
        check_parts(c, node, 0, check_expression);
    }
}

enum th_status th_shell_check(const struct th_source *source, const struct th_node *form)
{
    struct check c = {0};
    struct th_scanner s = th_text_scanner(NULL, source->text, source->size);

    check_expression(&c, form);
    return c.wrong ? th_text_scan_fail(&s, c.wrong->at, "expected %s", c.wanted) : TH_OK;
}

bool th_shell_is_test(const struct th_node *node)
{
    struct check c = {0};

    check_guard_test(&c, node);
    return !c.wrong;
}
