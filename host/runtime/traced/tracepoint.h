/*
 * Tracepoints: places where changes of processes become events of trace/. Inner header of runtime/.
 *
 * Without a tracing, a tracepoint costs a load and a branch. With one, the terms of an event are
 * built only after a tracer has requested the event.
 *
 * `out` is reported before another thread can run the process; so mail may have come meanwhile, and
 * an `in` follows at once. If another process registers or unregisters a name, the process with the
 * name reports the event, when a signal arrives. The order of events was measured in a BEAM.
 *
 * Thread: the thread that runs or creates the process, with no lock held, because callbacks run.
 */
#ifndef TH_TRACEPOINT_H
#define TH_TRACEPOINT_H

#include "host/match/match.h"
#include "host/probe/probe.h"
#include "host/process/process.h"
#include "host/runtime/runtime_internal.h"
#include "host/trace/live/live.h"

struct th_seq;
struct th_process;
struct th_continuation;
struct th_callee;

/* --- USDT probes (probed.c) ------------------------------------------------------------------- */

/*
 * USDT probes of processes.
 *
 * Each function tests the probe's semaphore; the data of the probe are made out of line. No
 * callbacks run, so that the order of tracers and probes does not matter.
 *
 * Thread: the thread that runs or creates the process.
 */

#define TH_PROBED_TELLER __attribute__((cold, noinline))

/* Fires `message-send`.
 * Order: after the token was counted up for MESSAGE. */
void th_traced_probe_send(struct th_process *process, th_term to, th_term message) TH_PROBED_TELLER;

/*
 * Fires `message-receive`, for MESSAGE, which is out of the inbox. Whether an offered message is
 * taken is known when the function returns. If the function sends or spawns before, the message was
 * received before: th_traced_probed_taken() fires the probe early, as th_runtime_seq_taken() does
 * for tokens.
 */
void th_traced_probe_receive(struct th_process *process,
                             const struct th_message *message) TH_PROBED_TELLER;
void th_traced_probed_taken(struct th_process *process) TH_PROBED_TELLER;

/* Fires the probes of a spawn by PARENT (NULL: the host), with the first call of PROCESS and the
 * copy of its arguments. */
void th_traced_probe_spawn(const struct th_process *process) TH_PROBED_TELLER;
void th_traced_probe_copied(const struct th_process *process) TH_PROBED_TELLER;
static inline void th_traced_probed_spawn(const struct th_process *process,
                                          struct th_process *parent)
{
    if (TH_PROBE_ENABLED(copy__object))
        th_traced_probe_copied(process);
    if (TH_PROBE_ENABLED(process__spawn)) {
        if (parent)
            th_traced_probed_taken(parent);
        th_traced_probe_spawn(process);
    }
}

/* Fires `process-exit`. */
void th_traced_probe_exit(const struct th_process *process, th_term reason) TH_PROBED_TELLER;

/* Fires `process-exit_signal`: FROM (TH_NONE: the host) sends TO a signal that may end it. */
void th_traced_probe_exit_signal(th_term from, th_term to, th_term reason) TH_PROBED_TELLER;

/* Fire `process-scheduled`, with the next call, and `process-unscheduled`. */
void th_traced_probe_in(const struct th_process *process) TH_PROBED_TELLER;
void th_traced_probe_out(const struct th_process *process) TH_PROBED_TELLER;
static inline void th_traced_probed_in(const struct th_process *process)
{
    if (TH_PROBE_ENABLED(process__scheduled))
        th_traced_probe_in(process);
}
static inline void th_traced_probed_out(const struct th_process *process)
{
    if (TH_PROBE_ENABLED(process__unscheduled))
        th_traced_probe_out(process);
}

/* Fire the probes of a collection; it has freed WORDS. */
void th_traced_probe_gc_start(const struct th_process *process) TH_PROBED_TELLER;
void th_traced_probe_gc_end(const struct th_process *process, size_t words) TH_PROBED_TELLER;

/* Fires when the bytes allowed until the next collection change from BEFORE to AFTER. */
void th_traced_probe_room(const struct th_process *process, size_t before,
                          size_t after) TH_PROBED_TELLER;

/* --- Functions --- */

/* Fires for an external call of CALLEE. OUTER made the nested call that it belongs to; NULL: depth
 * 0. */
void th_traced_probe_external(const struct th_process *process, const struct th_callee *callee,
                              const struct th_call *outer) TH_PROBED_TELLER;
static inline void th_traced_probed_external(const struct th_process *process,
                                             const struct th_callee *callee,
                                             const struct th_call *outer)
{
    if (TH_PROBE_ENABLED(global__function__entry))
        th_traced_probe_external(process, callee, outer);
}

/* Fires when C code in CALL calls FUNCTION, or if ENDS when that call ends with a value. */
void th_traced_probe_local(const struct th_call *call, const struct th_mfa *function,
                           bool ends) TH_PROBED_TELLER;

/* th_traced_probe_code(): fires when the code of CALL is entered or has returned.
 * th_traced_probe_return(): fires when the function that CALL was made for ends with a value. */
void th_traced_probe_code(const struct th_call *call, bool entered) TH_PROBED_TELLER;
void th_traced_probe_return(const struct th_call *call) TH_PROBED_TELLER;
static inline void th_traced_probed_return(const struct th_call *call)
{
    if (TH_PROBE_ENABLED(function__return))
        th_traced_probe_return(call);
}

/* --- Ports --- */

/* PROCESS is the pid of the acting process, or an atom. */
void th_traced_probed_port_open(th_term process, const char *name, th_term port);
void th_traced_probed_port_command(th_term process, th_term port);
void th_traced_probed_port_exit(th_term process, th_term port, const char *name, th_term reason);

static inline bool th_traced_tracepoint_is_there(const struct th_process *process)
{
    return __builtin_expect(process->live.traced.tracing != NULL, 0);
}

/* Returns whether a session may want events with TAG of PROCESS; a hint. */
static inline bool th_traced_tracepoint_is_wanted(const struct th_process *process,
                                                  enum th_tracer_tag tag)
{
    return th_traced_tracepoint_is_there(process) && th_live_is_wanted(&process->live, tag);
}

/* Returns the tracing that the runtime was started with; NULL: none. */
struct th_tracing *th_runtime_tracing(void);

/* th_traced_tracepoint_begin(): makes PROCESS known to the tracing, before other threads can use
 * it. th_traced_tracepoint_end(): reports `out_exited` and ends that. */
void th_traced_tracepoint_begin(struct th_process *process, struct th_process *parent, bool linked);
void th_traced_tracepoint_end(struct th_process *process);

/* Reports `out_exited` while a function of PROCESS still runs; no event of PROCESS follows.
 * Order: before th_traced_tracepoint_end(). */
void th_traced_tracepoint_leave(struct th_process *process);

/* Watches names and ports. */
extern const struct th_process_watcher th_traced_tracepoint_watcher;

/* Forgets ports that are still open when the runtime stops. */
void th_traced_tracepoint_ports_end(void);

/* Stores the name of the function that NEXT calls in *NAME; a continuation has the name of its
 * function. Returns false if NEXT calls none. */
bool th_traced_next_name(const struct th_continuation *next, struct th_mfa *name);

/* Operations of match specifications on a process (struct th_live_tracee). */
extern const struct th_match_operations th_traced_process_asked;

/* --- Events, by their tags ------------------------------------------------------------------- */

/* Reports an event of TAG with existing terms, TERM and EXTRA (TH_NONE: none). */
void th_traced_tracepoint_report(struct th_process *process, enum th_tracer_tag tag, th_term term,
                                 th_term extra);

/* Reports an event of a TAG whose term is an identifier, a name or a reason. */
static inline void th_traced_tracepoint_about(struct th_process *process, enum th_tracer_tag tag,
                                              th_term term)
{
    if (th_traced_tracepoint_is_wanted(process, tag))
        th_traced_tracepoint_report(process, tag, term, TH_NONE);
}

/* Reports `receive`. SENDER: see struct th_live_event. */
void th_traced_tracepoint_report_receive(struct th_process *process, th_term sender,
                                         th_term message);
static inline void th_traced_tracepoint_receive(struct th_process *process, th_term sender,
                                                th_term message)
{
    if (th_traced_tracepoint_is_wanted(process, TH_TAG_receive))
        th_traced_tracepoint_report_receive(process, sender, message);
}

/* Reports spawn and spawned, and if LINKED link and getting_linked. The next step of CHILD is its
 * first call. */
void th_traced_tracepoint_spawn(struct th_process *parent, struct th_process *child, bool linked);

/* Report `in` and `out`, with the next call of the process. */
void th_traced_tracepoint_report_in(struct th_process *process);
void th_traced_tracepoint_report_out(struct th_process *process);
static inline void th_traced_tracepoint_in(struct th_process *process)
{
    th_traced_probed_in(process);
    if (th_traced_tracepoint_is_there(process))
        th_traced_tracepoint_report_in(process);
}
static inline void th_traced_tracepoint_out(struct th_process *process)
{
    th_traced_probed_out(process);
    if (th_traced_tracepoint_is_there(process))
        th_traced_tracepoint_report_out(process);
}

/* Reports gc_major_start or gc_major_end. WORDS: needed or reclaimed. */
void th_traced_tracepoint_gc(struct th_process *process, enum th_tracer_tag tag, size_t words);

/*
 * Reports `seq_trace`: PROCESS has sent, received or printed MESSAGE with the token SEQ. ACTION is
 * the name in the event, FROM and TO are its other terms.
 */
void th_traced_tracepoint_seq(struct th_process *process, const struct th_seq *seq, th_term action,
                              th_term from, th_term to, th_term message);

#endif
