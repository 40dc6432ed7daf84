#include "smallest_crash_trial.h"

#include "replaying.h"
#include "trial_process.h"

#include "host/base/buffer.h"
#include "host/control/commands/session_options.h"
#include "host/library/find.h"
#include "host/replay/kept_records.h"
#include "host/replay/player.h"
#include "host/replay/reader.h"
#include "host/term/clock.h"
#include "host/trace/session.h"

#include <errno.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>

/* Shared with the trial, which writes. */
struct th_trial_page {
    struct th_crash_signature crash;
    _Atomic uint64_t played;     /* records, the current one included */
    atomic_bool ended;           /* without a crash */
    atomic_int threads;          /* after the tracers were loaded; 0: they were not */
    char why[TH_ERROR_TEXT + 1]; /* they were not */
};

/* --- In a trial ------------------------------------------------------------------------------- */

static enum th_status load_tracers(const struct th_trials *trials, struct th_tracing *tracing)
{
    const struct th_texts *folders = &trials->replay->trace.folders;
    struct th_search search;
    enum th_status status;

    th_trace_discard_outputs(tracing);
    th_trace_hold();
    th_library_search_init(&search, TH_SEARCH_TRACERS, folders->items, folders->count);
    status = th_control_session_options_attach(trials->sessions, &search, tracing);
    th_library_search_free(&search);
    return status;
}

/* The context of a trial. */
struct trial {
    const struct th_trials *trials;
    const struct th_buffer *stream; /* NULL: only the tracers are loaded */
};

static void carry_out(void *context)
{
    const struct th_trials *trials = ((const struct trial *)context)->trials;
    const struct th_buffer *stream = ((const struct trial *)context)->stream;
    const struct th_replaying *replay = trials->replay;
    const struct th_reader_options reading = {.scheduler_id = replay->stream.scheduler_id};
    struct th_player_options play = replay->play;
    struct th_tracing *tracing = trials->loaded;
    struct th_player_counts counts = {0};
    struct th_trial_page *page = trials->page;
    enum th_status status = TH_OK;
    struct th_player *player;
    struct th_reader *reader;

    if (!tracing) {
        tracing = th_trace_create();
        th_cli_replaying_prepare(replay, tracing);
    }
    th_crash_begin_trial(&page->crash);
    if (replay->trace.timeout)
        th_crash_set_timeout(replay->trace.timeout, true);
    if (!trials->loaded)
        status = load_tracers(trials, tracing);
    if (status != TH_OK)
        snprintf(page->why, sizeof page->why, "%s", th_error_link(0));
    else
        page->threads = th_cli_trial_threads() - (replay->trace.timeout != 0);
    if (status == TH_OK && stream &&
        th_replay_kept_open(stream, "the records", &reading, &reader) == TH_OK) {
        play.from.set = play.to.set = play.max_events.set = play.max_records.set = false;
        play.part = true;
        th_trace_go(tracing);
        player = th_replay_player_begin(tracing, reader, &play, &counts);
        do
            page->played++;
        while (th_replay_player_step(player, NULL) != TH_END);
    }
    page->ended = true;
    th_crash_end_trial();
}

/* --- Outside ---------------------------------------------------------------------------------- */

static bool is_expected(struct th_crash_signature *expected, const struct th_crash_signature *met)
{
    if ((expected->kind != TH_CRASH_NONE && met->kind != expected->kind) ||
        (expected->kind == TH_CRASH_SIGNAL && met->number != expected->number) ||
        (expected->slot != TH_CRASH_ANY_SLOT && met->slot != expected->slot) ||
        (expected->frame && met->frame != expected->frame))
        return false;
    *expected = *met;
    return true;
}

/* Makes a trial. Returns whether it crashed as expected. */
static bool make_trial(struct th_trials *trials, const struct th_buffer *stream)
{
    struct th_trial_page *page = trials->page;
    int status;

    if (*trials->stop || th_clock_real_monotonic() > trials->deadline_ns) {
        trials->ended = true;
        return false;
    }
    *page = (struct th_trial_page){0};
    trials->count++;
    if (!th_cli_trial_process(carry_out, &(struct trial){trials, stream}, trials->limit_ns,
                              &status))
        return false;
    trials->played = page->played;
    if (page->ended)
        return false;
    if (page->crash.kind == TH_CRASH_NONE) { /* a thread of the tracer, or a way unseen */
        page->crash.slot = TH_CRASH_NO_SLOT;
        page->crash.kind = WIFSIGNALED(status) ? TH_CRASH_SIGNAL : TH_CRASH_IMMEDIATE;
        page->crash.number = WIFSIGNALED(status) ? WTERMSIG(status) : WEXITSTATUS(status);
    }
    return is_expected(&trials->expected, &page->crash);
}

enum th_status th_cli_trials_begin(struct th_trials *trials, bool *crashes)
{
    void *page =
        mmap(NULL, sizeof *trials->page, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);

    if (page == MAP_FAILED)
        return th_error_raise(TH_FAILED, "cannot map memory: %s", strerror(errno));
    trials->page = page;
    *crashes = make_trial(trials, NULL);
    if (*crashes)
        return TH_OK;
    if (trials->page->threads == 0)
        return th_error_raise(TH_FAILED, "the tracer does not load without others: %s",
                              *trials->page->why ? trials->page->why : "it crashes in another way");
    if (trials->page->threads > 1)
        return TH_OK;
    trials->loaded = th_trace_create();
    th_cli_replaying_prepare(trials->replay, trials->loaded);
    return load_tracers(trials, trials->loaded);
}

bool th_cli_trials_try(struct th_trials *trials, const struct th_buffer *stream)
{
    return make_trial(trials, stream);
}
