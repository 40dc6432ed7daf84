#include "trees.h"

#include "../kit/labels.h"

#include <string.h>

enum mark {
    OUTSIDE = 0, /* in no call that is shown */
    DEEP = 1 << 30,
    PRINTED = 1u << 31, /* with the depth: was printed as open */
};

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
    process->slot = held_add(&settings->forest, 0, &(struct mfa){0}, 0);
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

/* Prints number ROOT, an outermost call. */
static void print_and_drop(struct settings *settings, struct process *process, uint32_t root)
{
    uint64_t calls = 0;

    print_tree(&settings->print, &settings->forest, root, &process->tracee);
    lighten(settings, process, held_drop(&settings->forest, root, &calls));
}

/* Prints all calls of a process, the open ones as open. Returns their number. */
static uint64_t print_held(struct settings *settings, struct process *process)
{
    struct process_calls *open = open_calls_of(settings, process);
    struct open_call *call;
    uint64_t count = 0;
    uint32_t root;

    for (size_t i = 0; open && i < open->used; i++) {
        call = &open->frames[i];
        if (call->mark == OUTSIDE || call->mark >= DEEP)
            continue;
        call->mark = PRINTED | settings->forest.slots[call->mark].depth;
        count++;
    }
    while ((root = settings->forest.slots[process->slot].first))
        print_and_drop(settings, process, root);
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

/* Returns whether the function is that of `only`. */
static bool is_wanted(const struct settings *settings, const struct count *function)
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

/* Returns the mark of the call that contains the call on top; OUTSIDE if there is none. A doubted call
 * may have ended. */
static uint32_t mark_around(struct settings *settings, const struct process_calls *open)
{
    size_t i = open->used - 1;

    while (i > open->doubted && calls_are_doubted(open, i - 1))
        i--;
    if (i <= open->doubted)
        i = 0;
    settings->apart += i != open->used - 1;
    return i ? open->frames[i - 1].mark : OUTSIDE;
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

/* Holds a call, in the call or process with the number PARENT. Returns the call's mark. */
static uint32_t hold(const struct event *event, const struct timing *timing, ERL_NIF_TERM term,
                     uint32_t parent, uint32_t depth)
{
    struct settings *settings = event->settings;
    const struct count *function = &timing->function;
    const ERL_NIF_TERM *elements;
    uint32_t slot;
    int size;

    if (settings->depth && depth >= settings->depth) {
        settings->deeper++;
        return DEEP;
    }
    slot = held_add(&settings->forest, parent,
                    &(struct mfa){function->module, function->function, function->arity}, depth);
    if (!slot)
        return OUTSIDE;
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

void trees_begin_call(const struct event *event, struct timing *timing, ERL_NIF_TERM term)
{
    struct settings *settings = event->settings;
    struct process_calls *open;
    uint32_t around, mark;

    settings->at_work = event->process;
    settings->calls_all++;
    if (!timing_begin(timing, OUTSIDE))
        return;
    open = open_calls_of(settings, event->process);
    around = mark_around(settings, open);
    if (around == DEEP) {
        mark = DEEP;
        settings->deeper++;
    } else if (around != OUTSIDE && around < DEEP) {
        mark = hold(event, timing, term, around, settings->forest.slots[around].depth + 1);
    } else if (around >= PRINTED) {
        mark = hold(event, timing, term, event->process->slot, (around & (DEEP - 1)) + 1);
    } else if (is_wanted(settings, &timing->function)) {
        mark = hold(event, timing, term, event->process->slot, 0);
        settings->shown++;
    } else {
        mark = OUTSIDE;
        settings->outside++;
    }
    open->frames[open->used - 1].mark = mark;
    make_room(settings, event->process);
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
                        .depth = ended->frame.mark & (DEEP - 1),
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
    uint32_t slot = ended->frame.mark;
    struct held *held;

    settings->told += ended->told;
    if (slot >= PRINTED)
        end_printed(event, ended);
    if (slot == OUTSIDE || slot >= DEEP)
        return;
    held = &settings->forest.slots[slot];
    end_held(event, held, ended);
    weigh(event, slot, held->outcome);
    if (held->timed && (ErlNifTime)held->times.took < settings->min)
        lighten(settings, process, held_drop(&settings->forest, slot, &settings->shorter));
    else if (held->parent != process->slot || settings->print.by_process)
        lighten(settings, process, held_finish(&settings->forest, slot, settings->fold));
    else
        print_and_drop(settings, process, slot);
}

/* --- All of them --- */

/* An open call leaves a full stack: its end will not be known. */
static void forget(void *of, const struct open_call *call)
{
    struct settings *settings = of;

    if (call->mark != OUTSIDE && call->mark < DEEP)
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
