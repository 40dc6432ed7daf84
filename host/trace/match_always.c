/*
 * Specifications that always say the same: one clause that matches whatever there is, with a body
 * of constants, return_trace, exception_trace and messages that are constants. So are most that are
 * written: `[]` in the body, {return_trace}, {exception_trace}. Then one run, when it is compiled,
 * serves for all.
 */
#include "match_compiler.h"
#include "match_function.h"

static bool is_constant_call(const struct th_match_instruction *i)
{
    th_match_implementation *called = th_match_functions[i->operand].implementation;

    return called == th_match_message || called == th_match_return_trace ||
           called == th_match_exception_trace;
}

static bool is_constant(const struct th_match_instruction *i)
{
    return i->code == TH_CODE_CONSTANT || i->code == TH_CODE_DROP ||
           (i->code == TH_CODE_CALL && is_constant_call(i));
}

void th_match_find_always(struct th_match_spec *spec)
{
    const struct th_match_subject nothing = {TH_NIL, NULL, 0};
    const struct th_match_surroundings nowhere = {NULL, NULL};
    const struct th_match_instruction *i = spec->code + spec->clauses[0].pc;

    if (i++->code != TH_CODE_HEAD_DONE || i++->code != TH_CODE_GUARDS_DONE)
        return;
    while (is_constant(i))
        i++;
    if (i->code != TH_CODE_END)
        return;
    th_match_run(spec, &nothing, &nowhere, &spec->env, &spec->result);
    spec->always = true;
}

const struct th_match_result *th_match_always(const struct th_match_spec *spec)
{
    return spec->always ? &spec->result : NULL;
}
