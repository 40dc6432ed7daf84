/* Time by stack, like the tracer `flame`. */
#include "merge.h"
#include "page.h"

void stack_pass_time(struct process *process, int64_t now)
{
    const struct frame *top = stack_top(&process->stack);
    struct report *report = process->report;
    int64_t last = process->schedule.last;
    uint64_t span = schedule_pass(&process->schedule, now);

    if (!top || span == 0)
        return;
    process->own += span;
    if (past_is_played())
        return;
    report->stacks.nodes[top->mark].own += span;
    if (!report->scheduling && !bins_busy(&process->bins, &report->shift, last, now))
        report->lost++;
}

static void entered(void *of, struct frame *frame)
{
    struct process *process = of;

    tree_enter(&process->report->stacks, process->root, &process->stack, frame);
}

/* Begins the stack of a process. False if there is no memory. */
static bool begin(struct process *process)
{
    struct report *report = process->report;

    if (!process->root)
        process->root = tree_child(&report->stacks, 0, &(struct mfa){process->tracee.term, 0, 0});
    process->stack.repairs = &report->repairs;
    process->stack.entered = entered;
    process->stack.of = process;
    return process->root != 0;
}

void process_call(const struct event *event)
{
    struct process *process = event->process;
    struct report *report = event->report;
    struct mfa mfa;

    if (!process || !mfa_read(event->env, event->term, &mfa))
        return;
    if (!begin(process)) {
        report->lost++;
        return;
    }
    if (process->schedule.state == SCHEDULE_OFF) {
        report->unscheduled++;
        schedule_run(&process->schedule, report->clock.now);
    }
    stack_pass_time(process, report->clock.now);
    stack_event(event->env, &process->stack, event->tag, &mfa, event->opts);
    report->told |= process->stack.told;
}

void stack_end(struct process *process)
{
    stack_free(&process->stack);
    process->stack = (struct stack){0};
    process->schedule.state = SCHEDULE_UNKNOWN;
}

/* --- Shares --- */

struct saved_node {
    uint32_t number, parent;
    uint32_t name; /* index of a name; of a node that the shares before have, 0 */
    uint32_t deep;
    uint64_t own, calls;
};

static bool is_saved(const struct report *report, uint32_t i)
{
    const struct node *node = &report->stacks.nodes[i];

    return i >= report->stacks_saved || node->own || node->calls;
}

/* Copies the nodes to BYTES, and clears their figures. */
static void save_nodes(struct report *report, struct names *names, unsigned char *bytes)
{
    for (uint32_t i = 1; i < report->stacks.used; i++) {
        struct node *node = &report->stacks.nodes[i];
        struct saved_node saved = {i, node->parent, 0, node->deep, node->own, node->calls};
        /* A process's node has no function, but a key must have one: they change places. */
        struct count name = {
            .module = node->mfa.function, .function = node->mfa.module, .arity = node->mfa.arity};
        if (!is_saved(report, i))
            continue;
        if (i >= report->stacks_saved)
            saved.name = (uint32_t)name_number(names, &name);
        memcpy(bytes, &saved, sizeof saved);
        bytes += sizeof saved;
        node->own = node->calls = 0;
    }
    report->stacks_saved = report->stacks.used;
}

/* {Names, Nodes}: Names are {Module or process, Function or 0, Arity}. */
ERL_NIF_TERM stacks_save(ErlNifEnv *env, struct report *report)
{
    ERL_NIF_TERM list = enif_make_list(env, 0), none = enif_make_uint(env, 0), binary;
    struct names names = {0};
    unsigned char *bytes;
    size_t count = 0;

    for (uint32_t i = 1; i < report->stacks.used; i++)
        count += is_saved(report, i);
    bytes = enif_make_new_binary(env, count * sizeof(struct saved_node), &binary);
    if (bytes)
        save_nodes(report, &names, bytes);
    for (size_t i = names.numbers.used; i-- > 0;) {
        const struct count *name = &names.functions[i];
        list = enif_make_list_cell(env,
                                   enif_make_tuple3(env, name->function,
                                                    name->module ? name->module : none,
                                                    enif_make_uint(env, name->arity)),
                                   list);
    }
    free(names.functions);
    free(names.numbers.slots);
    return bytes && !names.short_of_memory ? enif_make_tuple2(env, list, binary) : 0;
}

/* Returns the names as an array; NULL if there is no memory. */
static struct mfa *take_names(ErlNifEnv *env, ERL_NIF_TERM list, unsigned *count)
{
    struct mfa *names;
    const ERL_NIF_TERM *elements;
    ERL_NIF_TERM head;
    int size;

    if (!enif_get_list_length(env, list, count) || !(names = calloc(*count + 1, sizeof *names)))
        return NULL;
    for (unsigned i = 0; enif_get_list_cell(env, list, &head, &list); i++)
        if (enif_get_tuple(env, head, &size, &elements) && size == 3 &&
            enif_get_uint(env, elements[2], &names[i].arity)) {
            names[i].module = elements[0];
            names[i].function = enif_is_atom(env, elements[1]) ? elements[1] : 0;
        }
    return names;
}

static bool take_node(struct tree *tree, const struct saved_node *saved, const struct mfa *names,
                      unsigned count)
{
    struct node *node;

    if (saved->number >= tree->used &&
        (saved->name >= count || saved->parent >= tree->used + !tree->used ||
         tree_child(tree, saved->parent, &names[saved->name]) != saved->number))
        return false;
    node = &tree->nodes[saved->number];
    node->own += saved->own;
    node->calls += saved->calls;
    node->deep |= saved->deep;
    return true;
}

bool stacks_take(ErlNifEnv *env, struct report *report, ERL_NIF_TERM saved)
{
    const ERL_NIF_TERM *elements;
    struct saved_node node;
    struct mfa *names = NULL;
    ErlNifBinary bytes;
    unsigned count = 0;
    int size;
    bool taken;

    taken = enif_get_tuple(env, saved, &size, &elements) && size == 2 &&
            enif_inspect_binary(env, elements[1], &bytes) &&
            (names = take_names(env, elements[0], &count));
    for (size_t at = 0; taken && at + sizeof node <= bytes.size; at += sizeof node) {
        memcpy(&node, bytes.data + at, sizeof node);
        taken = take_node(&report->stacks, &node, names, count);
    }
    free(names);
    return taken;
}
