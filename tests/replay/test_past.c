/* Tests that records that are not decoded give the same calls as decoded ones. */
#include "host/base/base.h"
#include "host/replay/past.h"
#include "host/replay/replay_internal.h"
#include "host/term/term.h"
#include "host/trace/trace.h"
#include "tests/support/assertions.h"
#include "tests/support/stream.h"

#include <inttypes.h>

static size_t known; /* records of all samples that were not decoded */

static void note(struct th_buffer *text, th_term tracee, const struct th_past_call *call,
                 int64_t time)
{
    th_buffer_printf(text, "%d %" PRIx64 " %" PRIx64 ":%" PRIx64 "/%u", (int)call->tag,
                     (uint64_t)tracee, (uint64_t)call->module, (uint64_t)call->function,
                     call->arity);
    th_buffer_printf(text, " by %" PRIx64 ":%" PRIx64 "/%u", (uint64_t)call->caller_module,
                     (uint64_t)call->caller_function, call->caller_arity);
    th_buffer_printf(text, " at %" PRId64 " of %" PRIx64 "\n", time, (uint64_t)call->timestamp);
}

/* Reads {Module, Function, Arity or Arguments}, and `undefined`. */
static void read_function(th_term term, th_term *module, th_term *function, unsigned *arity)
{
    struct th_mfa mfa;

    if (term == TH_AM(undefined)) {
        *module = term;
    } else if (th_trace_event_function_from_term(term, &mfa)) {
        *module = mfa.module;
        *function = mfa.function;
        *arity = mfa.arity;
    }
}

static void note_decoded(struct th_buffer *text, struct th_event *event, th_env *env)
{
    static const th_term kinds[] = {0, TH_AM(timestamp), TH_AM(cpu_timestamp), TH_AM(monotonic),
                                    TH_AM(strict_monotonic)};
    struct th_past_call call = {.tag = event->tag};
    int64_t time = 0;

    if (event->kind > TH_EVENT_TRACE_TS || event->tag < TH_TAG_call ||
        event->tag > TH_TAG_exception_from || th_trace_event_decode(event, env) != TH_OK ||
        th_trace_event_time(event) != TH_OK) {
        th_buffer_printf(text, "other\n");
        th_error_clear();
        return;
    }
    read_function(event->term, &call.module, &call.function, &call.arity);
    if (call.tag == TH_TAG_call)
        read_function(event->match_spec_result, &call.caller_module, &call.caller_function,
                      &call.caller_arity);
    call.timestamp = kinds[event->time.kind];
    if (call.timestamp)
        time = event->time.ns - th_recorded_streams_zero(&event->time);
    note(text, event->tracee, &call, time);
}

/* Appends all records; with PAST (NULL: none) as the player reads those before a share. */
static void read_all(const char *file, struct th_past *past, struct th_buffer *text)
{
    struct th_past_event events[TH_PAST_BATCH];
    struct th_reader *reader;
    struct th_event event = {0};
    size_t count = 0;
    th_env env;

    th_env_init(&env, TH_ENV_PLAIN);
    assert_int_equal(th_replay_reader_open(file, NULL, &reader), TH_OK);
    for (;;) {
        if (past && th_replay_reader_info(reader)->records)
            count = th_replay_past_read(past, reader, events);
        for (size_t i = 0; i < count; i++)
            note(text, events[i].tracee, events[i].call, events[i].time);
        known += count;
        if (th_replay_reader_next(reader, &event) != TH_OK)
            break;
        if (past)
            th_replay_past_learn(past, reader, &event, &env);
        note_decoded(text, &event, &env);
        th_env_clear(&env);
    }
    th_buffer_printf(text, "%" PRIu64 " records\n", th_replay_reader_info(reader)->records);
    th_error_clear();
    th_replay_reader_close(reader);
    th_env_release(&env);
}

static void compare(const char *file)
{
    struct th_buffer decoded = {0}, text = {0};
    struct th_past *past = th_replay_past_begin();

    read_all(file, NULL, &decoded);
    read_all(file, past, &text);
    assert_string_equal(th_buffer_text(&text), th_buffer_text(&decoded));
    th_replay_past_end(past);
    th_buffer_free(&decoded);
    th_buffer_free(&text);
}

static void known_records_are_as_decoded_ones(void **state)
{
    (void)state;
    stream_each_sample(compare);
    assert_true(known > 1000);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(known_records_are_as_decoded_ones),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
