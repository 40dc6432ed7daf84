/* Setting patterns. */
#include "pattern.h"

#include "host/trace/live/live.h"
#include "named_tracer.h"
#include "pattern_internal.h"
#include "tracing.h"
#include "host/code/code.h"

/* --- match specifications that are shared --- */

static void end_spec(struct th_shared *shared)
{
    struct th_shared_spec *spec = (struct th_shared_spec *)shared;

    th_match_free(spec->spec);
    th_free(spec);
}

th_term th_trace_pattern_spec_source(struct th_shared *spec)
{
    return spec ? th_match_source(((struct th_shared_spec *)spec)->spec) : TH_AM(true);
}

/* --- a session's breakpoints --- */

static void end_points(struct th_shared *shared)
{
    struct th_points *points = (struct th_points *)shared;

    th_trace_pattern_defaults_end(points);
    th_free(points);
}

static struct th_points *points_of(struct th_session *session)
{
    struct th_tracing *tracing = session->tracing;
    struct th_points *points = th_trace_points_of(session);

    if (points)
        return points;
    points = th_alloc_zero(sizeof *points);
    th_breakpoint_session_init(&points->base, &th_trace_pattern_hooks, end_points);
    points->session = session;
    /* Stacks are followed from now on, from each process' first call, whoever has the flags. */
    atomic_store_explicit(&tracing->patterned, true, memory_order_relaxed);
    atomic_fetch_or_explicit(&tracing->wanted, TH_FLAG_CALL | TH_FLAG_RETURN_TO | TH_FLAG_PROCS,
                             memory_order_relaxed);
    atomic_store_explicit(&session->points, points, memory_order_relaxed);
    return points;
}

void th_trace_points_drop(struct th_points *points)
{
    points->session = NULL;
    th_breakpoint_shared_drop(&points->base.shared);
}

void th_trace_points_end(struct th_session *session)
{
    struct th_points *points = th_trace_points_of(session);
    struct th_change *change;

    if (!points)
        return;
    change = th_breakpoint_change_create();
    th_breakpoint_change_end_session(change, &points->base);
    th_breakpoint_change_run(change, NULL, NULL);
    th_trace_points_drop(points);
    atomic_store_explicit(&session->points, NULL, memory_order_relaxed);
}

/* --- functions that are met --- */

/* Queues CHANGE, under the lock, so that changes are made in the order in which they were asked
 * for. True: the thread may wait, and runs it when it has let go of the lock. */
static bool queue_change(struct th_change *change)
{
    bool waits = th_code_permission_may_wait();

    if (waits)
        th_breakpoint_change_queue(change);
    else
        th_breakpoint_change_start(change, NULL, NULL);
    return waits;
}

struct th_function_sites *th_trace_patterns_meet(struct th_tracing *tracing,
                                                 const struct th_mfa *name)
{
    struct th_function_sites *function;
    struct th_change *change = NULL;
    bool waits = false;

    th_trace_lock(tracing);
    function = th_trace_functions_find(&tracing->functions, name);
    if (!function) {
        function = th_trace_functions_add(&tracing->functions, name);
        change = th_breakpoint_change_create();
        th_trace_patterns_add(tracing, change, function, TH_NEWS_RECORDED);
        waits = queue_change(change);
    }
    th_trace_unlock(tracing);
    if (waits)
        th_breakpoint_change_run(change, NULL, NULL);
    return function;
}

/* --- setting --- */

static enum th_status check(const struct th_session *session, const struct th_pattern *pattern,
                            th_term match, uint32_t kinds)
{
    if ((pattern->module == TH_NONE && pattern->function != TH_NONE) ||
        (pattern->function == TH_NONE && pattern->arity != TH_ANY_ARITY))
        return th_error_raise(TH_USAGE, "a pattern is M:F/A, M:F/_, M:_/_ or _:_/_");
    if (pattern->arity < TH_ANY_ARITY || pattern->arity > TH_FUNCTION_ARITY_MAX)
        return th_error_raise(TH_USAGE, "an arity is at most %d", TH_FUNCTION_ARITY_MAX);
    if (!kinds || kinds & ~(uint32_t)TH_BP_ALL)
        return th_error_raise(TH_USAGE, "a pattern has at least one kind");
    if (kinds & TH_BP_MEMORY && !session->shared)
        return th_error_raise(TH_USAGE, "recordings do not tell the memory that calls take");
    if (kinds & TH_BP_GLOBAL && kinds != TH_BP_GLOBAL && kinds != TH_PATTERN_EITHER)
        return th_error_raise(TH_USAGE, "a global pattern is of no other kind");
    if (match == th_atom("pause") && kinds & TH_BP_TRACING)
        return th_error_raise(TH_USAGE, "only counts can be paused");
    return TH_OK;
}

/* SPEC is of MATCH, NULL if that is none. */
static struct th_bp_setting make_setting(struct th_points *points, th_term match,
                                         struct th_match_spec *spec, uint32_t kinds)
{
    struct th_bp_setting made = {.session = &points->base};
    struct th_shared_spec *shared;

    if (match == TH_AM(false)) {
        made.clear = kinds;
    } else if (match == th_atom("pause")) {
        made.pause = kinds;
    } else if (match == th_atom("restart")) {
        made.restart = kinds;
    } else {
        made.set = kinds;
        made.meta_tracer = kinds & TH_BP_META ? &points->base.shared : NULL; /* its own */
        if (spec) {
            shared = th_alloc_zero(sizeof *shared);
            shared->spec = spec;
            th_breakpoint_shared_init(&shared->shared, end_spec);
            made.spec = &shared->shared;
            made.meta_spec = th_breakpoint_shared_take(made.spec);
        }
    }
    return made;
}

/* It does not set anything, but changes what is set. */
static bool is_word(th_term match)
{
    return match == TH_AM(false) || match == th_atom("pause") || match == th_atom("restart");
}

/* `true` and [] are no specification, as are the words. */
static enum th_status compile(th_term match, struct th_match_spec **spec)
{
    *spec = NULL;
    if (match == TH_NIL || match == TH_AM(true) || is_word(match))
        return TH_OK;
    return th_match_compile(TH_MATCH_CALL, match, NULL, spec);
}

/* Sets PATTERN for all functions that there are and will be, and lets go of what is in SETTING. A
 * recorded function that is named is there from now on. *MATCHED counts a function that is live and
 * recorded once. */
static enum th_status set_pattern(struct th_session *session, const struct th_pattern *pattern,
                                  const struct th_bp_setting *setting, size_t *matched)
{
    struct th_mfa name = {pattern->module, pattern->function, (uint32_t)pattern->arity};
    struct th_tracing *tracing = session->tracing;
    const struct th_functions *functions = &tracing->functions;
    th_session_id id = th_trace_session_id_of(session);
    struct th_change *change = th_breakpoint_change_create();
    struct th_traceable_function *f;
    enum th_status status = TH_OK;
    size_t count = 0;
    bool waits;

    if (th_trace_pattern_names_one(pattern) && !tracing->replays_nothing)
        th_trace_patterns_meet(tracing, &name);
    th_trace_lock(tracing);
    th_trace_pattern_default_keep(points_of(session), pattern, setting);
    for (size_t i = 0; i < functions->count && !pattern->on_load; i++)
        count += th_trace_pattern_concerns(pattern, &functions->items[i]->name) &&
                 th_trace_pattern_set_at(change, functions->items[i], setting, true);
    for (f = tracing->live_functions; f && !pattern->on_load; f = f->next)
        if (th_trace_pattern_concerns(pattern, &f->function.name) &&
            th_trace_pattern_set_at(change, &f->function, setting, false))
            count += !th_trace_functions_find(functions, &f->function.name);
    waits = queue_change(change);
    th_trace_unlock(tracing);
    if (waits) {
        struct th_tracer_lock *lock = th_trace_tracer_lock_pause();
        th_breakpoint_change_run(change, NULL, NULL);
        th_trace_tracer_lock_return(lock);
        status = th_trace_session_check_there(tracing, id);
    }
    th_trace_pattern_setting_drop(setting);
    th_trace_settle(tracing); /* a meta tracer may have ended */
    if (matched)
        *matched = count;
    return status;
}

/* TRACER: of its own, for a meta breakpoint; NULL: the session's. */
static enum th_status trace_function(struct th_session *session, const struct th_pattern *pattern,
                                     th_term match, uint32_t kinds,
                                     const struct th_session_setup *tracer, size_t *matched)
{
    enum th_status status = check(session, pattern, match, kinds);
    struct th_match_spec *spec = NULL;
    struct th_meta_tracer *meta = NULL;
    struct th_points *points = NULL;
    struct th_bp_setting setting;

    if (status == TH_OK && tracer && th_is_atom(match) && match != TH_AM(true))
        status = th_error_raise(TH_USAGE, "a meta tracer is for what is set");
    if (status == TH_OK)
        status = compile(match, &spec);
    if (status == TH_OK && tracer)
        status = th_trace_meta_tracer_create(session, tracer, &meta);
    else if (tracer)
        th_library_release(tracer->library);
    if (status == TH_OK) {
        th_trace_lock(session->tracing);
        if (!tracer && !is_word(match))
            status = th_trace_pattern_check_sites(session, pattern, kinds);
        if (status == TH_OK)
            points = points_of(session);
        th_trace_unlock(session->tracing);
    }
    if (status != TH_OK) {
        th_match_free(spec);
        return status;
    }
    setting = make_setting(points, match, spec, kinds);
    if (meta)
        setting.meta_tracer = &meta->shared;
    if (kinds & TH_BP_TIME) /* a process' time does not go on while it does not run */
        atomic_fetch_or_explicit(&session->tracing->wanted, TH_FLAGS_RUNNING, memory_order_relaxed);
    return set_pattern(session, pattern, &setting, matched);
}

enum th_status th_trace_session_function(struct th_session *session,
                                         const struct th_pattern *pattern, th_term match,
                                         uint32_t kinds, size_t *matched)
{
    return trace_function(session, pattern, match, kinds, NULL, matched);
}

enum th_status th_trace_session_meta_function(struct th_session *session,
                                              const struct th_pattern *pattern, th_term match,
                                              const struct th_session_setup *tracer,
                                              size_t *matched)
{
    return trace_function(session, pattern, match, TH_BP_META, tracer, matched);
}
