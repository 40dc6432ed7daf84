/* Sets up tests of functions with two sites: live.h, with the functions of sited.h. */
#ifndef TH_TESTS_SITES_H
#define TH_TESTS_SITES_H

#include "live.h"

#include "tests/support/sited.h"

enum { EACH = ALIVE_FUNCTIONS + SITED_FUNCTIONS };

static inline int begin_sited(void **state)
{
    begin(state);
    sited_begin();
    return 0;
}

static inline int end_sited(void **state)
{
    sited_end();
    return end(state);
}

static const struct sited *const both __attribute__((unused)) = &sited_functions[BOTH];
static const struct sited *const shown __attribute__((unused)) = &sited_functions[SHOWN];
static const struct sited *const hidden __attribute__((unused)) = &sited_functions[HIDDEN];

/* Makes a call, which returns at once, and asserts its callbacks. */
static inline void calls(const struct sited *sited, bool external, const char *callbacks)
{
    struct sited_wants wants;

    sited_call(&me->process, sited, th_small(1), external, &wants);
    sited_return(&me->process, sited, &wants, th_atom("ok"));
    assert_string_equal(scene_log(), callbacks);
}

static inline struct th_bp_info info_of(const struct sited *sited)
{
    struct th_bp_info info;

    th_trace_session_function_info(session, &sited->live.function.name, &info);
    return info;
}

static inline uint32_t kinds_of(const struct sited *sited)
{
    struct th_bp_info info = info_of(sited);
    uint32_t kinds = info.kinds;

    th_breakpoint_info_free(&info);
    return kinds;
}

/* Sets a pattern for all functions of module m. */
static inline size_t set_all(const char *match, uint32_t kinds)
{
    struct th_pattern all = {th_atom("m"), TH_NONE, TH_ANY_ARITY, false};
    size_t matched = 77;
    th_term term;
    th_env env;

    th_env_init(&env, TH_ENV_PLAIN);
    assert_int_equal(th_text_parse(&env, match, strlen(match), &term), TH_OK);
    assert_int_equal(th_trace_session_function(session, &all, term, kinds, &matched), TH_OK);
    th_env_release(&env);
    return matched;
}

#endif
