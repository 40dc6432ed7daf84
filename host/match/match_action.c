/* Functions that query the surroundings, act on them, or change the trace message. */
#include "match_internal.h"

#include "host/term/make.h"

static bool not_known(const struct th_match_run *run, th_term value)
{
    return !th_match_value_known(value) || th_match_is_partial(run, value);
}

/* Returns the answer of the surroundings to ASK, which may be NULL. */
static th_term answer_to(const struct th_match_run *run, th_term (*ask)(void *context, th_env *env))
{
    return ask ? ask(run->context, run->env) : TH_VALUE_UNKNOWN;
}

/* Does the same for true or false. */
static th_term truth_of(const struct th_match_run *run, th_term (*ask)(void *context))
{
    th_term answer = ask ? ask(run->context) : TH_NONE;

    return answer == TH_NONE ? TH_VALUE_MAYBE : answer;
}

/* True if an action is skipped and counted as unsure: the surroundings cannot do it (POSSIBLE is
 * false), it may not be due, or an operand is unknown. */
static bool is_left_out(struct th_match_run *run, bool possible)
{
    bool unsure = run->depth > 0 || !possible;

    for (size_t i = 0; i < run->operands; i++)
        unsure |= not_known(run, TH_OPERAND(run, i));
    run->result->unsure += unsure;
    return unsure;
}

/* --- The trace message ------------------------------------------------------------------------ */

th_term th_match_message(struct th_match_run *run)
{
    run->result->message = run->depth > 0 || not_known(run, *run->top) ? TH_NONE : *run->top;
    return TH_AM(true);
}

th_term th_match_return_trace(struct th_match_run *run)
{
    if (!is_left_out(run, true))
        run->result->return_trace = true;
    return TH_AM(true);
}

th_term th_match_exception_trace(struct th_match_run *run)
{
    if (!is_left_out(run, true))
        run->result->exception_trace = true;
    return TH_AM(true);
}

/* --- The process and its callers -------------------------------------------------------------- */

th_term th_match_self(struct th_match_run *run)
{
    return run->operations->self ? run->operations->self(run->context) : TH_VALUE_UNKNOWN;
}

/* An unknown caller is `undefined`, as in a BEAM, and counted. */
static th_term caller_or_undefined(struct th_match_run *run,
                                   th_term (*ask)(void *context, th_env *env))
{
    th_term answer = answer_to(run, ask);

    if (answer != TH_NONE)
        return answer;
    run->result->callers_unknown++;
    return TH_AM(undefined);
}

th_term th_match_caller(struct th_match_run *run)
{
    return caller_or_undefined(run, run->operations->caller);
}

th_term th_match_caller_line(struct th_match_run *run)
{
    return caller_or_undefined(run, run->operations->caller_line);
}

th_term th_match_current_stacktrace(struct th_match_run *run)
{
    size_t depth = SIZE_MAX;
    th_term stack = TH_NONE;

    if (run->operands == 1) /* the compiler accepts small integers only */
        depth = (size_t)th_small_value(*run->top);
    if (run->operations->stack)
        stack = run->operations->stack(run->context, run->env, depth);
    run->result->callers_unknown += stack == TH_NONE;
    return stack;
}

th_term th_match_process_dump(struct th_match_run *run)
{
    return answer_to(run, run->operations->process_dump);
}

th_term th_match_display(struct th_match_run *run)
{
    if (!is_left_out(run, true) && run->operations->display)
        run->operations->display(run->context, *run->top);
    return TH_AM(true);
}

/* --- Sequential trace and the trace control word ---------------------------------------------- */

th_term th_match_is_seq_trace(struct th_match_run *run)
{
    return truth_of(run, run->operations->is_seq_trace);
}

th_term th_match_get_seq_token(struct th_match_run *run)
{
    return answer_to(run, run->operations->get_seq_token);
}

th_term th_match_set_seq_token(struct th_match_run *run)
{
    if (is_left_out(run, run->operations->set_seq_token))
        return TH_VALUE_UNKNOWN;
    return run->operations->set_seq_token(run->context, run->env, TH_OPERAND(run, 0),
                                          TH_OPERAND(run, 1));
}

th_term th_match_get_tcw(struct th_match_run *run)
{
    return answer_to(run, run->operations->get_tcw);
}

/* True if the operand has 32 bits; else *OTHERWISE is the result of the function. */
static bool control_word(struct th_match_run *run, th_term *otherwise)
{
    uint64_t word;

    *otherwise = TH_VALUE_UNKNOWN;
    if (not_known(run, *run->top))
        return false;
    *otherwise = TH_VALUE_RAISED;
    return th_get_uint64(*run->top, &word) && word <= UINT32_MAX;
}

th_term th_match_set_tcw(struct th_match_run *run)
{
    th_term otherwise;

    if (is_left_out(run, true))
        return TH_VALUE_UNKNOWN;
    if (!control_word(run, &otherwise))
        return otherwise;
    if (run->operations->set_tcw)
        return run->operations->set_tcw(run->context, run->env,
                                        (uint32_t)th_small_value(*run->top));
    run->result->unsure++;
    return TH_VALUE_UNKNOWN;
}

/* Returns the result of set_tcw, without setting. */
th_term th_match_set_tcw_fake(struct th_match_run *run)
{
    th_term otherwise;

    if (!control_word(run, &otherwise))
        return otherwise;
    return th_match_get_tcw(run);
}

/* --- Trace flags ------------------------------------------------------------------------------ */

/* {trace, Clear, Set} or {trace, Tracee, Clear, Set} */
th_term th_match_trace(struct th_match_run *run)
{
    if (is_left_out(run, run->operations->set_flags))
        return TH_VALUE_UNKNOWN;
    return run->operations->set_flags(
        run->context, run->operands == 3 ? TH_OPERAND(run, 0) : TH_NONE,
        TH_OPERAND(run, run->operands - 2), TH_OPERAND(run, run->operands - 1));
}

/* {enable_trace, Flag} or {enable_trace, Tracee, Flag}: true, even if nothing changes. */
th_term th_match_change_flag(struct th_match_run *run)
{
    bool enable = run->function->enable;
    const th_term cell[2] = {TH_OPERAND(run, run->operands - 1), TH_NIL};
    th_term list = th_listed(cell), tracee = run->operands == 2 ? TH_OPERAND(run, 0) : TH_NONE,
            changed;

    if (is_left_out(run, run->operations->set_flags))
        return TH_VALUE_UNKNOWN;
    changed = run->operations->set_flags(run->context, tracee, enable ? TH_NIL : list,
                                         enable ? list : TH_NIL);
    return th_match_value_known(changed) ? TH_AM(true) : changed;
}

/* {silent, Bool}: ignores all but true and false. {silent} returns the flag. */
th_term th_match_silent(struct th_match_run *run)
{
    if (run->operands == 0)
        return truth_of(run, run->operations->is_silent);
    if (is_left_out(run, true) || (*run->top != TH_AM(true) && *run->top != TH_AM(false)))
        return TH_AM(true);
    if (run->operations->silence)
        run->operations->silence(run->context, *run->top == TH_AM(true));
    else
        run->result->unsure++;
    return TH_AM(true);
}
