#include "smallest_crash.h"

#include "interrupt.h"
#include "smallest_crash_internal.h"
#include "subcommand.h"

#include "host/base/memory.h"
#include "host/replay/reader.h"
#include "host/term/clock.h"
#include "host/trace/event.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#define SECONDS ((int64_t)1000 * 1000 * 1000) /* in nanoseconds */

enum {
    LEAST_LIMIT = 10,  /* seconds for a trial */
    LIMIT_RUNS = 4,    /* the same, in times of the crashing run */
    MOST_SECONDS = 60, /* of a search */
    MOST_RUNS = 20     /* added, in times of the limit of one trial beyond the least */
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
    const struct th_writer_options how = {
        .format = strcmp(info->format, "jsonl") == 0 ? TH_FORMAT_JSONL : TH_FORMAT_TRACE_PORT,
        .here = info->node,
        .utf8_atoms = info->utf8_atoms};
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

void th_cli_minimize_guard(struct th_minimize *minimize)
{
    th_crash_set_signature(&minimize->page->crash);
}

void th_cli_minimize_watch(struct th_minimize *minimize, size_t index, struct th_stream *stream)
{
    static struct keeping keeping;

    minimize->page->stream = index;
    if (minimize->memory[index] < 0)
        return;
    keeping = (struct keeping){.minimize = minimize, .memory = minimize->memory[index]};
    stream->keep = keep_record;
    stream->keep_context = &keeping;
}

static bool can_be_read_again(const char *name)
{
    size_t files;

    return !th_replay_reader_reads_once(name, &files);
}

/* --- A search in a process -------------------------------------------------------------------- */

/* Forks a child that ends in good order if this process ends first. Returns as fork(). */
static pid_t fork_child(void)
{
    pid_t id;

    fflush(NULL);
    id = fork();
    if (id == 0)
        prctl(PR_SET_PDEATHSIG, SIGTERM);
    return id;
}

/* Waits for child ID, which handles signals of the terminal. Returns its wait status. */
static int await_child(pid_t id)
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
    struct th_minimizing m = {
        .minimize = minimize,
        .trials = {.replay = minimize->replay,
                   .sessions = &sessions,
                   .expected = minimize->page->crash,
                   .limit_ns = limit,
                   .deadline_ns = th_clock_real_monotonic() + MOST_SECONDS * SECONDS +
                                  MOST_RUNS * (limit - LEAST_LIMIT * SECONDS),
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
    minimize->page->outcome = th_cli_minimize_search(&m, tracer);
    if (minimize->page->outcome == TH_MINIMIZE_FAILED) {
        th_error_context("cannot minimize the crash");
        th_error_print(m.out, "tracehost replay");
    }
    minimize->page->interrupted = th_cli_interrupt_came();
    fflush(m.out);
    _exit(TH_OK);
}

/* Searches in a child: with TRACER alone if it is found, else with all tracers. */
static enum th_minimize_outcome search_with(struct th_minimize *minimize,
                                            struct th_minimize_tracer tracer, int64_t limit)
{
    pid_t id;

    minimize->page->outcome = TH_MINIMIZE_NOT_BEGUN;
    id = fork_child();
    if (id == 0)
        run_search(minimize, &tracer, limit);
    if (id > 0)
        await_child(id);
    return minimize->page->outcome;
}

/* Searches after the crash of a replay that took RUN_NS nanoseconds. Returns the exit status. */
static int search_after_crash(struct th_minimize *minimize, int64_t run_ns)
{
    const struct th_replaying *replay = minimize->replay;
    struct th_minimize_tracer none = {0}, tracer;
    const struct th_crash_signature *crash = &minimize->page->crash;
    int64_t limit = LIMIT_RUNS * run_ns;
    enum th_minimize_outcome outcome = TH_MINIMIZE_NOT_REPEATED;

    limit = (limit > LEAST_LIMIT * SECONDS ? limit : LEAST_LIMIT * SECONDS) + replay->trace.timeout;
    if (crash->slot == TH_CRASH_NO_SLOT) {
        fputs(
            "tracehost replay: the crash is in no callback, so no part of the stream was sought\n",
            stderr);
        return TH_CRASHED;
    }
    tracer = th_cli_minimize_find_tracer(&replay->trace.sessions, crash);
    if (tracer.found)
        outcome = search_with(minimize, tracer, limit);
    if (outcome == TH_MINIMIZE_NOT_REPEATED)
        outcome = search_with(minimize, none, limit);
    if (outcome == TH_MINIMIZE_OF_TRACER) /* the first search has found the tracer */
        outcome = search_with(minimize, th_cli_minimize_find_tracer(&replay->trace.sessions, crash),
                              limit);
    if (outcome == TH_MINIMIZE_OF_TRACER || outcome == TH_MINIMIZE_NOT_REPEATED)
        fputs("tracehost replay: the crash did not repeat with the same stream: it depends on more "
              "than the events, such as time, memory or files\n",
              stderr);
    else if (outcome == TH_MINIMIZE_NOT_BEGUN)
        fputs("tracehost replay: cannot minimize the crash: the tracer ended the search\n", stderr);
    return minimize->page->interrupted ? 128 + minimize->page->interrupted : TH_CRASHED;
}

/* --- The command ------------------------------------------------------------------------------ */

/* Errors: TH_USAGE if the result would overwrite a stream; TH_FAILED. */
static enum th_status prepare_search(struct th_minimize *minimize,
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

void th_cli_minimize_finish(struct th_minimize *minimize)
{
    minimize->page->finished = true;
}

/* Returns the exit status of a replay that ended with the wait status STATUS and took RUN_NS. */
static int end_replay(struct th_minimize *minimize, int status, int64_t run_ns)
{
    struct th_crash_signature *crash = &minimize->page->crash;

    if (minimize->page->finished && WIFEXITED(status))
        return WEXITSTATUS(status);
    if (WIFSIGNALED(status) && crash->kind == TH_CRASH_NONE)
        return 128 + WTERMSIG(status);
    if (crash->kind ==
        TH_CRASH_NONE) /* a death that only the supervisor has seen, such as _exit() */
        crash->slot = TH_CRASH_ANY_SLOT;
    return search_after_crash(minimize, run_ns);
}

void th_cli_minimize_fork(struct th_replaying *replay)
{
    struct th_minimize *minimize = replay->minimize;
    int64_t began = th_clock_real_monotonic();
    int status;
    pid_t id;

    if (prepare_search(minimize, replay) != TH_OK)
        exit(th_cli_command_fail(replay->command));
    id = fork_child();
    if (id == 0)
        return;
    if (id < 0) {
        th_error_raise(TH_FAILED, "cannot fork: %s", strerror(errno));
        exit(th_cli_command_fail(replay->command));
    }
    status = await_child(id);
    exit(end_replay(minimize, status, th_clock_real_monotonic() - began));
}
