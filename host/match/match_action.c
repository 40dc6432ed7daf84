/* What asks the surroundings, and what acts on them or on the trace message. */
#include "match_function.h"

static bool not_known(const struct th_match_run *run, th_term value)
{
    return !th_value_known(value) || th_match_is_partial(run, value);
}

/* True if it is not sure that an action is to be taken, or with which operands. */
static bool left_out(struct th_match_run *run, const th_term *top, size_t count)
{
    bool unsure = run->depth > 0;

    for (size_t i = 0; i < count; i++)
        unsure |= not_known(run, TH_OPERAND(top, i));
    run->result->unsure += unsure;
    return unsure;
}

/* --- The trace message ------------------------------------------------------------------------ */

th_term th_match_message(struct th_match_run *run, const th_term *top, size_t count)
{
    (void)count;
    run->result->message = run->depth > 0 || not_known(run, *top) ? TH_NONE : *top;
    return TH_AM(true);
}

th_term th_match_return_trace(struct th_match_run *run, const th_term *top, size_t count)
{
    if (!left_out(run, top, count))
        run->result->return_trace = true;
    return TH_AM(true);
}

th_term th_match_exception_trace(struct th_match_run *run, const th_term *top, size_t count)
{
    if (!left_out(run, top, count))
        run->result->exception_trace = true;
    return TH_AM(true);
}

/* --- The process and its callers -------------------------------------------------------------- */

th_term th_match_self(struct th_match_run *run, const th_term *top, size_t count)
{
    (void)top;
    (void)count;
    return run->operations->self ? run->operations->self(run->context) : TH_VALUE_UNKNOWN;
}

/* One who is not known is `undefined`, as in a BEAM, and counted. */
static th_term caller(struct th_match_run *run, th_term (*ask)(void *context, th_env *env))
{
    th_term answer = ask ? ask(run->context, run->env) : TH_NONE;

    if (answer != TH_NONE)
        return answer;
    run->result->callers_unknown++;
    return TH_AM(undefined);
}

th_term th_match_caller(struct th_match_run *run, const th_term *top, size_t count)
{
    (void)top;
    (void)count;
    return caller(run, run->operations->caller);
}

th_term th_match_caller_line(struct th_match_run *run, const th_term *top, size_t count)
{
    (void)top;
    (void)count;
    return caller(run, run->operations->caller_line);
}

th_term th_match_current_stacktrace(struct th_match_run *run, const th_term *top, size_t count)
{
    size_t depth = SIZE_MAX;
    th_term stack = TH_NONE;

    if (count == 1) /* the compiler takes nothing but a small integer */
        depth = (size_t)th_small_value(*top);
    if (run->operations->stack)
        stack = run->operations->stack(run->context, run->env, depth);
    run->result->callers_unknown += stack == TH_NONE;
    return stack;
}

th_term th_match_process_dump(struct th_match_run *run, const th_term *top, size_t count)
{
    (void)top;
    (void)count;
    return run->operations->process_dump ? run->operations->process_dump(run->context, run->env)
                                         : TH_VALUE_UNKNOWN;
}

th_term th_match_display(struct th_match_run *run, const th_term *top, size_t count)
{
    if (!left_out(run, top, count) && run->operations->display)
        run->operations->display(run->context, *top);
    return TH_AM(true);
}

/* --- Sequential trace and the trace control word ---------------------------------------------- */

th_term th_match_is_seq_trace(struct th_match_run *run, const th_term *top, size_t count)
{
    th_term answer =
        run->operations->is_seq_trace ? run->operations->is_seq_trace(run->context) : TH_NONE;

    (void)top;
    (void)count;
    return answer == TH_NONE ? TH_VALUE_MAYBE : answer;
}

th_term th_match_get_seq_token(struct th_match_run *run, const th_term *top, size_t count)
{
    (void)top;
    (void)count;
    return run->operations->get_seq_token ? run->operations->get_seq_token(run->context, run->env)
                                          : TH_VALUE_UNKNOWN;
}

th_term th_match_set_seq_token(struct th_match_run *run, const th_term *top, size_t count)
{
    if (left_out(run, top, count))
        return TH_VALUE_UNKNOWN;
    if (run->operations->set_seq_token)
        return run->operations->set_seq_token(run->context, run->env, TH_OPERAND(top, 0),
                                              TH_OPERAND(top, 1));
    run->result->unsure++;
    return TH_VALUE_UNKNOWN;
}

th_term th_match_get_tcw(struct th_match_run *run, const th_term *top, size_t count)
{
    (void)top;
    (void)count;
    return run->operations->get_tcw ? run->operations->get_tcw(run->context, run->env)
                                    : TH_VALUE_UNKNOWN;
}

/* A value of 32 bits; *OTHERWISE is what it is if it is none. */
static bool control_word(struct th_match_run *run, const th_term *top, th_term *otherwise)
{
    uint64_t word;

    *otherwise = TH_VALUE_UNKNOWN;
    if (not_known(run, *top))
        return false;
    *otherwise = TH_VALUE_RAISED;
    return th_get_uint64(*top, &word) && word <= UINT32_MAX;
}

th_term th_match_set_tcw(struct th_match_run *run, const th_term *top, size_t count)
{
    th_term otherwise;

    if (left_out(run, top, count))
        return TH_VALUE_UNKNOWN;
    if (!control_word(run, top, &otherwise))
        return otherwise;
    if (run->operations->set_tcw)
        return run->operations->set_tcw(run->context, run->env, (uint32_t)th_small_value(*top));
    run->result->unsure++;
    return TH_VALUE_UNKNOWN;
}

/* Only tells what set_tcw would. */
th_term th_match_set_tcw_fake(struct th_match_run *run, const th_term *top, size_t count)
{
    th_term otherwise;

    if (!control_word(run, top, &otherwise))
        return otherwise;
    return th_match_get_tcw(run, top, count);
}

/* --- Trace flags ------------------------------------------------------------------------------ */

static th_term set_flags(struct th_match_run *run, th_term tracee, th_term clear, th_term set)
{
    if (run->operations->set_flags)
        return run->operations->set_flags(run->context, tracee, clear, set);
    run->result->unsure++;
    return TH_VALUE_UNKNOWN;
}

/* {trace, Clear, Set} or {trace, Tracee, Clear, Set} */
th_term th_match_trace(struct th_match_run *run, const th_term *top, size_t count)
{
    if (left_out(run, top, count))
        return TH_VALUE_UNKNOWN;
    return set_flags(run, count == 3 ? TH_OPERAND(top, 0) : TH_NONE, TH_OPERAND(top, count - 2),
                     TH_OPERAND(top, count - 1));
}

/* {enable_trace, Flag} or {enable_trace, Tracee, Flag}: true, whether that changes anything or
 * not. */
static th_term change_flag(struct th_match_run *run, const th_term *top, size_t count, bool enable)
{
    const th_term cell[2] = {TH_OPERAND(top, count - 1), TH_NIL};
    th_term list = th_listed(cell), tracee = count == 2 ? TH_OPERAND(top, 0) : TH_NONE, changed;

    if (left_out(run, top, count))
        return TH_VALUE_UNKNOWN;
    changed = set_flags(run, tracee, enable ? TH_NIL : list, enable ? list : TH_NIL);
    return th_value_known(changed) ? TH_AM(true) : changed;
}

th_term th_match_enable_trace(struct th_match_run *run, const th_term *top, size_t count)
{
    return change_flag(run, top, count, true);
}

th_term th_match_disable_trace(struct th_match_run *run, const th_term *top, size_t count)
{
    return change_flag(run, top, count, false);
}

/* {silent, Bool}: anything but true and false is ignored. {silent} asks. */
th_term th_match_silent(struct th_match_run *run, const th_term *top, size_t count)
{
    th_term answer;

    if (count == 0) {
        answer = run->operations->is_silent ? run->operations->is_silent(run->context) : TH_NONE;
        return answer == TH_NONE ? TH_VALUE_MAYBE : answer;
    }
    if (left_out(run, top, count))
        return TH_AM(true);
    if (*top != TH_AM(true) && *top != TH_AM(false))
        return TH_AM(true);
    if (run->operations->silence)
        run->operations->silence(run->context, *top == TH_AM(true));
    else
        run->result->unsure++;
    return TH_AM(true);
}
