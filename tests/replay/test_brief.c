/*
 * Tests the brief term of recorded events, for which other terms are skipped: each byte of records
 * of real nodes is changed to each value, and the verdict is the same as if all terms were decoded.
 */
#include "host/base/base.h"
#include "host/replay/replay.h"
#include "host/term/term.h"
#include "host/trace/trace.h"
#include "tests/support/assertions.h"
#include "tests/support/stream.h"

#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#ifdef __SANITIZE_THREAD__ /* the test has one thread: more records show no more races */
enum { RECORDS = 1 };
#else
enum { RECORDS = 5 }; /* of each sample */
#endif
enum {
    MOST_BYTES = 260, /* of a record */
    HEAD = 5
};

static struct th_buffer sample, stream;
static size_t changed, skipped, sound;

/* One reading of STREAM. */
struct reading {
    struct th_reader *reader;
    struct th_event event;
    th_env env;
    enum th_status status;
    char why[1024]; /* the chain of causes */
};

static void open_reading(struct reading *reading)
{
    memset(reading, 0, sizeof *reading);
    assert_int_equal(stream_open(stream.data, stream.size, NULL, &reading->reader), TH_OK);
    th_env_init(&reading->env, TH_ENV_PLAIN);
}

static void close_reading(struct reading *reading)
{
    th_replay_reader_close(reading->reader);
    th_env_release(&reading->env);
}

/* Reads the next record and, with TERMS, its terms and time. */
static void read_next(struct reading *reading,
                      enum th_status (*terms)(struct th_event *event, th_env *env))
{
    reading->status = th_replay_reader_next(reading->reader, &reading->event);
    if (reading->status == TH_OK && reading->event.kind <= TH_EVENT_SEQ_TRACE) {
        reading->status = terms(&reading->event, &reading->env);
        if (reading->status == TH_OK)
            reading->status = th_trace_event_time(&reading->event);
    }
    snprintf(reading->why, sizeof reading->why, "%s",
             reading->status == TH_OK ? "" : stream_causes());
    th_error_clear();
}

static void compare(const struct reading *whole, const struct reading *brief)
{
    if (whole->status != brief->status || strcmp(whole->why, brief->why) != 0)
        fail_msg("record %llu: decoded %d %s, skipped %d %s",
                 (unsigned long long)whole->event.number, whole->status, whole->why, brief->status,
                 brief->why);
    if (whole->status != TH_OK || whole->event.kind > TH_EVENT_SEQ_TRACE)
        return;
    sound++;
    skipped += !brief->event.decoded;
    assert_true(th_identical(whole->event.brief, brief->event.brief));
    assert_int_equal(whole->event.time.kind, brief->event.time.kind);
    assert_int_equal(whole->event.time.ns, brief->event.time.ns);
    assert_int_equal(whole->event.time.unique, brief->event.time.unique);
    if (brief->event.scheduler_id != TH_NONE)
        assert_true(brief->event.scheduler_id == whole->event.scheduler_id);
}

static void compare_readings(void)
{
    struct reading whole, brief;

    open_reading(&whole);
    open_reading(&brief);
    do {
        read_next(&whole, th_trace_event_brief_decoded);
        read_next(&brief, th_trace_event_brief);
        compare(&whole, &brief);
        th_env_clear(&whole.env);
        th_env_clear(&brief.env);
    } while (whole.status != TH_END);
    close_reading(&whole);
    close_reading(&brief);
}

/* Makes STREAM of the record at DATA, and of all its variants with one byte changed. */
static void vary(const unsigned char *data, size_t size)
{
    stream.size = 0;
    stream_add_record(&stream, 0, (uint32_t)size, data, size);
    for (size_t i = 0; i < size; i++)
        for (unsigned value = 0; value < 256; value++) {
            stream_add_record(&stream, 0, (uint32_t)size, data, size);
            stream.data[stream.size - size + i] = (unsigned char)value;
            changed++;
        }
    for (size_t i = 0; i < size; i++)
        stream_add_record(&stream, 0, (uint32_t)i, data, i);
}

/* The records are taken evenly from the file. */
static void vary_records(const char *file)
{
    size_t size, step, next = 0, taken = 0;

    sample.size = 0;
    stream_add_file(&sample, file);
    step = sample.size / RECORDS;
    for (size_t at = 0; taken < RECORDS && sample.size - at > HEAD; at += HEAD + size) {
        size = sample.data[at] == 0 ? th_etf_get32(sample.data + at + 1) : 0;
        if (size > sample.size - at - HEAD)
            break;
        if (at < next || size == 0 || size > MOST_BYTES)
            continue;
        vary(sample.data + at + HEAD, size);
        compare_readings();
        taken++;
        next = at + step;
    }
}

static void damage_in_skipped_terms_is_found(void **state)
{
    (void)state;
    stream_each_sample(vary_records);
    print_message("%zu changes, %zu sound, %zu of them skipped\n", changed, sound, skipped);
    assert_order(changed, >, 100000);
    assert_order(2 * skipped, >, sound);
}

static void compare_sample(const char *file)
{
    stream.size = 0;
    stream_add_file(&stream, file);
    compare_readings();
}

/* Terms of most records of real nodes can be skipped. */
static void whole_samples_are_skipped(void **state)
{
    (void)state;
    sound = skipped = 0;
    stream_each_sample(compare_sample);
    print_message("%zu of %zu records skipped\n", skipped, sound);
    assert_order(10 * skipped, >, 9 * sound);
}

static int end(void **state)
{
    (void)state;
    th_buffer_free(&sample);
    th_buffer_free(&stream);
    return 0;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_teardown(damage_in_skipped_terms_is_found, end),
        cmocka_unit_test_teardown(whole_samples_are_skipped, end),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
