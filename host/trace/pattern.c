/* Setting patterns, and what is set. */
#include "pattern.h"

#include "points.h"
#include "tracing.h"

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
    th_shared_init(&spec->shared, end_spec);
    return &spec->shared;
}

th_term th_pattern_spec_source(struct th_shared *spec)
{
    return spec ? th_match_source(((struct th_shared_spec *)spec)->spec) : TH_AM(true);
}

/* --- a session's breakpoints --- */

static void drop_default(struct th_pattern_default *one)
{
    th_shared_drop(one->setting.spec);
    th_shared_drop(one->setting.meta_spec);
}

static void end_points(struct th_shared *shared)
{
    struct th_points *points = (struct th_points *)shared;

    for (size_t i = 0; i < points->count; i++)
        drop_default(&points->defaults[i]);
    th_free(points->defaults);
    th_free(points);
}

static struct th_points *points_of(struct th_session *session)
{
    struct th_tracing *tracing = session->tracing;

    if (session->points)
        return session->points;
    session->points = th_alloc_zero(sizeof *session->points);
    th_bp_session_init(&session->points->base, &th_pattern_hooks, end_points);
    session->points->session = session;
    /* Stacks are followed from now on, whether anybody has the flags for calls or not. */
    tracing->patterned = true;
    tracing->wanted |= TH_FLAG_CALL | TH_FLAG_RETURN_TO;
    return session->points;
}

void th_points_end(struct th_session *session)
{
    struct th_change *change;

    if (!session->points)
        return;
    change = th_change_create();
    th_change_end_session(change, &session->points->base);
    th_change_run(change, NULL, NULL);
    session->points->session = NULL;
    th_shared_drop(&session->points->base.shared);
    session->points = NULL;
}

/* --- what a pattern is about --- */

static bool concerns(const struct th_pattern *pattern, const struct th_function *name)
{
    return (pattern->module == TH_NONE || pattern->module == name->module) &&
           (pattern->function == TH_NONE || pattern->function == name->function) &&
           (pattern->arity == TH_ANY_ARITY || (uint32_t)pattern->arity == name->arity);
}

static bool names_one(const struct th_pattern *pattern)
{
    return pattern->module != TH_NONE && pattern->function != TH_NONE &&
           pattern->arity != TH_ANY_ARITY && !pattern->on_load;
}

struct th_traced_function *th_patterns_meet(struct th_tracing *tracing,
                                            const struct th_function *name)
{
    struct th_traced_function *function = th_functions_find(&tracing->functions, name);
    struct th_change *change;

    if (function)
        return function;
    function = th_functions_add(&tracing->functions, name);
    change = th_change_create();
    for (size_t i = 0; i < TH_SESSIONS_LIMIT; i++) {
        struct th_points *points = tracing->sessions[i] ? tracing->sessions[i]->points : NULL;
        for (size_t j = 0; points && j < points->count; j++) {
            struct th_bp_setting setting = points->defaults[j].setting;
            setting.site = function->site;
            if (concerns(&points->defaults[j].pattern, name))
                th_change_add(change, &setting);
        }
    }
    th_change_run(change, NULL, NULL);
    return function;
}

/* --- setting --- */

static enum th_status check(const struct th_pattern *pattern, th_term match, uint32_t kinds)
{
    if ((pattern->module == TH_NONE && pattern->function != TH_NONE) ||
        (pattern->function == TH_NONE && pattern->arity != TH_ANY_ARITY))
        return th_error_raise(TH_USAGE, "a pattern is M:F/A, M:F/_, M:_/_ or _:_/_");
    if (pattern->arity < TH_ANY_ARITY || pattern->arity > TH_FUNCTION_ARITY_MAX)
        return th_error_raise(TH_USAGE, "an arity is at most %d", TH_FUNCTION_ARITY_MAX);
    if (!kinds || kinds & ~(uint32_t)TH_BP_ALL)
        return th_error_raise(TH_USAGE, "a pattern has at least one kind");
    if (kinds & TH_BP_MEMORY)
        return th_error_raise(TH_USAGE, "recordings do not tell the memory that calls take");
    if (kinds & TH_BP_GLOBAL && kinds != TH_BP_GLOBAL)
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
        /* The tracer of meta breakpoints is that of the session. */
        made.meta_tracer = kinds & TH_BP_META ? &points->base.shared : NULL;
        made.spec = spec ? share_spec(spec) : NULL;
        made.meta_spec = th_shared_take(made.spec);
    }
    return made;
}

/* `true` and [] are no specification, as are the words. */
static enum th_status compile(th_term match, struct th_match_spec **spec)
{
    *spec = NULL;
    if (match == TH_NIL || match == TH_AM(true) || match == TH_AM(false) ||
        match == th_atom("pause") || match == th_atom("restart"))
        return TH_OK;
    return th_match_compile(TH_MATCH_CALL, match, NULL, spec);
}

static bool same_kinds(const struct th_bp_setting *a, const struct th_bp_setting *b)
{
    return a->clear == b->clear && a->set == b->set && a->pause == b->pause &&
           a->restart == b->restart;
}

/* Keeps a wildcard for what comes later. An older one that it repeats is forgotten, as what that
 * does is done over. */
static void keep(struct th_points *points, const struct th_pattern *pattern,
                 const struct th_bp_setting *setting)
{
    struct th_pattern_default *one;
    size_t kept = 0;

    for (size_t i = 0; i < points->count; i++) {
        one = &points->defaults[i];
        if (one->pattern.module == pattern->module && one->pattern.function == pattern->function &&
            one->pattern.arity == pattern->arity && same_kinds(&one->setting, setting))
            drop_default(one);
        else
            points->defaults[kept++] = *one;
    }
    points->count = kept;
    TH_ARRAY_GROW(points->defaults, points->count, points->capacity);
    one = &points->defaults[points->count++];
    *one = (struct th_pattern_default){*pattern, *setting};
    th_shared_take(setting->spec);
    th_shared_take(setting->meta_spec);
}

/* Sets it for the functions that are there. Returns how many. */
static size_t set_present(struct th_tracing *tracing, const struct th_pattern *pattern,
                          struct th_bp_setting *setting)
{
    const struct th_functions *functions = &tracing->functions;
    struct th_change *change = th_change_create();
    size_t matched = 0;

    for (size_t i = 0; i < functions->count && !pattern->on_load; i++) {
        if (!concerns(pattern, &functions->items[i]->name))
            continue;
        setting->site = functions->items[i]->site;
        th_change_add(change, setting);
        matched++;
    }
    setting->site = NULL;
    th_change_run(change, NULL, NULL);
    return matched;
}

/* One that is named is there from now on. */
static void make_present(struct th_tracing *tracing, const struct th_pattern *pattern)
{
    struct th_function name = {pattern->module, pattern->function, (uint32_t)pattern->arity};

    if (names_one(pattern))
        th_patterns_meet(tracing, &name);
}

enum th_status th_session_function(struct th_session *session, const struct th_pattern *pattern,
                                   th_term match, uint32_t kinds, size_t *matched)
{
    struct th_bp_setting setting;
    struct th_match_spec *spec;
    enum th_status status = check(pattern, match, kinds);
    size_t count;

    if (status == TH_OK)
        status = compile(match, &spec);
    if (status != TH_OK)
        return status;
    setting = make_setting(points_of(session), match, spec, kinds);
    if (kinds & TH_BP_TIME) /* a process' time does not go on while it does not run */
        session->tracing->wanted |= TH_FLAGS_RUNNING | TH_FLAG_PROCS;
    make_present(session->tracing, pattern);
    if (!names_one(pattern))
        keep(session->points, pattern, &setting);
    count = set_present(session->tracing, pattern, &setting);
    th_shared_drop(setting.spec);
    th_shared_drop(setting.meta_spec);
    if (matched)
        *matched = count;
    return TH_OK;
}

/* --- asking --- */

bool th_session_function_info(const struct th_session *session, const struct th_function *function,
                              struct th_bp_info *info)
{
    struct th_traced_function *found = th_functions_find(&session->tracing->functions, function);

    *info = (struct th_bp_info){0};
    return found && session->points &&
           th_breakpoint_info(found->site, &session->points->base, info);
}

void th_session_functions(const struct th_session *session,
                          void (*visit)(void *context, const struct th_function *function,
                                        const struct th_bp_info *info),
                          void *context)
{
    const struct th_functions *functions = &session->tracing->functions;
    struct th_bp_info info;

    for (size_t i = 0; i < functions->count; i++) {
        if (th_session_function_info(session, &functions->items[i]->name, &info))
            visit(context, &functions->items[i]->name, &info);
        th_bp_info_free(&info);
    }
}

struct th_pattern_counts th_session_pattern_counts(const struct th_session *session)
{
    return session->points ? session->points->counts : (struct th_pattern_counts){0};
}

bool th_session_patterned(const struct th_session *session)
{
    return session->points != NULL;
}

void th_tracing_use_recorded_callers(struct th_tracing *tracing)
{
    tracing->recorded_callers = true;
}

void th_tracing_use_display(struct th_tracing *tracing, void (*show)(th_term term))
{
    tracing->display = show;
}

uint64_t th_tracing_returns_not_kept(const struct th_tracing *tracing)
{
    struct th_execution_counts counts = th_execution_counts(&tracing->execution);

    return counts.not_kept + counts.lost;
}
