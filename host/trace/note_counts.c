/* Counts of breakpoints that a node has counted itself: notes {tracehost, counts, _}. */
#include "pattern_internal.h"
#include "tracing.h"

#include "host/term/make.h"

/* Calls that a node has counted. */
struct noted_count {
    enum th_bp_kind kind;
    uint64_t process; /* of TH_BP_TIME */
    uint64_t calls;
    int64_t ns;
};

/* Adds to the breakpoint of SESSION at SITE what it lacks of COUNT: its own hits are among the node's. */
static void raise_count(struct th_site *site, struct th_bp_session *session,
                        const struct th_bp_info *info, struct noted_count count)
{
    if (count.kind == TH_BP_COUNT)
        count.calls = count.calls > info->calls ? count.calls - info->calls : 0;
    for (size_t i = 0; count.kind == TH_BP_TIME && i < info->time_count; i++)
        if (info->time[i].process == count.process) {
            count.calls -= info->time[i].calls;
            count.ns -= info->time[i].amount;
        }
    th_breakpoint_account_more(site, session, count.kind, count.process, count.calls, count.ns);
}

static void give_count(struct th_tracing *tracing, struct th_site *site, struct noted_count count)
{
    struct th_session *session;
    struct th_bp_info info;

    for (size_t i = 0; (session = th_trace_next(tracing, &i));) {
        struct th_session_breakpoints *own = th_trace_session_breakpoints(session);
        if (!own || !th_breakpoint_info(site, &own->base, &info))
            continue;
        if (info.active & count.kind)
            raise_count(site, &own->base, &info, count);
        th_breakpoint_info_free(&info);
    }
}

/* Takes {Pid, Calls, Seconds, Microseconds}. */
static void take_process_time(struct th_tracing *tracing, struct th_site *site, th_term time)
{
    struct noted_count count = {.kind = TH_BP_TIME};
    const th_term *e;
    int64_t s, us;

    if (!th_is_tuple(time) || th_tuple_arity(time) != 4)
        return;
    e = th_tuple_elements(time);
    count.process = e[0];
    if (!th_is_local_pid(e[0]) || !th_get_uint64(e[1], &count.calls) || !th_get_int64(e[2], &s) ||
        !th_get_int64(e[3], &us) || __builtin_mul_overflow(s, 1000000000, &count.ns) ||
        __builtin_mul_overflow(us, 1000, &us) || __builtin_add_overflow(count.ns, us, &count.ns))
        return;
    give_count(tracing, site, count);
}

/* Takes {{M, F, A}, call_count, Calls} or {{M, F, A}, call_time, [Time]}. */
static void take_counter(struct th_tracing *tracing, th_term counter)
{
    struct noted_count count = {.kind = TH_BP_COUNT};
    struct th_function_sites *function;
    const th_term *e;
    struct th_mfa name;

    if (!th_is_tuple(counter) || th_tuple_arity(counter) != 3)
        return;
    e = th_tuple_elements(counter);
    if (!th_trace_event_function_from_term(e[0], &name))
        return;
    function = th_trace_patterns_meet(tracing, &name);
    atomic_store_explicit(&function->called, true, memory_order_relaxed); /* guards no data */
    if (th_get_uint64(e[2], &count.calls))
        give_count(tracing, function->site, count);
    for (th_term times = e[2]; th_is_list(times); times = th_cell(times)[1])
        take_process_time(tracing, function->site, th_cell(times)[0]);
}

void th_trace_note_counts(struct th_tracing *tracing, th_term counters)
{
    for (; th_is_list(counters); counters = th_cell(counters)[1])
        take_counter(tracing, th_cell(counters)[0]);
}
