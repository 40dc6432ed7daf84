/* Starts and stops the host, and accesses its own data. */
#include "embed_host.h"

#include "host/base/buffer.h"
#include "host/crash/crash.h"
#include "host/library/find.h"
#include "host/library/load.h"
#include "host/process/process.h"
#include "host/progress/progress.h"
#include "host/runtime/poll/select.h"
#include "host/trace/callback.h"
#include "host/trace/pattern.h"

#include <dlfcn.h>

/* NULL: no host runs. Written only by start and stop, while no other thread uses the host. */
static tracehost_host *running;

static unsigned long failures_before; /* failures of tracers before the start; likewise */

int tracehost_version(void)
{
    return TRACEHOST_VERSION;
}

const char *tracehost_version_text(void)
{
    return TH_VERSION;
}

/* --- Checks ----------------------------------------------------------------------------------- */

enum th_status th_embed_check(const tracehost_host *host)
{
    if (host && host == running)
        return TH_OK;
    return th_error_raise(TH_USAGE, host ? "the host is not running" : "the host is missing");
}

static bool is_inside(void)
{
    return th_self.embed_depth || th_self.attachment || th_self.subject || th_self.library_frame;
}

enum th_status th_embed_enter(void)
{
    bool lasts = th_memory_last();

    if (!is_inside())
        th_memory_refused = false;
    return !lasts || th_memory_is_short() ? th_error_raise(TH_FAILED, "out of memory") : TH_OK;
}

enum th_status th_embed_check_outside(const tracehost_host *host)
{
    enum th_status status = th_embed_check(host);

    if (status == TH_OK && is_inside())
        return th_error_raise(TH_USAGE, "this function cannot be called in a callback");
    return status;
}

enum th_status th_embed_session(const tracehost_host *host, tracehost_session session,
                                struct th_session **found)
{
    enum th_status status = th_embed_check(host);

    if (status != TH_OK)
        return status;
    *found = th_trace_session_find(host->tracing, session);
    return *found ? TH_OK
                  : th_error_raise(TH_USAGE, "there is no session %llu any more",
                                   (unsigned long long)session);
}

/* --- Starting and stopping -------------------------------------------------------------------- */

/* Makes this library's functions visible to tracers. Tracers look for the NIF API in the program
 * and in libraries with global visibility; a program such as Python opens this library with local
 * visibility. */
static void offer_functions(void)
{
    Dl_info here;
    void *library;

    if (!dladdr((const void *)&running, &here) || !here.dli_fname)
        return;
    library = dlopen(here.dli_fname, RTLD_NOW | RTLD_NOLOAD | RTLD_GLOBAL);
    if (library) /* NULL: linked into the program */
        dlclose(library);
}

static void add_search_folder(tracehost_host *host, const char *folder)
{
    TH_ARRAY_GROW(host->folders.items, host->folders.count, host->folders.capacity);
    host->folders.items[host->folders.count++] = th_strdup(folder);
}

enum tracehost_status tracehost_host_start(const struct tracehost_setup *given,
                                           tracehost_host **host)
{
    struct tracehost_setup setup;
    enum th_status status = th_embed_sized_take(&setup, sizeof setup, given, "tracehost_setup")
                                ?: th_embed_need(host, "result");
    int error;

    if (status == TH_OK && running)
        status = th_error_raise(TH_USAGE, "a host is running already");
    else if (status == TH_OK && setup.clock != TRACEHOST_CLOCK_RECORDED &&
             setup.clock != TRACEHOST_CLOCK_WALL)
        status = th_error_raise(TH_USAGE, "`clock` must be a TRACEHOST_CLOCK value, not %d",
                                (int)setup.clock);
    for (size_t i = 0; status == TH_OK && i < setup.folder_count; i++)
        status = th_embed_need(setup.folders && setup.folders[i], "name of a folder");
    status = status ?: th_embed_enter();
    error = status == TH_OK ? th_progress_prepare() : 0; /* a later failure would end the program */
    if (error)
        status = th_error_raise(TH_FAILED, "cannot start a thread: %s", strerror(error));
    if (status != TH_OK)
        return th_embed_answer(status);
    th_library_halt_over();
    offer_functions();
    failures_before = th_trace_failures();
    running = th_alloc_zero(sizeof *running);
    pthread_mutex_init(&running->loading, NULL);
    pthread_mutex_init(&running->processes_lock, NULL);
    running->tracing = th_trace_create();
    if (setup.live)
        th_trace_share(running->tracing);
    th_trace_use_execution(running->tracing,
                           &(struct th_execution_options){.frames = setup.frames});
    for (size_t i = 0; i < setup.folder_count; i++)
        add_search_folder(running, setup.folders[i]);
    if (setup.clock == TRACEHOST_CLOCK_WALL)
        th_trace_use_wall_clock(running->tracing);
    if (setup.recorded_callers)
        th_trace_use_recorded_callers(running->tracing);
    if (setup.display)
        th_trace_use_display(running->tracing, setup.display);
    running->guard = setup.guard;
    running->frames = setup.frames;
    running->recorded_callers = setup.recorded_callers;
    if (setup.guard) {
        th_crash_install();
        th_crash_allow_exit();
    }
    *host = running;
    return TRACEHOST_OK;
}

bool tracehost_supervise(const char *name)
{
    th_crash_supervise(name ? name : "tracehost", NULL);
    return th_crash_is_supervised();
}

enum tracehost_status tracehost_host_stop(tracehost_host *host)
{
    enum th_status status = host ? th_embed_check_outside(host) : TH_OK;

    if (status == TH_OK && host && host->replay)
        status = th_error_raise(TH_USAGE, "cannot stop the host: a replay has not ended");
    if (status == TH_OK && host && host->control)
        status = th_error_raise(TH_USAGE, "cannot stop the host: its control is open");
    if (status == TH_OK && host && atomic_load_explicit(&host->live, memory_order_relaxed))
        status = th_error_raise(TH_USAGE,
                                "cannot stop the host: live processes or functions have not ended");
    if (status != TH_OK || !host)
        return th_embed_answer(status);
    th_library_halt();
    th_poll_select_end(); /* a selected descriptor keeps its tracer loaded */
    th_trace_free(host->tracing);
    if (host->guard)
        th_crash_remove();
    for (size_t i = 0; i < host->folders.count; i++)
        th_free((char *)host->folders.items[i]);
    th_free(host->folders.items);
    pthread_mutex_destroy(&host->processes_lock);
    pthread_mutex_destroy(&host->loading);
    th_free(host);
    running = NULL;
    return th_embed_answer(th_trace_failures_raise(failures_before));
}

/* --- Folders of tracers ----------------------------------------------------------------------- */

void th_embed_search(const tracehost_host *host, struct th_search *search)
{
    th_library_search_init(search, TH_SEARCH_TRACERS, host->folders.items, host->folders.count);
    search->replaceable = host->control; /* by a client's command, or as its file changes */
}

enum tracehost_status tracehost_host_add_folder(tracehost_host *host, const char *folder)
{
    enum th_status status =
        th_embed_check(host) ?: th_embed_enter() ?: th_embed_need(folder, "folder");

    if (status != TH_OK)
        return th_embed_answer(status);
    pthread_mutex_lock(&host->loading);
    add_search_folder(host, folder);
    pthread_mutex_unlock(&host->loading);
    return TRACEHOST_OK;
}

enum tracehost_status
tracehost_host_visit_tracers(tracehost_host *host,
                             void (*visit)(void *context, const struct tracehost_found *found),
                             void *context)
{
    struct th_search search;
    struct th_found_list list;
    enum th_status status =
        th_embed_check(host) ?: th_embed_enter() ?: th_embed_need(visit, "function that visits");

    if (status != TH_OK)
        return th_embed_answer(status);
    pthread_mutex_lock(&host->loading);
    th_embed_search(host, &search);
    pthread_mutex_unlock(&host->loading);
    th_library_search_list(&search, &list);
    th_self.embed_depth++;
    for (size_t i = 0; i < list.count; i++) {
        const struct tracehost_found found = {
            .size = sizeof found,
            .name = list.items[i].name,
            .path = list.items[i].path,
            .shadowed = list.items[i].shadowed,
        };
        visit(context, &found);
    }
    th_self.embed_depth--;
    th_library_found_list_free(&list);
    th_library_search_free(&search);
    return TRACEHOST_OK;
}

/* --- Counts and deliveries -------------------------------------------------------------------- */

enum tracehost_status tracehost_host_get_counts(tracehost_host *host,
                                                struct tracehost_host_counts *counts)
{
    struct th_execution_counts execution;
    struct tracehost_host_counts known;
    enum th_status status = th_embed_check(host);

    if (status != TH_OK)
        return th_embed_answer(status);
    execution = th_trace_execution_counts(host->tracing);
    known = (struct tracehost_host_counts){
        .sessions = th_trace_sessions(host->tracing),
        .calls_forgotten = th_trace_calls_forgotten(host->tracing),
        .returns_not_kept = execution.not_kept + execution.lost,
        .mail_dropped = th_process_mail_dropped(),
    };
    return th_embed_sized_answer(counts, &known, sizeof known, "tracehost_host_counts");
}

struct delivery {
    void (*done)(void *context);
    void *context;
};

static void delivered(void *context)
{
    struct delivery *delivery = context;

    th_self.embed_depth++;
    delivery->done(delivery->context);
    th_self.embed_depth--;
    th_free(delivery);
}

enum tracehost_status tracehost_host_delivered(tracehost_host *host, ERL_NIF_TERM tracee,
                                               void (*done)(void *context), void *context)
{
    enum th_status status =
        th_embed_check(host) ?: th_embed_enter() ?: th_embed_need(done, "function to be called");
    struct delivery *delivery;

    if (status != TH_OK)
        return th_embed_answer(status);
    delivery = th_alloc(sizeof *delivery);
    *delivery = (struct delivery){done, context};
    (void)tracee; /* all tracees are waited for, TRACEE among them */
    th_trace_delivered(host->tracing, delivered, delivery);
    return TRACEHOST_OK;
}
