/*
 * report: one page about a recording, for browsers: calls and times of functions, stacks,
 * processes, messages, the slowest calls.
 *
 * State: see ../output.h; `title` is the title of the page. The file appears when the tracer is
 * unloaded.
 */
#define TRACER_DECLARES \
    {"title", TH_SETTING_TEXT, NULL, NULL, "what the page is called; the first stream without it"},
#define TRACER_WHOLE
#include "../kit/output.h"
#include "../kit/tracee.h"
#include "report.h"

#include <nif_module.h>

static struct report *create(void)
{
    struct report *report = calloc(1, sizeof *report);

    if (!report)
        return NULL;
    pthread_mutex_init(&report->lock, NULL);
    report->end = &report->first;
    functions_begin(report);
    return report;
}

/* Returns the data of this state, made at its first event. NULL if there is no memory. */
static struct report *report_of(ErlNifEnv *env, ERL_NIF_TERM state)
{
    struct output *output = output_of(env, state);
    struct report *report;

    if (!output)
        return NULL;
    pthread_mutex_lock(&outputs.lock);
    report = output->kept;
    if (!report)
        report = output->kept = create();
    pthread_mutex_unlock(&outputs.lock);
    if (!report)
        output_lose();
    return report;
}

static void free_report(struct report *report)
{
    processes_free(report);
    messages_free(&report->messages);
    slowest_free(&report->slowest);
    calls_free(&report->calls);
    figures_free(&report->functions);
    tree_free(&report->stacks);
    free(report->tags.slots);
    free(report);
}

/* --- events --- */

static void count_tag(struct report *report, ERL_NIF_TERM tag)
{
    struct count one = {.function = tag, .events = 1};

    if (!counts_add(&report->tags, &one))
        counts_insert(&report->tags, &one);
}

enum what { CALL, RETURN, RETURN_TO, SEND, RECEIVE, SCHEDULE, OTHER };

static enum what what_of(ErlNifEnv *env, ERL_NIF_TERM tag)
{
    if (tag == TH_TRACER_ATOM(env, call))
        return CALL;
    if (tag == TH_TRACER_ATOM(env, return_from) || tag == TH_TRACER_ATOM(env, exception_from))
        return RETURN;
    if (tag == TH_TRACER_ATOM(env, return_to))
        return RETURN_TO;
    if (tag == TH_TRACER_ATOM(env, send) ||
        tag == TH_TRACER_ATOM(env, send_to_non_existing_process))
        return SEND;
    if (tag == TH_TRACER_ATOM(env, receive))
        return RECEIVE;
    if (tag == TH_TRACER_ATOM(env, in) || tag == TH_TRACER_ATOM(env, out) ||
        tag == TH_TRACER_ATOM(env, in_exiting) || tag == TH_TRACER_ATOM(env, out_exiting) ||
        tag == TH_TRACER_ATOM(env, out_exited))
        return SCHEDULE;
    return OTHER;
}

static void count(const struct event *event, enum what what, struct sums *sums)
{
    sums->events++;
    sums->calls += what == CALL;
    sums->errors += event->tag == TH_TRACER_ATOM(event->env, exception_from);
    sums->sent += what == SEND;
    sums->received += what == RECEIVE;
}

/* Notes an event of the process itself. */
static void note(const struct event *event, enum what what, bool port)
{
    struct process *process = event->process;
    struct report *report = event->report;
    bool first = !process || process->sums.events == 0;

    if (!process) {
        report->unkept++;
        count(event, what, &report->others);
        return;
    }
    if (first) {
        process->sums.processes = !port;
        process->sums.ports = port;
    }
    count(event, what, &process->sums);
    if (event->now != TIME_NONE) {
        process->last = event->now;
        report->lost += !bins_event(&process->bins, &report->shift, event->now);
    }
    process->ended &= what == SCHEDULE; /* a process that has ended still leaves its scheduler */
}

static void follow(const struct event *event, enum what what)
{
    switch (what) {
    case CALL:
    case RETURN:
    case RETURN_TO:
        function_event(event);
        process_call(event);
        break;
    case SEND:
        send_event(event);
        break;
    case RECEIVE:
        receive_event(event);
        break;
    default:
        life_event(event);
    }
}

/* Begins a stream: identifiers and names mean other processes than before; the figures of a process
 * continue with the next process of the same identifier. */
static void begin_stream(struct report *report, int streams)
{
    if (report->streams) {
        functions_forget_open(report);
        processes_begin_stream(report);
        messages_clear(report);
    }
    report->streams = streams;
}

/* Handles an event, under the lock. */
static void take(struct event *event)
{
    struct report *report = event->report;
    ErlNifEnv *env = event->env;
    enum what what = what_of(env, event->tag);
    ERL_NIF_TERM word = tracee_word(env, event->tracee);
    bool port = enif_is_port(env, event->tracee);
    int streams = TH_HAS(th_recordings_begun) ? th_recordings_begun(env) : 0;

    if (streams != report->streams)
        begin_stream(report, streams);
    if (!enif_get_map_value(env, event->opts, TH_TRACER_ATOM(env, extra), &event->extra))
        event->extra = 0;
    event->now = clock_take(&report->clock, env, event->opts);
    event->tracee = word;
    count_tag(report, event->tag);
    count(event, what, &report->sums);
    if (word == TH_TRACER_ATOM(env, undefined) || event->tag == TH_TRACER_ATOM(env, seq_trace))
        return;
    report->at_work = event->process = process_of(report, word, port);
    note(event, what, port);
    follow(event, what);
}

TH_TRACER_ENABLED(generic)
{
    ERL_NIF_TERM answer = output_enabled(env, tag, state, TH_TRACER_ATOM(env, trace));

    if (output_begins(env, tag, state))
        report_of(env, state); /* a page is written also without events */
    return answer;
}

TH_TRACER_TRACE(generic)
{
    struct event event = {.env = env,
                          .report = report_of(env, state),
                          .tracee = tracee,
                          .tag = tag,
                          .term = term,
                          .opts = opts};

    if (!event.report)
        return;
    pthread_mutex_lock(&event.report->lock);
    take(&event);
    pthread_mutex_unlock(&event.report->lock);
}

/* --- the end --- */

TH_TRACER_UNLOAD()
{
    for (struct output *output = output_end(); output; output = output->next) {
        char title[1024] = "";
        if (!output->kept)
            continue;
        if (output->state)
            output_setting(output->env, output->state, "title", title, sizeof title);
        write_page(output->file, output->env, output->kept, title);
        output_report_lost(env, "events", ((struct report *)output->kept)->starved);
        free_report(output->kept);
    }
    output_close_all(env);
}

/* For an Erlang node; see ../README.md. */
static ErlNifFunc callbacks[] = {{"enabled", 3, enabled, 0}, {"trace", 5, trace, 0}};
ERL_NIF_INIT(report, callbacks, NULL, NULL, NULL, unload)
