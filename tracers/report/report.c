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
#include "../kit/counts_share.h"
#include "../kit/tracee.h"
#include "merge.h"

#include <nif_module.h>

unsigned char th_tracer_past = 80;

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
        if (!past_is_played())
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
        slowest_drop_all(&report->slowest);
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
    if (!past_is_played())
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

/* --- shares --- */

/* Members that are the whole's at the end of a share; merge.h describes the others. */
static const struct field fields[] = {
    FIELD(struct report, clock),
    FIELD(struct report, sums),
    FIELD(struct report, others),
    FIELD(struct report, scheduling),
    FIELD(struct report, told),
    FIELD(struct report, strays),
    FIELD(struct report, stacks.lost),
    FIELD(struct report, unscheduled),
    FIELD(struct report, messages.forgotten),
    FIELD(struct report, messages.merged),
    FIELD(struct report, messages.nameless),
    FIELD(struct report, unkept),
};

enum { FIELDS = sizeof fields / sizeof fields[0], ELEMENTS = 10 };

static ERL_NIF_TERM save_functions(ErlNifEnv *env, struct figures_table *functions)
{
    ERL_NIF_TERM list = figures_save(env, functions);

    figures_free(functions);
    *functions = (struct figures_table){.most = functions->most};
    return list;
}

/* A share with as many functions as a report keeps is not saved: it does not know which of them the
 * shares before have kept. */
static ERL_NIF_TERM save_output(ErlNifEnv *env, struct output *output)
{
    struct report *report = output->kept;
    struct repairs untimed;
    struct losses losses;
    uint64_t lost;

    if (!report)
        return 0;
    losses = report->losses;
    untimed = report->untimed;
    calls_losses(&report->calls, &losses, &untimed);
    lost = report->lost + report->functions.lost + report->tags.lost + report->stacks.starved +
           losses.lost;
    if (lost || report->functions.used >= FUNCTIONS_MOST)
        return 0;
    const ERL_NIF_TERM elements[ELEMENTS] = {
        fields_save(env, report, fields, FIELDS),
        past_save_repairs(env, &report->repairs),
        past_save_repairs(env, &untimed),
        past_save_numbers(env, 2, (const uint64_t *const[]){&losses.forgotten, &losses.unwatched}),
        counts_save(env, &report->tags, enif_make_list(env, 0)),
        save_functions(env, &report->functions),
        stacks_save(env, report),
        processes_save(env, report),
        messages_save(env, &report->messages),
        slowest_save(env, &report->slowest),
    };
    return tuple_save(env, elements, ELEMENTS);
}

static bool merge_output(ErlNifEnv *env, struct output *output, ERL_NIF_TERM saved)
{
    struct report *report = report_of(env, output->state ? output->state : enif_make_list(env, 0));
    bool scheduling = report && report->scheduling;
    const ERL_NIF_TERM *elements;
    int size;

    if (!report)
        return false;
    functions_forget_open(report);
    if (!enif_get_tuple(env, saved, &size, &elements) || size != ELEMENTS ||
        !fields_take(env, elements[0], report, fields, FIELDS) ||
        !past_take_repairs(env, elements[1], &report->repairs) ||
        !past_take_repairs(env, elements[2], &report->untimed) ||
        !past_take_numbers(
            env, elements[3], 2,
            (uint64_t *const[]){&report->losses.forgotten, &report->losses.unwatched}))
        return false;
    if (report->scheduling && !scheduling)
        processes_forget_busy(report);
    return counts_take(env, &report->tags, elements[4]) &&
           figures_take(env, &report->functions, elements[5]) &&
           stacks_take(env, report, elements[6]) && processes_take(env, report, elements[7]) &&
           messages_take(env, report, elements[8]) && slowest_take(env, report, elements[9]);
}

TH_TRACER_SAVE()
{
    return share_save(env, save_output);
}

TH_TRACER_MERGE()
{
    return share_merge(env, saved, merge_output);
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
ERL_NIF_INIT(tracehost_report, callbacks, NULL, NULL, NULL, unload)
