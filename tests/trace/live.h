/* Sets up tests of live calls: a session `s` that traces all calls, and a process. */
#ifndef TH_TESTS_LIVE_H
#define TH_TESTS_LIVE_H

#include "host/term/term.h"
#include "tests/support/alive.h"
#include "tests/support/assertions.h"

#include "host/process/process.h"

#include <pthread.h>
#include <stddef.h>

#define ME "<0.1.4096>"
#define ASKED_OF(state) "enabled_call(call," state "," ME ")\n"
#define ASKED ASKED_OF("s")
#define TOLD_TO(state, f, x) \
    ASKED_OF(state) "trace_call(call," state "," ME ",{m," f ",[" x "]},#{}) self\n"
#define TOLD(f, x) TOLD_TO("s", f, x)
#define ENDED_FOR(state, f, value) \
    "trace_call(return_from," state "," ME ",{m," f ",1},#{extra => " value "}) self\n"
#define ENDED(f, value) ENDED_FOR("s", f, value)
#define RAISED(f, value) \
    "trace_call(exception_from,s," ME ",{m," f ",1},#{extra => {error," value "}}) self\n"
#define BACK(f) "trace_call(return_to,s," ME ",{m," f ",1},#{}) self\n"

static struct th_session *session, *other;
static struct alive *me;

static inline struct th_session *add(const char *state, uint32_t flags)
{
    struct th_session *added = scene_create(state);

    th_trace_session_trace(added, TH_PROCESSES_ALL, true, flags);
    scene_log();
    return added;
}

static inline int begin(void **state)
{
    (void)state;
    alive_begin();
    session = add("s", TH_FLAG_CALL);
    other = NULL;
    me = alive_spawn(1, NULL, false);
    th_trace_session_trace_one(session, me->process.id, true, TH_FLAG_CALL);
    return 0;
}

static inline int end(void **state)
{
    (void)state;
    alive_exit(me);
    alive_end();
    return 0;
}

static inline enum th_status try(struct th_session *of, const char *function, const char *match,
                                 uint32_t kinds)
{
    struct th_pattern pattern = {th_atom("m"), function ? th_atom(function) : TH_NONE,
                                 function ? 1 : TH_ANY_ARITY, false};
    enum th_status status;
    th_term term;
    th_env env;

    th_env_init(&env, TH_ENV_PLAIN);
    assert_int_equal(th_text_parse(&env, match, strlen(match), &term), TH_OK);
    status = th_trace_session_function(of, &pattern, term, kinds, NULL);
    th_env_release(&env);
    return status;
}

static inline void set(struct th_session *of, const char *function, const char *match,
                       uint32_t kinds)
{
    assert_int_equal(try(of, function, match, kinds), TH_OK);
}

static inline struct th_live_requests call(unsigned i, int argument, const char *callbacks)
{
    struct th_live_requests requests = alive_call(me, i, th_small(argument));

    assert_string_equal(scene_log(), callbacks);
    return requests;
}

static inline void returns(unsigned i, struct th_live_requests *requests, const char *value,
                           const char *callbacks)
{
    alive_return(me, i, requests, value);
    assert_string_equal(scene_log(), callbacks);
    assert_int_equal(requests->count, 0);
}

#endif
