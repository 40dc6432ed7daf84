/*
 * Creates and destroys sessions, flags and tracees at random, half of the time inside of callbacks.
 * No callback may run for a session that has ended; the address sanitizer checks memory.
 */
#include "host/self/self.h"
#include "tests/support/assertions.h"
#include "tests/support/scene.h"

#include "host/process/process.h"
#include "host/trace/tracing.h"

#include <stddef.h>
#include <stdlib.h>

enum { STEPS = 30000, PROCESSES = 12, PORTS = 3 };

static uint64_t seed;
static unsigned long called, created, destroyed;

static unsigned below(unsigned limit)
{
    seed = seed * 6364136223846793005 + 1442695040888963407;
    return (unsigned)(seed >> 33) % limit;
}

static uint32_t some_flags(void)
{
    return (uint32_t)(below(1 << 30) & below(1 << 30)) & TH_FLAGS_ALL;
}

static th_term someone(void)
{
    return below(4) ? th_local_pid(below(PROCESSES) + 1, 0) : th_local_port(below(PORTS) + 1);
}

static struct th_session *some_session(void)
{
    struct th_session *session;
    size_t count = th_trace_sessions(scene_tracing());

    session = count ? th_trace_session(scene_tracing(), below((unsigned)count)) : NULL;
    return session && th_trace_session_find(scene_tracing(), th_trace_session_id_of(session))
               ? session
               : NULL;
}

static void create(void)
{
    struct th_session *session;

    if (th_trace_sessions(scene_tracing()) >= 8)
        return;
    session = scene_create("a");
    created++;
    th_trace_session_trace(session, below(6), true, some_flags());
}

static void destroy(struct th_session *session)
{
    th_trace_session_destroy(session);
    destroyed++;
}

static void change(struct th_session *session)
{
    static const char *const names[] = {"tom", "tim"};
    th_session_id ids[TH_SESSIONS_LIMIT];

    switch (below(6)) {
    case 0:
        th_trace_session_trace(session, below(6), below(2), some_flags());
        break;
    case 1:
        th_trace_session_expect(session, below(2) ? th_atom(names[below(2)]) : someone(),
                                some_flags());
        break;
    case 2:
        th_trace_session_flags(session, someone());
        break;
    case 3:
        th_trace_sessions_of(scene_tracing(), someone(), ids);
        break;
    default:
        th_trace_session_trace_one(session, someone(), below(3), some_flags());
    }
    th_error_clear();
}

static void meddle(void)
{
    struct th_session *session = some_session();

    if (!session || below(8) == 0)
        create();
    else if (below(8) == 0)
        destroy(session);
    else
        change(session);
}

static void in_callback(void)
{
    const struct th_session *session = th_self.attachment->session;
    th_session_id id = th_trace_session_id_of(session);

    called++;
    if (id) /* 0 while the session is being created */
        assert_int_equal(th_trace_session_state(scene_tracing(), id), TH_SESSION_ALIVE);
    if (id && below(20) == 0)
        meddle();
}

/* Traces a random event of a process. */
static void happen(void)
{
    static const char *const events[] = {
        "{trace,<0.%u.0>,spawn,<0.%u.0>,{m,f,[]}}", "{trace,<0.%u.0>,spawned,<0.%u.0>,{m,f,[]}}",
        "{trace,<0.%u.0>,link,<0.%u.0>}",           "{trace,<0.%u.0>,getting_linked,<0.%u.0>}",
        "{trace,<0.%u.0>,send,hi,<0.%u.0>}",        "{trace,<0.%u.0>,call,{m,f,[%u]}}",
        "{trace,<0.%u.0>,return_from,{m,f,1},%u}",  "{trace,<0.%u.0>,in,{m,f,%u}}",
        "{trace,<0.%u.0>,out_exited,%u}",           "{trace,<0.%u.0>,register,tom}",
        "{trace,#Port<0.%u>,open,<0.%u.0>,cat}",    "{seq_trace,%u,{print,{0,1},<0.%u.0>,[],hi}}",
    };
    static const char *const answers[] = {"trace", "trace", "trace", "discard", "remove"};
    char tuple[128];

    scene_forget_answers();
    scene_answer("enabled", answers[below(4)]);
    scene_answer("enabled_call", answers[below(5)]);
    scene_answer("enabled_send", answers[below(5)]);
    snprintf(tuple, sizeof tuple, events[below(sizeof events / sizeof *events)],
             below(PROCESSES) + 1, below(PROCESSES) + 1);
    assert_in_range(scene_trace(tuple), TH_OK, TH_END);
    scene_log();
}

static void random_control_calls_reach_no_ended_session(void **state)
{
    (void)state;
    for (seed = 1; seed <= 3; seed++) {
        uint64_t first = seed;
        scene_begin_empty(NULL);
        scene_act(NULL, NULL, in_callback);
        for (int i = 0; i < STEPS / 3; i++) {
            if (below(4) == 0)
                meddle();
            else if (below(100) == 0)
                th_process_world_end(someone());
            else if (below(1000) == 0)
                th_trace_new_world(scene_tracing());
            else
                happen();
        }
        scene_end();
        seed = first;
    }
    assert_order(called, >, STEPS);
    assert_true(created > 100 && destroyed > 100);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(random_control_calls_reach_no_ended_session),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
