/*
 * Where what happens to processes fires USDT probes. Inner header of runtime/.
 *
 * Each is a test of the probe's semaphore; what the probe tells is made behind it, out of line. By
 * the thread that runs the process, or makes it. No callbacks run, so that it does not matter who
 * is told first, the tracers or the probes.
 */
#ifndef TH_PROBED_H
#define TH_PROBED_H

#include "host/runtime/runtime_internal.h"

#include "host/probe/probe.h"

#define TH_PROBED_TELLER __attribute__((cold, noinline))

/* PROCESS sends MESSAGE to TO. After its token was counted up for it. */
void th_traced_probe_send(struct th_process *process, th_term to, th_term message) TH_PROBED_TELLER;
static inline void th_traced_probed_send(struct th_process *process, th_term to, th_term message)
{
    if (TH_PROBE_ENABLED(message__send))
        th_traced_probe_send(process, to, message);
}

/*
 * It has received MESSAGE, which is out of the inbox. Whether one is taken that was offered is
 * known when the function that has it returns; but if that sends or spawns before, the message was
 * received before: th_traced_probed_taken(), as th_runtime_seq_taken() of tokens.
 */
void th_traced_probe_receive(struct th_process *process,
                             const struct th_message *message) TH_PROBED_TELLER;
static inline void th_traced_probed_receive(struct th_process *process,
                                            const struct th_message *message)
{
    if (TH_PROBE_ENABLED(message__receive))
        th_traced_probe_receive(process, message);
}
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
static inline void th_traced_probed_exit(const struct th_process *process, th_term reason)
{
    if (TH_PROBE_ENABLED(process__exit))
        th_traced_probe_exit(process, reason);
}

/* FROM (TH_NONE: the host) sends TO a signal that may end it. */
void th_traced_probe_exit_signal(th_term from, th_term to, th_term reason) TH_PROBED_TELLER;
static inline void th_traced_probed_exit_signal(th_term from, th_term to, th_term reason)
{
    if (TH_PROBE_ENABLED(process__exit_signal))
        th_traced_probe_exit_signal(from, to, reason);
}

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
static inline void th_traced_probed_room(const struct th_process *process, size_t before,
                                         size_t after)
{
    if (TH_PROBE_ENABLED(process__heap_grow) || TH_PROBE_ENABLED(process__heap_shrink))
        th_traced_probe_room(process, before, after);
}

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

/* In CALL, FUNCTION is called by C code, and ends with a value. */
void th_traced_probe_local(const struct th_call *call,
                           const struct th_mfa *function) TH_PROBED_TELLER;
void th_traced_probe_local_return(const struct th_call *call,
                                  const struct th_mfa *function) TH_PROBED_TELLER;

/* The code of CALL is entered, and has returned; what it was called for has ended with a value. */
void th_traced_probe_enter(const struct th_call *call) TH_PROBED_TELLER;
void th_traced_probe_leave(const struct th_call *call) TH_PROBED_TELLER;
void th_traced_probe_return(const struct th_call *call) TH_PROBED_TELLER;
static inline void th_traced_probed_enter(const struct th_call *call)
{
    if (TH_PROBE_ENABLED(nif__entry))
        th_traced_probe_enter(call);
}
static inline void th_traced_probed_leave(const struct th_call *call)
{
    if (TH_PROBE_ENABLED(nif__return))
        th_traced_probe_leave(call);
}
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

#endif
