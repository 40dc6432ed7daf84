/* Processes and ports: identity, lifetime, running and collecting. */
#include "report.h"

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
    process->reason = text_of(event->env, event->term);
}

static void run_until(struct process *process, int64_t now)
{
    struct report *report = process->report;

    if (process->runs_since == TIME_NONE || now == TIME_NONE)
        return;
    if (now > process->runs_since) {
        process->ran += (uint64_t)(now - process->runs_since);
        if (!bins_busy(&process->bins, &report->shift, process->runs_since, now))
            report->lost++;
    }
    process->runs_since = TIME_NONE;
}

/* From now on the timeline shows running processes. */
static void begin_scheduling(struct report *report)
{
    if (report->scheduling)
        return;
    report->scheduling = true;
    for (struct process *process = report->first; process; process = process->next)
        bins_forget_busy(&process->bins);
}

static void schedule_event(const struct event *event, bool in)
{
    struct process *process = event->process;

    begin_scheduling(event->report);
    if (!process)
        return;
    stack_pass_time(process, event->report->clock.now);
    process->out = !in;
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
    }
}

static void free_process(struct process *process)
{
    mailbox_clear(&process->report->messages, &process->mailbox);
    stack_free(&process->stack);
    free(process->bins.bins);
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

void processes_forget(struct report *report, size_t most, bool goes_on)
{
    struct process **link = &report->first, *process;

    if (report->processes.used <= most)
        return;
    choose(report, most, goes_on);
    messages_forget(report);
    slowest_forget(&report->slowest);
    while ((process = *link)) {
        if (!process->forgotten) {
            link = &process->next;
            continue;
        }
        *link = process->next;
        add_sums(&report->others, &process->sums);
        tracees_remove(&report->processes, &process->tracee);
        free_process(process);
    }
    report->end = link;
}

void processes_free(struct report *report)
{
    for (struct process *process = report->first, *next; process; process = next) {
        next = process->next;
        free_process(process);
    }
    free(report->processes.slots);
}
