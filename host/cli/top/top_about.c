/* What runs or is played, and what is not told: the lines above the functions. */
#include "top.h"
#include "top_view.h"

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
static struct place {
    char title[256];
    uint64_t records, bytes, size, drops, gaps, faults;
    /* The view's: what it saw when it looked last. */
    uint64_t before;
    int64_t looked;
} place;

void th_top_place(const char *title, const struct th_reader_info *info)
{
    pthread_mutex_lock(&lock);
    snprintf(place.title, sizeof place.title, "%s", title);
    if (info->records < place.records) /* another stream */
        place.before = 0;
    place.records = info->records;
    place.bytes = info->bytes;
    place.size = info->size;
    place.drops = info->drops;
    place.gaps = info->gaps;
    place.faults = info->malformed + info->damages;
    pthread_mutex_unlock(&lock);
}

/* Records a second since the last time. */
static double rate(int64_t now)
{
    double seconds = (double)(now - place.looked) / 1e9;
    double records = (double)(place.records - place.before);
    bool known = place.looked && seconds > 0;

    place.looked = now;
    place.before = place.records;
    return known ? records / seconds : 0;
}

static void add_bytes(struct th_buffer *line)
{
    double read = (double)place.bytes / 1e6, size = (double)place.size / 1e6;

    if (place.size)
        th_buffer_printf(line, "%.0f%% of %.1f MB", read < size ? 100 * read / size : 100, size);
    else
        th_buffer_printf(line, "%.1f MB", read);
}

void th_top_about_replay(const struct th_session *session, const struct th_tracing *tracing,
                         struct th_buffer lines[])
{
    uint64_t untimed = th_trace_session_pattern_counts(session).untimed;

    (void)tracing;
    pthread_mutex_lock(&lock);
    add_bytes(&lines[0]);
    th_buffer_printf(&lines[0], ", %llu records, ", (unsigned long long)place.records);
    th_top_print_number(&lines[0], rate(th_clock_real_monotonic()));
    th_buffer_printf(&lines[0], "/s: %s", place.title);
    add_untold(&lines[1], place.drops, "events that the recorder dropped");
    add_untold(&lines[1], place.gaps, "gaps of events");
    add_untold(&lines[1], place.faults, "places that are damaged");
    pthread_mutex_unlock(&lock);
    add_untold(&lines[1], untimed, "times of calls that have no time stamp");
}
