/*
 * Measures discarding over whole recordings: a tracer that discards all is called for each gated
 * event, but nothing is decoded and nothing allocated.
 */
#include "host/base/base.h"
#include "host/process/process.h"
#include "host/replay/replay.h"
#include "host/term/term.h"
#include "host/trace/trace.h"
#include "tests/support/assertions.h"
#include "tests/support/loaded.h"
#include "tests/support/skipping.h"

#include <stddef.h>
#include <stdlib.h>
#include <unistd.h>

static uint64_t asked;

static ERL_NIF_TERM discard(const char *callback, ErlNifEnv *env, int argc,
                            const ERL_NIF_TERM argv[])
{
    (void)env;
    (void)argc;
    asked += strncmp(callback, "enabled", 7) == 0 && argv[0] != TH_AM(trace_status);
    return TH_AM(discard);
}

static struct th_tracing *attach_discarder(void)
{
    struct th_tracing *tracing = th_trace_create();
    struct th_session_setup setup = {
        .name = "hooked", .state = TH_NIL, .flags = TH_FLAGS_EVENTS | TH_FLAG_AS_RECORDED};
    struct th_session *session;

    unsetenv(HOOKED_SLOTS);
    setup.library = loaded_open("tests/tracers/hooked.so");
    loaded_hook(discard);
    assert_int_equal(th_trace_session_attach(tracing, &setup, &session), TH_OK);
    return tracing;
}

/* Counts for one recording. */
struct tally {
    uint64_t gated, ungated, decoded;
    unsigned long allocations;
};

static struct tally play(struct th_tracing *tracing, const char *name)
{
    struct th_reader_options options = {0};
    struct th_event event = {0};
    struct tally tally = {0};
    struct th_reader *reader;

    assert_int_equal(th_replay_reader_open(name, &options, &reader), TH_OK);
    while (th_replay_reader_next(reader, &event) == TH_OK) {
        unsigned long before = th_alloc_count();
        assert_int_equal(th_trace(tracing, &event), TH_OK);
        tally.allocations += th_alloc_count() - before;
        tally.decoded += event.decoded;
        if (event.kind > TH_EVENT_SEQ_TRACE)
            continue;
        if (event.tag > TH_TAG_call && event.tag <= TH_TAG_exception_from)
            tally.ungated++;
        else
            tally.gated++;
    }
    th_replay_reader_close(reader);
    return tally;
}

static void check(const char *name)
{
    struct th_tracing *tracing = attach_discarder();
    struct th_session_counts counts;
    struct tally tally;

    play(tracing, name); /* the first run allocates the tracees */
    asked = 0;
    tally = play(tracing, name);
    counts = th_trace_session_counts(th_trace_session(tracing, 0));
    assert_order(tally.gated, >, 0);
    assert_int_equal(asked, tally.gated);
    assert_int_equal(counts.discarded, 2 * tally.gated);
    assert_int_equal(counts.untraced, 2 * tally.ungated);
    assert_int_equal(counts.traced, 0);
    assert_int_equal(tally.decoded, 0);
    assert_int_equal(tally.allocations, 0);
    th_trace_free(tracing);
}

static void discarded_calls_and_returns_allocate_nothing(void **state)
{
    (void)state;
    check("samples/recordings/s09_collections_return.trace");
    check("samples/recordings/s03_exceptions_return_to.trace");
}

static void discarded_events_of_every_kind_allocate_nothing(void **state)
{
    (void)state;
    check("samples/recordings/s15_kitchen_sink.trace");
    check("samples/recordings/s06_ports.trace");
    check("samples/recordings/s10_seq_trace.trace");
}

static void a_discarded_large_recording_allocates_nothing(void **state)
{
    static const char name[] = "../shared/recordings/large/l1_compile_compiler_arity.trace";

    (void)state;
    if (access(name, R_OK) != 0)
        skip_because("no large recordings beside the checkout");
    check(name);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(discarded_calls_and_returns_allocate_nothing),
        cmocka_unit_test(discarded_events_of_every_kind_allocate_nothing),
        cmocka_unit_test(a_discarded_large_recording_allocates_nothing),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
