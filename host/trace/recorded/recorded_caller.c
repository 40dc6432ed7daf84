#include "recorded_caller.h"

#include "host/base/base.h"

/* {M, F, Arity, Location} */
static bool is_caller(th_term t, struct th_mfa *function)
{
    const th_term *e;

    if (!th_is_tuple(t) || th_tuple_arity(t) != 4)
        return false;
    e = th_tuple_elements(t);
    if (!th_is_atom(e[0]) || !th_is_atom(e[1]) || !th_is_small(e[2]) || th_small_value(e[2]) < 0 ||
        th_small_value(e[2]) > TH_FUNCTION_ARITY_MAX)
        return false;
    *function = (struct th_mfa){e[0], e[1], (uint32_t)th_small_value(e[2])};
    return true;
}

/* {M, F, Arity, {File, Line}} or {M, F, Arity, undefined} */
static bool function_with_line(th_term t, struct th_mfa *function)
{
    th_term line;

    if (!is_caller(t, function))
        return false;
    line = th_tuple_elements(t)[3];
    return line == TH_AM(undefined) || (th_is_tuple(line) && th_tuple_arity(line) == 2);
}

struct th_caller th_recorded_caller_of_result(th_term result)
{
    struct th_caller caller = {.kind = TH_CALLER_UNKNOWN};

    if (result == TH_AM(undefined))
        caller.kind = TH_CALLER_UNDEFINED;
    else if (result != TH_NONE && (th_trace_event_function_from_term(result, &caller.function) ||
                                   function_with_line(result, &caller.function)))
        caller.kind = TH_CALLER_FUNCTION;
    return caller;
}

bool th_recorded_are_callers(th_term callers)
{
    struct th_mfa function;
    size_t count = 0;

    for (; th_is_list(callers); callers = th_cell(callers)[1])
        if (++count > TH_EXECUTION_CALLERS || !is_caller(th_cell(callers)[0], &function))
            return false;
    return callers == TH_NIL || callers == TH_AM(undefined);
}

struct th_caller th_recorded_first_caller(th_term callers)
{
    struct th_caller caller = {.kind = TH_CALLER_FUNCTION};

    if (callers == TH_NIL)
        caller.kind = TH_CALLER_UNDEFINED;
    else if (!th_is_list(callers) || !is_caller(th_cell(callers)[0], &caller.function))
        caller.kind = TH_CALLER_UNKNOWN;
    return caller;
}

bool th_recorded_ends_process(const struct th_event *event, struct th_caller *function)
{
    function->kind = TH_CALLER_UNDEFINED;
    if (event->tag == TH_TAG_return_to)
        th_error_clear();
    return event->tag == TH_TAG_return_to;
}
