/*
 * Tracepoints: where what happens to processes becomes events of trace/. Inner header of runtime/.
 *
 * Without a tracing a tracepoint is a load and a branch. With one, what an event tells is built
 * when a tracer has said that it wants it.
 *
 * All by the thread that runs the process, or that makes it, and with no lock held: callbacks run.
 * `out` is reported before any other thread can run the process; so mail may have come after all,
 * and an `in` follows at once. A name that another process gives or takes is reported by the
 * process that has the name, when a signal tells it. The order of events was measured in a BEAM.
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
 * Where what happens to processes fires USDT probes.
 *
 * Each is a test of the probe's semaphore; what the probe tells is made behind it, out of line. By
 * the thread that runs the process, or makes it. No callbacks run, so that it does not matter who
 * is told first, the tracers or the probes.
 */

#define TH_PROBED_TELLER __attribute__((cold, noinline))

/* PROCESS sends MESSAGE to TO. After its token was counted up for it. */
void th_traced_probe_send(struct th_process *process, th_term to, th_term message) TH_PROBED_TELLER;

/*
 * It has received MESSAGE, which is out of the inbox. Whether one is taken that was offered is
 * known when the function that has it returns; but if that sends or spawns before, the message was
 * received before: th_traced_probed_taken(), as th_runtime_seq_taken() of tokens.
 */
void th_traced_probe_receive(struct th_process *process,
                             const struct th_message *message) TH_PROBED_TELLER;
void th_traced_probed_taken(struct th_process *process) TH_PROBED_TELLER;

/* It was spawned, by PARENT (NULL: the host), with what it does first, and copies of the arguments
 * for that. */
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

/* It ends. */
void th_traced_probe_exit(const struct th_process *process, th_term reason) TH_PROBED_TELLER;

/* FROM (TH_NONE: the host) sends TO a signal that may end it. */
void th_traced_probe_exit_signal(th_term from, th_term to, th_term reason) TH_PROBED_TELLER;

/* It has a thread, with what it does next; it has none. */
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

/* Its heap is collected; has been, which made WORDS free. */
void th_traced_probe_gc_start(const struct th_process *process) TH_PROBED_TELLER;
void th_traced_probe_gc_end(const struct th_process *process, size_t words) TH_PROBED_TELLER;

/* It may have AFTER bytes until the next collection, where it could have BEFORE. */
void th_traced_probe_room(const struct th_process *process, size_t before,
                          size_t after) TH_PROBED_TELLER;

/* --- Functions --- */

/* An external call of CALLEE begins, in a nested call that OUTER has made; NULL: in none. */
void th_traced_probe_external(const struct th_process *process, const struct th_callee *callee,
                              const struct th_call *outer) TH_PROBED_TELLER;
static inline void th_traced_probed_external(const struct th_process *process,
                                             const struct th_callee *callee,
                                             const struct th_call *outer)
{
    if (TH_PROBE_ENABLED(global__function__entry))
        th_traced_probe_external(process, callee, outer);
}

/* In CALL, FUNCTION is called by C code; or that call ends with a value. */
void th_traced_probe_local(const struct th_call *call, const struct th_mfa *function,
                           bool ends) TH_PROBED_TELLER;

/* The code of CALL is entered, and has returned; what it was called for has ended with a value. */
void th_traced_probe_code(const struct th_call *call, bool entered) TH_PROBED_TELLER;
void th_traced_probe_return(const struct th_call *call) TH_PROBED_TELLER;
static inline void th_traced_probed_return(const struct th_call *call)
{
    if (TH_PROBE_ENABLED(function__return))
        th_traced_probe_return(call);
}

/* --- Ports --- */

/* PROCESS is the pid of who does it, or an atom. */
void th_traced_probed_port_open(th_term process, const char *name, th_term port);
void th_traced_probed_port_command(th_term process, th_term port);
void th_traced_probed_port_exit(th_term process, th_term port, const char *name, th_term reason);

static inline bool th_traced_tracepoint_is_there(const struct th_process *process)
{
    return __builtin_expect(process->live.traced.tracing != NULL, 0);
}

/* Perhaps somebody wants events with TAG of PROCESS. */
static inline bool th_traced_tracepoint_is_wanted(const struct th_process *process,
                                                  enum th_tracer_tag tag)
{
    return th_traced_tracepoint_is_there(process) && th_live_is_wanted(&process->live, tag);
}

/* What the runtime was given; NULL: nothing is traced. */
struct th_tracing *th_runtime_tracing(void);

/* PROCESS is there, before anybody else can have it; and it is no more, after its out_exited. */
void th_traced_tracepoint_begin(struct th_process *process, struct th_process *parent, bool linked);
void th_traced_tracepoint_end(struct th_process *process);

/* The same, while a function of PROCESS still runs: no event of it follows. Before
 * th_traced_tracepoint_end(). */
void th_traced_tracepoint_leave(struct th_process *process);

/* Of names, and of ports. */
extern const struct th_process_watcher th_traced_tracepoint_watcher;

/* The runtime stops: ports that are still open are not known any more. */
void th_traced_tracepoint_ports_end(void);

/* The function that NEXT calls; what goes on in a function's place is that function. False: none.
 */
bool th_traced_next_name(const struct th_continuation *next, struct th_mfa *name);

/* What match specifications ask of a process (struct th_live_tracee). */
extern const struct th_match_operations th_traced_process_asked;

/* --- Events, by their tags ------------------------------------------------------------------- */

/* TAG with TERM (and EXTRA, TH_NONE: none), which exist. */
void th_traced_tracepoint_report(struct th_process *process, enum th_tracer_tag tag, th_term term,
                                 th_term extra);

/* The tags whose term is an identifier, a name or a reason. */
static inline void th_traced_tracepoint_about(struct th_process *process, enum th_tracer_tag tag,
                                              th_term term)
{
    if (th_traced_tracepoint_is_wanted(process, tag))
        th_traced_tracepoint_report(process, tag, term, TH_NONE);
}

/* SENDER: see struct th_live_event. */
void th_traced_tracepoint_report_receive(struct th_process *process, th_term sender,
                                         th_term message);
static inline void th_traced_tracepoint_receive(struct th_process *process, th_term sender,
                                                th_term message)
{
    if (th_traced_tracepoint_is_wanted(process, TH_TAG_receive))
        th_traced_tracepoint_report_receive(process, sender, message);
}

/* spawn and spawned, with link and getting_linked. CHILD makes its first call next. */
void th_traced_tracepoint_spawn(struct th_process *parent, struct th_process *child, bool linked);

/* in and out, with what the process does next. */
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

/* gc_major_start, gc_major_end. WORDS: needed, or reclaimed. */
void th_traced_tracepoint_gc(struct th_process *process, enum th_tracer_tag tag, size_t words);

/*
 * seq_trace: the process has sent or received MESSAGE, or printed it, with the token SEQ. ACTION is
 * the event's name, FROM and TO as they stand in it.
 */
void th_traced_tracepoint_seq(struct th_process *process, const struct th_seq *seq, th_term action,
                              th_term from, th_term to, th_term message);

#endif
