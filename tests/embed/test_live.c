/* Tests live tracing by an embedding program: refusals, events that a tracer gets, many threads. */
#include "embedding.h"

#include <pthread.h>
#include <stdatomic.h>

enum { THREADS = 4, CALLS = 5000 };

static int begin_live(void **state)
{
    const char *folder = build_folder("samples");
    const struct tracehost_setup setup = {
        .size = sizeof setup, .folders = &folder, .folder_count = 1, .live = true};

    (void)state;
    good(tracehost_host_start(&setup, &host));
    return 0;
}

static tracehost_process *start(void)
{
    tracehost_process *process;

    good(tracehost_process_start(NULL, NULL, &process));
    return process;
}

static enum tracehost_status run(const tracehost_process *process, tracehost_live_process *parent,
                                 tracehost_live_process **live)
{
    const struct tracehost_live_setup setup = {
        .size = sizeof setup, .process = process, .parent = parent};

    return tracehost_live_begin(host, &setup, live);
}

static void a_host_without_live_tracing_refuses_live_processes(void **state)
{
    tracehost_process *process = start();
    tracehost_live_process *live;
    tracehost_live_function *function;

    begin(state);
    misused(run(process, NULL, &live), "the host was not started with `live`");
    misused(tracehost_live_function_begin(host, "m:f/1", &function),
            "the host was not started with `live`");
    end(state);
    tracehost_process_stop(process);
}

static void invalid_live_processes_functions_and_events_are_refused(void **state)
{
    tracehost_process *process = start();
    tracehost_live_process *live;
    tracehost_live_function *function;

    (void)state;
    misused(run(NULL, NULL, &live), "the process is missing");
    misused(tracehost_live_function_begin(host, "m:f/_", &function),
            "a function must be M:F/A, not 'm:f/_'");
    misused(tracehost_live_function_begin(host, "m:_/1", &function),
            "a function must be M:F/A, not 'm:_/1'");
    good(run(process, NULL, &live));
    misused(tracehost_host_stop(host),
            "cannot stop the host: live processes or functions have not ended");
    misused(tracehost_live_event(live, "call", atom("x"), 0),
            "there is no event 'call' of a process");
    misused(tracehost_live_event(live, "nothing", atom("x"), 0),
            "there is no event 'nothing' of a process");
    misused(tracehost_live_event(live, "send", atom("x"), 0),
            "there is no event 'send' of a process without a further term");
    misused(tracehost_live_event(live, "exit", atom("x"), atom("y")),
            "there is no event 'exit' of a process with a further term");
    misused(tracehost_live_event(live, "exit", 0, 0), "the term is missing");
    misused(tracehost_live_event(NULL, "exit", atom("x"), 0), "the process is missing");
    good(tracehost_live_event(live, "exit", atom("normal"), 0)); /* no session exists */
    tracehost_live_end(live);
    tracehost_live_end(NULL);
    good(tracehost_live_function_end(NULL));
    tracehost_process_stop(process);
}

static void a_session_gets_events_from_its_start_on(void **state)
{
    tracehost_process *tracer, *process = start(), *child = start();
    tracehost_live_process *live, *born;
    tracehost_session session;
    char expected[256], *sender, *receiver;

    (void)state;
    good(tracehost_process_start(receive, NULL, &tracer));
    good(run(process, NULL, &live));
    session = send_to(tracer, 0);
    good(tracehost_live_event(live, "send", atom("early"), tracehost_process_pid(child)));
    good(tracehost_session_trace(host, session, TRACEHOST_PROCESSES_EXISTING, true,
                                 TRACEHOST_FLAG_SEND | TRACEHOST_FLAG_SET_ON_SPAWN));
    good(run(child, live, &born));
    good(tracehost_live_event(live, "send", atom("hello"), tracehost_process_pid(child)));
    good(tracehost_live_event(born, "send", atom("hello"), tracehost_process_pid(process)));
    sender = tracehost_term_to_text(tracehost_process_pid(process));
    receiver = tracehost_term_to_text(tracehost_process_pid(child));
    snprintf(expected, sizeof expected, "{trace,%s,%s}\n{trace,%s,%s}\n", sender, receiver,
             receiver, sender);
    assert_string_equal(inbox, expected);
    tracehost_free(sender);
    tracehost_free(receiver);
    tracehost_live_end(born);
    tracehost_live_end(live);
    tracehost_process_stop(tracer);
    tracehost_process_stop(child);
    tracehost_process_stop(process);
}

/* --- Memory ----------------------------------------------------------------------------------- */

static uint64_t words_so_far(void *context)
{
    return *(uint64_t *)context;
}

static void take_words(void *context, const struct tracehost_function *of)
{
    *(struct tracehost_function *)context = *of;
}

static void call_memory_counts_the_words_of_a_live_call(void **state)
{
    uint64_t words = 100;
    struct tracehost_live_setup setup = {
        .size = sizeof setup, .process = start(), .words = words_so_far, .context = &words};
    const struct tracehost_session_setup tracer = {.size = sizeof tracer,
                                                   .tracer = "erl_msg_tracer"};
    const struct tracehost_pattern pattern = {
        .size = sizeof pattern, .function = "m:f/1", .kinds = TRACEHOST_CALL_MEMORY};
    const ERL_NIF_TERM arguments[] = {atom("a")};
    struct tracehost_live_frame frame;
    struct tracehost_function found = {.size = 0};
    tracehost_live_process *live;
    tracehost_live_function *called;
    tracehost_session session;

    (void)state;
    good(tracehost_live_begin(host, &setup, &live));
    good(tracehost_live_function_begin(host, "m:f/1", &called));
    good(tracehost_session_create(host, &tracer, &session));
    good(
        tracehost_session_trace(host, session, TRACEHOST_PROCESSES_ALL, true, TRACEHOST_FLAG_CALL));
    good(tracehost_session_set_pattern(host, session, &pattern, NULL));
    tracehost_live_call(live, called, arguments, true, NULL, &frame);
    words += 23;
    tracehost_live_return(live, called, &frame, atom("ok"));
    good(tracehost_session_visit_functions(host, session, NULL, take_words, &found));
    assert_int_equal(found.kinds, TRACEHOST_CALL_MEMORY);
    assert_int_equal(found.words, 23);
    assert_int_equal(found.words_calls, 1);
    assert_int_equal(found.words_usage_count, 1);
    tracehost_live_end(live);
    good(tracehost_live_function_end(called));
    tracehost_process_stop((tracehost_process *)setup.process);
}

/* --- Threads ---------------------------------------------------------------------------------- */

static tracehost_live_function *function;
static atomic_int at_work; /* threads still running; relaxed, as the end is joined */

static void call_once(tracehost_live_process *live, bool raises)
{
    const ERL_NIF_TERM arguments[] = {atom("a")};
    struct tracehost_live_frame frame;

    tracehost_live_call(live, function, arguments, true, NULL, &frame);
    if (raises)
        tracehost_live_raise(live, function, &frame, atom("error"), atom("badarg"));
    else
        tracehost_live_return(live, function, &frame, atom("ok"));
}

static void *call_many(void *process)
{
    tracehost_live_process *live;

    good(run(process, NULL, &live));
    for (int i = 0; i < CALLS; i++)
        call_once(live, i % 16 == 0);
    tracehost_live_end(live);
    atomic_fetch_sub_explicit(&at_work, 1, memory_order_relaxed);
    return NULL;
}

/* Sets a pattern that counts, without waiting for the change. */
static tracehost_session counting(const char *match)
{
    const struct tracehost_session_setup setup = {.size = sizeof setup, .tracer = "erl_msg_tracer"};
    struct tracehost_pattern pattern = {
        .size = sizeof pattern, .function = "m:f/1", .match = match};
    tracehost_session session;

    good(tracehost_session_create(host, &setup, &session));
    good(
        tracehost_session_trace(host, session, TRACEHOST_PROCESSES_ALL, true, TRACEHOST_FLAG_CALL));
    pattern.kinds = match ? TRACEHOST_LOCAL : TRACEHOST_CALL_COUNT;
    good(tracehost_session_set_pattern(host, session, &pattern, NULL));
    return session;
}

static void take_calls(void *context, const struct tracehost_function *of)
{
    *(uint64_t *)context = of->calls;
}

/* One session counts all calls while others start and end. */
static void a_session_counts_all_calls_of_concurrent_threads(void **state)
{
    tracehost_process *processes[THREADS];
    pthread_t threads[THREADS];
    tracehost_session all;
    struct tracehost_live_counts counts = {.size = sizeof counts};
    uint64_t calls = 0;

    (void)state;
    good(tracehost_live_function_begin(host, "m:f/1", &function));
    all = counting(NULL);
    atomic_store_explicit(&at_work, THREADS, memory_order_relaxed);
    for (int i = 0; i < THREADS; i++) {
        processes[i] = start();
        assert_int_equal(pthread_create(&threads[i], NULL, call_many, processes[i]), 0);
    }
    do
        good(tracehost_session_destroy(host, counting("x")));
    while (atomic_load_explicit(&at_work, memory_order_relaxed) > 0);
    for (int i = 0; i < THREADS; i++) {
        pthread_join(threads[i], NULL);
        tracehost_process_stop(processes[i]);
    }
    good(tracehost_session_visit_functions(host, all, "m:f/1", take_calls, &calls));
    assert_int_equal(calls, THREADS * CALLS);
    call_once(NULL, false); /* a thread without a process */
    good(tracehost_session_visit_functions(host, all, "m:f/1", take_calls, &calls));
    assert_int_equal(calls, THREADS * CALLS + 1);
    good(tracehost_live_get_counts(host, &counts));
    assert_int_equal(counts.strangers, 1);
    good(tracehost_live_function_end(function));
}

int main(void)
{
#define WITH_LIVE_HOST(test) cmocka_unit_test_setup_teardown(test, begin_live, end)
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_host_without_live_tracing_refuses_live_processes),
        WITH_LIVE_HOST(invalid_live_processes_functions_and_events_are_refused),
        WITH_LIVE_HOST(a_session_gets_events_from_its_start_on),
        WITH_LIVE_HOST(call_memory_counts_the_words_of_a_live_call),
        WITH_LIVE_HOST(a_session_counts_all_calls_of_concurrent_threads),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
