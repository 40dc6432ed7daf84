/* Counts and times of each function's calls, like the tracer `time`. */
#include "report.h"

/* The end of a call, its event, and the timing of that event. */
static void ended(void *of, const struct ended *ended)
{
    slowest_ended(of, ended);
}

static struct timing timing_of(const struct event *event)
{
    return (struct timing){.env = event->env,
                           .calls = &event->report->calls,
                           .figures = past_is_played() ? NULL : &event->report->functions,
                           .process = event->tracee,
                           .now = event->now,
                           .ended = ended,
                           .of = (void *)event};
}

void function_event(const struct event *event)
{
    bool thrown = event->tag == TH_TRACER_ATOM(event->env, exception_from);
    struct timing timing = timing_of(event);
    struct mfa to;
    uint32_t mark;

    if (event->tag == TH_TRACER_ATOM(event->env, return_to)) {
        if (mfa_read(event->env, event->term, &to))
            timing_return_to(&timing, &to);
        return;
    }
    if (!counts_read_function(event->env, event->term, &timing.function))
        return;
    if (event->tag == TH_TRACER_ATOM(event->env, call)) {
        timing.caller = mfa_of_caller(event->env, event->opts);
        mark = slowest_keep(event);
        if (!timing_begin(&timing, mark))
            slowest_drop(&event->report->slowest, event->process, mark);
    } else {
        event->report->strays += !timing_end(&timing, thrown);
    }
}

void function_running(const struct event *event)
{
    struct timing timing = timing_of(event);

    if (!event->process || !event->process->port)
        timing_running(&timing, event->tag);
}

void function_exit(const struct event *event)
{
    struct timing timing = timing_of(event);

    timing_exit(&timing);
}

static void forget_arguments(void *of, const struct open_call *call)
{
    struct report *report = of;

    slowest_drop(&report->slowest, report->at_work, call->mark);
}

void functions_begin(struct report *report)
{
    report->functions.most = FUNCTIONS_MOST;
    calls_init(&report->calls, FRAMES_MOST);
    report->calls.forgets = forget_arguments;
    report->calls.of = report;
}

void functions_forget_open(struct report *report)
{
    calls_losses(&report->calls, &report->losses, &report->untimed);
    calls_free(&report->calls);
    functions_begin(report);
}
