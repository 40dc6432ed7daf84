/*
 * Answers queries of match specifications, for recordings and for this host: each has a table of
 * operations. Flags and the trace control word are the same functions in both.
 *
 * Operations that a recording cannot answer are NULL, so that their results are unknown: dumps, and
 * sequential trace tokens. Records of seq_trace have the token of a message, but not that of a
 * process at a call: the calls that set tokens leave no record, nor do messages with a token
 * without the flag `send` or `receive`.
 */
#include "delivery.h"
#include "trace_internal.h"

#include "host/process/process.h"
#include "host/trace/live/live_hit.h"

static const struct th_match_context *match_context_of(void *context)
{
    return context;
}

static th_term match_context_self(void *context)
{
    return match_context_of(context)->id;
}

/* Returns CALLER as a term; TH_NONE: unknown. */
static th_term match_context_caller_term(const struct th_caller *caller, th_env *env)
{
    if (caller->kind == TH_CALLER_FUNCTION)
        return th_live_function_term(env, &caller->function);
    return caller->kind == TH_CALLER_UNDEFINED ? TH_AM(undefined) : TH_NONE;
}

/* Returns the term CALLER with an unknown line. */
static th_term without_line(th_term caller, th_env *env)
{
    const th_term *e;

    if (caller == TH_NONE || !th_is_tuple(caller))
        return caller;
    e = th_tuple_elements(caller);
    return th_make_tuple_of(env, e[0], e[1], e[2], TH_AM(undefined));
}

/* Returns CALLER, and counts it if its line is unknown: `undefined`, as in a BEAM. */
static th_term count_line(const struct th_match_context *match_context_of, th_term caller)
{
    if (caller != TH_NONE && th_is_tuple(caller) &&
        th_tuple_elements(caller)[3] == TH_AM(undefined))
        th_trace_session_count(match_context_of->session, TH_COUNTED_BY_PATTERNS(lines_unknown));
    return caller;
}

/* --- Operations for a recording --------------------------------------------------------------- */

/* Returns the tracee; NULL: of another node. */
static struct th_recorded_tracee *match_context_tracee_of(void *context)
{
    return (struct th_recorded_tracee *)match_context_of(context)->traced;
}

static th_term recorded_node(void *context)
{
    th_term name = th_process_world_node().node;

    (void)context;
    return name ? name : TH_NONE;
}

static th_term recorded_caller(void *context, th_env *env)
{
    struct th_recorded_tracee *tracee = match_context_tracee_of(context);
    struct th_caller found = {.kind = TH_CALLER_UNKNOWN};

    if (tracee)
        found = th_recorded_caller(&match_context_of(context)->session->tracing->execution,
                                   &tracee->stack);
    return match_context_caller_term(&found, env);
}

/* Returns {File, Line} of a LOCATION, [{file, File}, {line, Line}]. */
static th_term match_context_place_in(th_term location, th_env *env)
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

static th_term recorded_caller_line(void *context, th_env *env)
{
    const struct th_event *event = match_context_of(context)->event;
    th_term result = event->match_spec_result;
    const th_term *e;

    if (event->callers != TH_NONE && th_is_list(event->callers)) { /* in the record */
        e = th_tuple_elements(th_cell(event->callers)[0]);
        return count_line(
            match_context_of(context),
            th_make_tuple_of(env, e[0], e[1], e[2], match_context_place_in(e[3], env)));
    }
    if (match_context_of(context)->session->tracing->recorded_callers && result != TH_NONE &&
        th_is_tuple(result) && th_tuple_arity(result) == 4 && /* with a line */
        th_recorded_caller_of_result(result).kind == TH_CALLER_FUNCTION)
        return th_copy(env, result);
    return count_line(match_context_of(context), without_line(recorded_caller(context, env), env));
}

/* Returns [{M, F, Arity, []}, ...]: without lines, as of code that was compiled so, unless the
 * record itself has callers. TH_NONE if any frame is unknown. */
static th_term recorded_stack(void *context, th_env *env, size_t depth)
{
    th_term recorded = match_context_of(context)->event->callers;
    struct th_caller callers[TH_EXECUTION_CALLERS];
    th_term frames[TH_EXECUTION_CALLERS];
    size_t count = 0;

    if (depth > TH_EXECUTION_CALLERS)
        depth = TH_EXECUTION_CALLERS;
    if (recorded != TH_NONE) {
        for (; th_is_list(recorded) && count < depth; recorded = th_cell(recorded)[1])
            frames[count++] = th_copy(env, th_cell(recorded)[0]);
        /* A shorter list is complete only if it ends with []. */
        return count < depth && recorded != TH_NIL ? TH_NONE : th_make_list(env, frames, count);
    }
    if (!match_context_tracee_of(context))
        return TH_NONE;
    count = th_recorded_callers(&match_context_tracee_of(context)->stack, callers, depth);
    for (size_t i = 0; i < count; i++) {
        const struct th_mfa *f = &callers[i].function;
        if (callers[i].kind == TH_CALLER_UNKNOWN)
            return TH_NONE;
        if (callers[i].kind == TH_CALLER_UNDEFINED)
            count = i;
        else
            frames[i] = th_make_tuple_of(env, f->module, f->function, th_small(f->arity), TH_NIL);
    }
    return th_make_list(env, frames, count);
}

static void recorded_display(void *context, th_term term)
{
    if (match_context_of(context)->session->tracing->display)
        match_context_of(context)->session->tracing->display(term);
}

/* --- Operations for this host: queries of the process's owner --------------------------------- */

static struct th_live_tracee *process_of(void *context)
{
    return match_context_of(context)->process;
}

static const struct th_match_operations *asked(void *context)
{
    static const struct th_match_operations nothing;
    const struct th_match_operations *operations = process_of(context)->asked;

    return operations ? operations : &nothing;
}

/* Returns the caller that came with the call; NULL: the owner is queried. */
static const struct th_caller *told_caller(void *context)
{
    return match_context_of(context)->call ? match_context_of(context)->call->caller : NULL;
}

static th_term live_node(void *context)
{
    (void)context;
    return TH_AM(nonode);
}

static th_term live_caller(void *context, th_env *env)
{
    if (told_caller(context))
        return match_context_caller_term(told_caller(context), env);
    return asked(context)->caller ? asked(context)->caller(process_of(context), env) : TH_NONE;
}

static th_term live_caller_line(void *context, th_env *env)
{
    bool has_line = !told_caller(context) && asked(context)->caller_line;

    return count_line(match_context_of(context),
                      has_line ? asked(context)->caller_line(process_of(context), env)
                               : without_line(live_caller(context, env), env));
}

static th_term live_stack(void *context, th_env *env, size_t depth)
{
    return asked(context)->stack ? asked(context)->stack(process_of(context), env, depth) : TH_NONE;
}

static th_term match_context_is_seq_trace(void *context)
{
    return asked(context)->is_seq_trace ? asked(context)->is_seq_trace(process_of(context))
                                        : TH_NONE;
}

static th_term match_context_get_seq_token(void *context, th_env *env)
{
    return asked(context)->get_seq_token ? asked(context)->get_seq_token(process_of(context), env)
                                         : TH_NONE;
}

static th_term match_context_set_seq_token(void *context, th_env *env, th_term component,
                                           th_term value)
{
    return asked(context)->set_seq_token
               ? asked(context)->set_seq_token(process_of(context), env, component, value)
               : TH_NONE;
}

static th_term match_context_process_dump(void *context, th_env *env)
{
    return asked(context)->process_dump ? asked(context)->process_dump(process_of(context), env)
                                        : TH_NONE;
}

/* Sets the subject for the callback that shows the term: no event was made of a call so far. */
static void live_display(void *context, th_term term)
{
    struct th_callback_subject *outer = th_self.subject, subject;
    struct th_event event;

    if (!th_trace_callback_handled()) {
        th_live_call_event(&event, match_context_of(context)->call);
        subject = (struct th_callback_subject){.event = &event, .tracee = event.tracee};
        th_self.subject = &subject;
    }
    if (asked(context)->display)
        asked(context)->display(process_of(context), term);
    else
        recorded_display(context, term);
    th_self.subject = outer;
}

/* --- The trace control word: relaxed, a word in itself ---------------------------------------- */

static th_term get_tcw(void *context, th_env *env)
{
    (void)env;
    return th_small(atomic_load_explicit(&match_context_of(context)->session->tracing->control_word,
                                         memory_order_relaxed));
}

static th_term set_tcw(void *context, th_env *env, uint32_t value)
{
    (void)env;
    return th_small(atomic_exchange_explicit(
        &match_context_of(context)->session->tracing->control_word, value, memory_order_relaxed));
}

/* --- Flags ------------------------------------------------------------------------------------ */

/* Reads the flags of LIST; false if a match specification may not give them. */
static bool read_flags(th_term list, uint32_t *flags)
{
    *flags = 0;
    for (; th_is_list(list); list = th_cell(list)[1]) {
        th_term atom = th_cell(list)[0];
        uint32_t flag = atom == th_atom("all") ? TH_FLAGS_ALL & ~(uint32_t)TH_FLAG_SILENT : 0;
#define X(name, bit, help)      \
    if (atom == th_atom(#name)) \
        flag = TH_FLAG_##bit & ~(uint32_t)TH_FLAG_CPU_TIMESTAMP;
        TH_FLAGS(X)
#undef X
        if (!flag)
            return false;
        *flags |= flag;
    }
    return list == TH_NIL;
}

/* Returns the tracee WHO; NULL: none. For a live process only live tracees, as the world belongs to
 * the replaying thread. */
static struct th_tracee *match_context_traced_of(const struct th_match_context *match_context_of,
                                                 th_term who)
{
    struct th_recorded_tracee *tracee;

    if (who == TH_NONE)
        return match_context_of->traced;
    if (th_is_atom(who))
        who = th_process_whereis(who);
    if (match_context_of->process)
        return who == TH_NONE ? NULL : th_trace_live(match_context_of->session->tracing, who);
    tracee = th_process_alive(who) ? th_trace_tracee_expect(match_context_of->session->tracing, who)
                                   : NULL;
    return tracee ? &tracee->traced : NULL;
}

static th_term match_context_set_flags(void *context, th_term who, th_term clear, th_term set)
{
    struct th_tracing *tracing = match_context_of(context)->session->tracing;
    th_term answer = TH_MATCH_RAISED;
    struct th_tracee *traced;
    uint32_t off, on;

    if (!read_flags(clear, &off) || !read_flags(set, &on))
        return answer;
    th_trace_lock(tracing);
    traced = match_context_traced_of(match_context_of(context), who);
    if (traced)
        answer = th_trace_traced_change(traced, match_context_of(context)->session, off, on)
                     ? TH_AM(true)
                     : TH_AM(false);
    th_trace_unlock(tracing);
    return answer;
}

static void silence(void *context, bool silent)
{
    struct th_tracing *tracing = match_context_of(context)->session->tracing;

    if (!match_context_of(context)->traced)
        return;
    th_trace_lock(tracing);
    th_trace_traced_change(match_context_of(context)->traced, match_context_of(context)->session,
                           silent ? 0 : TH_FLAG_SILENT, silent ? TH_FLAG_SILENT : 0);
    th_trace_unlock(tracing);
}

static th_term is_silent(void *context)
{
    const struct th_match_context *match_context_self = context;
    const struct th_tracee_flags *tracee_flags =
        match_context_self->traced
            ? th_trace_traced_flags(match_context_self->traced)
            : th_trace_found_flags(match_context_self->session->tracing, match_context_self->id);

    return th_trace_flags_of_session(tracee_flags, match_context_self->session) & TH_FLAG_SILENT
               ? TH_AM(true)
               : TH_AM(false);
}

/* --- Tables of operations --------------------------------------------------------------------- */

static const struct th_match_operations of_recording = {
    .self = match_context_self,
    .node = recorded_node,
    .caller = recorded_caller,
    .caller_line = recorded_caller_line,
    .stack = recorded_stack,
    .get_tcw = get_tcw,
    .set_tcw = set_tcw,
    .display = recorded_display,
    .set_flags = match_context_set_flags,
    .silence = silence,
    .is_silent = is_silent,
};

static const struct th_match_operations of_host = {
    .self = match_context_self,
    .node = live_node,
    .caller = live_caller,
    .caller_line = live_caller_line,
    .stack = live_stack,
    .is_seq_trace = match_context_is_seq_trace,
    .get_seq_token = match_context_get_seq_token,
    .set_seq_token = match_context_set_seq_token,
    .get_tcw = get_tcw,
    .set_tcw = set_tcw,
    .process_dump = match_context_process_dump,
    .display = live_display,
    .set_flags = match_context_set_flags,
    .silence = silence,
    .is_silent = is_silent,
};

void th_trace_match_context_run(struct th_match_context *context, const struct th_match_spec *spec,
                                const struct th_match_subject *subject,
                                struct th_match_result *result)
{
    const struct th_match_surroundings surroundings = {context->process ? &of_host : &of_recording,
                                                       context};

    th_match_run(spec, subject, &surroundings, context->env, result);
}
