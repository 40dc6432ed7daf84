/* Sets up tests of a process that calls functions of `twin` while its code is replaced. */
#ifndef REPLACED_H
#define REPLACED_H

#include "tests/runtime/instances.h"

static struct instance *now;

static inline int begin_twin(void **state)
{
    begin(state);
    th_trace_replay_nothing(scene_tracing());
    now = replace_instance(NULL, 1, true);
    return 0;
}

static inline int end_twin(void **state)
{
    delete_instance(now);
    return end(state);
}

/* Calls twin:FUNCTION and returns the result as text. */
static inline const char *twin(const char *function, const char *arguments)
{
    return call_in(process, "call", "[twin,%s,%s]", function, arguments);
}

static inline struct th_pattern pattern_of(const char *function, int arity, bool on_load)
{
    return (struct th_pattern){th_atom("twin"), function ? th_atom(function) : TH_NONE, arity,
                               on_load};
}

static inline void set_on_load(const char *function, const char *match, uint32_t kinds)
{
    struct th_pattern pattern = pattern_of(function, TH_ANY_ARITY, true);
    th_term term;

    assert_int_equal(th_text_parse(&env, match, strlen(match), &term), TH_OK);
    assert_int_equal(th_trace_session_function(session, &pattern, term, kinds, NULL), TH_OK);
}

static inline void set_twin(const char *function, int arity, const char *match, uint32_t kinds)
{
    assert_int_equal(try_in("twin", function, arity, match, kinds), TH_OK);
}

static inline uint32_t kinds_of(const char *function, int arity, uint64_t *counted)
{
    struct th_mfa name = {th_atom("twin"), th_atom(function), (uint32_t)arity};
    struct th_bp_info info;
    uint32_t kinds;

    th_trace_session_function_info(session, &name, &info);
    kinds = info.kinds;
    if (counted)
        *counted = info.calls;
    th_breakpoint_info_free(&info);
    return kinds;
}

static inline uint64_t count_of(const char *function, int arity)
{
    uint64_t counted;

    assert_true(kinds_of(function, arity, &counted) & TH_BP_COUNT);
    return counted;
}

/* Returns the number of calls that call_time has counted. */
static inline uint64_t timed_of(const char *function, int arity)
{
    struct th_mfa name = {th_atom("twin"), th_atom(function), (uint32_t)arity};
    struct th_bp_info info;
    uint64_t calls;

    th_trace_session_function_info(session, &name, &info);
    assert_int_equal(info.time_count, 1);
    calls = info.time[0].calls;
    th_breakpoint_info_free(&info);
    return calls;
}

static inline void replace_and_purge(int generation, bool patchable)
{
    struct instance *old = now;

    now = replace_instance(old, generation, patchable);
    purge_instance(old);
}

#endif
