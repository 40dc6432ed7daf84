/* Processes and ports: identity, lifetime, running and collecting. */
#include "merge.h"

static void add_sums(struct sums *to, const struct sums *more)
{
    to->events += more->events;
    to->calls += more->calls;
    to->errors += more->errors;
    to->sent += more->sent;
    to->received += more->received;
    to->processes += more->processes;
    to->ports += more->ports;
}

struct process *process_of(struct report *report, ERL_NIF_TERM word, bool port)
{
    struct process *process = tracees_find(&report->processes, word);

    if (process)
        return process;
    report->newcomers++;
    if (report->processes.used >= PROCESSES_MOST && report->newcomers >= PROCESSES_MOST / 4) {
        processes_forget(report, PROCESSES_MOST / 2, true);
        report->newcomers = 0;
    }
    if (report->processes.used >= PROCESSES_MOST)
        return NULL;
    process = tracees_add(&report->processes, word, sizeof *process);
    if (!process) {
        report->lost++;
        return NULL;
    }
    process->report = report;
    process->entry = process->tracee.first;
    process->serial = ++report->serials;
    process->port = port;
    process->born = process->died = process->last = TIME_NONE;
    process->runs_since = process->collects_since = TIME_NONE;
    process->mailbox.end = &process->mailbox.first;
    *report->end = process;
    report->end = &process->next;
    return process;
}

/* --- events --- */

/* Notes parent and first call of a process or port that was spawned or opened. */
static void born(struct process *process, ERL_NIF_TERM parent, const struct mfa *entry, int64_t now)
{
    if (!process)
        return;
    process->parent = parent;
    if (entry->module)
        process->entry = *entry;
    if (process->born == TIME_NONE)
        process->born = now;
}

static void spawn_event(const struct event *event)
{
    bool told_by_parent = event->tag == TH_TRACER_ATOM(event->env, spawn);
    struct mfa entry = {0};
    ErlNifPid pid;

    if (event->extra && (event->extra == TH_TRACER_ATOM(event->env, undefined) ||
                         !mfa_read(event->env, event->extra, &entry)))
        entry = (struct mfa){0};
    if (!enif_get_local_pid(event->env, event->term, &pid))
        return;
    if (told_by_parent)
        born(process_of(event->report, pid.pid, false), event->tracee, &entry, event->now);
    else
        born(event->process, pid.pid, &entry, event->now);
}

static void open_event(const struct event *event)
{
    bool known = event->extra && enif_is_atom(event->env, event->extra);
    struct mfa driver = {.module = known ? event->extra : 0};
    ErlNifPid pid;

    if (enif_get_local_pid(event->env, event->term, &pid))
        born(event->process, pid.pid, &driver, event->now);
}

static void end_event(const struct event *event)
{
    struct process *process = event->process;

    function_exit(event);
    if (!process)
        return;
    stack_pass_time(process, event->report->clock.now);
    stack_end(process);
    process->ended = true;
    process->died = event->now;
    free(process->reason);
    process->reason = past_is_played() ? NULL : text_of(event->env, event->term);
}

static void run_until(struct process *process, int64_t now)
{
    struct report *report = process->report;

    if (process->runs_since == TIME_NONE || now == TIME_NONE)
        return;
    if (now > process->runs_since) {
        process->ran += (uint64_t)(now - process->runs_since);
        if (!past_is_played() &&
            !bins_busy(&process->bins, &report->shift, process->runs_since, now))
            report->lost++;
    }
    process->runs_since = TIME_NONE;
}

void processes_forget_busy(struct report *report)
{
    for (struct process *process = report->first; process; process = process->next)
        bins_forget_busy(&process->bins);
}

static void schedule_event(const struct event *event, bool in)
{
    struct process *process = event->process;

    if (!event->report->scheduling)
        processes_forget_busy(event->report);
    event->report->scheduling = true;
    function_running(event);
    if (!process)
        return;
    stack_pass_time(process, event->report->clock.now);
    schedule_switch(&process->schedule, in, event->report->clock.now);
    run_until(process, event->now);
    if (in)
        process->runs_since = event->now;
}

static void collection_event(const struct event *event, bool begins)
{
    struct process *process = event->process;

    if (!process)
        return;
    process->collections += begins;
    if (!begins && process->collects_since != TIME_NONE && event->now > process->collects_since)
        process->collecting_time += (uint64_t)(event->now - process->collects_since);
    process->collects_since = begins ? event->now : TIME_NONE;
}

void life_event(const struct event *event)
{
    ErlNifEnv *env = event->env;
    ERL_NIF_TERM tag = event->tag;

    if (tag == TH_TRACER_ATOM(env, in) || tag == TH_TRACER_ATOM(env, in_exiting))
        schedule_event(event, true);
    else if (tag == TH_TRACER_ATOM(env, out) || tag == TH_TRACER_ATOM(env, out_exiting) ||
             tag == TH_TRACER_ATOM(env, out_exited))
        schedule_event(event, false);
    else if (tag == TH_TRACER_ATOM(env, gc_minor_start) ||
             tag == TH_TRACER_ATOM(env, gc_major_start))
        collection_event(event, true);
    else if (tag == TH_TRACER_ATOM(env, gc_minor_end) || tag == TH_TRACER_ATOM(env, gc_major_end))
        collection_event(event, false);
    else if (tag == TH_TRACER_ATOM(env, spawn) || tag == TH_TRACER_ATOM(env, spawned))
        spawn_event(event);
    else if (tag == TH_TRACER_ATOM(env, open))
        open_event(event);
    else if (tag == TH_TRACER_ATOM(env, exit) || tag == TH_TRACER_ATOM(env, closed))
        end_event(event);
    else if (tag == TH_TRACER_ATOM(env, register) || tag == TH_TRACER_ATOM(env, unregister))
        name_event(event, tag == TH_TRACER_ATOM(env, register));
}

/* --- limits --- */

void processes_stop(struct report *report)
{
    for (struct process *process = report->first; process; process = process->next)
        run_until(process, process->last);
}

void processes_begin_stream(struct report *report)
{
    for (struct process *process = report->first; process; process = process->next) {
        run_until(process, process->last);
        stack_end(process);
        process->collects_since = TIME_NONE;
        process->arguments = 0;
        process->request.open = 0;
    }
}

static void free_process(struct process *process)
{
    mailbox_clear(&process->report->messages, &process->mailbox);
    stack_free(&process->stack);
    free(process->bins.bins);
    free(process->request.nodes);
    free(process->reason);
    free(process);
}

/* Sorts by activity, the most first; then by the order of appearance. */
static int compare(const void *left, const void *right)
{
    const struct process *a = *(struct process *const *)left;
    const struct process *b = *(struct process *const *)right;

    if (a->sums.events != b->sums.events)
        return a->sums.events < b->sums.events ? 1 : -1;
    return (a->serial > b->serial) - (a->serial < b->serial);
}

/* Marks all but the MOST busiest. */
static void choose(struct report *report, size_t most, bool goes_on)
{
    struct process **all = calloc(report->processes.used, sizeof(struct process *));
    size_t used = 0;

    for (struct process *process = report->first; process; process = process->next) {
        if (all)
            all[used] = process;
        else
            process->forgotten = used >= most && (process->ended || !goes_on);
        used++;
    }
    if (!all && used > most)
        loss_add();
    if (all)
        qsort(all, used, sizeof(struct process *), compare);
    for (size_t i = most; all && i < used; i++)
        all[i]->forgotten = all[i]->ended || !goes_on;
    free(all);
}

/* Frees the processes that are marked `forgotten`. */
static void drop_forgotten(struct report *report)
{
    struct process **link = &report->first, *process;

    messages_forget(report);
    slowest_forget(&report->slowest);
    while ((process = *link)) {
        if (!process->forgotten) {
            link = &process->next;
            continue;
        }
        *link = process->next;
        tracees_remove(&report->processes, &process->tracee);
        free_process(process);
    }
    report->end = link;
}

void processes_forget(struct report *report, size_t most, bool goes_on)
{
    if (report->processes.used <= most)
        return;
    choose(report, most, goes_on);
    for (struct process *process = report->first; process; process = process->next)
        if (process->forgotten)
            add_sums(&report->others, &process->sums);
    drop_forgotten(report);
}

void processes_free(struct report *report)
{
    for (struct process *process = report->first, *next; process; process = next) {
        next = process->next;
        free_process(process);
    }
    free(report->processes.slots);
}

/* --- Shares --- */

static const struct field fields[] = {
    FIELD(struct process, serial),      FIELD(struct process, port),
    FIELD(struct process, ended),       FIELD(struct process, born),
    FIELD(struct process, died),        FIELD(struct process, last),
    FIELD(struct process, runs_since),  FIELD(struct process, sums),
    FIELD(struct process, own),         FIELD(struct process, ran),
    FIELD(struct process, collections), FIELD(struct process, collecting_time),
};

enum { FIELDS = sizeof fields / sizeof fields[0], ELEMENTS = 7 };

/* {Fields, Process, Name or 0, Entry, Parent or 0, Reason, Bins}; 0 if there is no memory. */
static ERL_NIF_TERM save_process(ErlNifEnv *env, struct process *process)
{
    ERL_NIF_TERM none = enif_make_uint(env, 0);
    const ERL_NIF_TERM elements[ELEMENTS] = {
        fields_save(env, process, fields, FIELDS),
        process->tracee.term,
        process->tracee.name ? process->tracee.name : none,
        past_save_mfa(env, &process->entry),
        process->parent ? process->parent : none,
        text_save(env, process->reason),
        bins_save(env, &process->bins),
    };

    return tuple_save(env, elements, ELEMENTS);
}

/* All processes, the last one first. */
ERL_NIF_TERM processes_save(ErlNifEnv *env, struct report *report)
{
    ERL_NIF_TERM list = enif_make_list(env, 0), saved;

    for (struct process *process = report->first; process; process = process->next) {
        saved = save_process(env, process);
        if (!saved)
            return 0;
        list = enif_make_list_cell(env, saved, list);
    }
    return list;
}

static bool take_process(ErlNifEnv *env, struct report *report, ERL_NIF_TERM saved)
{
    const ERL_NIF_TERM *elements;
    struct process *process;
    int size;

    if (!enif_get_tuple(env, saved, &size, &elements) || size != ELEMENTS)
        return false;
    process = process_of(report, elements[1], false);
    if (!process || !past_take_mfa(env, elements[3], &process->entry))
        return false;
    process->tracee.name = enif_is_number(env, elements[2]) ? 0 : elements[2];
    process->parent = enif_is_number(env, elements[4]) ? 0 : elements[4];
    return fields_take(env, elements[0], process, fields, FIELDS) &&
           text_take(env, elements[5], &process->reason) &&
           bins_take(env, elements[6], &process->bins, &report->shift);
}

/* Drops the processes that are not in LIST. A later process of the same pid has another serial. */
static void drop_unsaved(ErlNifEnv *env, struct report *report, ERL_NIF_TERM list)
{
    const ERL_NIF_TERM *elements;
    struct process read, *process;
    ERL_NIF_TERM head;
    int size;

    for (process = report->first; process; process = process->next)
        process->forgotten = true;
    while (enif_get_list_cell(env, list, &head, &list)) {
        if (!enif_get_tuple(env, head, &size, &elements) || size != ELEMENTS ||
            !fields_take(env, elements[0], &read, fields, FIELDS))
            continue; /* take_process() fails */
        process = tracees_find(&report->processes, elements[1]);
        if (process)
            process->forgotten = process->serial != read.serial;
    }
    drop_forgotten(report);
}

bool processes_take(ErlNifEnv *env, struct report *report, ERL_NIF_TERM list)
{
    ERL_NIF_TERM head;

    drop_unsaved(env, report, list);
    if (!enif_make_reverse_list(env, list, &list))
        return false;
    while (enif_get_list_cell(env, list, &head, &list))
        if (!take_process(env, report, head))
            return false;
    return true;
}
