/*
 * The view's thread: reads counts, draws, and handles keys.
 *
 * Only this thread uses the model and the screen. The thread is woken by a signal or
 * th_cli_interrupt_stop() (interrupt.h), th_top_wait() and th_top_end().
 */
#include "top.h"

#include "top_terminal.h"
#include "top_view.h"

#include "host/base/buffer.h"
#include "host/cli/interrupt.h"
#include "host/cli/options/trace_options.h"
#include "host/cli/progress_line.h"
#include "host/cli/subcommand.h"
#include "host/control/commands/commands.h"
#include "host/control/commands/session_options.h"
#include "host/crash/crash.h"
#include "host/replay/reader.h"
#include "host/runtime/runtime.h"
#include "host/term/clock.h"
#include "host/trace/live/live.h"
#include "host/trace/pattern.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

/* --- Counting --------------------------------------------------------------------------------- */

enum { COUNTS = TH_BP_COUNT | TH_BP_TIME };

static bool clears(const struct th_control_pattern_option *option)
{
    return option->spec && strcmp(option->spec, "false") == 0;
}

/* Returns the part of a -p that needs a tracer; NULL: none. */
static const char *for_tracers(const struct th_control_pattern_option *option)
{
    if (option->object != TH_PATTERN_FUNCTIONS)
        return "messages";
    if (option->kind_list && option->kinds & ~(uint32_t)COUNTS)
        return "a --kind other than count and time";
    if (option->spec && !clears(option))
        return "--match-spec";
    if (option->returns || option->exceptions)
        return "--return and --exception";
    return option->callers ? "--caller" : NULL;
}

enum th_status th_top_check(const struct th_trace_options *options)
{
    const struct th_control_session_option *first = &options->sessions.items[0];
    const char *loose = first->flag_list ? "--flags" : first->chosen;

    for (size_t i = 0; i < first->patterns.count && !loose; i++)
        loose = for_tracers(&first->patterns.items[i]);
    if (loose && !first->tracer_count)
        return th_error_raise(
            TH_USAGE, "--top only counts calls and their time: for %s, give a tracer with -t",
            loose);
    return th_top_terminal_check();
}

/* Makes SESSION count the functions of the -p before all --session, or all functions. With
 * --kind=count alone, no time is measured, as that costs more. */
static enum th_status top_count(const struct th_trace_options *options, struct th_session *session)
{
    static const struct th_pattern any = {.arity = TH_ANY_ARITY};
    const struct th_control_pattern_options *patterns = &options->sessions.items[0].patterns;
    bool named = false;

    for (size_t i = 0; i < patterns->count; i++) {
        const struct th_control_pattern_option *option = &patterns->items[i];
        uint32_t kinds = option->kind_list ? option->kinds & COUNTS : 0;
        th_term spec = clears(option) ? TH_AM(false) : TH_AM(true);
        if (option->object != TH_PATTERN_FUNCTIONS)
            continue;
        if (th_trace_session_function(session, &option->pattern, spec, kinds ? kinds : COUNTS,
                                      NULL) != TH_OK)
            return th_error_context("--top cannot count -p %s", option->text);
        named = true;
    }
    return named ? TH_OK : th_trace_session_function(session, &any, TH_AM(true), COUNTS, NULL);
}

/* --- Losses ----------------------------------------------------------------------------------- */

static void add_untold(struct th_buffer *line, uint64_t top_count, const char *what)
{
    if (!top_count)
        return;
    th_buffer_add_text(line, line->size ? ", " : "missing: ");
    th_buffer_printf(line, "%llu %s", (unsigned long long)top_count, what);
}

/* --- A run ------------------------------------------------------------------------------------ */

struct half_seen {
    const struct th_session *session;
    uint64_t functions;
};

static void top_see(void *context, const struct th_function_info *function)
{
    struct half_seen *seen = context;
    struct th_bp_info info;

    if (!function->live || function->local ||
        !th_trace_session_function_info(seen->session, &function->name, &info))
        return;
    seen->functions += (info.kinds & TH_BP_COUNTING) != 0;
    th_breakpoint_info_free(&info);
}

static void about_run(const struct th_session *session, const struct th_tracing *tracing,
                      struct th_buffer lines[])
{
    unsigned schedulers = th_runtime_threads().schedulers;
    size_t processes = th_runtime_processes();
    struct th_live_counts counts = th_live_counts(tracing);
    struct half_seen seen = {.session = session};

    th_trace_functions(tracing, top_see, &seen);
    th_buffer_printf(&lines[0], "%zu process%s, %u scheduler%s", processes,
                     processes == 1 ? "" : "es", schedulers, th_log_plural(schedulers));
    if (seen.functions)
        th_buffer_printf(&lines[0], ", %llu functions counted for calls from other modules only",
                         (unsigned long long)seen.functions);
    add_untold(&lines[1], counts.suppressed, "calls and events that callbacks caused");
    add_untold(&lines[1], counts.strangers, "calls timed, of threads that run no process");
    add_untold(&lines[1], th_runtime_calls_not_kept(),
               "ends of calls, as too many calls were open");
}

/* --- A replay --------------------------------------------------------------------------------- */

/* Written by the thread that replays, read by the view's thread; the lock keeps them consistent. */
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static char title[256];
static struct th_reader_info place; /* only its counts are valid later */
/* The view's thread: the values at its last reading. */
static uint64_t records_before;
static int64_t looked;

static void note_place(const char *name, const struct th_reader_info *info)
{
    pthread_mutex_lock(&lock);
    snprintf(title, sizeof title, "%s", name);
    if (info->records < place.records) /* another stream */
        records_before = 0;
    place = *info;
    pthread_mutex_unlock(&lock);
}

static void about_replay(const struct th_session *session, const struct th_tracing *tracing,
                         struct th_buffer lines[])
{
    uint64_t untimed = th_trace_session_pattern_counts(session).untimed;

    int64_t now = th_clock_real_monotonic();
    double seconds = (double)(now - looked) / 1e9;

    (void)tracing;
    pthread_mutex_lock(&lock);
    th_cli_progress_print_place(&lines[0], place.bytes, place.size);
    th_buffer_printf(&lines[0], ", %llu records, ", (unsigned long long)place.records);
    th_top_print_number(
        &lines[0], looked && seconds > 0 ? (double)(place.records - records_before) / seconds : 0);
    looked = now;
    records_before = place.records;
    th_buffer_printf(&lines[0], "/s: %s", title);
    add_untold(&lines[1], place.drops, "events that the recorder dropped");
    add_untold(&lines[1], place.gaps, "gaps of events");
    add_untold(&lines[1], place.malformed + place.damages, "places that are damaged");
    pthread_mutex_unlock(&lock);
    add_untold(&lines[1], untimed, "times of calls that have no time stamp");
}

/* --- The view --------------------------------------------------------------------------------- */

static struct top {
    const char *command;
    struct th_tracing *tracing;
    const struct th_trace_options *options;
    struct th_session *session;
    void (*about)(const struct th_session *session, const struct th_tracing *tracing,
                  struct th_buffer lines[]);
    pthread_mutex_t lock; /* guards the end of the thread */
    pthread_t thread;
    bool begun; /* begun and not ended; guarded by `lock` */
    /* Relaxed, as no other data depends on them: the time at which all was played (0: not yet); the
     * request to end; the screen was left. */
    _Atomic int64_t played;
    atomic_bool ending, left;

    /* Used by the view's thread only. */
    struct th_top_model model;
    struct th_buffer about_lines[TH_TOP_ABOUT];
    int64_t began; /* start of the shown counts */
    int64_t next;  /* time of the next reading */
    size_t first;  /* index of the first shown row */
    bool paused, ended;
} top = {.lock = PTHREAD_MUTEX_INITIALIZER};

/* --- Readings --------------------------------------------------------------------------------- */

static void read_function(void *context, const struct th_mfa *function,
                          const struct th_bp_info *info)
{
    struct th_top_counted counted = {.calls = info->calls};
    uint64_t timed = 0;

    (void)context;
    for (size_t i = 0; i < info->time_count; i++) {
        timed += info->time[i].calls;
        counted.time += info->time[i].amount;
    }
    if (!(info->kinds & TH_BP_COUNT))
        counted.calls = timed;
    th_top_model_add(&top.model, function, &counted, info->kinds & TH_BP_TIME);
}

static void read_counts(int64_t now)
{
    for (size_t i = 0; i < TH_TOP_ABOUT; i++)
        top.about_lines[i].size = 0;
    top.about(top.session, top.tracing, top.about_lines);
    th_top_model_begin(&top.model, now);
    th_trace_session_functions(top.session, read_function, NULL);
    th_top_model_end(&top.model);
    top.next = now + top.options->top;
}

/* --- The screen ------------------------------------------------------------------------------- */

static struct th_top_view top_look(void)
{
    struct winsize size = th_top_terminal_size();
    int64_t played = atomic_load_explicit(&top.played, memory_order_relaxed);
    struct th_top_view view = {
        .command = top.command,
        .model = &top.model,
        .elapsed = (played ? played : th_clock_real_monotonic()) - top.began,
        .paused = top.paused,
        .ended = top.ended,
        .width = size.ws_col,
        .height = size.ws_row,
    };

    for (size_t i = 0; i < TH_TOP_ABOUT; i++)
        view.about[i] = th_buffer_text(&top.about_lines[i]);
    if (view.elapsed < 0) /* restarted after the end of the replay */
        view.elapsed = 0;
    if (top.first > th_top_view_last(&view))
        top.first = th_top_view_last(&view);
    view.first = top.first;
    return view;
}

/* Draws each line in its place. A line is cleared before it is written: clearing after a line of
 * full width would erase its last character. The number of lines is the screen's height. */
static void draw(void)
{
    const char *reversed = getenv("NO_COLOR") ? "" : "\033[7m";
    struct th_top_view view = top_look();
    struct th_buffer text = {0}, frame = {0};
    size_t heading = th_top_view_print(&text, &view);
    const char *lines = th_buffer_text(&text);

    th_buffer_add_text(&frame, "\033[H");
    for (size_t i = 0; *lines; i++) {
        size_t length = strcspn(lines, "\n");
        th_buffer_printf(&frame, "%s%s\033[K", i > 0 ? "\r\n" : "", i == heading ? reversed : "");
        th_buffer_add(&frame, lines, length);
        th_buffer_add_text(&frame, i == heading ? "\033[m" : "");
        lines += length + 1;
    }
    th_top_terminal_draw(frame.data, frame.size);
    th_buffer_free(&frame);
    th_buffer_free(&text);
}

/* --- Keys ------------------------------------------------------------------------------------- */

static void scroll(int key)
{
    struct th_top_view view = top_look();
    size_t page = th_top_view_rows(&view), last = th_top_view_last(&view);
    size_t step = key == TH_KEY_PAGE_UP || key == TH_KEY_PAGE_DOWN ? page : 1;

    if (key == TH_KEY_HOME || key == TH_KEY_END)
        top.first = key == TH_KEY_HOME ? 0 : last;
    else if (key == TH_KEY_UP || key == TH_KEY_PAGE_UP || key == 'k')
        top.first -= top.first < step ? top.first : step;
    else
        top.first = top.first + step < last ? top.first + step : last;
}

static void top_obey(int key)
{
    switch (key) {
    case 'q':
        th_cli_interrupt_stop();
        return;
    case 'c':
    case 't':
        th_top_model_sort(&top.model, key == 'c' ? TH_TOP_BY_CALLS : TH_TOP_BY_TIME);
        top.first = 0;
        return;
    case 'r':
        if (!top.ended)
            read_counts(th_clock_real_monotonic());
        th_top_model_restart(&top.model);
        top.began = top.model.now;
        return;
    case 'p':
        top.paused = !top.paused;
        if (!top.paused)
            top.next = 0;
        return;
    case 'j':
    case 'k':
    case TH_KEY_UP ... TH_KEY_END:
        scroll(key);
        return;
    }
}

/* --- The thread ------------------------------------------------------------------------------- */

static void *top_watch(void *context)
{
    struct th_terminal_news news = {0};

    (void)context;
    while (!news.gone && !th_cli_interrupt_came() &&
           !atomic_load_explicit(&top.ending, memory_order_relaxed)) {
        int64_t now = th_clock_real_monotonic();
        if (!top.ended && atomic_load_explicit(&top.played, memory_order_relaxed)) {
            top.ended = true;
            top.next = 0; /* the last counts are read at once */
        }
        if (top.next == 0 || (!top.paused && now >= top.next))
            read_counts(now);
        draw();
        th_top_terminal_wait(top.paused ? INT64_MAX : top.next, &news);
        for (size_t done = 0, used = 0; done < news.key_count; done += used)
            top_obey(th_top_key_read(news.keys + done, news.key_count - done, &used));
    }
    th_top_terminal_leave();
    atomic_store_explicit(&top.left, true, memory_order_relaxed);
    th_cli_interrupt_wake();
    return NULL;
}

/* --- For the commands ------------------------------------------------------------------------- */

enum th_status th_top_begin(const struct th_control_host *host,
                            const struct th_trace_options *options)
{
    struct th_session_setup made = {.name = "--top", .state = TH_NIL, .flags = TH_FLAG_CALL};
    enum th_status status;

    if (!options->top)
        return TH_OK;
    top.command = host->program;
    top.tracing = host->tracing;
    top.options = options;
    top.about = options->live ? about_run : about_replay;
    top.began = th_clock_real_monotonic();
    if (!options->live)
        status = th_trace_session_attach(host->tracing, &made, &top.session);
    else if ((status = th_trace_session_create(host->tracing, &made, &top.session)) == TH_OK)
        status = th_trace_session_trace(top.session, TH_PROCESSES_ALL, true, TH_FLAG_CALL);
    if (status == TH_OK)
        status = top_count(options, top.session);
    if (status == TH_OK)
        status = th_top_terminal_enter();
    if (status != TH_OK)
        return status;

    /* From here on only the start of the thread may fail. */
    th_crash_set_restore(th_top_terminal_leave);
    th_cli_interrupt_report(th_top_terminal_wake);
    th_cli_progress_divert(note_place);
    status = th_cli_thread_start(&top.thread, top_watch, NULL);
    top.begun = status == TH_OK;
    if (!top.begun)
        th_top_terminal_leave();
    return status;
}

void th_top_wait(void)
{
    if (!top.begun)
        return;
    atomic_store_explicit(&top.played, th_clock_real_monotonic(), memory_order_relaxed);
    th_top_terminal_wake();
    while (!th_cli_interrupt_came() && !atomic_load_explicit(&top.left, memory_order_relaxed))
        th_cli_interrupt_wait(INT64_MAX);
}

void th_top_end(void)
{
    pthread_mutex_lock(&top.lock);
    if (top.begun) {
        top.begun = false;
        atomic_store_explicit(&top.ending, true, memory_order_relaxed);
        th_top_terminal_wake();
        pthread_join(top.thread, NULL);
        th_crash_set_restore(NULL);
        th_cli_interrupt_report(NULL);
        th_cli_progress_divert(NULL);
        th_top_model_free(&top.model);
        for (size_t i = 0; i < TH_TOP_ABOUT; i++)
            th_buffer_free(&top.about_lines[i]);
    }
    pthread_mutex_unlock(&top.lock);
}
