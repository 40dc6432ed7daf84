#include "trees.h"

#include "../kit/labels.h"

#include <string.h>

enum mark {
    OUTSIDE = 0,        /* in no call that is shown */
    PRINTED = 1u << 31, /* with the depth: was printed as open */
};

static bool is_held(uint32_t mark)
{
    return mark != OUTSIDE && mark < PRINTED;
}

/* --- Processes --- */

static struct process_calls *open_calls_of(struct settings *settings, const struct process *process)
{
    return calls_of(calls_shard(&settings->calls, process->tracee.term), process->tracee.term);
}

struct process *trees_process(struct settings *settings, ERL_NIF_TERM pid)
{
    struct process *process = tracees_find(&settings->processes, pid);

    if (process)
        return process;
    process = tracees_add(&settings->processes, pid, sizeof *process);
    if (!process) {
        loss_add();
        return NULL;
    }
    process->slot = held_add(&settings->forest, 0, &(struct mfa){0});
    if (!process->slot) {
        tracees_remove(&settings->processes, &process->tracee);
        free(process);
        return NULL;
    }
    process->before = settings->last;
    if (settings->last)
        settings->last->next = process;
    else
        settings->first = process;
    settings->last = process;
    return process;
}

static void free_process(struct settings *settings, struct process *process)
{
    uint64_t calls = 0;

    if (process->before)
        process->before->next = process->next;
    else
        settings->first = process->next;
    if (process->next)
        process->next->before = process->before;
    else
        settings->last = process->before;
    settings->weight -= process->weight;
    held_drop(&settings->forest, process->slot, &calls);
    tracees_remove(&settings->processes, &process->tracee);
    free(process);
}

void trees_free_if_idle(struct settings *settings, struct process *process)
{
    const struct process_calls *open = open_calls_of(settings, process);

    if (!process->named && !settings->forest.slots[process->slot].first && !(open && open->used))
        free_process(settings, process);
}

/* --- Printing --- */

static void lighten(struct settings *settings, struct process *process, size_t weight)
{
    process->weight -= weight;
    settings->weight -= weight;
}

/* Returns whether the function is that of `only`. */
static bool is_wanted(const struct settings *settings, const struct mfa *function)
{
    struct line line;
    bool wanted;

    if (!settings->only[0])
        return true;
    line_start(&line);
    line_add_called(&line, function->module, function->function);
    wanted = strcmp(line.text, settings->only) == 0;
    line_add(&line, "/%u", function->arity);
    wanted |= strcmp(line.text, settings->only) == 0;
    line_drop(&line);
    return wanted;
}

/* Drops the outermost calls behind ROOT, up to AFTER, that are not of the function of `only`. The calls
 * they made take their places. */
static void drop_unwanted(struct settings *settings, struct process *process, uint32_t root,
                          uint32_t after)
{
    struct held *slots = settings->forest.slots;

    for (uint32_t i = slots[root].next, next; i != after; i = next) {
        bool wanted = is_wanted(settings, &slots[i].mfa);
        if (!wanted) {
            slots[i].sure = 0;
            held_part(&settings->forest, i);
        }
        next = slots[i].next;
        if (!wanted)
            lighten(settings, process, held_drop(&settings->forest, i, &settings->outside));
    }
}

/* Moves those calls of number SLOT behind it that may have been made after its end. */
static void part(struct settings *settings, struct process *process, uint32_t slot)
{
    const struct held *held = &settings->forest.slots[slot];
    uint32_t after = held->next;

    settings->apart += held_part(&settings->forest, slot);
    if (held->parent == process->slot && settings->only[0])
        drop_unwanted(settings, process, slot, after);
}

/* Prints and drops the outermost calls between BEFORE and AFTER. 0: from the first one, to the last one. */
static void print_roots(struct settings *settings, struct process *process, uint32_t before,
                        uint32_t after)
{
    struct forest *forest = &settings->forest;
    const uint32_t *first =
        before ? &forest->slots[before].next : &forest->slots[process->slot].first;
    uint64_t calls = 0;
    size_t weight = 0;

    for (uint32_t root = *first, next; root != after; root = next) {
        next = forest->slots[root].next;
        forest->slots[root].parent = process->slot;
        held_measure(forest, root);
        if (settings->depth)
            weight += held_cut(forest, root, settings->depth, settings->fold, &settings->deeper);
    }
    for (uint32_t root; (root = *first) != after;) {
        print_tree(&settings->print, forest, root, &process->tracee);
        forest->slots[root].parent = process->slot;
        weight += held_drop(forest, root, &calls);
    }
    lighten(settings, process, weight);
}

/* Returns whether calls of this depth are shown. */
static bool is_shown(const struct settings *settings, uint32_t depth)
{
    return !settings->depth || depth < settings->depth;
}

/* Sets the marks of open calls that are printed now. Returns the number of those that are shown. */
static uint64_t mark_printed(struct settings *settings, struct process_calls *open)
{
    const struct held *held;
    uint64_t count = 0;

    for (size_t i = 0; open && i < open->used; i++) {
        if (!is_held(open->frames[i].mark))
            continue;
        held = &settings->forest.slots[open->frames[i].mark];
        /* drop_unwanted() has freed some. */
        open->frames[i].mark = held->mfa.module ? PRINTED | held->depth : OUTSIDE;
        count += held->mfa.module && is_shown(settings, held->depth);
    }
    return count;
}

/* Prints all calls of a process, the open ones as open. Returns their number. */
static uint64_t print_held(struct settings *settings, struct process *process)
{
    struct process_calls *open = open_calls_of(settings, process);
    const struct held *slots = settings->forest.slots;
    uint64_t count;

    for (size_t i = open ? open->used : 0; i-- > 0;)
        if (is_held(open->frames[i].mark))
            part(settings, process, open->frames[i].mark);
    for (uint32_t i = slots[process->slot].first; i; i = slots[i].next)
        held_measure(&settings->forest, i);
    count = mark_printed(settings, open);
    print_roots(settings, process, 0, 0);
    return count;
}

/* Prints what is held if that is too much. */
static void make_room(struct settings *settings, struct process *process)
{
    if (process->weight > settings->held)
        settings->early += print_held(settings, process);
    if (settings->weight <= settings->all)
        return;
    for (struct process *other = settings->first, *next; other; other = next) {
        next = other->next;
        settings->early += print_held(settings, other);
        if (other != process)
            trees_free_if_idle(settings, other);
    }
}

/* --- Calls --- */

/* Returns whether the call on top shows that AROUND is open, as its caller. If AROUND is recursive, that
 * may be another call of the function. */
static bool is_caller(const struct open_call *around, const struct open_call *top)
{
    return top->caller.module && mfa_same(&top->caller, &around->mfa) &&
           !mfa_same(&around->caller, &around->mfa);
}

/* Returns a copy of LINE's text, NULL for an empty one, and drops LINE. */
static char *take_text(struct line *line)
{
    char *text = line->used ? strdup(line->text) : NULL;

    if (line->used && !text)
        loss_add();
    line_drop(line);
    return text;
}

static void line_start_for(struct line *line, const struct settings *settings)
{
    line_start(line);
    line->for_people = settings->print.format == PRINT_TEXT;
    line->for_programs = !line->for_people;
}

static char *text_of_arguments(const struct event *event, ERL_NIF_TERM arguments)
{
    struct line line;

    line_start_for(&line, event->settings);
    if (event->settings->args != ARGS_NONE && enif_is_list(event->env, arguments))
        term_print_arguments(&line, event->env, arguments, event->settings->args);
    return take_text(&line);
}

static char *text_of_outcome(const struct event *event)
{
    struct line line;

    line_start_for(&line, event->settings);
    if (event->outcome && event->thrown)
        term_print_exception(&line, event->env, event->outcome, event->settings->args);
    else if (event->outcome)
        term_print_after(&line, " -> ", event->env, event->outcome, event->settings->args);
    else if (event->thrown)
        line_add(&line, " !");
    return take_text(&line);
}

/* Adds WEIGHT for the text of number SLOT. */
static void weigh(const struct event *event, uint32_t slot, const char *text)
{
    uint32_t weight = text ? held_weigh(strlen(text)) - 1 : 0;

    event->settings->forest.slots[slot].weight += weight;
    event->process->weight += weight;
    event->settings->weight += weight;
}

/* Holds a call, in the call or process with the number PARENT. DEPTH: 0 unless it is a process. Returns
 * the call's mark. */
static uint32_t hold(const struct event *event, const struct timing *timing, ERL_NIF_TERM term,
                     uint32_t parent, uint32_t depth)
{
    struct settings *settings = event->settings;
    const struct count *function = &timing->function;
    const ERL_NIF_TERM *elements;
    uint32_t slot;
    int size;

    slot = held_add(&settings->forest, parent,
                    &(struct mfa){function->module, function->function, function->arity});
    if (!slot)
        return OUTSIDE;
    settings->forest.slots[slot].depth = depth;
    settings->forest.slots[slot].began = timing->now;
    event->process->weight++;
    settings->weight++;
    if (enif_get_tuple(event->env, term, &size, &elements) && size == 3) {
        char *text = text_of_arguments(event, elements[2]);
        settings->forest.slots[slot].arguments = text;
        weigh(event, slot, text);
    }
    return slot;
}

/* Holds the call on top of OPEN, if it is shown. Returns its mark. */
static uint32_t hold_top(const struct event *event, const struct timing *timing, ERL_NIF_TERM term,
                         const struct process_calls *open)
{
    struct settings *settings = event->settings;
    const struct open_call *top = &open->frames[open->used - 1];
    const struct open_call *around = calls_around(open, open->used - 1);
    uint32_t mark = around ? around->mark : OUTSIDE, slot;
    bool inside = around && is_caller(around, top);

    settings->apart += around != (open->used > 1 ? top - 1 : NULL) || (mark >= PRINTED && !inside);
    if (is_held(mark)) {
        slot = hold(event, timing, term, mark, 0);
        if (inside && slot)
            lighten(settings, event->process, held_is_open(&settings->forest, mark));
        return slot;
    }
    if (mark >= PRINTED && inside)
        return hold(event, timing, term, event->process->slot, (mark & ~PRINTED) + 1);
    if (!is_wanted(settings, &top->mfa)) {
        settings->outside++;
        return OUTSIDE;
    }
    settings->shown++;
    return hold(event, timing, term, event->process->slot, 0);
}

void trees_begin_call(const struct event *event, struct timing *timing, ERL_NIF_TERM term)
{
    struct settings *settings = event->settings;
    struct process_calls *open;

    settings->at_work = event->process;
    settings->calls_all++;
    if (!timing_begin(timing, OUTSIDE))
        return;
    open = open_calls_of(settings, event->process);
    open->frames[open->used - 1].mark = hold_top(event, timing, term, open);
    make_room(settings, event->process);
}

void trees_returned_to(const struct event *event, const struct mfa *to)
{
    const struct process_calls *open = open_calls_of(event->settings, event->process);
    const struct open_call *top = open && open->used ? &open->frames[open->used - 1] : NULL;

    if (top && is_held(top->mark) && mfa_same(&top->mfa, to))
        lighten(event->settings, event->process, held_is_open(&event->settings->forest, top->mark));
}

/* Sets the figures of HELD, which ENDED. */
static void end_held(const struct event *event, struct held *held, const struct ended *ended)
{
    held->end = ended->told ? HELD_TOLD : HELD_UNTOLD;
    held->timed = ended->took != TIME_NONE;
    held->thrown = ended->told && event->thrown;
    if (held->timed)
        held->times = (struct held_times){(uint64_t)ended->took, ended_own(ended),
                                          ended->outermost ? (uint64_t)ended->took : 0,
                                          ended->spent, ended_own_spent(ended)};
    held->shortest = held->longest = held->times.took;
    if (ended->told)
        held->outcome = text_of_outcome(event);
}

/* Handles the end of a call that was printed as open. */
static void end_printed(const struct event *event, const struct ended *ended)
{
    struct held held = {.mfa = ended->frame.mfa,
                        .depth = ended->frame.mark & ~PRINTED,
                        .calls = 1,
                        .began = ended->frame.began};

    end_held(event, &held, ended);
    print_end(&event->settings->print, &held, &event->process->tracee);
    free(held.outcome);
}

void trees_call_ended(void *of, const struct ended *ended)
{
    const struct event *event = of;
    struct settings *settings = event->settings;
    struct process *process = event->process;
    uint32_t slot = ended->frame.mark, before, after;
    struct held *held;
    bool outermost;

    settings->told += ended->told;
    if (slot >= PRINTED && is_shown(settings, slot & ~PRINTED))
        end_printed(event, ended);
    if (!is_held(slot))
        return;
    held = &settings->forest.slots[slot];
    end_held(event, held, ended);
    weigh(event, slot, held->outcome);
    if (held->timed && (ErlNifTime)held->times.took < settings->min) {
        lighten(settings, process, held_drop(&settings->forest, slot, &settings->shorter));
        return;
    }
    outermost = held->parent == process->slot;
    before = held->before;
    after = held->next;
    if (!ended->told)
        part(settings, process, slot);
    lighten(settings, process, held_finish(&settings->forest, slot, after, settings->fold));
    if (outermost && !settings->print.by_process)
        print_roots(settings, process, before, after);
}

/* --- All of them --- */

/* An open call leaves a full stack: its end will not be known. */
static void forget(void *of, const struct open_call *call)
{
    struct settings *settings = of;

    if (is_held(call->mark))
        print_held(settings, settings->at_work);
}

void trees_init(struct settings *settings, unsigned frames)
{
    pthread_mutex_init(&settings->lock, NULL);
    calls_init(&settings->calls, frames);
    settings->calls.forgets = forget;
    settings->calls.of = settings;
}

void trees_print_held(struct settings *settings)
{
    for (struct process *process = settings->first; process; process = process->next)
        print_held(settings, process);
}

void trees_free(struct settings *settings)
{
    while (settings->first)
        free_process(settings, settings->first);
    free(settings->processes.slots);
    held_free(&settings->forest);
    labels_free(&settings->print.labelled);
    calls_free(&settings->calls);
}
