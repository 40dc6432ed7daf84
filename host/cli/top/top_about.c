/* What runs or is played, and what is not told: the lines above the functions. */
#include "top.h"
#include "top_view.h"

#include "host/cli/progress_line.h"
#include "host/runtime/runtime.h"

#include <pthread.h>
#include <string.h>

/* --- what is not told --- */

static void add_untold(struct th_buffer *line, uint64_t count, const char *what)
{
    if (!count)
        return;
    th_buffer_add_text(line, line->size ? ", " : "not told: ");
    th_buffer_printf(line, "%llu %s", (unsigned long long)count, what);
}

/* --- a run --- */

struct half_seen {
    const struct th_session *session;
    uint64_t functions;
};

static void see(void *context, const struct th_function_info *function)
{
    struct half_seen *seen = context;
    struct th_bp_info info;

    if (!function->live || function->local ||
        !th_trace_session_function_info(seen->session, &function->name, &info))
        return;
    seen->functions += (info.kinds & TH_BP_COUNTING) != 0;
    th_breakpoint_info_free(&info);
}

void th_top_about_run(const struct th_session *session, const struct th_tracing *tracing,
                      struct th_buffer lines[])
{
    unsigned schedulers = th_runtime_threads().schedulers;
    size_t processes = th_runtime_processes();
    struct th_live_counts counts = th_live_counts(tracing);
    struct half_seen seen = {.session = session};

    th_trace_functions(tracing, see, &seen);
    th_buffer_printf(&lines[0], "%zu process%s, %u scheduler%s", processes,
                     processes == 1 ? "" : "es", schedulers, th_log_plural(schedulers));
    if (seen.functions)
        th_buffer_printf(&lines[0], ", %llu functions that only calls from other modules tell",
                         (unsigned long long)seen.functions);
    add_untold(&lines[1], counts.suppressed, "calls and events that callbacks caused");
    add_untold(&lines[1], counts.strangers, "calls timed, of threads that run no process");
    add_untold(&lines[1], th_runtime_calls_not_kept(), "ends of calls, as too many were open");
}

/* --- a replay --- */

/* Written by the thread that replays, read by the view's; under the lock, as it belongs together.
 */
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static char title[256];
static struct th_reader_info place; /* only its counts are good later */
/* The view's: what it saw when it looked last. */
static uint64_t records_before;
static int64_t looked;

void th_top_place(const char *name, const struct th_reader_info *info)
{
    pthread_mutex_lock(&lock);
    snprintf(title, sizeof title, "%s", name);
    if (info->records < place.records) /* another stream */
        records_before = 0;
    place = *info;
    pthread_mutex_unlock(&lock);
}

void th_top_about_replay(const struct th_session *session, const struct th_tracing *tracing,
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
