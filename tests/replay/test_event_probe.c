/* Tests which probes recorded events hit, with which arguments. */
#include "host/base/base.h"
#include "host/probe/probe.h"
#include "tests/support/assertions.h"
#include "tests/support/scene.h"
#include "tests/support/stream.h"

#include <stddef.h>

#include <string.h>

static struct th_buffer hits;

static void note(const struct th_probe *probe, const union th_probe_value *values)
{
    th_buffer_add_text(&hits, probe->name);
    for (unsigned i = 0; i < probe->count; i++)
        if (probe->arguments[i].type == TH_PROBE_string)
            th_buffer_printf(&hits, " %s", *values[i].string ? values[i].string : "-");
        else
            th_buffer_printf(&hits, " %lld", (long long)values[i].integer);
    th_buffer_add_text(&hits, "\n");
}

static void raise_all(void (*change)(const struct th_probe *probe))
{
    for (size_t i = 0; i < TH_PROBE_COUNT_OF_ALL; i++)
        change(&th_probe_probes[i]);
}

/* Plays STREAM and returns the counts. */
static struct th_player_counts play(const struct th_buffer *stream, bool probes)
{
    const struct th_player_options options = {.probes = probes, .stays = true};
    struct th_player_counts counts = {0};
    struct th_reader *reader;

    scene_begin(NULL);
    assert_int_equal(stream_open(stream->data, stream->size, NULL, &reader), TH_OK);
    hits.size = 0;
    th_probe_watch(note);
    th_replay_play(scene_tracing(), reader, &options, NULL, NULL, NULL, &counts);
    th_probe_watch(NULL);
    th_replay_reader_close(reader);
    scene_end();
    return counts;
}

static const struct {
    const char *message, *hit;
} cases[] = {
    {"{trace,<0.1.0>,call,{m,f,[1,[2]]}}", "global__function__entry <0.1.0> m:f/2 0\n"},
    {"{trace,<0.1.0>,call,{m,'F x',3}}", "global__function__entry <0.1.0> m:'F x'/3 0\n"},
    {"{trace,<0.1.0>,return_from,{m,f,2},ok}", "function__return <0.1.0> m:f/2 0\n"},
    {"{trace,<0.1.0>,return_to,{m,g,1}}", "trace <0.1.0> return_to - {m,g,1} -\n"},
    {"{trace,<0.1.0>,exception_from,{m,f,2},{error,x}}",
     "trace <0.1.0> exception_from - {m,f,2} {error,x}\n"},
    {"{trace,<0.1.0>,send,{a,[b]},<0.2.0>}", "message__send <0.1.0> <0.2.0> 5 0 0 0\n"},
    {"{trace,<0.1.0>,send,a,{name,node@host}}", "message__send <0.1.0> {name,node@host} 0 0 0 0\n"},
    {"{trace,<0.1.0>,send_to_non_existing_process,a,<0.2.0>}",
     "trace <0.1.0> send_to_non_existing_process - a <0.2.0>\n"},
    {"{trace,<0.1.0>,'receive',{a}}", "message__receive <0.1.0> 2 0 0 0 0\n"},
    {"{trace,#Port<0.11>,'receive',{<0.1.0>,{command,<<\"hello\">>}}}",
     "port__command <0.1.0> #Port<0.11> - command\n"},
    {"{trace,#Port<0.11>,'receive',{<0.1.0>,close}}",
     "port__command <0.1.0> #Port<0.11> - close\n"},
    {"{trace,#Port<0.11>,'receive',odd}", "port__command - #Port<0.11> - odd\n"},
    {"{trace,<0.1.0>,spawn,<0.3.0>,{m,f,[1]}}", "process__spawn <0.3.0> m:f/1\n"},
    {"{trace,<0.3.0>,spawned,<0.1.0>,{m,f,[1]}}", "trace <0.3.0> spawned - <0.1.0> {m,f,[1]}\n"},
    {"{trace,<0.3.0>,exit,{bad,reason}}", "process__exit <0.3.0> {bad,reason}\n"},
    {"{trace,<0.1.0>,link,<0.2.0>}", "trace <0.1.0> link - <0.2.0> -\n"},
    {"{trace,<0.1.0>,in,{m,f,1}}", "process__scheduled <0.1.0> m:f/1\n"},
    {"{trace,<0.1.0>,out,0}", "process__unscheduled <0.1.0>\n"},
    {"{trace,#Port<0.11>,in,command}", "trace #Port<0.11> in - command -\n"},
    {"{trace,<0.1.0>,gc_minor_start,[{wordsize,8},{heap_size,219}]}",
     "gc_minor__start <0.1.0> 8\n"},
    {"{trace,<0.1.0>,gc_minor_end,[{heap_size,219},{wordsize,77}]}", "gc_minor__end <0.1.0> 77\n"},
    {"{trace,<0.1.0>,gc_major_start,[]}", "gc_major__start <0.1.0> 0\n"},
    {"{trace,<0.1.0>,gc_major_end,[odd,{wordsize,none}]}", "gc_major__end <0.1.0> 0\n"},
    {"{trace,#Port<0.12>,open,<0.1.0>,tcp_inet}", "port__open <0.1.0> tcp_inet #Port<0.12>\n"},
    {"{trace,#Port<0.12>,closed,normal}", "port__exit - #Port<0.12> - normal\n"},
    {"{seq_trace,{my,label},{send,{0,2},<0.1.0>,<0.2.0>,q}}",
     "trace_seq - {my,label} {send,{0,2},<0.1.0>,<0.2.0>,q}\n"},
};

enum { CASES = sizeof cases / sizeof cases[0] };

static void each_kind_of_event_hits_its_probe(void **state)
{
    (void)state;
    raise_all(th_probe_raise);
    for (size_t i = 0; i < CASES; i++) {
        struct th_buffer stream = {0};
        struct th_player_counts counts;

        stream_add_message(&stream, cases[i].message);
        counts = play(&stream, true);
        assert_int_equal(counts.malformed, 0);
        assert_string_equal(th_buffer_text(&hits), cases[i].hit);
        th_buffer_free(&stream);
    }
    raise_all(th_probe_lower);
}

/* Probes are hit only with the option, and only watched ones; nothing else is decoded for them. */
static void unwatched_probes_are_not_hit(void **state)
{
    struct th_buffer stream = {0};

    (void)state;
    for (size_t i = 0; i < CASES; i++)
        stream_add_message(&stream, cases[i].message);
    play(&stream, true);
    assert_int_equal(hits.size, 0);
    th_probe_raise(th_probe_find("process__exit"));
    play(&stream, true);
    assert_string_equal(th_buffer_text(&hits), "process__exit <0.3.0> {bad,reason}\n");
    th_probe_lower(th_probe_find("process__exit"));
    raise_all(th_probe_raise);
    play(&stream, false);
    assert_null(strstr(th_buffer_text(&hits), "process__exit"));
    assert_null(strstr(th_buffer_text(&hits), "function__entry"));
    raise_all(th_probe_lower);
    th_buffer_free(&stream);
}

/* Most characters of the name have two bytes. */
static void long_texts_are_cut_between_characters(void **state)
{
    struct th_buffer stream = {0}, text = {0};

    (void)state;
    th_buffer_add_text(&text, "{trace,<0.3.0>,exit,'1");
    for (int i = 0; i < 200; i++)
        th_buffer_add_text(&text, "ü");
    th_buffer_add_text(&text, "'}");
    stream_add_message(&stream, th_buffer_text(&text));
    th_probe_raise(th_probe_find("process__exit"));
    play(&stream, true);
    th_probe_lower(th_probe_find("process__exit"));
    assert_memory_equal(th_buffer_text(&hits), "process__exit <0.3.0> '1ü", 26);
    assert_int_equal(hits.size, strlen("process__exit <0.3.0> ") + 254 + 1);
    th_buffer_free(&text);
    th_buffer_free(&stream);
}

/* Plays each recording with all probes: each event hits one, unless it is malformed. */
static void play_sample(const char *file)
{
    struct th_buffer stream = {0};
    struct th_player_counts counts;
    uint64_t lines = 0;

    stream_add_file(&stream, file);
    counts = play(&stream, true);
    for (size_t i = 0; i < hits.size; i++)
        lines += hits.data[i] == '\n';
    assert_order(lines, >=, counts.records - counts.drops - counts.malformed);
    th_buffer_free(&stream);
}

static void all_events_of_the_samples_hit_probes(void **state)
{
    (void)state;
    raise_all(th_probe_raise);
    stream_each_sample(play_sample);
    raise_all(th_probe_lower);
}

static int free_hits(void **state)
{
    (void)state;
    th_buffer_free(&hits);
    return 0;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(each_kind_of_event_hits_its_probe),
        cmocka_unit_test(unwatched_probes_are_not_hit),
        cmocka_unit_test(long_texts_are_cut_between_characters),
        cmocka_unit_test(all_events_of_the_samples_hit_probes),
    };
    return cmocka_run_group_tests(tests, NULL, free_hits);
}
