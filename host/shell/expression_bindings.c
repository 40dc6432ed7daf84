/* State that an evaluation keeps between forms: bindings, their heap, and messages. */
#include "shell_internal.h"

#include "host/self/self.h"

enum {
    FIRST_STACKED = 16,
    SMALL = 64 * 1024,         /* bytes of bindings that may be copied after each form */
    ROOM = 4 * 1024 * 1024,    /* bytes that a form may always allocate before it collects */
    DEEPEST = 64 * 1024 * 1024 /* greatest part of a thread's stack that is used, in bytes */
};

void th_shell_start(struct th_evaluation *e, const struct th_shell_host *host, void *context,
                    FILE *out)
{
    *e = (struct th_evaluation){.host = host, .context = context, .out = out};
    e->mail_end = &e->mail;
    e->stack_capacity = FIRST_STACKED;
    e->stack = th_alloc(FIRST_STACKED * sizeof *e->stack);
    th_env_init(&e->heap, TH_ENV_PLAIN);
    e->live = th_env_footprint(&e->heap);
}

static void drop_all_mail(struct th_evaluation *e)
{
    while (e->mail)
        th_shell_drop_mail(e, &e->mail);
}

void th_shell_forget_mail(struct th_evaluation *e)
{
    while (th_shell_wait(e, 0))
        continue;
    drop_all_mail(e);
}

void th_shell_end(struct th_evaluation *e)
{
    drop_all_mail(e);
    th_free(e->bindings);
    th_free(e->stack);
    th_env_release(&e->heap);
}

struct th_binding *th_shell_find_binding(struct th_evaluation *e, th_term name)
{
    for (size_t i = e->count; i > e->scope; i--)
        if (e->bindings[i - 1].name == name)
            return &e->bindings[i - 1];
    return NULL;
}

void th_shell_bind(struct th_evaluation *e, th_term name, th_term value)
{
    TH_ARRAY_GROW(e->bindings, e->count, e->capacity);
    e->bindings[e->count++] = (struct th_binding){name, value};
}

void th_shell_forget(struct th_evaluation *e)
{
    e->count = e->scope;
    if (e->older > e->count)
        e->older = e->count;
    e->live = 0; /* forces the next collection */
}

void th_shell_push(struct th_evaluation *e, th_term t)
{
    TH_ARRAY_GROW(e->stack, e->stacked, e->stack_capacity);
    e->stack[e->stacked++] = t;
}

struct th_standing th_shell_standing(const struct th_evaluation *e)
{
    return (struct th_standing){e->source, e->count, e->scope, e->fresh, e->stacked};
}

void th_shell_unwind(struct th_evaluation *e, const struct th_standing *standing)
{
    e->source = standing->source;
    e->scope = standing->scope;
    e->fresh = standing->fresh;
    e->stacked = standing->stacked;
    if (e->count > standing->count) /* f() may have removed bindings */
        e->count = standing->count;
}

/* --- Memory ----------------------------------------------------------------------------------- */

/* Moves all values in use to a fresh heap. Returns false, with nothing done, if the values are too
 * large: a part that terms share is copied for each term. */
static bool move_all(struct th_evaluation *e)
{
    size_t words = 0;
    th_env fresh;

    for (size_t i = 0; words <= TH_EXPRESSION_WORDS && i < e->count; i++)
        words += th_term_words_up_to(e->bindings[i].value, TH_EXPRESSION_WORDS);
    for (size_t i = 0; words <= TH_EXPRESSION_WORDS && i < e->stacked; i++)
        words += th_term_words_up_to(e->stack[i], TH_EXPRESSION_WORDS);
    if (words > TH_EXPRESSION_WORDS)
        return false;
    th_env_init(&fresh, TH_ENV_PLAIN);
    for (size_t i = 0; i < e->count; i++)
        e->bindings[i].value = th_copy(&fresh, e->bindings[i].value);
    for (size_t i = 0; i < e->stacked; i++)
        e->stack[i] = th_copy(&fresh, e->stack[i]);
    th_env_release(&e->heap);
    e->heap = fresh;
    return true;
}

static size_t room_above(size_t footprint)
{
    return footprint > ROOM ? 2 * footprint : 2 * ROOM;
}

bool th_shell_interrupted(struct th_evaluation *e)
{
    if (e->host->interrupted(e->context))
        e->stopped = true;
    return e->stopped;
}

bool th_shell_pause(struct th_evaluation *e)
{
    if (th_shell_interrupted(e))
        return false;
    if (e->heap.chunks == e->chunk) /* nothing was allocated since */
        return true;
    e->chunk = e->heap.chunks;
    if (th_env_footprint(&e->heap) < e->full)
        return true;
    if (!move_all(e)) {
        th_shell_raise_limit(e, "values take more than half a gigabyte of memory");
        return false;
    }
    e->full = room_above(th_env_footprint(&e->heap));
    e->chunk = e->heap.chunks;
    return true;
}

/*
 * Moves the bindings to a fresh heap and frees the old one. Few bindings are moved after each form,
 * so that unused values, especially resources, are freed at once; many bindings are moved only when
 * the heap has doubled.
 */
void th_shell_collect(struct th_evaluation *e)
{
    size_t now = th_env_footprint(&e->heap);

    if (e->live > SMALL && now < 2 * e->live)
        return;
    e->exception.reason = e->exception.arguments = e->exception.stack = TH_NONE;
    if (e->count == 0) {
        th_env_clear(&e->heap);
        e->live = 0;
        return;
    }
    move_all(e);
    e->live = th_env_footprint(&e->heap);
}

/* --- Variables without a value ---------------------------------------------------------------- */

/* State of a walk over a form in the order of its evaluation. */
struct walk {
    struct th_evaluation *e;
    th_term *names; /* variables that a pattern binds */
    size_t count, capacity;
    const struct th_node *unbound; /* the first variable without a value */
};

static void walk_pattern(struct walk *w, const struct th_node *node)
{
    if (node->kind == TH_NODE_VARIABLE) {
        TH_ARRAY_GROW(w->names, w->count, w->capacity);
        w->names[w->count++] = node->value;
    }
    for (size_t i = 0; i < node->count; i++)
        if (node->parts[i])
            walk_pattern(w, node->parts[i]);
}

static void walk_expression(struct walk *w, const struct th_node *node)
{
    size_t first = 0, count = w->count, i = 0;

    switch ((enum th_node_kind)node->kind) {
    case TH_NODE_VARIABLE:
        while (i < count && w->names[i] != node->value)
            i++;
        if (!w->unbound && i == count && !th_shell_find_binding(w->e, node->value))
            w->unbound = node;
        return;
    case TH_NODE_FUN: /* its clauses bind variables that are not visible outside */
        for (i = 1; i < node->count; i++) {
            if (node->parts[0])
                walk_pattern(w, node->parts[0]);
            walk_expression(w, node->parts[i]);
            w->count = count;
        }
        return;
    case TH_NODE_COMPREHENSION:
    case TH_NODE_COMPREHENSION_BITS:
    case TH_NODE_COMPREHENSION_MAP: /* the result is evaluated last */
        for (i = 1; i < node->count; i++) {
            const struct th_node *part = node->parts[i];
            walk_expression(w, part->parts[part->count - 1]);
            if (part->kind == TH_NODE_GENERATOR)
                walk_pattern(w, part->parts[0]);
        }
        walk_expression(w, node->parts[0]);
        w->count = count;
        return;
    case TH_NODE_MATCH:
        walk_expression(w, node->parts[1]);
        walk_pattern(w, node->parts[0]);
        return;
    case TH_NODE_CALL: /* f(Variable) does not read the variable */
        if (!node->parts[0] && node->count == 3 && node->parts[1]->kind == TH_NODE_CONSTANT &&
            node->parts[1]->value == th_atom("f"))
            return;
        break;
    case TH_NODE_CLAUSE:
        first = node->parts[0] != NULL;
        if (first)
            walk_pattern(w, node->parts[0]);
        break;
    default:
        break;
    }
    for (i = first; i < node->count; i++)
        if (node->parts[i])
            walk_expression(w, node->parts[i]);
}

/* Like Erlang's shell, refuses a form that uses a variable without a value. A variable that any
 * branch binds counts as bound; if it has no value in fact, evaluation raises the error. */
th_term th_shell_evaluate_form(struct th_evaluation *e, const struct th_program *program,
                               const struct th_node *form)
{
    const struct th_self_stack *stack = th_self_stack();
    const char *here = __builtin_frame_address(0);
    struct walk w = {.e = e};
    th_term t;

    e->source = program->source;
    /* Nested calls of funs are nested C calls. A quarter of the thread's stack is left to the
     * functions that they call, among them those of libraries. */
    e->floor = stack->low ? (const char *)stack->low + stack->size / 4 : here - ROOM;
    if (here - e->floor > DEEPEST)
        e->floor = here - DEEPEST;
    e->full = room_above(th_env_footprint(&e->heap));
    e->chunk = NULL;
    e->older = e->count;
    walk_expression(&w, form);
    th_free(w.names);
    t = w.unbound ? th_shell_raise_unbound(e, w.unbound) : th_shell_evaluate_block(e, form, false);
    e->scope = e->fresh = e->stacked = 0;
    if (t == TH_NONE)
        e->count = e->older;
    return t;
}
