#include "minimize.h"

#include "interrupt.h"
#include "minimize_trial.h"
#include "replaying.h"
#include "subcommand.h"

#include "host/base/memory.h"
#include "host/replay/kept.h"
#include "host/replay/part.h"
#include "host/replay/reader.h"
#include "host/term/clock.h"
#include "host/trace/event.h"
#include "host/trace/session.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#define SECONDS ((int64_t)1000 * 1000 * 1000) /* in nanoseconds */

enum {
    LEAST_LIMIT = 10,  /* seconds for a trial */
    LIMIT_RUNS = 4,    /* the same, in times of the crashing run */
    MOST_SECONDS = 300 /* of the whole search */
};

/* How a search has ended. */
enum outcome { NOT_BEGUN, DONE, NOT_REPEATED, OF_TRACER, FAILED };

/* Shared by the processes. */
struct th_minimize_page {
    struct th_crash_signature crash; /* of the replay, then as the trials completed it */
    atomic_bool finished;            /* the replay ended without a crash */
    atomic_size_t stream;            /* that is played */
    atomic_bool overfull;            /* records of a kept stream were not kept */
    _Atomic int outcome;             /* of the search */
};

/* --- The replay ------------------------------------------------------------------------------- */

struct keeping {
    struct th_minimize *minimize;
    int memory;
    size_t size;
};

/* Keeps the record in memory: nothing stays in a buffer of this process, which may crash. */
static void keep_record(void *context, const struct th_reader *reader, const struct th_event *event)
{
    struct keeping *keeping = context;
    size_t most = keeping->minimize->replay->stream.max_memory;
    const struct th_reader_info *info = th_replay_reader_info(reader);
    const struct th_writer_options how = {strcmp(info->format, "jsonl") == 0 ? TH_FORMAT_JSONL
                                                                             : TH_FORMAT_TRACE_PORT,
                                          info->node, info->utf8_atoms};
    struct th_buffer head = {0};
    size_t size;
    const unsigned char *raw = th_replay_reader_raw(reader, event, &size);
    bool ends = size > 0 && (how.format != TH_FORMAT_JSONL || raw[size - 1] == '\n');

    if (keeping->size == 0)
        th_replay_writer_encode_head(&head, &how);
    th_buffer_add(&head, raw, size);
    if (size > 0 && !ends)
        th_buffer_add_byte(&head, '\n');
    keeping->size += head.size;
    if (keeping->size > (most ? most : TH_READER_MEMORY) ||
        write(keeping->memory, head.data, head.size) != (ssize_t)head.size)
        keeping->minimize->page->overfull = true;
    th_buffer_free(&head);
}

void th_cli_minimize_watch(struct th_minimize *minimize, size_t index, struct th_stream *stream)
{
    static struct keeping keeping;

    th_crash_set_signature(&minimize->page->crash);
    minimize->page->stream = index;
    if (minimize->memory[index] < 0)
        return;
    keeping = (struct keeping){.minimize = minimize, .memory = minimize->memory[index]};
    stream->keep = keep_record;
    stream->keep_context = &keeping;
}

static bool can_be_read_again(const char *name)
{
    struct stat about;

    if (strcmp(name, "-") == 0 || strncmp(name, "tcp://", 6) == 0)
        return false;
    return stat(name, &about) != 0 || S_ISREG(about.st_mode); /* a wrap set has no file NAME */
}

/* --- The records ------------------------------------------------------------------------------ */

/* A search. */
struct minimizing {
    struct th_minimize *minimize;
    struct th_trials trials;
    struct th_replay_kept kept;
    size_t *records; /* indices in `kept`: those that are left */
    size_t count;
    unsigned asks; /* crashes that make a trial a success */
    FILE *out;     /* stderr of the user */
};

/* Keeps the records of READER up to the crash that would be delivered. */
static enum th_status keep_stream(struct minimizing *m, struct th_reader *reader, bool last)
{
    const struct th_crash_signature *crash = &m->minimize->page->crash;
    struct th_player_options play = m->minimize->replay->play;
    struct th_tracing *tracing = th_trace_create();
    struct th_player_counts counts = {0};
    enum th_status status, kept = TH_OK;
    struct th_player *player;
    struct th_event *event;

    play.stays = play.part = true;
    player = th_replay_player_begin(tracing, reader, &play, &counts);
    while (kept == TH_OK && (status = th_replay_player_step(player, &event)) != TH_END) {
        if (status == TH_OK && counts.skipped == 0)
            kept = th_replay_kept_add(&m->kept, reader, event);
        counts.skipped = 0;
        th_error_clear();
        if (last && crash->record && event->number >= crash->record)
            break;
    }
    th_replay_player_end(player);
    th_trace_free(tracing);
    return kept;
}

static enum th_status keep_streams(struct minimizing *m)
{
    const struct th_replaying *replay = m->minimize->replay;
    const size_t last = m->minimize->page->stream;
    const struct th_reader_options how = {.scheduler_id = replay->stream.scheduler_id,
                                          .max_memory = replay->stream.max_memory};
    enum th_status status = TH_OK;

    m->kept.most = how.max_memory ? how.max_memory : TH_READER_MEMORY;
    if (m->minimize->page->overfull)
        return th_error_raise(TH_FAILED,
                              "the records up to the crash have more than %zu bytes: give a larger "
                              "--max-memory",
                              m->kept.most);
    for (size_t i = 0; i <= last && status == TH_OK; i++) {
        const char *name = replay->streams.items[i];
        int memory = m->minimize->memory[i];
        struct th_reader *reader;

        if (memory >= 0)
            lseek(memory, 0, SEEK_SET);
        status = memory >= 0 ? th_replay_reader_attach(dup(memory), name, &how, &reader)
                             : th_replay_reader_open(name, &how, &reader);
        if (status != TH_OK)
            break;
        if (i == 0 && strcmp(th_replay_reader_info(reader)->format, "jsonl") == 0)
            m->kept.how.format = TH_FORMAT_JSONL;
        status = keep_stream(m, reader, i == last);
        th_replay_reader_close(reader);
    }
    return status;
}

/* --- The search ------------------------------------------------------------------------------- */

static bool crashes(void *context, const struct th_buffer *stream)
{
    struct minimizing *m = context;

    for (unsigned i = 0; i < m->asks; i++)
        if (!th_cli_trials_try(&m->trials, stream))
            return false;
    return true;
}

static size_t try_records(void *context, const size_t records[], size_t count)
{
    struct minimizing *m = context;
    struct th_buffer stream = {0};
    bool crashed;

    th_replay_kept_write(&m->kept, records, count, &stream);
    crashed = crashes(m, &stream);
    th_buffer_free(&stream);
    if (!crashed)
        return 0;
    return m->trials.played < count ? (size_t)m->trials.played : count;
}

/* Returns whether STREAM crashes as often as it is asked, also after the end of the search. */
static bool is_confirmed(struct minimizing *m, const struct th_buffer *stream)
{
    enum { TIMES = 2 };
    static const int never;
    const volatile int *stop = m->trials.stop;
    int64_t deadline = m->trials.deadline_ns;
    bool ended = m->trials.ended, holds = true;

    m->trials.stop = &never;
    m->trials.deadline_ns = INT64_MAX;
    for (int i = 0; i < TIMES && holds; i++)
        holds = th_cli_trials_try(&m->trials, stream);
    m->trials.stop = stop;
    m->trials.deadline_ns = deadline;
    m->trials.ended = ended;
    return holds;
}

/* Cuts records, then terms. STREAM gets the result, HOW its format. Returns whether the result is
 * confirmed. */
static bool cut(struct minimizing *m, struct th_writer_options *how, struct th_buffer *stream)
{
    const bool scheduler_id = m->minimize->replay->stream.scheduler_id;
    struct th_buffer raw = {0};
    struct th_replay_part part = {0};
    bool holds;

    m->count = th_replay_minimize_records(m->records, m->count, m->kept.classes, try_records, m);
    th_replay_kept_write(&m->kept, m->records, m->count, &raw);
    *how = m->kept.how;
    how->format = TH_FORMAT_TRACE_PORT;
    holds = th_replay_part_read(&part, &raw, how, scheduler_id) == TH_OK;
    if (holds)
        th_replay_part_write(&part, stream);
    holds = holds && (m->trials.ended || crashes(m, stream));
    if (!holds && m->kept.how.format == TH_FORMAT_JSONL) { /* facts of calls that it cannot have */
        th_replay_part_free(&part);
        *how = m->kept.how;
        holds = th_replay_part_read(&part, &raw, how, scheduler_id) == TH_OK;
    }
    if (holds)
        th_replay_part_shrink(&part, m->kept.most, crashes, m);
    stream->size = 0;
    if (holds)
        th_replay_part_write(&part, stream);
    else
        th_buffer_add(stream, raw.data, raw.size);
    th_replay_part_free(&part);
    th_buffer_free(&raw);
    th_error_clear();
    return is_confirmed(m, stream);
}

/* --- The result ------------------------------------------------------------------------------- */

/* Returns the name of the file. Owner: the caller frees the name with th_free(). */
static char *name_result(const struct minimizing *m)
{
    const char *tracer = m->trials.expected.tracer, *base = strrchr(tracer, '/');
    size_t length;

    if (m->minimize->file)
        return th_strdup(m->minimize->file);
    base = base ? base + 1 : tracer;
    length = strlen(base);
    if (length > 3 && strcmp(base + length - 3, ".so") == 0)
        length -= 3;
    return length ? th_printf("%.*s.crash.trace", (int)length, base) : th_strdup("crash.trace");
}

/* Returns FILE with .jsonl in place of .trace. Owner: as name_result(). */
static char *name_lines(const char *file)
{
    size_t length = strlen(file);

    if (length > 6 && strcmp(file + length - 6, ".trace") == 0)
        length -= 6;
    return th_printf("%.*s.jsonl", (int)length, file);
}

/* Writes STREAM to FILE in a format. */
static enum th_status write_result(const struct minimizing *m, const struct th_buffer *stream,
                                   struct th_writer_options how, enum th_format format,
                                   const char *file)
{
    const struct th_reader_options reading = {.scheduler_id =
                                                  m->minimize->replay->stream.scheduler_id};
    struct th_event event = {0};
    struct th_reader *reader;
    struct th_writer *writer;
    enum th_status status;
    th_env env;

    how.format = format;
    status = th_replay_kept_open(stream, file, &reading, &reader);
    if (status != TH_OK)
        return status;
    status = th_replay_writer_open(file, &how, &writer);
    if (status != TH_OK) {
        th_replay_reader_close(reader);
        return status;
    }
    th_env_init(&env, TH_ENV_PLAIN);
    while (status == TH_OK && th_replay_reader_next(reader, &event) == TH_OK) {
        status = th_replay_writer_add(writer, &event, &env);
        th_env_clear(&env);
    }
    th_env_release(&env);
    th_replay_reader_close(reader);
    if (status == TH_OK)
        return th_replay_writer_commit(writer);
    th_replay_writer_abandon(writer);
    return status;
}

/* Counts the records of STREAM, and their kinds: tag and function. */
static void count_kinds(const struct th_buffer *stream, size_t *records, size_t *kinds)
{
    struct th_replay_kept kept = {.most = SIZE_MAX};
    struct th_event event = {0};
    struct th_reader *reader;

    *records = *kinds = 0;
    if (th_replay_kept_open(stream, "the records", NULL, &reader) != TH_OK)
        return;
    while (th_replay_reader_next(reader, &event) == TH_OK)
        th_replay_kept_add(&kept, reader, &event);
    th_replay_reader_close(reader);
    *records = kept.count;
    for (size_t i = 0; i < kept.count; i++) {
        size_t same = 0;
        while (memcmp(&kept.classes[same].of[TH_REPLAY_CLASS_TAG],
                      &kept.classes[i].of[TH_REPLAY_CLASS_TAG], 2 * sizeof(uint64_t)) != 0)
            same++;
        *kinds += same == i;
    }
    th_replay_kept_free(&kept);
}

static enum th_status show_result(struct minimizing *m, const struct th_buffer *stream,
                                  const struct th_writer_options *how, bool confirmed,
                                  const struct th_minimize_tracer *tracer)
{
    char *file = name_result(m), *lines = name_lines(file);
    bool port = how->format == TH_FORMAT_TRACE_PORT;
    size_t records, kinds;
    enum th_status status = write_result(m, stream, *how, TH_FORMAT_TRACE_PORT, file);

    if (status == TH_OK)
        status = write_result(m, stream, *how, TH_FORMAT_JSONL, lines);
    count_kinds(stream, &records, &kinds);
    if (status == TH_OK) {
        fprintf(m->out, "tracehost replay: the crash needs %zu record%s of %zu kind%s%s\n", records,
                th_log_plural(records), kinds, th_log_plural(kinds),
                m->trials.ended ? ", or fewer: the search was stopped" : "");
        if (!confirmed)
            fprintf(m->out, "  the tracer does not crash each time: repeat the command\n");
        fprintf(m->out, "  written to %s and %s after %llu trials; repeat the crash by\n", file,
                lines, (unsigned long long)m->trials.count);
        if (!port)
            fprintf(m->out, "  (%s lacks `external`, `tail` and callers, which the crash needs)\n",
                    file);
        th_cli_minimize_print_command(m->out, tracer, port ? file : lines);
    }
    th_free(file);
    th_free(lines);
    return status;
}

/* --- A search in a process -------------------------------------------------------------------- */

/* Plays all records, once more if that does not crash. Returns whether it did. The records behind
 * the crash are cut. */
static bool repeats(struct minimizing *m)
{
    size_t needed;

    m->count = m->kept.count;
    m->records = th_realloc(m->records, (m->count + 1) * sizeof *m->records);
    for (size_t i = 0; i < m->count; i++)
        m->records[i] = i;
    needed = try_records(m, m->records, m->count);
    if (needed == 0)
        needed = try_records(m, m->records, m->count);
    m->count = needed;
    return needed > 0;
}

static enum outcome search(struct minimizing *m, const struct th_minimize_tracer *tracer)
{
    struct th_crash_signature *crash = &m->minimize->page->crash;
    const bool known = *crash->tracer;
    struct th_buffer stream = {0};
    struct th_writer_options how;
    bool at_once, confirmed;

    if (keep_streams(m) != TH_OK || th_cli_trials_begin(&m->trials, &at_once) != TH_OK)
        return FAILED;
    m->asks = 1;
    how = m->kept.how;
    th_replay_kept_write(&m->kept, NULL, 0, &stream);
    if (at_once || crashes(m, &stream)) {
        *crash = m->trials.expected;
        return show_result(m, &stream, &how, true, tracer) == TH_OK ? DONE : FAILED;
    }
    if (!repeats(m))
        return NOT_REPEATED;
    *crash = m->trials.expected;
    if (!known && th_cli_minimize_find_tracer(m->trials.sessions, crash).found)
        return OF_TRACER;
    stream.size = 0;
    confirmed = cut(m, &how, &stream);
    if (!confirmed && !m->trials.ended) {
        m->asks = 2;
        stream.size = 0;
        if (!repeats(m))
            return NOT_REPEATED;
        confirmed = cut(m, &how, &stream);
    }
    return show_result(m, &stream, &how, confirmed, tracer) == TH_OK ? DONE : FAILED;
}

/* Sets SESSIONS to the session of TRACER alone, from ALL. PLACES has room for two sessions: the
 * first has no title. */
static void choose_session(struct th_control_session_options *sessions,
                           const struct th_control_session_options *all,
                           const struct th_minimize_tracer *tracer,
                           struct th_control_session_option places[2])
{
    const struct th_control_session_option *chosen = &all->items[tracer->session];

    *sessions = *all;
    sessions->items = places;
    sessions->count = chosen->title ? 2 : 1;
    places[0] = all->items[0];
    places[0].tracer_count = 0;
    places[sessions->count - 1] = *chosen;
    places[sessions->count - 1].tracers = &chosen->tracers[tracer->tracer];
    places[sessions->count - 1].tracer_count = 1;
}

/* The process that searches. Its stdout and stderr go nowhere, as tracers may write while they are
 * loaded. */
static _Noreturn void run_search(struct th_minimize *minimize,
                                 const struct th_minimize_tracer *tracer, int64_t limit)
{
    struct th_control_session_options sessions = minimize->replay->trace.sessions;
    struct th_control_session_option places[2];
    struct minimizing m = {
        .minimize = minimize,
        .trials = {.replay = minimize->replay,
                   .sessions = &sessions,
                   .expected = minimize->page->crash,
                   .limit_ns = limit,
                   .deadline_ns = th_clock_real_monotonic() + MOST_SECONDS * SECONDS,
                   .stop = &th_cli_interrupted},
        .out = fdopen(fcntl(STDERR_FILENO, F_DUPFD_CLOEXEC, STDERR_FILENO + 1), "w"),
    };
    int nowhere = open("/dev/null", O_WRONLY | O_CLOEXEC);

    if (!m.out || nowhere < 0)
        _exit(TH_FAILED);
    dup2(nowhere, STDOUT_FILENO);
    dup2(nowhere, STDERR_FILENO);
    th_cli_interrupt_install();
    if (tracer->found)
        choose_session(&sessions, &minimize->replay->trace.sessions, tracer, places);
    minimize->page->outcome = search(&m, tracer);
    if (minimize->page->outcome == FAILED) {
        th_error_context("cannot minimize the crash");
        th_error_print(m.out, "tracehost replay");
    }
    fflush(m.out);
    _exit(TH_OK);
}

/* Searches in a child: with TRACER alone if it is found, else with all tracers. */
static enum outcome search_with(struct th_minimize *minimize, struct th_minimize_tracer tracer,
                                int64_t limit)
{
    int status;
    pid_t id;

    minimize->page->outcome = NOT_BEGUN;
    fflush(NULL);
    id = fork();
    if (id == 0)
        run_search(minimize, &tracer, limit);
    while (id > 0 && waitpid(id, &status, 0) < 0 && errno == EINTR)
        ;
    return minimize->page->outcome;
}

static void minimize_crash(struct th_minimize *minimize, int64_t run_ns)
{
    const struct th_replaying *replay = minimize->replay;
    struct th_minimize_tracer none = {0}, tracer;
    const struct th_crash_signature *crash = &minimize->page->crash;
    int64_t limit = LIMIT_RUNS * run_ns;
    enum outcome outcome = NOT_REPEATED;

    limit = (limit > LEAST_LIMIT * SECONDS ? limit : LEAST_LIMIT * SECONDS) + replay->trace.timeout;
    if (crash->slot == -1) {
        fputs(
            "tracehost replay: the crash is in no callback, so no part of the stream was sought\n",
            stderr);
        return;
    }
    tracer = th_cli_minimize_find_tracer(&replay->trace.sessions, crash);
    if (tracer.found)
        outcome = search_with(minimize, tracer, limit);
    if (outcome == NOT_REPEATED || outcome == FAILED)
        outcome = search_with(minimize, none, limit);
    if (outcome == OF_TRACER) /* the first search has found the tracer */
        outcome = search_with(minimize, th_cli_minimize_find_tracer(&replay->trace.sessions, crash),
                              limit);
    if (outcome == OF_TRACER || outcome == NOT_REPEATED)
        fputs("tracehost replay: the crash did not repeat with the same stream: it depends on more "
              "than the events, such as time, memory or files\n",
              stderr);
    else if (outcome == NOT_BEGUN)
        fputs("tracehost replay: cannot minimize the crash: the tracer ended the search\n", stderr);
}

/* --- The command ------------------------------------------------------------------------------ */

/* Waits for the child that replays, which handles signals of the terminal. */
static int await_replay(pid_t id)
{
    struct sigaction ignored = {.sa_handler = SIG_IGN}, before[2];
    int status = 0;

    sigaction(SIGINT, &ignored, &before[0]);
    sigaction(SIGQUIT, &ignored, &before[1]);
    while (waitpid(id, &status, 0) < 0 && errno == EINTR)
        ;
    sigaction(SIGINT, &before[0], NULL);
    sigaction(SIGQUIT, &before[1], NULL);
    return status;
}

static enum th_status prepare_minimize(struct th_minimize *minimize,
                                       const struct th_replaying *replay)
{
    const char *lost = minimize->file ? th_cli_replaying_stream_at(replay, minimize->file) : NULL;
    void *page = mmap(NULL, sizeof *minimize->page, PROT_READ | PROT_WRITE,
                      MAP_SHARED | MAP_ANONYMOUS, -1, 0);

    if (lost)
        return th_error_raise(TH_USAGE,
                              "the result would overwrite the stream %s: give another "
                              "--on-crash=minimize=FILE",
                              th_cli_stream_title(lost));
    if (page == MAP_FAILED)
        return th_error_raise(TH_FAILED, "cannot map memory: %s", strerror(errno));
    minimize->page = page;
    minimize->replay = replay;
    minimize->memory = th_alloc(replay->streams.count * sizeof *minimize->memory);
    for (size_t i = 0; i < replay->streams.count; i++) {
        minimize->memory[i] = can_be_read_again(replay->streams.items[i])
                                  ? -1
                                  : memfd_create("tracehost", MFD_CLOEXEC);
    }
    return TH_OK;
}

int th_cli_minimize_run(struct th_replaying *replay)
{
    struct th_minimize *minimize = replay->minimize;
    struct th_crash_signature *crash;
    int64_t began = th_clock_real_monotonic();
    int status;
    pid_t id;

    if (prepare_minimize(minimize, replay) != TH_OK)
        return th_cli_command_fail(replay->command);
    fflush(NULL);
    id = fork();
    if (id < 0) {
        th_error_raise(TH_FAILED, "cannot fork: %s", strerror(errno));
        return th_cli_command_fail(replay->command);
    }
    if (id == 0) {
        status = th_cli_replaying_run(replay);
        minimize->page->finished = true;
        return status;
    }
    status = await_replay(id);
    crash = &minimize->page->crash;
    if (minimize->page->finished && WIFEXITED(status))
        return WEXITSTATUS(status);
    if (WIFSIGNALED(status) && crash->kind == TH_CRASH_NONE)
        return 128 + WTERMSIG(status);
    if (crash->kind == TH_CRASH_NONE) { /* a way that the guard does not see: _exit() */
        crash->slot = TH_TRIAL_ANY_SLOT;
        crash->kind = TH_CRASH_IMMEDIATE;
        fputs("tracehost replay: a tracer ended the program by _exit()\n", stderr);
    }
    minimize_crash(minimize, th_clock_real_monotonic() - began);
    return TH_CRASHED;
}
