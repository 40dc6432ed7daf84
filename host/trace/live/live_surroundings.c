/* What match specifications ask of a live call: flags and the trace control word of trace/ itself,
 * the rest of the process' owner. */
#include "live_hit.h"
#include "host/trace/match_context.h"

static const struct th_live_surroundings *of(void *context)
{
    return context;
}

static struct th_live_process *process_of(void *context)
{
    return of(context)->call->process;
}

static struct th_tracing *tracing_of(void *context)
{
    return of(context)->session->tracing;
}

static th_term self(void *context)
{
    return process_of(context)->id;
}

static th_term node(void *context)
{
    (void)context;
    return TH_AM(nonode);
}

/* --- what the owner knows --- */

static const struct th_match_operations *asked(void *context)
{
    static const struct th_match_operations nothing;
    const struct th_match_operations *operations = process_of(context)->asked;

    return operations ? operations : &nothing;
}

static th_term caller(void *context, th_env *env)
{
    const struct th_caller *known = of(context)->call->caller;

    if (!known)
        return asked(context)->caller ? asked(context)->caller(process_of(context), env) : TH_NONE;
    if (known->kind == TH_CALLER_FUNCTION)
        return th_live_function_term(env, &known->function);
    return known->kind == TH_CALLER_UNDEFINED ? TH_AM(undefined) : TH_NONE;
}

static th_term caller_with_line(void *context, th_env *env)
{
    th_term found;
    const th_term *e;

    if (!of(context)->call->caller && asked(context)->caller_line)
        return asked(context)->caller_line(process_of(context), env);
    found = caller(context, env);
    if (found == TH_NONE || !th_is_tuple(found))
        return found;
    e = th_tuple_elements(found);
    return th_make_tuple_of(env, e[0], e[1], e[2], TH_AM(undefined));
}

/* Where no line is known, it is `undefined`, as in a BEAM. */
static th_term caller_line(void *context, th_env *env)
{
    th_term found = caller_with_line(context, env);

    if (found != TH_NONE && th_is_tuple(found) && th_tuple_elements(found)[3] == TH_AM(undefined))
        th_session_count(of(context)->session, TH_COUNTED_BY_PATTERNS(lines_unknown));
    return found;
}

static th_term stack(void *context, th_env *env, size_t depth)
{
    return asked(context)->stack ? asked(context)->stack(process_of(context), env, depth) : TH_NONE;
}

bool th_live_is_external(const struct th_live_call *call)
{
    const struct th_match_operations *owner = call->process->asked;

    return call->external ||
           (owner && owner->is_external &&
            owner->is_external(call->process, &call->function->function.name, call->arguments));
}

th_term th_live_callers(const struct th_live_call *call, th_env *env)
{
    const struct th_match_operations *owner = call->process->asked;
    const struct th_caller *known = call->caller;
    th_term first;

    if (!known)
        return owner && owner->stack ? owner->stack(call->process, env, TH_EXECUTION_CALLERS)
                                     : TH_NONE;
    if (known->kind == TH_CALLER_UNDEFINED)
        return TH_NIL;
    if (known->kind != TH_CALLER_FUNCTION)
        return TH_NONE;
    first = th_make_tuple_of(env, known->function.module, known->function.function,
                             th_small(known->function.arity), TH_NIL);
    return th_make_cons(env, first, TH_AM(undefined));
}

static th_term is_seq_trace(void *context)
{
    return asked(context)->is_seq_trace ? asked(context)->is_seq_trace(process_of(context))
                                        : TH_NONE;
}

static th_term get_seq_token(void *context, th_env *env)
{
    return asked(context)->get_seq_token ? asked(context)->get_seq_token(process_of(context), env)
                                         : TH_NONE;
}

static th_term set_seq_token(void *context, th_env *env, th_term component, th_term value)
{
    return asked(context)->set_seq_token
               ? asked(context)->set_seq_token(process_of(context), env, component, value)
               : TH_NONE;
}

static th_term process_dump(void *context, th_env *env)
{
    return asked(context)->process_dump ? asked(context)->process_dump(process_of(context), env)
                                        : TH_NONE;
}

static void show(void *context, th_term term)
{
    if (asked(context)->display)
        asked(context)->display(process_of(context), term);
    else if (tracing_of(context)->display)
        tracing_of(context)->display(term);
}

/* Whoever it is shown to is in the event at hand; of a call none was made yet. */
static void display(void *context, th_term term)
{
    struct th_event *outer = th_callback_current.event, event;

    if (!outer) {
        th_live_call_event(&event, of(context)->call);
        th_callback_current.event = &event;
    }
    show(context, term);
    th_callback_current.event = outer;
}

/* --- the trace control word: relaxed, a word in itself --- */

static th_term get_tcw(void *context, th_env *env)
{
    (void)env;
    return th_small(atomic_load_explicit(&tracing_of(context)->control_word, memory_order_relaxed));
}

static th_term set_tcw(void *context, th_env *env, uint32_t value)
{
    (void)env;
    return th_small(
        atomic_exchange_explicit(&tracing_of(context)->control_word, value, memory_order_relaxed));
}

/* --- flags --- */

static bool change(struct th_session *session, struct th_traced *traced, uint32_t clear,
                   uint32_t set)
{
    uint32_t old = th_refs_flags(th_traced_refs(traced), session);
    uint32_t accepted =
        th_kind_of(traced->id) == TH_KIND_PORT ? TH_FLAGS_OF_PORTS : TH_FLAGS_OF_PROCESSES;
    uint32_t new = (old & ~clear) | (set & accepted);

    if (new != old)
        th_traced_set(traced, session, new);
    return new != old;
}

/* One of this host alone: the world is the replaying thread's. NULL: there is none. */
static struct th_traced *traced_of(void *context, th_term who)
{
    if (who == TH_NONE)
        return &process_of(context)->traced;
    if (th_is_atom(who))
        who = th_whereis(who);
    return who == TH_NONE ? NULL : th_tracing_live(tracing_of(context), who);
}

static th_term set_flags(void *context, th_term who, th_term clear, th_term set)
{
    struct th_tracing *tracing = tracing_of(context);
    th_term answer = TH_MATCH_RAISED;
    struct th_traced *traced;
    uint32_t off, on;

    if (!th_surroundings_flags(clear, &off) || !th_surroundings_flags(set, &on))
        return answer;
    th_tracing_lock(tracing);
    traced = traced_of(context, who);
    if (traced)
        answer = change(of(context)->session, traced, off, on) ? TH_AM(true) : TH_AM(false);
    th_tracing_unlock(tracing);
    return answer;
}

static void silence(void *context, bool silent)
{
    struct th_tracing *tracing = tracing_of(context);

    th_tracing_lock(tracing);
    change(of(context)->session, &process_of(context)->traced, silent ? 0 : TH_FLAG_SILENT,
           silent ? TH_FLAG_SILENT : 0);
    th_tracing_unlock(tracing);
}

static th_term is_silent(void *context)
{
    uint32_t flags =
        th_refs_flags(th_traced_refs(&process_of(context)->traced), of(context)->session);

    return flags & TH_FLAG_SILENT ? TH_AM(true) : TH_AM(false);
}

const struct th_match_operations th_live_operations = {
    .self = self,
    .node = node,
    .caller = caller,
    .caller_line = caller_line,
    .stack = stack,
    .is_seq_trace = is_seq_trace,
    .get_seq_token = get_seq_token,
    .set_seq_token = set_seq_token,
    .get_tcw = get_tcw,
    .set_tcw = set_tcw,
    .process_dump = process_dump,
    .display = display,
    .set_flags = set_flags,
    .silence = silence,
    .is_silent = is_silent,
};
