/* Adds and removes processes and functions of this host; raises live events other than calls. */
#include "live.h"

#include "live_hit.h"

#include "host/trace/pattern_internal.h"
#include "host/trace/trace_internal.h"
#include "host/trace/trace_thread.h"

/* --- Processes -------------------------------------------------------------------------------- */

void th_live_process_begin(struct th_live_tracee *process, struct th_tracing *tracing,
                           struct th_live_tracee *parent, bool linked)
{
    struct th_tracee *of = parent ? &parent->traced : NULL;

    if (!tracing->shared)
        th_bug("a live process in a tracing that is not shared");
    process->traced.tracing = tracing;
    process->traced.id = process->id;
    atomic_init(&process->traced.words, &tracing->found_words[th_trace_kind_of(process->id)]);
    process->traced.live = true;
    if (!th_trace_inheritance_is_relevant(&process->traced, of)) {
        th_live_table_add(&tracing->live, process);
        return;
    }
    th_progress_enter(); /* keeps the tracee flags of the parent, which other threads may replace */
    th_trace_lock(tracing);
    th_trace_inheritance_begin(&process->traced, of, linked);
    th_live_table_add(&tracing->live, process);
    th_trace_unlock(tracing);
    th_progress_leave();
}

void th_live_process_leave(struct th_live_tracee *process)
{
    struct th_tracing *tracing = process->traced.tracing;

    th_trace_lock(tracing);
    th_live_table_remove_found(&tracing->live, process);
    th_trace_traced_set_all(&process->traced, th_trace_tracee_flags_create(0));
    th_trace_unlock(tracing);
}

/* Only a thread that has found PROCESS, or that has run it or its parent, gives it flags of its
 * own. */
void th_live_process_end(struct th_live_tracee *process)
{
    struct th_tracing *tracing = process->traced.tracing;

    if (!th_live_table_remove(&tracing->live, process) ||
        atomic_load_explicit(&process->traced.tracee_flags, memory_order_relaxed)) {
        th_trace_lock(tracing);
        th_live_table_remove_found(&tracing->live, process);
        th_trace_traced_end(&process->traced);
        th_trace_unlock(tracing);
    }
    th_trace_timing_free(&process->timing);
}

void th_live_read(struct th_live_tracee *process, struct th_account_reading *reading)
{
    *reading = (struct th_account_reading){.process = process->id,
                                           .now = th_clock_real_monotonic(),
                                           .words = process->words ? process->words(process) : 0};
}

void th_live_pause(struct th_live_tracee *process)
{
    struct th_account_reading reading;

    if (process->timing.account_count == 0)
        return;
    th_live_read(process, &reading);
    th_progress_enter();
    th_trace_timing_pause(&process->timing, process->traced.tracing, &reading);
    th_progress_leave();
}

void th_live_resume(struct th_live_tracee *process)
{
    struct th_account_reading reading;

    if (process->timing.account_count == 0)
        return;
    th_live_read(process, &reading);
    th_trace_timing_resume(&process->timing, &reading);
}

struct th_live_counts th_live_counts(const struct th_tracing *tracing)
{
    struct th_live_counts counts = th_trace_thread_sum_live();

    counts.suppressed -= tracing->suppressed_before;
    counts.strangers -= tracing->strangers_before;
    return counts;
}

/* --- Functions -------------------------------------------------------------------------------- */

void th_live_functions_begin(struct th_tracing *tracing,
                             struct th_traceable_function *const functions[], size_t count)
{
    struct th_change *change = th_breakpoint_change_create();

    th_trace_lock(tracing);
    for (size_t i = 0; i < count; i++) {
        struct th_traceable_function *function = functions[i];
        struct th_function_sites *sites = &function->function;
        if (!function->term[0])
            th_live_function_words(function->term, &sites->name);
        function->own_site = !sites->site && !sites->local && !sites->no_local;
        if (function->own_site)
            sites->site = th_breakpoint_site_create(&th_breakpoint_site_virtual, function, NULL);
        function->next = tracing->live_functions;
        function->place = &tracing->live_functions;
        if (function->next)
            function->next->place = &function->next;
        tracing->live_functions = function;
        th_trace_patterns_add(tracing, change, sites, TH_NEWS_LOADED);
    }
    th_trace_unlock(tracing);
    th_breakpoint_change_set_unreached(change);
}

void th_live_functions_renew(struct th_tracing *tracing, const struct th_live_renewal renewals[],
                             size_t count)
{
    struct th_change *change, *stand_ins[2];

    if (count == 0)
        return;
    change = th_breakpoint_change_create();
    for (int i = 0; i < 2; i++)
        stand_ins[i] = th_breakpoint_change_create();
    th_trace_lock(tracing);
    for (size_t i = 0; i < count; i++) {
        struct th_function_sites *function = &renewals[i].function->function;
        bool had = th_trace_function_local_site(function), has;
        function->local = renewals[i].local;
        function->no_local = renewals[i].no_local;
        has = th_trace_function_local_site(function);
        if (had == has)
            continue;
        function->strays = true;
        if (has) /* for a new site, its breakpoints; for a lost one, its stand-ins */
            th_trace_patterns_add(tracing, change, function, TH_NEWS_LOCAL);
        for (int k = 0; k < 2 && !has && function->site; k++)
            th_breakpoint_change_stand_in(stand_ins[k], function->site, function->local);
    }
    /* This change is queued behind the changes that wait for the permission now, for the
     * breakpoints that those changes set. */
    th_breakpoint_change_start(stand_ins[1], NULL, NULL);
    th_trace_unlock(tracing);
    th_breakpoint_change_set_unreached(change);
    th_breakpoint_change_run_held(stand_ins[0]);
}

/* From now on no change is made at SITE, and queued changes are void. */
static void end_site(struct th_change *change, struct th_site *site)
{
    if (!site)
        return;
    th_breakpoint_site_end(site);
    th_breakpoint_change_add(change, &(struct th_bp_setting){.site = site, .clear = TH_BP_ALL});
}

void th_live_functions_end(struct th_tracing *tracing,
                           struct th_traceable_function *const functions[], size_t count)
{
    struct th_change *change = th_breakpoint_change_create();

    th_trace_lock(tracing);
    for (size_t i = 0; i < count; i++) {
        *functions[i]->place = functions[i]->next;
        if (functions[i]->next)
            functions[i]->next->place = functions[i]->place;
        end_site(change, functions[i]->function.site);
        end_site(change, functions[i]->function.local);
        functions[i]->function.strays = false;
    }
    th_trace_unlock(tracing);
    th_breakpoint_change_run_held(change);
    th_progress_wait(); /* for threads that use a site without breakpoints */
    for (size_t i = 0; i < count; i++)
        if (functions[i]->own_site)
            th_breakpoint_site_drop(functions[i]->function.site);
}

struct th_traceable_function *th_live_function_find(struct th_tracing *tracing,
                                                    const struct th_mfa *name)
{
    const uint64_t key = th_trace_function_key(name);
    struct th_traceable_function *f;

    th_trace_lock(tracing);
    f = tracing->live_functions;
    while (f && th_trace_function_key(&f->function.name) != key)
        f = f->next;
    th_trace_unlock(tracing);
    return f;
}

/* --- Events ----------------------------------------------------------------------------------- */

struct th_live_tracee *th_live_process_of(const struct th_event *event)
{
    return (struct th_live_tracee *)((char *)event->live - offsetof(struct th_live_tracee, traced));
}

static enum th_status live_decode(struct th_event *event, th_env *env)
{
    struct th_live_event *self = (struct th_live_event *)event;
    unsigned scheduler = th_live_process_of(event)->scheduler;

    if (event->reader && event->tag == TH_TAG_call) {
        event->term = th_live_call_term(event->reader, env, TH_FLAG_NONE);
    } else if (event->reader) {
        event->term = th_live_end_term(event->reader, env);
        event->extra = th_live_end_extra(event->reader, env);
    } else if (self->build) {
        self->build(self, env);
    }
    if (event->kind != TH_EVENT_SEQ_TRACE)
        event->scheduler_id = scheduler ? th_small(scheduler) : TH_NONE;
    event->decoded = true;
    return TH_OK;
}

static enum th_status no_time(struct th_event *event)
{
    event->timed = true; /* no recorded time: the tracer reads a clock */
    return TH_OK;
}

static enum th_status function(struct th_event *event, struct th_mfa *found)
{
    const struct th_live_end *end = event->reader;

    if (end && event->tag == TH_TAG_call)
        *found = ((const struct th_call_event *)event->reader)->function->function.name;
    else if (end && end->function)
        *found = *end->function;
    else if (end)
        return th_error_raise(TH_MALFORMED, "the event has no function: no call goes on");
    else
        return th_error_raise(TH_MALFORMED, "a '%s' event has no function",
                              th_trace_tag_name(event->tag));
    return TH_OK;
}

static th_term actor(struct th_event *event)
{
    return event->live->id;
}

static enum th_status whole(struct th_event *event, th_env *env, th_term *tuple)
{
    enum th_status status = th_trace_event_decode(event, env);

    event->scheduler_id = TH_NONE;
    if (status == TH_OK)
        *tuple = th_trace_event_to_tuple(event, env);
    return status;
}

/* Source of live events. `reader` is the call or end of the event; NULL: a struct th_live_event. */
static const struct th_event_source source = {
    .decode = live_decode,
    .time = no_time,
    .function = function,
    .actor = actor,
    .whole = whole,
};

/* Initializes EVENT, an event of PROCESS. */
static void live_begin(struct th_event *event, struct th_live_tracee *process,
                       enum th_event_kind kind, enum th_tracer_tag tag, const void *reader)
{
    th_trace_event_begin(event, kind);
    event->tag = tag;
    event->tracee = kind == TH_EVENT_SEQ_TRACE ? TH_NONE : process->id;
    event->number = event->position = 0;
    event->source = &source;
    event->reader = (void *)reader;
    event->live = &process->traced;
}

void th_live_call_event(struct th_event *event, const struct th_call_event *call)
{
    live_begin(event, call->process, TH_EVENT_TRACE, TH_TAG_call, call);
    event->external = call->external ? TH_YES : TH_NO;
}

void th_live_end_event(struct th_event *event, const struct th_live_end *end)
{
    live_begin(event, end->process, TH_EVENT_TRACE, end->tag, end);
}

static void init(struct th_live_event *self, struct th_live_tracee *process,
                 enum th_event_kind kind, enum th_tracer_tag tag)
{
    live_begin(&self->event, process, kind, tag, NULL);
    self->sender = TH_NONE;
    self->build = NULL;
    self->context = NULL;
}

void th_live_event_init(struct th_live_event *event, struct th_live_tracee *process,
                        enum th_tracer_tag tag)
{
    if (tag >= TH_TAG_call && tag <= TH_TAG_exception_from)
        th_bug("a live '%s' event needs th_live_call() or a function like it",
               th_trace_tag_name(tag));
    init(event, process, TH_EVENT_TRACE, tag);
}

void th_live_event_init_seq(struct th_live_event *event, struct th_live_tracee *process)
{
    init(event, process, TH_EVENT_SEQ_TRACE, TH_TAG_seq_trace);
}

/* `in` queries all sessions that trace the process, with any flag. */
bool th_live_is_wanted(const struct th_live_tracee *process, enum th_tracer_tag tag)
{
    const struct th_tracing *tracing = process->traced.tracing;
    uint32_t flag;

    if (atomic_load_explicit(&tracing->attached, memory_order_relaxed) == 0)
        return false;
    flag = th_trace_tag_flag(tag, th_trace_tag_group(tag, process->id));
    return (tag == TH_TAG_in && !th_is_port(process->id)) ||
           flag & atomic_load_explicit(&tracing->wanted, memory_order_relaxed);
}

enum th_status th_live_trace(struct th_live_event *event)
{
    return th_trace(event->event.live->tracing, &event->event);
}
