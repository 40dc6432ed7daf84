/* What an evaluation keeps from form to form: bindings, the heap that they are in, messages. */
#include "evaluation.h"

enum { SMALL = 64 * 1024 /* bytes of bindings that may be copied after each form */ };

void th_evaluation_start(struct th_evaluation *e, const struct th_evaluation_host *host,
                         void *context, FILE *out)
{
    *e = (struct th_evaluation){.host = host, .context = context, .out = out};
    e->mail_end = &e->mail;
    th_env_init(&e->heap, TH_ENV_PLAIN);
    e->live = th_env_footprint(&e->heap);
}

void th_evaluation_forget_mail(struct th_evaluation *e)
{
    while (e->mail) {
        struct th_message *message = e->mail;
        e->mail = message->next;
        th_message_free(message);
    }
    e->mail_end = &e->mail;
}

void th_evaluation_end(struct th_evaluation *e)
{
    th_evaluation_forget_mail(e);
    th_free(e->bindings);
    th_env_release(&e->heap);
}

struct th_binding *th_binding_find(struct th_evaluation *e, th_term name)
{
    for (size_t i = 0; i < e->count; i++)
        if (e->bindings[i].name == name)
            return &e->bindings[i];
    return NULL;
}

void th_binding_add(struct th_evaluation *e, th_term name, th_term value)
{
    TH_ARRAY_GROW(e->bindings, e->count, e->capacity);
    e->bindings[e->count++] = (struct th_binding){name, value};
}

void th_evaluation_forget(struct th_evaluation *e)
{
    e->count = e->older = 0;
    e->live = 0; /* whatever the heap holds is more than that */
}

/*
 * Bindings move to a fresh heap, the old one goes with all that it held. Few bindings do so after
 * each form, so that what nobody has any more, a resource above all, goes at once; many only when
 * the heap has grown to twice their size.
 */
void th_evaluation_collect(struct th_evaluation *e)
{
    size_t now = th_env_footprint(&e->heap);
    th_env fresh;

    if (e->live > SMALL && now < 2 * e->live)
        return;
    e->exception.reason = e->exception.arguments = TH_NONE;
    if (e->count == 0) {
        th_env_clear(&e->heap);
        e->live = 0;
        return;
    }
    th_env_init(&fresh, TH_ENV_PLAIN);
    for (size_t i = 0; i < e->count; i++)
        e->bindings[i].value = th_copy(&fresh, e->bindings[i].value);
    th_env_release(&e->heap);
    e->heap = fresh;
    e->live = th_env_footprint(&e->heap);
}

/* --- Variables without a value ---------------------------------------------------------------- */

/* What a walk over a form in the order of its evaluation has met. */
struct walk {
    struct th_evaluation *e;
    th_term *names; /* of variables that a pattern binds */
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

static bool is_bound(const struct walk *w, th_term name)
{
    for (size_t i = 0; i < w->count; i++)
        if (w->names[i] == name)
            return true;
    return th_binding_find(w->e, name) != NULL;
}

static bool is_forgetting(const struct th_node *node)
{
    return node->kind == TH_NODE_CALL && !node->parts[0] && node->count == 3 &&
           node->parts[1]->kind == TH_NODE_CONSTANT && node->parts[1]->value == th_atom("f");
}

static void walk_expression(struct walk *w, const struct th_node *node)
{
    size_t first = 0;

    if (w->unbound || is_forgetting(node))
        return;
    if (node->kind == TH_NODE_VARIABLE && !is_bound(w, node->value))
        w->unbound = node;
    if (node->kind == TH_NODE_MATCH) {
        walk_expression(w, node->parts[1]);
        walk_pattern(w, node->parts[0]);
        return;
    }
    if (node->kind == TH_NODE_CLAUSE && node->parts[0]) {
        walk_pattern(w, node->parts[0]);
        first = 1;
    }
    for (size_t i = first; i < node->count; i++)
        if (node->parts[i])
            walk_expression(w, node->parts[i]);
}

/* As the shell, a form that uses a variable without a value is not begun. Of branches all are taken
 * for bound that one binds: what is missing then turns up when it is needed. */
static bool check_bound(struct th_evaluation *e, const struct th_node *form)
{
    struct walk w = {.e = e};

    walk_expression(&w, form);
    th_free(w.names);
    if (!w.unbound)
        return true;
    th_raise_pair(e, "unbound", w.unbound->value);
    e->exception.unbound = w.unbound->at;
    return false;
}

th_term th_evaluate_form(struct th_evaluation *e, const struct th_program *program,
                         const struct th_node *form)
{
    th_term t = TH_NONE;

    e->program = program;
    e->older = e->count;
    if (check_bound(e, form))
        t = th_evaluate_block(e, form);
    if (t == TH_NONE)
        e->count = e->older;
    return t;
}
