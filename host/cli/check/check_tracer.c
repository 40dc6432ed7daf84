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
#include "check_tracer.h"

#include "check_search.h"

#include "host/base/base.h"
#include "host/base/output.h"
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

static const int64_t MS = 1000000, SECOND = 1000000000;

enum {
    ALLOCATIONS = 32,   /* that fail, each in a run of its own */
    THREADS = 4,        /* as a node with four schedulers */
    EVENTS = 400,       /* of a random stream */
    RECORDED = 4 << 20, /* bytes of a recording that are played: its beginning */
    SEARCH_S = 5,       /* seconds for the smallest stream of a finding */
    MOST_RESULTS = 100,
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

/* A stream with its name. */
struct stream {
    const char *name;
    struct th_buffer bytes;
};

struct checking {
    const struct th_check_tracer *check;
    struct th_check_setting setting; /* that of the command line */
    struct stream *recordings;
    size_t recording_count;
    uint64_t known[MOST_RESULTS]; /* keys of the findings that were printed */
    size_t known_count;
    uint64_t trials, events;
    uint32_t slots;                /* called in any run */
    bool traced[TH_CHECK_RECORDS]; /* records of the tour that were delivered */
    size_t *shapes, shape_records; /* of the tour */
    bool unwatched, blind;
};

/* --- A finding -------------------------------------------------------------------------------- */

/* Returns the name of the library without folder, ".so" and settings. Owner: the caller frees it. */
static char *plain_name(const char *tracer)
{
    size_t length = strcspn(tracer, "=,"), begin = length;

    while (begin > 0 && tracer[begin - 1] != '/')
        begin--;
    if (length - begin > 3 && strncmp(tracer + length - 3, ".so", 3) == 0)
        length -= 3;
    return th_printf("%.*s", (int)(length - begin), tracer + begin);
}

/* Returns the name of a file that no finding has yet. Owner: as plain_name(). */
static char *name_file(const struct checking *c, const struct th_check_result *result)
{
    const char *folder = c->check->output;
    char *name = plain_name(c->check->tracer), *file;

    file = th_printf("%s%s%s.%s-%zu.trace", folder ? folder : "", folder ? "/" : "", name,
                     th_check_rules[result->found.rule].name, c->known_count);
    th_free(name);
    return file;
}

static enum th_status write_stream(const struct th_buffer *stream, const char *file)
{
    struct th_output out;
    enum th_status status = th_output_open(&out, file);

    if (status != TH_OK)
        return status;
    status = th_output_write(&out, stream->data, stream->size);
    if (status == TH_OK)
        return th_output_commit(&out);
    th_output_abandon(&out);
    return status;
}

static void print_command(const struct checking *c, const struct th_check_result *result,
                          const char *file)
{
    char run[TH_CHECK_SETTING_TEXT];

    th_check_setting_print(&result->setting, run);
    fputs("  repeat   tracehost check", stdout);
    for (size_t i = 0; i < c->check->folders.count; i++) {
        fputs(" -L ", stdout);
        th_cli_print_word(stdout, c->check->folders.items[i]);
    }
    fputs(" --run=", stdout);
    th_cli_print_word(stdout, run);
    putchar(' ');
    th_cli_print_word(stdout, c->check->tracer);
    putchar(' ');
    th_cli_print_word(stdout, file);
    putchar('\n');
}

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

static enum th_status print_result(struct checking *c, const struct th_check_result *result)
{
    const struct th_check_rule_text *rule = &th_check_rules[result->found.rule];
    char *file = name_file(c, result);
    enum th_status status = write_stream(&result->stream, file);

    if (status == TH_OK) {
        printf("%s: %s\n  rule     %s\n  source   %s\n  stream   %s: %zu event%s%s\n", rule->name,
               result->found.text, rule->rule, rule->source, file, result->records,
               th_log_plural(result->records),
               result->confirmed ? "" : "; the finding is not met each time");
        print_events(&result->stream);
        print_command(c, result, file);
        putchar('\n');
        th_cli_command_flush();
    }
    th_free(file);
    return status;
}

static bool is_known(const struct checking *c, uint64_t key)
{
    for (size_t i = 0; i < c->known_count; i++)
        if (c->known[i] == key)
            return true;
    return c->known_count == MOST_RESULTS;
}

/* --- Runs ------------------------------------------------------------------------------------- */

/* Plays STREAM as SETTING says, and prints new findings. The stream of a finding is cut to the least,
 * unless the command repeats a finding.
 * Errors: TH_REFUSED if the tracer was not attached; those of th_check_search(). */
static enum th_status run(struct checking *c, const struct th_check_setting *setting,
                          const struct th_buffer *stream, bool tours)
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
    for (size_t i = 0; tours && i < TH_CHECK_RECORDS; i++)
        c->traced[i] |= page->traced[i];
    if (*page->refused && page->count == 0)
        return th_error_raise(TH_REFUSED, "%s", page->refused);
    count = page->count;
    memcpy(found, page->found, count * sizeof *found);
    for (size_t i = 0; i < count && status == TH_OK && !th_cli_interrupt_came(); i++) {
        struct th_check_result result = {.found = found[i], .setting = *setting};
        if (is_known(c, found[i].key))
            continue;
        c->known[c->known_count++] = found[i].key;
        status = th_check_search(&result, stream, th_clock_real_monotonic() + SEARCH_S * SECOND,
                                 &th_cli_interrupted);
        c->trials += result.trials;
        if (status == TH_OK && !th_check_search_holds(&result))
            c->known_count--;
        else if (status == TH_OK)
            status = print_result(c, &result);
        th_buffer_free(&result.stream);
    }
    return status;
}

/* As run(), for circumstances in which the tracer may refuse to be attached. */
static enum th_status run_refusable(struct checking *c, const struct th_check_setting *setting,
                                    const struct th_buffer *stream)
{
    enum th_status status = run(c, setting, stream, false);

    if (status != TH_REFUSED)
        return status;
    th_error_clear();
    return TH_OK;
}

/* Step 1. */
static enum th_status run_tour(struct checking *c, const struct th_buffer *tour)
{
    struct th_check_setting setting = c->setting;
    enum th_status status = run(c, &setting, tour, true);

    for (size_t i = 0; i < sizeof states / sizeof *states && status == TH_OK; i++) {
        setting = c->setting;
        setting.state = states[i];
        status = run_refusable(c, &setting, tour);
    }
    for (int i = 0; i < 3 && status == TH_OK; i++) {
        setting = c->setting;
        setting.threads = i == 0 ? THREADS : 0;
        setting.replaces = i == 1;
        setting.twice = i == 2;
        status = run_refusable(c, &setting, tour);
    }
    for (uint64_t i = 1; i <= ALLOCATIONS && status == TH_OK; i++) {
        setting = c->setting;
        setting.fails = i;
        status = run_refusable(c, &setting, tour);
        if (status == TH_OK && !th_check_trial_results()->allocation_failed)
            break;
    }
    return status;
}

/* A number that depends on *STATE alone, below LIMIT. Source: splitmix64, public domain. */
static uint64_t pick(uint64_t *state, uint64_t limit)
{
    uint64_t z = (*state += 0x9E3779B97F4A7C15u);

    z = (z ^ z >> 30) * 0xBF58476D1CE4E5B9u;
    z = (z ^ z >> 27) * 0x94D049BB133111EBu;
    return (z ^ z >> 31) % limit;
}

/* One run of step 3. */
static enum th_status run_random(struct checking *c, uint64_t seed)
{
    const struct th_writer_options how = {.format = TH_FORMAT_TRACE_PORT, .utf8_atoms = true};
    struct th_check_setting setting = c->setting;
    struct th_buffer stream = {0};
    uint64_t state = seed;
    enum th_status status = TH_OK;

    switch (pick(&state, 8)) {
    case 0:
        setting.threads = THREADS;
        break;
    case 1:
        setting.fails = 1 + pick(&state, ALLOCATIONS);
        break;
    case 2:
        setting.replaces = true;
        break;
    case 3:
        setting.state = states[pick(&state, sizeof states / sizeof *states)];
        break;
    default:
        break;
    }
    if (c->recording_count > 0 && pick(&state, 2))
        status = th_replay_generate_mutated(
            &stream, &c->recordings[pick(&state, c->recording_count)].bytes, &how, seed);
    else
        th_replay_generate_random(&stream, seed, EVENTS);
    if (status == TH_OK)
        status = run_refusable(c, &setting, &stream);
    th_buffer_free(&stream);
    return status;
}

/* --- Recordings ------------------------------------------------------------------------------- */

/* Reads the beginning of the recording NAME. */
static enum th_status read_recording(const char *name, struct stream *stream)
{
    struct th_replay_kept kept = {.most = RECORDED};
    struct th_event event = {0};
    struct th_reader *reader;
    enum th_status status = th_replay_reader_open(name, NULL, &reader), met = TH_OK;
    size_t *records;

    if (status != TH_OK)
        return status;
    while (met != TH_END && kept.bytes.size < RECORDED / 2) {
        met = th_replay_reader_next(reader, &event);
        if (met == TH_OK)
            met = th_replay_kept_add(&kept, reader, &event);
        if (met != TH_OK && met != TH_END)
            th_error_clear();
    }
    th_replay_reader_close(reader);
    records = th_alloc((kept.count + 1) * sizeof *records);
    for (size_t i = 0; i < kept.count; i++)
        records[i] = i;
    stream->name = name;
    th_replay_kept_write(&kept, records, kept.count, &stream->bytes);
    th_free(records);
    th_replay_kept_free(&kept);
    return TH_OK;
}

static enum th_status read_recordings(struct checking *c)
{
    const struct th_texts *names = &c->check->recordings;
    enum th_status status = TH_OK;

    c->recordings = th_alloc_zero((names->count + 1) * sizeof *c->recordings);
    for (; c->recording_count < names->count && status == TH_OK; c->recording_count++)
        status =
            read_recording(names->items[c->recording_count], &c->recordings[c->recording_count]);
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

static const char *tag_name(size_t tag)
{
    return th_atom_name(th_trace_tag_atom((enum th_tracer_tag)tag))->text;
}

static void print_summary(const struct checking *c, uint64_t seed, double seconds)
{
    bool slots[TH_SLOTS] = {0}, tags[TH_TAG_COUNT] = {0};
    bool *shapes = th_alloc_zero(th_replay_shapes() + 1);

    for (size_t i = 0; i < TH_SLOTS; i++)
        slots[i] = c->slots >> i & 1;
    for (size_t i = 0; i < c->shape_records && i < TH_CHECK_RECORDS; i++) {
        size_t shape = c->shapes[i];
        if (!c->traced[i] || shape >= th_replay_shapes())
            continue;
        shapes[shape] = true;
        for (size_t tag = 0; tag < TH_TAG_COUNT; tag++)
            tags[tag] |= strcmp(tag_name(tag), th_replay_shape_tag(shape)) == 0;
    }
    printf("%zu finding%s; %llu runs, %llu events, seed %llu, %.1f s\n", c->known_count,
           th_log_plural(c->known_count), (unsigned long long)c->trials,
           (unsigned long long)c->events, (unsigned long long)seed, seconds);
    if (!c->check->run) {
        print_covered("slots", TH_SLOTS, slots, slot_name);
        print_covered("tags", TH_TAG_COUNT, tags, tag_name);
        print_covered("shapes", th_replay_shapes(), shapes, th_replay_shape_name);
    }
    if (c->unwatched)
        puts("  the tracer has threads: effects of `enabled` on variables were not examined");
    if (c->blind)
        puts("  system calls were not examined: this kernel does not support that");
    th_free(shapes);
}

/* --- The command ------------------------------------------------------------------------------ */

static enum th_status run_all(struct checking *c, uint64_t seed, int64_t began)
{
    struct th_buffer tour = {0};
    enum th_status status;

    c->shape_records = th_replay_generate_tour(&tour, &c->shapes);
    status = run_tour(c, &tour);
    th_buffer_free(&tour);
    for (size_t i = 0; i < c->recording_count && status == TH_OK; i++)
        status = run(c, &c->setting, &c->recordings[i].bytes, false);
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
        status = run(c, &setting, &c->recordings[i].bytes, false);
    return status;
}

int th_check_tracer_run(const struct th_check_tracer *check)
{
    struct checking c = {
        .check = check,
        .setting = {.tracer = check->tracer, .folders = &check->folders, .limit_ns = 200 * MS}};
    int64_t began = th_clock_real_monotonic();
    uint64_t seed = check->seed >= 0 ? (uint64_t)check->seed : (uint64_t)began % 1000000;
    enum th_status status = read_recordings(&c);

    th_cli_interrupt_install();
    if (status == TH_OK)
        status = check->run ? run_given(&c) : run_all(&c, seed, began);
    if (status == TH_OK)
        print_summary(&c, seed, (double)(th_clock_real_monotonic() - began) / 1e9);
    for (size_t i = 0; i < c.recording_count; i++)
        th_buffer_free(&c.recordings[i].bytes);
    th_free(c.recordings);
    th_free(c.shapes);
    if (status != TH_OK)
        return th_cli_command_fail("check");
    return th_cli_interrupt_status(
        th_cli_command_finish("check", c.known_count > 0 ? TH_FAILED : TH_OK));
}
