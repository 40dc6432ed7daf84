/* Traces the program's own processes and functions. */
#include "embed_host.h"

#include "host/code/permission.h"
#include "host/control/commands/commands.h"
#include "host/trace/live/live.h"

#include <jansson.h>
#include <string.h>

struct tracehost_live_process {
    struct th_live_tracee process; /* must be the first member */
    tracehost_host *host;
    uint64_t (*words)(void *context);
    void *context;
    tracehost_live_process *next, *before; /* in the host's list */
};

struct tracehost_live_function {
    struct th_traceable_function function; /* must be the first member */
    tracehost_host *host;
};

_Static_assert(sizeof(struct th_live_requests) <= sizeof(struct tracehost_live_frame),
               "programs have room for what is wanted");

static struct th_live_requests *wants_of(struct tracehost_live_frame *frame)
{
    return (struct th_live_requests *)frame;
}

static enum th_status check_live(const tracehost_host *host)
{
    enum th_status status = th_embed_check(host);

    if (status == TH_OK && !th_trace_is_shared(host->tracing))
        return th_error_raise(TH_USAGE, "the host was not started with `live`");
    return status;
}

/* --- Processes -------------------------------------------------------------------------------- */

static uint64_t live_words_of(struct th_live_tracee *process)
{
    const tracehost_live_process *live = (const tracehost_live_process *)process;

    return live->words(live->context);
}

enum tracehost_status tracehost_live_begin(tracehost_host *host,
                                           const struct tracehost_live_setup *given,
                                           tracehost_live_process **live)
{
    struct tracehost_live_setup setup;
    tracehost_live_process *made;
    enum th_status status = check_live(host)
                                ?: th_embed_enter()
                                ?: th_embed_sized_take(&setup, sizeof setup, given,
                                                 "tracehost_live_setup")
                                ?: th_embed_need(setup.process, "process")
                                ?: th_embed_need(live, "result");

    if (status != TH_OK)
        return th_embed_answer(status);
    made = th_alloc(sizeof *made);
    *made = (tracehost_live_process){
        .process = {.id = tracehost_process_pid(setup.process),
                    .words = setup.words ? live_words_of : NULL},
        .host = host,
        .words = setup.words,
        .context = setup.context,
    };
    th_live_process_begin(&made->process, host->tracing,
                          setup.parent ? &setup.parent->process : NULL, setup.linked);
    atomic_fetch_add_explicit(&host->live, 1, memory_order_relaxed);
    pthread_mutex_lock(&host->processes_lock);
    made->next = host->processes;
    if (made->next)
        made->next->before = made;
    host->processes = made;
    pthread_mutex_unlock(&host->processes_lock);
    *live = made;
    return TRACEHOST_OK;
}

json_t *th_embed_processes(tracehost_host *host)
{
    json_t *list = json_array();

    pthread_mutex_lock(&host->processes_lock);
    for (const tracehost_live_process *live = host->processes; live; live = live->next)
        json_array_append_new(
            list, json_pack("{s:o, s:n}", "pid", th_control_term(live->process.id), "name"));
    pthread_mutex_unlock(&host->processes_lock);
    return list;
}

void tracehost_live_end(tracehost_live_process *live)
{
    if (!live)
        return;
    pthread_mutex_lock(&live->host->processes_lock);
    *(live->before ? &live->before->next : &live->host->processes) = live->next;
    if (live->next)
        live->next->before = live->before;
    pthread_mutex_unlock(&live->host->processes_lock);
    th_live_process_end(&live->process);
    atomic_fetch_sub_explicit(&live->host->live, 1, memory_order_relaxed);
    th_free(live);
}

/* Returns true for tags of process events that tracehost_live_event() accepts. */
static bool is_event_tag(enum th_tracer_tag tag)
{
    return tag != (enum th_tracer_tag)TH_TAG_COUNT && tag != TH_TAG_call &&
           tag != TH_TAG_return_from && tag != TH_TAG_exception_from && tag != TH_TAG_return_to &&
           tag != TH_TAG_seq_trace;
}

enum tracehost_status tracehost_live_event(tracehost_live_process *live, const char *tag,
                                           ERL_NIF_TERM term, ERL_NIF_TERM extra)
{
    struct th_live_event event;
    enum th_tracer_tag kind;
    enum th_status status = th_embed_need(live, "process")
                                ?: th_embed_need(tag, "tag")
                                ?: th_embed_need(term != TH_NONE, "term");

    if (status != TH_OK)
        return th_embed_answer(status);
    kind = th_trace_tag_of(th_atom(tag));
    if (!is_event_tag(kind) || th_trace_tag_has_extra(kind) != (extra != TH_NONE))
        return th_embed_answer(th_error_raise(TH_USAGE, "there is no event '%s' of a process%s",
                                              tag,
                                              !is_event_tag(kind) ? ""
                                              : extra != TH_NONE  ? " with a further term"
                                                                  : " without a further term"));
    th_live_event_init(&event, &live->process, kind);
    event.event.term = term;
    event.event.extra = extra;
    status = th_live_trace(&event);
    if (status == TH_MALFORMED)
        return th_embed_answer(th_error_raise(TH_USAGE, "a process has no event '%s'", tag));
    return TRACEHOST_OK; /* TH_END: there is no session */
}

/* --- Functions -------------------------------------------------------------------------------- */

enum tracehost_status tracehost_live_function_begin(tracehost_host *host, const char *function,
                                                    tracehost_live_function **made)
{
    struct th_traceable_function *begun;
    struct th_mfa name;
    enum th_status status = check_live(host)
                                ?: th_embed_enter()
                                ?: th_embed_check_outside(host)
                                ?: th_embed_need(function, "function")
                                ?: th_embed_need(made, "result")
                                ?: th_embed_read_function(function, &name);

    if (status != TH_OK)
        return th_embed_answer(status);
    *made = th_alloc_zero(sizeof **made);
    (*made)->host = host;
    begun = &(*made)->function;
    begun->function.name = name;
    th_code_permission_wait();
    th_live_functions_begin(host->tracing, &begun, 1);
    th_code_permission_release();
    atomic_fetch_add_explicit(&host->live, 1, memory_order_relaxed);
    return TRACEHOST_OK;
}

enum tracehost_status tracehost_live_function_end(tracehost_live_function *function)
{
    struct th_traceable_function *ended;
    enum th_status status = function ? th_embed_check_outside(function->host) : TH_OK;

    if (status != TH_OK || !function)
        return th_embed_answer(status);
    ended = &function->function;
    th_code_permission_wait();
    th_live_functions_end(function->host->tracing, &ended, 1);
    th_code_permission_release();
    atomic_fetch_sub_explicit(&function->host->live, 1, memory_order_relaxed);
    th_free(function);
    return TRACEHOST_OK;
}

/* --- Calls ------------------------------------------------------------------------------------ */

static struct th_caller live_caller_of(const tracehost_live_function *function)
{
    struct th_caller caller = {.kind = TH_CALLER_UNDEFINED};

    if (function)
        caller = (struct th_caller){TH_CALLER_FUNCTION, function->function.function.name};
    return caller;
}

void tracehost_live_call(tracehost_live_process *live, const tracehost_live_function *function,
                         const ERL_NIF_TERM arguments[], bool external,
                         const tracehost_live_function *caller, struct tracehost_live_frame *frame)
{
    struct th_live_requests *wants = wants_of(frame);
    struct th_caller from;
    struct th_call_event call;

    memset(wants, 0, sizeof *wants);
    if (!th_live_function_is_armed(&function->function))
        return;
    from = live_caller_of(caller);
    call = (struct th_call_event){
        .process = live ? &live->process : NULL,
        .function = &function->function,
        .site = function->function.function.site,
        .arguments = arguments,
        .external = external,
        .caller = caller ? &from : NULL,
    };
    th_live_call(&call, wants);
}

void tracehost_live_return(tracehost_live_process *live, const tracehost_live_function *function,
                           struct tracehost_live_frame *frame, ERL_NIF_TERM value)
{
    if (live && wants_of(frame)->count > 0)
        th_live_return(&live->process, &function->function, wants_of(frame), value);
}

void tracehost_live_raise(tracehost_live_process *live, const tracehost_live_function *function,
                          struct tracehost_live_frame *frame, ERL_NIF_TERM exception_class,
                          ERL_NIF_TERM reason)
{
    if (live)
        th_live_raise(&live->process, &function->function, wants_of(frame), exception_class,
                      reason);
}

void tracehost_live_drop(tracehost_live_process *live, struct tracehost_live_frame *frame)
{
    if (live && wants_of(frame)->count > 0)
        th_live_drop(&live->process, wants_of(frame));
}

void tracehost_live_return_to(tracehost_live_process *live, const tracehost_live_function *function)
{
    struct th_caller to;

    if (!live || !th_live_is_returning(&live->process))
        return;
    to = live_caller_of(function);
    th_live_return_to(&live->process, &to);
}

enum tracehost_status tracehost_live_get_counts(tracehost_host *host,
                                                struct tracehost_live_counts *counts)
{
    struct tracehost_live_counts known;
    struct th_live_counts of;
    enum th_status status = th_embed_check(host);

    if (status != TH_OK)
        return th_embed_answer(status);
    of = th_live_counts(host->tracing);
    known = (struct tracehost_live_counts){.suppressed = of.suppressed, .strangers = of.strangers};
    return th_embed_sized_answer(counts, &known, sizeof known, "tracehost_live_counts");
}
