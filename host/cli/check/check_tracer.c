/*
 * The runs of `tracehost check` of a tracer:
 * 1. A stream with an event of each shape that the documents allow is played: alone; with states of
 *    all kinds; in several threads; with two sessions; with a tracer that is replaced; and once for
 *    each of the first allocations, which then fails.
 * 2. The recordings are played.
 * 3. Random streams and changed copies of the recordings are played, in circumstances that the seed
 *    chooses, as long as there is time.
 * With --run only the recordings are played, in the given circumstances.
 */
#include "check_options.h"

#include "check_lines.h"
#include "check_node.h"
#include "check_races.h"
#include "check_result.h"
#include "check_search.h"
#include "check_seek.h"
#include "check_streams.h"

#include "host/base/buffer.h"
#include "host/base/error.h"
#include "host/base/log.h"
#include "host/base/memory.h"
#include "host/cli/interrupt.h"
#include "host/cli/subcommand.h"
#include "host/library/entry.h"
#include "host/replay/generate.h"
#include "host/replay/kept_records.h"
#include "host/replay/reader.h"
#include "host/term/clock.h"
#include "host/term/text.h"
#include "host/trace/event.h"
#include "host/trace/tags.h"

#include <string.h>

static const int64_t MS = 1000000;

enum {
    ALLOCATIONS = 32, /* that fail, each in a run of its own */
    THREADS = 4,      /* as a node with four schedulers */
    EVENTS = 400,     /* of a random stream */
};

/* States that another command or a node may give, for tracers that expect a state of their own. */
static const char *const states[] = {
    "[]",
    "0",
    "-1",
    "1.5",
    "true",
    "undefined",
    "<<>>",
    "<<1,2,3:5>>",
    "\"text\"",
    "{a,b,c}",
    "[a|b]",
    "[1,[2,[3,[4]]]]",
    "#{}",
    "#{a => 1, <<\"b\">> => 2}",
    "<0.4711.0>",
    "123456789012345678901234567890",
    "fun lists:map/2",
};

struct checking {
    const struct th_check_options *check;
    struct th_check_setting setting; /* that of the command line */
    struct th_buffer *recordings;
    size_t recording_count;
    struct th_check_known known;
    uint64_t trials, events;
    uint32_t slots; /* called in any run */
    struct th_check_tour tour;
    uint64_t died;        /* record of which the latest run died, from 1; 0: it did not */
    bool refused;         /* the latest run did not attach the tracer */
    bool touring, failed; /* the run is one of the tour; its allocation has failed, as it had to */
    bool unwatched, blind;
};

/* Prints the events of a short stream. */
static void print_events(const struct th_buffer *stream)
{
    enum { MOST = 5, WIDTH = 200 };
    struct th_event event = {0};
    struct th_buffer line = {0};
    struct th_reader *reader;
    th_env env;

    if (th_replay_kept_open(stream, "the records", NULL, &reader) != TH_OK)
        return;
    th_env_init(&env, TH_ENV_PLAIN);
    for (int i = 0; i < MOST && th_replay_reader_next(reader, &event) == TH_OK; i++) {
        th_term whole;
        line.size = 0;
        if (event.source->whole(&event, &env, &whole) == TH_OK)
            th_text_show_limited(&line, whole, WIDTH);
        printf("           %s\n", th_buffer_text(&line));
    }
    th_error_clear();
    th_env_release(&env);
    th_buffer_free(&line);
    th_replay_reader_close(reader);
}

static enum th_status print_result(const struct checking *c, const struct th_check_result *result)
{
    char run[TH_CHECK_SETTING_TEXT];

    th_check_setting_print(&result->setting, run);
    return th_check_result_print(c->check,
                                 &(struct th_check_shown){.found = &result->found,
                                                          .confirmed = result->confirmed,
                                                          .input = &result->stream,
                                                          .count = result->records,
                                                          .word = "stream",
                                                          .unit = "event",
                                                          .suffix = "trace",
                                                          .print = print_events,
                                                          .run = run},
                                 c->known.count);
}

/* --- Runs ------------------------------------------------------------------------------------- */

/* Plays STREAM as SETTING says, and prints new findings, each with the least of STREAM that it needs.
 * *WAS_SLOWED: a callback took long, and did not do so again.
 * Errors: those of th_check_trial_raise() if the tracer was not attached; those of
 * th_check_search(). */
static enum th_status play_once(struct checking *c, const struct th_check_setting *setting,
                                const struct th_buffer *stream, bool *was_slowed)
{
    const struct th_check_page *page = th_check_trial_run(setting, stream);
    struct th_check_found found[TH_CHECK_FINDINGS];
    size_t count;
    enum th_status status = TH_OK;

    if (!page)
        return TH_FAILED;
    c->trials++;
    c->events += page->played;
    c->slots |= page->slots;
    c->unwatched |= page->unwatched;
    c->blind |= page->blind;
    c->died = page->phase == TH_CHECK_PLAYING ? page->played : 0;
    c->failed = page->allocation_failed;
    if (c->touring)
        th_check_tour_cover(&c->tour, page);
    c->refused = page->refused != TH_OK;
    if (c->refused && page->count == 0)
        return th_check_trial_raise(page);
    count = page->count;
    memcpy(found, page->found, count * sizeof *found);
    for (size_t i = 0; i < count && status == TH_OK && !th_cli_interrupt_came(); i++) {
        struct th_check_result result = {.found = found[i], .setting = *setting};
        if (th_check_known_has(&c->known, found[i].key))
            continue;
        c->known.keys[c->known.count++] = found[i].key;
        status = th_check_search(&result, stream, &th_cli_interrupted);
        c->trials += result.trials;
        if (status == TH_OK && !th_check_seek_holds(&result.found, result.confirmed)) {
            c->known.count--;
            *was_slowed = true;
        } else if (status == TH_OK) {
            status = print_result(c, &result);
        }
        th_buffer_free(&result.stream);
    }
    return status;
}

/* As play_once(). A trial that ended because the machine was busy is made once more, with patience: the
 * tour would go on without the record. */
static enum th_status run(struct checking *c, const struct th_check_setting *setting,
                          const struct th_buffer *stream)
{
    bool was_slowed = false;
    enum th_status status = play_once(c, setting, stream, &was_slowed);

    if (was_slowed && status == TH_OK && !th_cli_interrupt_came()) {
        struct th_check_setting patient = *setting;
        patient.limit_ns = TH_CHECK_PATIENCE;
        status = play_once(c, &patient, stream, &was_slowed);
    }
    return status;
}

/* As run(), for circumstances in which the tracer may refuse to be attached. */
static enum th_status run_refusable(struct checking *c, const struct th_check_setting *setting,
                                    const struct th_buffer *stream)
{
    enum th_status status = run(c, setting, stream);

    if (!c->refused)
        return status;
    th_error_clear();
    return TH_OK;
}

/* Plays the tour. If the tracer dies of a record, that record is left out, and the tour is played
 * again: so a bug does not hide those behind it. */
static enum th_status run_tour(struct checking *c, const struct th_check_setting *setting)
{
    enum { MOST_DEATHS = 20 };
    enum th_status status = TH_OK;

    c->died = 1;
    c->touring = true;
    for (int deaths = 0; deaths < MOST_DEATHS && c->died && status == TH_OK; deaths++) {
        struct th_buffer stream = {0};
        th_check_tour_write(&c->tour, &stream);
        status = run(c, setting, &stream);
        if (setting->fails || setting->threads)
            c->died = 0; /* another record would be the next to die of */
        else if (c->died)
            th_check_tour_leave_out(&c->tour, c->died);
        th_buffer_free(&stream);
    }
    c->touring = false;
    if (status != TH_OK && c->refused &&
        (setting->state || setting->fails || setting->threads || setting->replaces ||
         setting->twice)) {
        th_error_clear();
        status = TH_OK;
    }
    return status;
}

/* Step 1. */
static enum th_status run_tours(struct checking *c)
{
    struct th_check_setting setting = c->setting;
    enum th_status status = run_tour(c, &setting);

    for (size_t i = 0; i < sizeof states / sizeof *states && status == TH_OK; i++) {
        setting = c->setting;
        setting.state = states[i];
        status = run_tour(c, &setting);
    }
    for (int i = 0; i < 3 && status == TH_OK; i++) {
        setting = c->setting;
        setting.threads = i == 0 ? THREADS : 0;
        setting.replaces = i == 1;
        setting.twice = i == 2;
        status = run_tour(c, &setting);
    }
    c->failed = true;
    for (uint64_t i = 1; i <= ALLOCATIONS && status == TH_OK && c->failed; i++) {
        setting = c->setting;
        setting.fails = i;
        status = run_tour(c, &setting);
    }
    return status;
}

/* One run of step 3. */
static enum th_status run_random(struct checking *c, uint64_t seed)
{
    const struct th_writer_options how = {.format = TH_FORMAT_TRACE_PORT, .utf8_atoms = true};
    struct th_check_setting setting = c->setting;
    struct th_buffer stream = {0};
    uint64_t state = seed;
    enum th_status status = TH_OK;

    switch (th_check_pick(&state, 8)) {
    case 0:
        setting.threads = THREADS;
        break;
    case 1:
        setting.fails = 1 + th_check_pick(&state, ALLOCATIONS);
        break;
    case 2:
        setting.replaces = true;
        break;
    case 3:
        setting.state = states[th_check_pick(&state, sizeof states / sizeof *states)];
        break;
    default:
        break;
    }
    if (c->recording_count > 0 && th_check_pick(&state, 2))
        status = th_replay_generate_mutated(
            &stream, &c->recordings[th_check_pick(&state, c->recording_count)], &how, seed);
    else
        th_replay_generate_random(&stream, seed, EVENTS);
    if (status == TH_OK)
        status = run_refusable(c, &setting, &stream);
    th_buffer_free(&stream);
    return status;
}

/* --- Recordings ------------------------------------------------------------------------------- */

static enum th_status read_recordings(struct checking *c)
{
    const struct th_texts *names = &c->check->recordings;
    enum th_status status = TH_OK;

    c->recordings = th_alloc_zero((names->count + 1) * sizeof *c->recordings);
    for (; c->recording_count < names->count && status == TH_OK; c->recording_count++)
        status = th_check_recording_read(names->items[c->recording_count],
                                         &c->recordings[c->recording_count]);
    return status;
}

/* --- The summary ------------------------------------------------------------------------------ */

/* Prints how many of COUNT things were MET, and the names of others. */
static void print_covered(const char *what, size_t count, const bool met[],
                          const char *(*name)(size_t))
{
    enum { MOST_NAMES = 6 };
    size_t covered = 0, named = 0;

    for (size_t i = 0; i < count; i++)
        covered += met[i];
    printf("  %-8s %zu of %zu", what, covered, count);
    for (size_t i = 0; i < count && covered < count; i++)
        if (!met[i] && named++ < MOST_NAMES)
            printf("%s %s", named == 1 ? "; not" : ",", name(i));
    puts(named > MOST_NAMES ? ", ..." : "");
}

static const char *slot_name(size_t slot)
{
    return th_library_slot_name((enum th_tracer_slot)slot);
}

static const char *checked_tag(size_t tag)
{
    return th_trace_tag_name((enum th_tracer_tag)tag);
}

static void print_summary(const struct checking *c, uint64_t seed, double seconds)
{
    bool slots[TH_SLOTS] = {0}, tags[TH_TAG_COUNT] = {0};

    for (size_t i = 0; i < TH_SLOTS; i++)
        slots[i] = c->slots >> i & 1;
    for (size_t shape = 0; c->tour.covered && shape < th_replay_shapes(); shape++)
        tags[th_replay_shape_tag(shape)] |= c->tour.covered[shape];
    printf("%zu finding%s; %llu runs, %llu events, seed %llu, %.1f s\n", c->known.count,
           th_log_plural(c->known.count), (unsigned long long)c->trials,
           (unsigned long long)c->events, (unsigned long long)seed, seconds);
    if (!c->check->run) {
        print_covered("slots", TH_SLOTS, slots, slot_name);
        print_covered("tags", TH_TAG_COUNT, tags, checked_tag);
        print_covered("shapes", th_replay_shapes(), c->tour.covered, th_replay_shape_name);
        th_check_lines_sum_up(c->check->folder);
        th_check_node_sum_up(c->check->node);
    }
    if (c->unwatched)
        puts("  the tracer has threads: effects of `enabled` on variables were not examined");
    if (c->blind)
        puts("  system calls were not examined: they cannot be seen here");
    if (!th_check_races_seen())
        puts("  data races were not examined: compile the tracer with -fsanitize=thread");
}

/* --- The command ------------------------------------------------------------------------------ */

static enum th_status run_all(struct checking *c, uint64_t seed, int64_t began)
{
    enum th_status status = th_check_tour_make(&c->tour);

    th_check_node_print(c->check, &c->known);
    if (status == TH_OK)
        status = run_tours(c);
    for (size_t i = 0; i < c->recording_count && status == TH_OK; i++)
        status = run(c, &c->setting, &c->recordings[i]);
    for (; status == TH_OK && !th_cli_interrupt_came() &&
           th_clock_real_monotonic() < began + c->check->for_ns;
         seed++)
        status = run_random(c, seed);
    return status;
}

static enum th_status run_given(struct checking *c)
{
    struct th_check_setting setting = c->setting;
    enum th_status status = th_check_setting_read(c->check->run, &setting);

    if (status == TH_OK && c->recording_count == 0)
        return th_error_raise(TH_USAGE, "--run needs a recording");
    for (size_t i = 0; i < c->recording_count && status == TH_OK; i++)
        status = run(c, &setting, &c->recordings[i]);
    return status;
}

int th_check_tracer_run(const struct th_check_options *check)
{
    struct checking c = {
        .check = check,
        .setting = {.tracer = check->library, .folders = &check->folders, .limit_ns = 200 * MS}};
    int64_t began = th_clock_real_monotonic();
    uint64_t seed = check->seed >= 0 ? (uint64_t)check->seed : (uint64_t)began % 1000000;
    enum th_status status = read_recordings(&c);

    th_cli_interrupt_install();
    if (status == TH_OK)
        status = th_check_output_check(check);
    if (status == TH_OK)
        status = check->run ? run_given(&c) : run_all(&c, seed, began);
    if (status == TH_OK)
        print_summary(&c, seed, (double)(th_clock_real_monotonic() - began) / 1e9);
    for (size_t i = 0; i < c.recording_count; i++)
        th_buffer_free(&c.recordings[i]);
    th_free(c.recordings);
    th_check_tour_free(&c.tour);
    if (status != TH_OK)
        return th_cli_command_fail("check");
    return th_cli_interrupt_status(
        th_cli_command_finish("check", c.known.count > 0 ? TH_FAILED : TH_OK));
}
