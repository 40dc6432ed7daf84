/* Sets patterns, and keeps those for functions to come. */
#include "pattern.h"

#include "named_tracer.h"
#include "pattern_internal.h"
#include "trace_internal.h"
#include "tracing.h"

#include "host/base/buffer.h"
#include "host/breakpoint/site.h"
#include "host/code/permission.h"
#include "host/library/load.h"
#include "host/match/match.h"
#include "host/trace/live/live.h"

/* --- shared match specifications --- */

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

/* --- patterns for functions to come --- */

/*
 * Kept patterns, all under the tracing's lock.
 *
 * For recorded functions, which are found one by one, all wildcards are kept. For this host's
 * functions, patterns for later code (on_load) are kept; and, if nothing is replayed, patterns that
 * name a module and match no present function, and so have to wait.
 */

static bool names_one(const struct th_pattern *pattern)
{
    return pattern->module != TH_NONE && pattern->function != TH_NONE &&
           pattern->arity != TH_ANY_ARITY && !pattern->on_load;
}

/* Returns the meta tracer of SETTING; NULL: none, or the session's own tracer. */
static struct th_shared *foreign_tracer(const struct th_bp_setting *setting)
{
    return setting->meta_tracer == &setting->session->shared ? NULL : setting->meta_tracer;
}

/* Drops the references of SETTING: to its specifications, and to its meta tracer. The session's own
 * tracer is no such reference. */
static void drop_setting(const struct th_bp_setting *setting)
{
    th_breakpoint_shared_drop(setting->spec);
    th_breakpoint_shared_drop(setting->meta_spec);
    th_breakpoint_shared_drop(foreign_tracer(setting));
}

/* --- keeping --- */

/* True if NEW, of PATTERN, overrides all effects of OLD. */
static bool is_done_over(const struct th_pattern_default *old, const struct th_pattern *pattern,
                         const struct th_bp_setting *new)
{
    const struct th_pattern *past = &old->pattern;
    const struct th_bp_setting *setting = &old->setting;
    bool is_same = past->module == pattern->module && past->function == pattern->function &&
                   past->arity == pattern->arity && past->on_load == pattern->on_load;
    bool same_kinds = setting->clear == new->clear && setting->set == new->set &&
                      setting->pause == new->pause && setting->restart == new->restart;
    /* PATTERN matches all functions that OLD matches. */
    bool covers = (pattern->module == TH_NONE || pattern->module == past->module) &&
                  (pattern->function == TH_NONE || pattern->function == past->function) &&
                  (pattern->arity == TH_ANY_ARITY || pattern->arity == past->arity) &&
                  pattern->on_load == past->on_load;

    if (is_same && (same_kinds || new->set == TH_BP_GLOBAL ||
                    (setting->set == TH_BP_META && (new->set | new->clear) & TH_BP_META)))
        return true;
    return (old->waits || past->on_load) && covers && !new->set && setting->set &&
           !(setting->set & ~new->clear);
}

/* True if a pattern that is not for on_load has to wait for functions of this host. A pattern that
 * clears or pauses waits behind those that it may concern. */
static bool has_to_wait(const struct th_session_breakpoints *breakpoints,
                        const struct th_pattern *pattern, const struct th_bp_setting *setting)
{
    const struct th_tracing *tracing = th_trace_breakpoints_session(&breakpoints->base)->tracing;

    if (!tracing->replays_nothing || pattern->on_load)
        return false;
    if (setting->set && pattern->module == TH_NONE)
        return false;
    if (setting->set) {
        const struct th_traceable_function *f = tracing->live_functions;
        while (f && !th_trace_pattern_concerns(pattern, &f->function.name))
            f = f->next;
        return !f;
    }
    for (size_t i = 0; i < breakpoints->count; i++)
        if (breakpoints->defaults[i].waits)
            return true;
    return false;
}

/* Keeps PATTERN, if necessary, with references to the content of SETTING. Drops older patterns that
 * it overrides. */
static void keep_default(struct th_session_breakpoints *breakpoints,
                         const struct th_pattern *pattern, const struct th_bp_setting *setting)
{
    struct th_pattern_default *one;
    size_t kept = 0;
    bool waits;

    for (size_t i = 0; i < breakpoints->count; i++) {
        one = &breakpoints->defaults[i];
        if (is_done_over(one, pattern, setting))
            drop_setting(&one->setting);
        else
            breakpoints->defaults[kept++] = *one;
    }
    breakpoints->count = kept;
    waits = has_to_wait(breakpoints, pattern, setting);
    if (!waits && names_one(pattern))
        return;
    TH_ARRAY_GROW(breakpoints->defaults, breakpoints->count, breakpoints->capacity);
    one = &breakpoints->defaults[breakpoints->count++];
    *one = (struct th_pattern_default){*pattern, *setting, waits, false};
    th_breakpoint_shared_take(setting->spec);
    th_breakpoint_shared_take(setting->meta_spec);
    th_breakpoint_shared_take(foreign_tracer(setting));
}

/* --- later functions --- */

void th_trace_patterns_add(struct th_tracing *tracing, struct th_change *change,
                           const struct th_function_sites *function, enum th_pattern_news news)
{
    struct th_session *session;

    for (size_t i = 0; (session = th_trace_next(tracing, &i));) {
        struct th_session_breakpoints *breakpoints = th_trace_session_breakpoints(session);
        for (size_t k = 0; breakpoints && k < breakpoints->count; k++) {
            struct th_pattern_default *one = &breakpoints->defaults[k];
            bool comes = news == TH_NEWS_RECORDED || one->pattern.on_load ||
                         (one->waits && news == TH_NEWS_LOADED);
            if (!comes || !th_trace_pattern_concerns(&one->pattern, &function->name))
                continue;
            if (news == TH_NEWS_LOCAL)
                th_trace_pattern_set_at_local(change, function, &one->setting);
            else
                one->came |= th_trace_pattern_set_at(change, function, &one->setting,
                                                     news == TH_NEWS_RECORDED);
        }
    }
}

void th_trace_session_waiting(const struct th_session *session,
                              void (*visit)(void *context, const struct th_pattern *pattern),
                              void *context)
{
    const struct th_session_breakpoints *breakpoints;

    th_trace_lock(session->tracing);
    breakpoints = th_trace_session_breakpoints(session);
    for (size_t i = 0; breakpoints && session->tracing->replays_nothing && i < breakpoints->count;
         i++) {
        const struct th_pattern_default *one = &breakpoints->defaults[i];
        if ((one->waits || one->pattern.on_load) && one->setting.set && !one->came)
            visit(context, &one->pattern);
    }
    th_trace_unlock(session->tracing);
}

/* --- breakpoints of a session --- */

static void end_breakpoints(struct th_shared *shared)
{
    struct th_session_breakpoints *breakpoints = (struct th_session_breakpoints *)shared;

    for (size_t i = 0; i < breakpoints->count; i++)
        drop_setting(&breakpoints->defaults[i].setting);
    th_free(breakpoints->defaults);
    th_free(breakpoints);
}

static struct th_session_breakpoints *breakpoints_of(struct th_session *session)
{
    struct th_tracing *tracing = session->tracing;
    struct th_session_breakpoints *breakpoints = th_trace_session_breakpoints(session);

    if (breakpoints)
        return breakpoints;
    breakpoints = th_alloc_zero(sizeof *breakpoints);
    th_breakpoint_session_init(&breakpoints->base, &th_trace_pattern_hooks, end_breakpoints);
    breakpoints->base.owner = session;
    breakpoints->base.bit = session->bit;
    /* Stacks are followed from now on, from each process's first call, whatever its flags. */
    atomic_store_explicit(&tracing->patterned, true, memory_order_relaxed);
    atomic_fetch_or_explicit(&tracing->wanted, TH_FLAG_CALL | TH_FLAG_RETURN_TO | TH_FLAG_PROCS,
                             memory_order_relaxed);
    atomic_store_explicit(&session->breakpoints, breakpoints, memory_order_relaxed);
    return breakpoints;
}

void th_trace_session_breakpoints_end(struct th_session *session)
{
    struct th_session_breakpoints *breakpoints = th_trace_session_breakpoints(session);
    struct th_change *change;

    if (!breakpoints)
        return;
    if (!session->shared || !th_trace_session_is_clearing(session)) {
        change = th_breakpoint_change_create();
        th_breakpoint_change_end_session(change, &breakpoints->base);
        th_breakpoint_change_run(change, NULL, NULL);
    }
    breakpoints->base.owner = NULL;
    th_breakpoint_shared_drop(&breakpoints->base.shared);
    atomic_store_explicit(&session->breakpoints, NULL, memory_order_relaxed);
}

/* --- recorded functions --- */

/* Queues CHANGE, under the lock, so that changes have the order of their requests. True: the thread
 * may wait, and runs CHANGE after it has returned the lock. */
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
    struct th_functions *functions = &tracing->functions;
    struct th_function_sites *function;
    struct th_change *change = NULL;
    bool waits = false;

    th_trace_lock(tracing);
    function = th_trace_functions_find(functions, name);
    if (!function) {
        function = th_alloc_zero(sizeof *function);
        function->name = *name;
        function->site = th_breakpoint_site_create(&th_breakpoint_site_virtual, function, NULL);
        th_hash_table_set(&functions->table, th_trace_function_key(name), function);
        TH_ARRAY_GROW(functions->items, functions->count, functions->capacity);
        functions->items[functions->count++] = function;
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

static enum th_status pattern_check(const struct th_session *session,
                                    const struct th_pattern *pattern, th_term match, uint32_t kinds)
{
    if ((pattern->module == TH_NONE && pattern->function != TH_NONE) ||
        (pattern->function == TH_NONE && pattern->arity != TH_ANY_ARITY))
        return th_error_raise(TH_USAGE, "a pattern must be M:F/A, M:F/_, M:_/_ or _:_/_");
    if (pattern->arity < TH_ANY_ARITY || pattern->arity > TH_FUNCTION_ARITY_MAX)
        return th_error_raise(TH_USAGE, "an arity must be at most %d", TH_FUNCTION_ARITY_MAX);
    if (!kinds || kinds & ~(uint32_t)TH_BP_ALL)
        return th_error_raise(TH_USAGE, "a pattern needs at least one kind");
    if (kinds & TH_BP_MEMORY && !session->shared)
        return th_error_raise(TH_USAGE, "recordings do not contain the memory that calls allocate");
    if (kinds & TH_BP_GLOBAL && kinds != TH_BP_GLOBAL && kinds != TH_PATTERN_EITHER)
        return th_error_raise(TH_USAGE, "the kind global cannot be combined with other kinds");
    if (match == th_atom("pause") && kinds & TH_BP_TRACING)
        return th_error_raise(TH_USAGE, "only patterns that count or measure can be paused");
    return TH_OK;
}

/* Returns the kinds of SETTING that the atom MATCH changes; NULL: MATCH is no such atom. */
static uint32_t *changed_by(struct th_bp_setting *setting, th_term match)
{
    if (match == TH_AM(false))
        return &setting->clear;
    if (match == th_atom("pause"))
        return &setting->pause;
    return match == th_atom("restart") ? &setting->restart : NULL;
}

/* Sets PATTERN for all present and later functions, and drops the references of SETTING. A recorded
 * function that PATTERN names exists from now on. *MATCHED counts a function that is live and
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

    if (names_one(pattern) && !tracing->replays_nothing)
        th_trace_patterns_meet(tracing, &name);
    th_trace_lock(tracing);
    keep_default(breakpoints_of(session), pattern, setting);
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
    drop_setting(setting);
    th_trace_settle(tracing); /* a meta tracer may have ended */
    if (matched)
        *matched = count;
    return status;
}

/* Sets a pattern. TRACER: a meta tracer of the breakpoint; NULL: the session's tracer is called. */
static enum th_status trace_function(struct th_session *session, const struct th_pattern *pattern,
                                     th_term match, uint32_t kinds,
                                     const struct th_session_setup *tracer, size_t *matched)
{
    enum th_status status = pattern_check(session, pattern, match, kinds);
    struct th_match_spec *spec = NULL;
    struct th_meta_tracer *meta = NULL;
    struct th_session_breakpoints *breakpoints = NULL;
    struct th_bp_setting setting = {.session = NULL};
    uint32_t *changed = changed_by(&setting, match);
    struct th_shared_spec *shared;

    if (status == TH_OK && tracer && th_is_atom(match) && match != TH_AM(true))
        status =
            th_error_raise(TH_USAGE, "a meta tracer is possible only for a pattern that is set");
    if (status == TH_OK && match != TH_NIL && match != TH_AM(true) && !changed)
        status = th_match_compile(TH_MATCH_CALL, match, NULL, &spec);
    if (status == TH_OK && tracer)
        status = th_trace_meta_tracer_create(session, tracer, &meta);
    else if (tracer)
        th_library_release(tracer->library);
    if (status == TH_OK) {
        th_trace_lock(session->tracing);
        if (!tracer && !changed)
            status = th_trace_pattern_check_sites(session, pattern, kinds);
        if (status == TH_OK)
            breakpoints = breakpoints_of(session);
        th_trace_unlock(session->tracing);
    }
    if (status != TH_OK) {
        th_match_free(spec);
        return status;
    }
    setting.session = &breakpoints->base;
    *(changed ? changed : &setting.set) = kinds;
    if (!changed && kinds & TH_BP_META)
        setting.meta_tracer = meta ? &meta->shared : &breakpoints->base.shared; /* the session's
                                                                                   own */
    if (spec) {
        shared = th_alloc_zero(sizeof *shared);
        shared->spec = spec;
        th_breakpoint_shared_init(&shared->shared, end_spec);
        setting.spec = &shared->shared;
        setting.meta_spec = th_breakpoint_shared_take(setting.spec);
    }
    if (kinds & TH_BP_TIME) /* the time of a process that does not run is not charged */
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
