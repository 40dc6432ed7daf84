#include "check_trial.h"

#include "check_lines.h"
#include "check_races.h"

#include "host/base/error.h"
#include "host/base/memory.h"
#include "host/base/buffer.h"
#include "host/cli/trial_process.h"
#include "host/control/argument.h"
#include "host/library/entry.h"
#include "host/library/find.h"
#include "host/library/load.h"
#include "host/replay/kept_records.h"
#include "host/replay/player.h"
#include "host/replay/reader.h"
#include "host/term/clock.h"
#include "host/trace/event.h"
#include "host/trace/named_tracer.h"
#include "host/trace/session.h"
#include "host/trace/tags.h"

#include <limits.h>
#include <pthread.h>
#include <string.h>

static const int64_t MS = 1000000;

static struct th_check_page *page;

/* A trial. */
struct trial {
    const struct th_check_setting *setting;
    const struct th_buffer *stream;
    size_t records; /* of the stream */
    struct th_tracing *tracing;
    struct th_search search;
};

/* --- In the trial ----------------------------------------------------------------------------- */

/* Relaxed: a bit, and a byte, each alone. */
static void note_called(void *context, unsigned slot, uint64_t record)
{
    (void)context;
    atomic_fetch_or_explicit(&page->slots, 1u << slot, memory_order_relaxed);
    if (slot % 2 && record > 0 && record <= TH_CHECK_RECORDS)
        atomic_store_explicit(&page->traced[record - 1], true, memory_order_relaxed);
}

static enum th_status attach(struct trial *trial)
{
    struct th_session_setup setup = {.flags = TH_FLAGS_EVENTS | TH_FLAG_AS_RECORDED};
    struct th_named_tracer tracer;
    struct th_session *session;
    enum th_status status = th_trace_named_tracer_parse(trial->setting->tracer, &tracer);

    if (status != TH_OK)
        return status;
    if (trial->setting->state)
        status = th_trace_tracer_state_parse(&tracer.env, trial->setting->state, &tracer.state);
    if (status == TH_OK)
        status = th_trace_tracer_load(&trial->search, tracer.name, &setup.library);
    setup.name = tracer.name;
    setup.state = tracer.state;
    if (status == TH_OK)
        th_check_lines_note(setup.library);
    if (status == TH_OK)
        for (int slot = 0; slot < TH_SLOTS; slot++)
            if (th_library_slots_has_own(th_library_slots(setup.library),
                                         (enum th_tracer_slot)slot))
                page->own |= 1u << slot;
    if (status == TH_OK)
        status = th_trace_session_attach(trial->tracing, &setup, &session);
    th_trace_named_tracer_free(&tracer);
    return status;
}

static void replace(struct trial *trial)
{
    char name[PATH_MAX];

    snprintf(name, sizeof name, "%.*s", (int)strcspn(trial->setting->tracer, "=,"),
             trial->setting->tracer);
    if (th_trace_sessions(trial->tracing) > 0 &&
        th_trace_tracer_replace(th_trace_session(trial->tracing, 0), &trial->search, name, NULL) !=
            TH_OK)
        th_error_clear();
}

static void play(struct trial *trial)
{
    struct th_player_options options = {.part = true};
    struct th_player_counts counts = {0};
    struct th_player *player;
    struct th_reader *reader;
    struct th_event *event;
    enum th_status status = TH_OK;

    if (th_replay_kept_open(trial->stream, "the records", NULL, &reader) != TH_OK)
        return;
    player = th_replay_player_begin(trial->tracing, reader, &options, &counts);
    while (status != TH_END) {
        if (trial->setting->replaces && page->played == trial->records / 2)
            replace(trial);
        page->played++;
        status = th_replay_player_step(player, &event);
        if (status != TH_OK)
            th_error_clear();
    }
    page->played = counts.records;
    if (trial->setting->replaces && trial->records < 2)
        replace(trial);
    th_replay_player_end(player);
    th_replay_reader_close(reader);
}

/* A thread that runs the callbacks again, in rounds: all threads end a round before the next one, so that
 * each is in the way of each other one also if there are few processors. */
struct again {
    /* Two barriers: the sanitizer lets a thread that has passed a barrier late follow what others do
     * before they wait at the same one again. */
    pthread_barrier_t *begin, *end;
    const int64_t *until; /* on th_clock_real_monotonic() */
    bool *ends;           /* written by one thread, between two waits for the others */
    pthread_t thread;
    unsigned number;
};

static void *run_again(void *argument)
{
    struct again *again = argument;

    th_crash_thread_begin();
    do {
        pthread_barrier_wait(again->begin);
        th_check_callbacks_run_kept(again->number);
        if (pthread_barrier_wait(again->end) == PTHREAD_BARRIER_SERIAL_THREAD)
            *again->ends = th_clock_real_monotonic() > *again->until;
        pthread_barrier_wait(again->end);
    } while (!*again->ends);
    th_crash_thread_end();
    return NULL;
}

static void run_in_threads(unsigned count)
{
    struct again *threads = th_alloc(count * sizeof *threads);
    const int64_t until = th_clock_real_monotonic() + 100 * MS;
    pthread_barrier_t begin, end;
    bool ends = false;

    pthread_barrier_init(&begin, NULL, count);
    pthread_barrier_init(&end, NULL, count);
    for (unsigned i = 0; i < count; i++) {
        threads[i] = (struct again){
            .begin = &begin, .end = &end, .until = &until, .ends = &ends, .number = i};
        if (pthread_create(&threads[i].thread, NULL, run_again, &threads[i]) != 0)
            th_crash_end_trial(); /* without a result: the trial has not ended */
    }
    for (unsigned i = 0; i < count; i++)
        pthread_join(threads[i].thread, NULL);
    th_free(threads);
}

static void carry_out_check(void *context)
{
    static struct th_check_callbacks how;
    struct trial *trial = context;
    const struct th_check_setting *setting = trial->setting;
    bool alone;

    th_check_races_catch();
    how = (struct th_check_callbacks){.system_calls = true,
                                      .keeps = setting->threads > 0,
                                      .slow_ns = setting->threads ? 0 : TH_CHECK_SLOW_NS,
                                      .called = note_called};
    th_check_start();
    th_check_watch_findings(th_check_page_note);
    th_crash_install();
    th_crash_begin_trial(&page->crash);
    th_crash_set_timeout(setting->limit_ns, true);
    th_check_callbacks_examine(&how);
    page->blind = !th_check_callbacks_see_system_calls();
    th_check_fail(setting->fails, &page->allocation_failed);
    trial->tracing = th_trace_create();
    th_trace_discard_outputs(trial->tracing);
    th_library_search_init(&trial->search, TH_SEARCH_TRACERS, setting->folders->items,
                           setting->folders->count);
    trial->search.replaceable = setting->replaces;
    for (int i = 0; i <= setting->twice && page->refused == TH_OK; i++)
        th_check_page_note_refusal(attach(trial));
    alone = th_cli_trial_threads() <= 2; /* this thread, and the watchdog of crash/ */
    page->unwatched = !alone;
    how.effects = alone && !setting->threads && !setting->fails;
    page->phase = TH_CHECK_PLAYING;
    if (page->refused == TH_OK)
        play(trial);
    if (setting->threads && th_check_races_seen())
        th_check_callbacks_let_be();
    if (setting->threads)
        run_in_threads(setting->threads);
    th_check_callbacks_report_slow();
    page->phase = TH_CHECK_UNLOADING;
    th_library_halt();
    th_trace_free(trial->tracing);
    th_check_end();
    page->phase = TH_CHECK_ENDED;
    th_check_lines_write();
    th_crash_end_trial();
}

/* --- Outside ---------------------------------------------------------------------------------- */

/* Returns the name of the tracer's function for SLOT. */
static const char *name_callback(enum th_tracer_slot slot)
{
    if (page->own >> slot & 1)
        return th_library_slot_name(slot);
    return th_library_slot_name(slot % 2 ? TH_SLOT_trace : TH_SLOT_enabled);
}

/* Adds the death of a trial, which has ended with STATUS, to the findings. */
static void add_death(const struct th_check_setting *setting, bool in_time, int status)
{
    static const char *const phases[] = {"load", "a thread", "unload"};
    const struct th_crash_signature *crash = &page->crash;
    const char *where = *crash->function ? crash->function : phases[page->phase];
    char who[TH_CHECK_WHERE + 32];

    if (crash->kind != TH_CRASH_NONE && crash->slot >= 0)
        where = name_callback((enum th_tracer_slot)crash->slot);
    snprintf(who, sizeof who, "%s, record %llu", where, (unsigned long long)page->played);
    th_check_page_add_death(&(struct th_check_death){.where = where,
                                                     .who = who,
                                                     .fails = setting->fails > 0,
                                                     .in_time = in_time,
                                                     .status = status});
}

static void add_race(const char *first, const char *text)
{
    th_check_page_add(TH_RULE_RACE, first, "race", text);
}

static size_t count_records(const struct th_buffer *stream)
{
    struct th_event event = {0};
    struct th_reader *reader;
    size_t count = 0;

    if (th_replay_kept_open(stream, "the records", NULL, &reader) != TH_OK)
        return 0;
    while (th_replay_reader_next(reader, &event) == TH_OK)
        count++;
    th_error_clear();
    th_replay_reader_close(reader);
    return count;
}

const struct th_check_page *th_check_trial_run(const struct th_check_setting *setting,
                                               const struct th_buffer *stream)
{
    enum { TRIES = 20 /* callbacks that may take their time in a trial */ };
    struct trial trial = {.setting = setting, .stream = stream};
    char file[PATH_MAX];
    bool in_time;
    int status;

    if (!(page = th_check_page_clear()))
        return NULL;
    if (setting->replaces)
        trial.records = count_records(stream);
    in_time = th_cli_trial_process(carry_out_check, &trial, TRIES * setting->limit_ns + 10000 * MS,
                                   &status);
    if (status == -1 && !in_time) {
        th_error_raise(TH_FAILED, "cannot make a process for a trial");
        return NULL;
    }
    if (page->phase != TH_CHECK_ENDED)
        add_death(setting, in_time, status);
    snprintf(file, sizeof file, "%.*s", (int)strcspn(setting->tracer, "=,"), setting->tracer);
    th_check_races_read(file, add_race);
    return page;
}
