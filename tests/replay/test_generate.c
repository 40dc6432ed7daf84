/* Tests generated streams: shapes, random events, changed recordings. */
#include "host/replay/generate.h"

#include "host/base/base.h"
#include "host/replay/replay.h"
#include "host/term/term.h"
#include "tests/support/assertions.h"
#include "tests/support/scene.h"
#include "tests/support/stream.h"

#include <string.h>

#ifdef __SANITIZE_THREAD__ /* the test has one thread: more streams show no more races */
enum { SEEDS = 20, EVENTS = 500, CHANGED_SEEDS = 5 };
#else
enum { SEEDS = 200, EVENTS = 500, CHANGED_SEEDS = 50 };
#endif

/* Counts of records that were read. */
struct kinds {
    size_t tags[TH_TAG_COUNT], sound;
};

/* Reads STREAM, whose records must all be sound, and decodes all terms and functions. */
static struct kinds read_all(const struct th_buffer *stream, bool scheduler_id)
{
    const struct th_reader_options options = {.scheduler_id = scheduler_id};
    struct th_event event = {0};
    struct th_reader *reader;
    struct kinds kinds = {0};
    struct th_mfa function;
    enum th_status status;
    th_env env;

    th_env_init(&env, TH_ENV_PLAIN);
    assert_int_equal(stream_open(stream->data, stream->size, &options, &reader), TH_OK);
    while ((status = th_replay_reader_next(reader, &event)) == TH_OK) {
        assert_order(event.kind, <=, TH_EVENT_SEQ_TRACE);
        if (th_trace_event_decode(&event, &env) != TH_OK || th_trace_event_time(&event) != TH_OK)
            fail_msg("record %zu: %s", kinds.sound + 1, stream_causes());
        if (th_trace_tag_has_function(event.tag) && event.term != TH_AM(undefined))
            assert_true(th_trace_event_function_from_term(event.term, &function));
        kinds.tags[event.tag]++;
        kinds.sound++;
        th_env_clear(&env);
    }
    assert_int_equal(status, TH_END);
    th_replay_reader_close(reader);
    th_env_release(&env);
    return kinds;
}

/* --- The tour --------------------------------------------------------------------------------- */

/* Each tag has a shape; a tag that processes and ports have, one of each. */
static void test_each_tag_has_shapes(void **state)
{
    size_t tags[2][TH_TAG_COUNT] = {0}, *shapes, count;
    struct th_buffer stream = {0};
    struct th_event event = {0};
    struct th_reader *reader;

    (void)state;
    count = th_replay_generate_tour(&stream, &shapes);
    assert_int_equal(stream_open(stream.data, stream.size, NULL, &reader), TH_OK);
    for (size_t i = 0; i < count; i++) {
        assert_int_equal(th_replay_reader_next(reader, &event), TH_OK);
        if (shapes[i] == SIZE_MAX)
            continue;
        assert_string_equal(th_trace_tag_name(th_replay_shape_tag(shapes[i])),
                            th_trace_tag_name(event.tag));
        tags[th_is_port(event.tracee)][event.tag]++;
    }
    for (int tag = 0; tag < TH_TAG_COUNT; tag++)
        for (int port = 0; port < 2; port++)
            if (th_trace_tag_groups[port][tag] != TH_GROUP_none &&
                !(port && tag == TH_TAG_seq_trace))
                assert_order(tags[port][tag], >, 0);
    th_replay_reader_close(reader);
    th_free(shapes);
    th_buffer_free(&stream);
}

static void test_names_of_shapes(void **state)
{
    (void)state;
    assert_order(th_replay_shapes(), >, 100);
    for (size_t i = 0; i < th_replay_shapes(); i++) {
        const char *name = th_replay_shape_name(i),
                   *tag = th_trace_tag_name(th_replay_shape_tag(i));
        assert_memory_equal(name, tag, strlen(tag));
        for (size_t j = 0; j < i; j++)
            assert_string_not_equal(name, th_replay_shape_name(j));
    }
}

/* Each shape comes once, and all records are sound, however a single integer is read. */
static void test_tour_is_sound(void **state)
{
    size_t *shapes, count, next = 0;
    struct th_buffer stream = {0}, again = {0};

    (void)state;
    count = th_replay_generate_tour(&stream, &shapes);
    for (size_t i = 0; i < count; i++)
        if (shapes[i] != SIZE_MAX)
            assert_int_equal(shapes[i], next++);
    assert_int_equal(next, th_replay_shapes());
    assert_int_equal(read_all(&stream, false).sound, count);
    assert_int_equal(read_all(&stream, true).sound, count);
    th_free(shapes);
    th_replay_generate_tour(&again, &shapes);
    assert_int_equal(again.size, stream.size);
    assert_memory_equal(again.data, stream.data, stream.size);
    th_free(shapes);
    th_buffer_free(&stream);
    th_buffer_free(&again);
}

static const char *group_name(enum th_tracer_group group)
{
    static const char *const names[] = {
#define X(name, self) #name,
        TH_TRACER_GROUPS(X)
#undef X
    };
    return names[group];
}

/* A tracer that wants everything gets each record of the tour in the slot of its tag. */
static void test_tour_is_delivered(void **state)
{
    const struct th_player_options options = {.verify = true};
    struct th_player_counts counts = {0};
    size_t *shapes, count;
    struct th_buffer stream = {0};
    struct th_event *event;
    struct th_reader *reader;
    struct th_player *player;
    char callback[100];

    (void)state;
    count = th_replay_generate_tour(&stream, &shapes);
    scene_begin(NULL);
    assert_int_equal(stream_open(stream.data, stream.size, NULL, &reader), TH_OK);
    player = th_replay_player_begin(scene_tracing(), reader, &options, &counts);
    for (size_t i = 0; i < count; i++) {
        enum th_tracer_group group;
        scene_log();
        assert_int_equal(th_replay_player_step(player, &event), TH_OK);
        group = th_trace_tag_group(event->tag, event->tracee);
        snprintf(callback, sizeof callback, "trace%s%s(%s,s,", group ? "_" : "",
                 group ? group_name(group) : "",
                 event->tag == TH_TAG_receive ? "'receive'" : th_trace_tag_name(event->tag));
        if (!strstr(scene_log(), callback) && shapes[i] != SIZE_MAX)
            fail_msg("%s: no %s", th_replay_shape_name(shapes[i]), callback);
    }
    assert_int_equal(th_replay_player_step(player, &event), TH_END);
    assert_int_equal(counts.told, count);
    assert_int_equal(counts.malformed, 0);
    th_replay_player_end(player);
    th_replay_reader_close(reader);
    scene_end();
    th_free(shapes);
    th_buffer_free(&stream);
}

/* --- Random streams --------------------------------------------------------------------------- */

/* All streams are sound; together they have each tag. */
static void test_random_streams(void **state)
{
    struct kinds all = {0};

    (void)state;
    for (uint64_t seed = 0; seed < SEEDS; seed++) {
        struct th_buffer stream = {0};
        struct kinds kinds;
        th_replay_generate_random(&stream, seed, EVENTS);
        kinds = read_all(&stream, seed % 2);
        assert_int_equal(kinds.sound, EVENTS);
        for (size_t tag = 0; tag < TH_TAG_COUNT; tag++)
            all.tags[tag] += kinds.tags[tag];
        th_buffer_free(&stream);
    }
    for (size_t tag = 0; tag < TH_TAG_COUNT; tag++)
        assert_order(all.tags[tag], >, 0);
}

static void test_same_seed_same_stream(void **state)
{
    struct th_buffer one = {0}, same = {0}, other = {0};

    (void)state;
    th_replay_generate_random(&one, 7, EVENTS);
    th_replay_generate_random(&other, 8, EVENTS);
    th_replay_generate_random(&same, 7, EVENTS);
    assert_int_equal(one.size, same.size);
    assert_memory_equal(one.data, same.data, one.size);
    assert_false(one.size == other.size && memcmp(one.data, other.data, one.size) == 0);
    th_buffer_free(&one);
    th_buffer_free(&same);
    th_buffer_free(&other);
}

/* Returns in a stream follow their calls: each process returns from its latest open call. */
static void test_returns_follow_calls(void **state)
{
    struct th_buffer stream = {0};
    struct th_event event = {0};
    struct th_reader *reader;
    struct th_mfa open[64] = {0}, function;
    size_t depth = 0, returns = 0;
    th_term process = TH_NONE;

    (void)state;
    th_replay_generate_random(&stream, 3, EVENTS);
    assert_int_equal(stream_open(stream.data, stream.size, NULL, &reader), TH_OK);
    while (th_replay_reader_next(reader, &event) == TH_OK) {
        if (event.tag != TH_TAG_call && event.tag != TH_TAG_return_from &&
            event.tag != TH_TAG_exception_from)
            continue;
        if (process == TH_NONE)
            process = event.tracee;
        if (event.tracee != process)
            continue;
        assert_int_equal(event.source->function(&event, &function), TH_OK);
        if (event.tag == TH_TAG_call) {
            open[depth++] = function;
            continue;
        }
        assert_order(depth, >, 0);
        assert_memory_equal(&open[--depth], &function, sizeof function);
        returns++;
    }
    assert_order(returns, >, 5);
    th_replay_reader_close(reader);
    th_buffer_free(&stream);
}

/* --- Changed recordings ----------------------------------------------------------------------- */

/* Keeps the records of FILE that can be read, as the copy is to be written. */
static struct th_replay_kept keep(const struct th_buffer *recording)
{
    struct th_replay_kept kept = {.most = SIZE_MAX};
    struct th_event event = {0};
    struct th_reader *reader;

    assert_int_equal(stream_open(recording->data, recording->size, NULL, &reader), TH_OK);
    while (th_replay_reader_next(reader, &event) == TH_OK)
        assert_int_equal(th_replay_kept_add(&kept, reader, &event), TH_OK);
    th_replay_reader_close(reader);
    return kept;
}

static void change(const char *file)
{
    struct th_buffer recording = {0}, one = {0}, same = {0};
    struct th_replay_kept kept;

    stream_add_file(&recording, file);
    kept = keep(&recording);
    for (uint64_t seed = 0; seed < CHANGED_SEEDS; seed++) {
        one.size = 0;
        assert_int_equal(th_replay_generate_mutated(&one, &recording, &kept.how, seed), TH_OK);
        assert_int_equal(read_all(&one, false).sound > 0, kept.count > 0);
        if (kept.count > 0)
            assert_false(one.size == kept.bytes.size &&
                         memcmp(one.data, kept.bytes.data, one.size) == 0);
    }
    assert_int_equal(th_replay_generate_mutated(&same, &recording, &kept.how, CHANGED_SEEDS - 1),
                     TH_OK);
    assert_int_equal(one.size, same.size);
    if (same.size > 0)
        assert_memory_equal(one.data, same.data, same.size);
    th_error_clear();
    th_replay_kept_free(&kept);
    th_buffer_free(&recording);
    th_buffer_free(&one);
    th_buffer_free(&same);
}

static void test_changed_recordings(void **state)
{
    (void)state;
    stream_each_sample(change);
}

/* One record, and none, are changed, too. */
static void test_changed_short_recordings(void **state)
{
    const struct th_writer_options how = {.format = TH_FORMAT_TRACE_PORT};
    struct th_buffer recording = {0}, changed = {0};

    (void)state;
    assert_int_equal(th_replay_generate_mutated(&changed, &recording, &how, 1), TH_OK);
    assert_int_equal(changed.size, 0);
    stream_add_message(&recording, "{trace,<0.1.0>,register,name}");
    for (uint64_t seed = 0; seed < CHANGED_SEEDS; seed++) {
        changed.size = 0;
        assert_int_equal(th_replay_generate_mutated(&changed, &recording, &how, seed), TH_OK);
        assert_order(read_all(&changed, false).tags[TH_TAG_register], >, 1);
    }
    th_buffer_free(&recording);
    th_buffer_free(&changed);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_each_tag_has_shapes),
        cmocka_unit_test(test_names_of_shapes),
        cmocka_unit_test(test_tour_is_sound),
        cmocka_unit_test(test_tour_is_delivered),
        cmocka_unit_test(test_random_streams),
        cmocka_unit_test(test_same_seed_same_stream),
        cmocka_unit_test(test_returns_follow_calls),
        cmocka_unit_test(test_changed_recordings),
        cmocka_unit_test(test_changed_short_recordings),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
