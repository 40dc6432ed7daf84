/*
 * What a recording does not tell is left NULL, so that it is unknown: dumps; and sequential trace
 * tokens. Records of seq_trace tell of a message which token it had, but not which one a process
 * has at a call, as the calls that set tokens, and messages without `send` or `receive` flag in
 * theirs, leave no record.
 */
#include "match_context.h"

#include "points.h"

static th_term self(void *context)
{
    return ((struct th_surroundings *)context)->way->tracee;
}

static th_term node(void *context)
{
    th_term name = th_world_node().node;

    (void)context;
    return name ? name : TH_NONE;
}

static th_term caller(void *context, th_env *env)
{
    struct th_surroundings *s = context;
    struct th_caller found = {.kind = TH_CALLER_UNKNOWN};

    if (s->tracee)
        found = th_recorded_caller(&s->way->tracing->execution, &s->tracee->stack);
    if (found.kind == TH_CALLER_FUNCTION)
        return th_make_tuple_of(env, found.function.module, found.function.function,
                                th_small(found.function.arity));
    return found.kind == TH_CALLER_UNDEFINED ? TH_AM(undefined) : TH_NONE;
}

/* The file and line of a LOCATION, [{file, File}, {line, Line}]. */
static th_term place_in(th_term location, th_env *env)
{
    th_term file = TH_NONE, line = TH_NONE;

    for (; th_is_list(location); location = th_cell(location)[1]) {
        th_term part = th_cell(location)[0];
        const th_term *e = th_is_tuple(part) ? th_tuple_elements(part) : NULL;
        if (!e || th_tuple_arity(part) != 2)
            continue;
        if (e[0] == th_atom("file"))
            file = th_copy(env, e[1]);
        if (e[0] == th_atom("line"))
            line = th_copy(env, e[1]);
    }
    return file && line ? th_make_tuple_of(env, file, line) : TH_AM(undefined);
}

/* The same of what the record says; TH_NONE if it says nothing. */
static th_term line_of_callers(const struct th_surroundings *s, th_env *env)
{
    th_term callers = s->way->event->callers;
    const th_term *e;
    th_term line;

    if (callers == TH_NONE || !th_is_list(callers))
        return TH_NONE;
    e = th_tuple_elements(th_cell(callers)[0]);
    line = place_in(e[3], env);
    if (line == TH_AM(undefined))
        th_session_count(s->session, TH_COUNTED_BY_PATTERNS(lines_unknown));
    return th_make_tuple_of(env, e[0], e[1], e[2], line);
}

/* The recorded caller with its line; TH_NONE if that was not recorded. */
static th_term recorded_line(const struct th_way *way, th_env *env)
{
    th_term result = way->event->match_spec_result;

    if (!way->tracing->recorded_callers || result == TH_NONE || !th_is_tuple(result) ||
        th_tuple_arity(result) != 4)
        return TH_NONE;
    return th_recorded_caller_of_result(result).kind == TH_CALLER_FUNCTION ? th_copy(env, result)
                                                                           : TH_NONE;
}

/* As in a BEAM that knows of no line, that is `undefined`. */
static th_term caller_line(void *context, th_env *env)
{
    struct th_surroundings *s = context;
    th_term line = line_of_callers(s, env), found;
    const th_term *e;

    if (line == TH_NONE)
        line = recorded_line(s->way, env);
    if (line != TH_NONE)
        return line;
    found = caller(context, env);
    if (found == TH_NONE || !th_is_tuple(found))
        return found;
    th_session_count(s->session, TH_COUNTED_BY_PATTERNS(lines_unknown));
    e = th_tuple_elements(found);
    return th_make_tuple_of(env, e[0], e[1], e[2], TH_AM(undefined));
}

/* As many of CALLERS; TH_NONE if it has less, and does not tell all. */
static th_term stack_of_callers(th_term callers, th_env *env, size_t depth)
{
    th_term frames[TH_EXECUTION_CALLERS];
    size_t count = 0;

    for (; th_is_list(callers) && count < depth; callers = th_cell(callers)[1])
        frames[count++] = th_copy(env, th_cell(callers)[0]);
    return count < depth && callers != TH_NIL ? TH_NONE : th_make_list(env, frames, count);
}

/* [{M, F, Arity, []}, ...]: without lines, as of code that was compiled so, but where the record
 * itself has callers. All of it, or nothing is known. */
static th_term stack(void *context, th_env *env, size_t depth)
{
    struct th_surroundings *s = context;
    struct th_caller callers[TH_EXECUTION_CALLERS];
    th_term frames[TH_EXECUTION_CALLERS];
    size_t count;

    if (s->way->event->callers != TH_NONE)
        return stack_of_callers(s->way->event->callers, env,
                                depth < TH_EXECUTION_CALLERS ? depth : TH_EXECUTION_CALLERS);
    if (!s->tracee)
        return TH_NONE;
    if (depth > TH_EXECUTION_CALLERS)
        depth = TH_EXECUTION_CALLERS;
    count = th_recorded_callers(&s->tracee->stack, callers, depth);
    for (size_t i = 0; i < count; i++) {
        const struct th_function *f = &callers[i].function;
        if (callers[i].kind == TH_CALLER_UNKNOWN)
            return TH_NONE;
        if (callers[i].kind == TH_CALLER_UNDEFINED)
            count = i;
        else
            frames[i] = th_make_tuple_of(env, f->module, f->function, th_small(f->arity), TH_NIL);
    }
    return th_make_list(env, frames, count);
}

static void display(void *context, th_term term)
{
    const struct th_tracing *tracing = ((struct th_surroundings *)context)->way->tracing;

    if (tracing->display)
        tracing->display(term);
}

/* --- the trace control word --- */

static th_term get_tcw(void *context, th_env *env)
{
    (void)env;
    return th_small(((struct th_surroundings *)context)->way->tracing->control_word);
}

static th_term set_tcw(void *context, th_env *env, uint32_t value)
{
    struct th_tracing *tracing = ((struct th_surroundings *)context)->way->tracing;
    uint32_t former = tracing->control_word;

    (void)env;
    tracing->control_word = value;
    return th_small(former);
}

/* --- flags --- */

/* The flag that ATOM names; 0: none that a match specification may give. */
static uint32_t flag_of(th_term atom)
{
    if (atom == th_atom("all"))
        return TH_FLAGS_ALL & ~(uint32_t)TH_FLAG_SILENT;
#define X(name, bit, help)      \
    if (atom == th_atom(#name)) \
        return TH_FLAG_##bit & ~(uint32_t)TH_FLAG_CPU_TIMESTAMP;
    TH_FLAGS(X)
#undef X
    return 0;
}

bool th_surroundings_flags(th_term list, uint32_t *flags)
{
    *flags = 0;
    for (; th_is_list(list); list = th_cell(list)[1]) {
        uint32_t flag = flag_of(th_cell(list)[0]);
        if (!flag)
            return false;
        *flags |= flag;
    }
    return list == TH_NIL;
}

static struct th_tracee *tracee_of(const struct th_surroundings *s, th_term who)
{
    if (who == TH_NONE)
        return s->tracee;
    if (th_is_atom(who))
        who = th_whereis(who);
    return th_process_alive(who) ? th_tracee_expect(s->way->tracing, who) : NULL;
}

static bool change(const struct th_surroundings *s, struct th_tracee *tracee, uint32_t clear,
                   uint32_t set)
{
    uint32_t old = th_refs_flags(th_traced_refs(&tracee->traced), s->session);
    uint32_t accepted =
        th_kind_of(tracee->traced.id) == TH_KIND_PORT ? TH_FLAGS_OF_PORTS : TH_FLAGS_OF_PROCESSES;
    uint32_t new = (old & ~clear) | (set & accepted);

    if (new != old)
        th_tracee_set(tracee, s->session, new);
    return new != old;
}

static th_term set_flags(void *context, th_term who, th_term clear, th_term set)
{
    struct th_surroundings *s = context;
    struct th_tracee *tracee = tracee_of(s, who);
    uint32_t off, on;

    if (!tracee || !th_surroundings_flags(clear, &off) || !th_surroundings_flags(set, &on))
        return TH_MATCH_RAISED;
    return change(s, tracee, off, on) ? TH_AM(true) : TH_AM(false);
}

static void silence(void *context, bool silent)
{
    struct th_surroundings *s = context;

    if (s->tracee)
        change(s, s->tracee, silent ? 0 : TH_FLAG_SILENT, silent ? TH_FLAG_SILENT : 0);
}

static th_term is_silent(void *context)
{
    struct th_surroundings *s = context;
    uint32_t flags = th_refs_flags(th_tracee_refs(s->way->tracing, s->way->tracee), s->session);

    return flags & TH_FLAG_SILENT ? TH_AM(true) : TH_AM(false);
}

const struct th_match_operations th_pattern_operations = {
    .self = self,
    .node = node,
    .caller = caller,
    .caller_line = caller_line,
    .stack = stack,
    .display = display,
    .get_tcw = get_tcw,
    .set_tcw = set_tcw,
    .set_flags = set_flags,
    .silence = silence,
    .is_silent = is_silent,
};
