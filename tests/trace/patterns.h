/* Sets up tests of patterns: a session `s` that traces the calls of all processes. */
#ifndef TH_TESTS_PATTERNS_H
#define TH_TESTS_PATTERNS_H

#include "host/term/term.h"
#include "tests/support/assertions.h"
#include "tests/support/scene.h"

#include "host/process/process.h"

#include <stddef.h>

#define CALL(mfa) "{trace,<0.1.0>,call," mfa "}"
#define RETURN(mfa, value) "{trace,<0.1.0>,return_from," mfa "," value "}"
#define EXCEPTION(mfa, value) "{trace,<0.1.0>,exception_from," mfa "," value "}"

#define ASKED "enabled_call(call,s,<0.1.0>)\n"
#define TOLD(mfa) ASKED "trace_call(call,s,<0.1.0>," mfa ",#{}) self\n"
#define ENDED(mfa, value) "trace_call(return_from,s,<0.1.0>," mfa ",#{extra => " value "}) self\n"
#define BACK(mfa) "trace_call(return_to,s,<0.1.0>," mfa ",#{}) self\n"
#define RAISED(mfa, value) \
    "trace_call(exception_from,s,<0.1.0>," mfa ",#{extra => " value "}) self\n"

static struct th_session *session;

static inline int begin_with(uint32_t flags)
{
    scene_begin_empty(NULL);
    session = scene_create("s");
    th_trace_session_trace(session, TH_PROCESSES_ALL, true, flags);
    scene_log();
    return 0;
}

static inline int begin(void **state)
{
    (void)state;
    return begin_with(TH_FLAG_CALL);
}

static inline int end(void **state)
{
    (void)state;
    scene_end();
    return 0;
}

/* Returns the pattern MODULE:FUNCTION/ARITY; "_" is any module or function. */
static inline struct th_pattern pattern(const char *module, const char *function, int arity)
{
    struct th_pattern made = {TH_NONE, TH_NONE, arity, false};

    if (module[0] != '_')
        made.module = th_atom(module);
    if (function[0] != '_')
        made.function = th_atom(function);
    return made;
}

static inline enum th_status try(const char *module, const char *function, int arity,
                                 const char *match, uint32_t kinds, size_t *matched)
{
    struct th_pattern made = pattern(module, function, arity);
    enum th_status status;
    th_term term;
    th_env env;

    th_env_init(&env, TH_ENV_PLAIN);
    assert_int_equal(th_text_parse(&env, match, strlen(match), &term), TH_OK);
    status = th_trace_session_function(session, &made, term, kinds, matched);
    th_env_release(&env);
    return status;
}

static inline void set(const char *module, const char *function, int arity, const char *match,
                       uint32_t kinds, size_t expected)
{
    size_t matched = 77;

    assert_int_equal(try(module, function, arity, match, kinds, &matched), TH_OK);
    assert_int_equal(matched, expected);
}

static inline void expect(const char *tuple, const char *callbacks)
{
    assert_int_equal(scene_trace(tuple), TH_OK);
    assert_string_equal(scene_log(), callbacks);
}

static inline void expect_refused(const char *module, const char *function, int arity,
                                  const char *match, uint32_t kinds, enum th_status status,
                                  const char *why)
{
    size_t matched = 77;

    assert_enum_equal(th_status, try(module, function, arity, match, kinds, &matched), status);
    assert_string_equal(th_error_link(0), why);
    assert_int_equal(matched, 77);
    th_error_clear();
}

static inline struct th_bp_info info_of(const char *module, const char *function, unsigned arity)
{
    struct th_mfa name = {th_atom(module), th_atom(function), arity};
    struct th_bp_info info;

    th_trace_session_function_info(session, &name, &info);
    return info;
}

static inline uint64_t calls_of(const char *module, const char *function, unsigned arity)
{
    struct th_bp_info info = info_of(module, function, arity);
    uint64_t calls = info.calls;

    assert_true(info.kinds & TH_BP_COUNT);
    th_breakpoint_info_free(&info);
    return calls;
}

#endif
