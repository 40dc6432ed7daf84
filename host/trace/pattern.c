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

static struct th_shared *share_spec(struct th_match_spec *compiled)
{
    struct th_shared_spec *spec = th_alloc_zero(sizeof *spec);

    spec->spec = compiled;
    th_breakpoint_shared_init(&spec->shared, end_spec);
    return &spec->shared;
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
    struct th_points *points = atomic_load_explicit(&session->points, memory_order_relaxed);

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
    struct th_points *points = atomic_load_explicit(&session->points, memory_order_relaxed);
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

    if (match == TH_AM(false)) {
        made.clear = kinds;
    } else if (match == th_atom("pause")) {
        made.pause = kinds;
    } else if (match == th_atom("restart")) {
        made.restart = kinds;
    } else {
        made.set = kinds;
        made.meta_tracer = kinds & TH_BP_META ? &points->base.shared : NULL; /* its own */
        made.spec = spec ? share_spec(spec) : NULL;
        made.meta_spec = th_breakpoint_shared_take(made.spec);
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

/* Adds SETTING for the functions that there are and that PATTERN is for. Returns how many: one that
 * is live and recorded counts once. */
static size_t add_for_functions(struct th_tracing *tracing, struct th_change *change,
                                const struct th_pattern *pattern,
                                const struct th_bp_setting *setting)
{
    const struct th_functions *functions = &tracing->functions;
    size_t matched = 0;

    if (pattern->on_load)
        return 0;
    for (size_t i = 0; i < functions->count; i++)
        matched += th_trace_pattern_concerns(pattern, &functions->items[i]->name) &&
                   th_trace_pattern_set_at(change, functions->items[i], setting, true);
    for (struct th_traceable_function *f = tracing->live_functions; f; f = f->next)
        if (th_trace_pattern_concerns(pattern, &f->function.name) &&
            th_trace_pattern_set_at(change, &f->function, setting, false))
            matched += !th_trace_functions_find(functions, &f->function.name);
    return matched;
}

/* Sets PATTERN for all functions that there are and will be, and lets go of what is in SETTING. A
 * recorded function that is named is there from now on. */
static enum th_status set_pattern(struct th_session *session, const struct th_pattern *pattern,
                                  const struct th_bp_setting *setting, size_t *matched)
{
    struct th_mfa name = {pattern->module, pattern->function, (uint32_t)pattern->arity};
    struct th_tracing *tracing = session->tracing;
    th_session_id id = th_trace_session_id_of(session);
    struct th_change *change = th_breakpoint_change_create();
    enum th_status status = TH_OK;
    size_t count;
    bool waits;

    if (th_trace_pattern_names_one(pattern) && !tracing->replays_nothing)
        th_trace_patterns_meet(tracing, &name);
    th_trace_lock(tracing);
    th_trace_pattern_default_keep(points_of(session), pattern, setting);
    count = add_for_functions(tracing, change, pattern, setting);
    waits = queue_change(change);
    th_trace_unlock(tracing);
    if (waits) {
        struct th_tracer_lock *lock = th_trace_tracer_lock_pause();
        th_breakpoint_change_run(change, NULL, NULL);
        th_trace_tracer_lock_return(lock);
        status = th_trace_session_check_there(tracing, id);
    }
    th_breakpoint_shared_drop(setting->spec);
    th_breakpoint_shared_drop(setting->meta_spec);
    th_breakpoint_shared_drop(th_trace_pattern_foreign_tracer(setting));
    th_trace_settle(tracing); /* a meta tracer may have ended */
    if (matched)
        *matched = count;
    return status;
}

enum th_status th_trace_session_function(struct th_session *session,
                                         const struct th_pattern *pattern, th_term match,
                                         uint32_t kinds, size_t *matched)
{
    struct th_bp_setting setting;
    struct th_match_spec *spec;
    enum th_status status = check(session, pattern, match, kinds);
    struct th_points *points;

    if (status == TH_OK)
        status = compile(match, &spec);
    if (status != TH_OK)
        return status;
    th_trace_lock(session->tracing);
    status = is_word(match) ? TH_OK : th_trace_pattern_check_sites(session, pattern, kinds);
    points = status == TH_OK ? points_of(session) : NULL;
    th_trace_unlock(session->tracing);
    if (!points) {
        th_match_free(spec);
        return status;
    }
    setting = make_setting(points, match, spec, kinds);
    if (kinds & TH_BP_TIME) /* a process' time does not go on while it does not run */
        atomic_fetch_or_explicit(&session->tracing->wanted, TH_FLAGS_RUNNING, memory_order_relaxed);
    return set_pattern(session, pattern, &setting, matched);
}

static enum th_status check_meta(const struct th_session *session, const struct th_pattern *pattern,
                                 th_term match)
{
    if (th_is_atom(match) && match != TH_AM(true))
        return th_error_raise(TH_USAGE, "a meta tracer is for what is set");
    return check(session, pattern, match, TH_BP_META);
}

enum th_status th_trace_session_meta_function(struct th_session *session,
                                              const struct th_pattern *pattern, th_term match,
                                              const struct th_session_setup *tracer,
                                              size_t *matched)
{
    struct th_bp_setting setting;
    struct th_match_spec *spec;
    struct th_meta_tracer *meta;
    struct th_points *points;
    enum th_status status = check_meta(session, pattern, match);

    if (status == TH_OK)
        status = compile(match, &spec);
    if (status != TH_OK) {
        th_library_release(tracer->library);
        return status;
    }
    status = th_trace_meta_tracer_create(session, tracer, &meta);
    if (status != TH_OK) {
        th_match_free(spec);
        return status;
    }
    th_trace_lock(session->tracing);
    points = points_of(session);
    th_trace_unlock(session->tracing);
    setting = make_setting(points, match, spec, TH_BP_META);
    setting.meta_tracer = &meta->shared;
    return set_pattern(session, pattern, &setting, matched);
}
