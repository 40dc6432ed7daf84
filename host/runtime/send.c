/* Sending a message: the trace event, the token, the probes, then process/. */
#include "mailbox.h"

#include "host/runtime/traced/tracepoint.h"
#include "host/term/make.h"

static inline void trace_send(struct th_process *process, th_term to, th_term message)
{
    if (th_traced_tracepoint_is_wanted(process, TH_TAG_send))
        th_traced_tracepoint_report(
            process, th_process_alive(to) ? TH_TAG_send : TH_TAG_send_to_non_existing_process,
            message, to);
}

bool th_runtime_process_send(th_env *env, th_term pid, th_term message)
{
    const struct th_call *call = env ? th_runtime_call_of(env) : NULL;
    struct th_process *process = call ? call->process : NULL;
    th_term token;
    bool sent;

    if (!process) {
        /* A tracer's callback sends without an event; during a function the event would be that
         * function's: it is counted. */
        if (__builtin_expect(th_self.call && th_self.attachment, 0))
            trace_send(th_self.call->process, pid, message);
        return th_process_send(pid, message);
    }
    if (!th_runtime_dirty_take(process))
        return false;
    trace_send(process, pid, message);
    token = process->seq.set || process->seq.tag ? th_runtime_seq_send(process, env, pid, message)
                                                 : TH_NONE;
    if (TH_PROBE_ENABLED(message__send))
        th_traced_probe_send(process, pid, message);
    sent = th_process_send_from(pid, message, token, process->pid);
    th_runtime_dirty_let_go(process);
    return sent;
}

static bool send_signal(th_term to, enum th_signal kind, th_term from, uint64_t number,
                        th_term term, th_term token)
{
    struct th_message *signal = th_process_message_create_with(term, token);

    signal->kind = kind;
    signal->from = from;
    signal->number = number;
    if ((kind == TH_SIGNAL_EXIT || kind == TH_SIGNAL_EXIT_LINKED) &&
        TH_PROBE_ENABLED(process__exit_signal))
        th_traced_probe_exit_signal(from, to, term);
    return th_process_enqueue(to, signal);
}

bool th_runtime_signal_send(th_term to, enum th_signal kind, th_term from, uint64_t number,
                            th_term term)
{
    return send_signal(to, kind, from, number, term, TH_NONE);
}

/* The event shows the message that a process which traps exits receives. */
void th_runtime_seq_exit(struct th_process *process, th_term to, th_term reason)
{
    th_term message = TH_NIL, token;
    th_env env;

    th_env_init(&env, TH_ENV_PLAIN);
    if (process->seq.set)
        message = th_make_tuple_of(&env, TH_AM(EXIT), process->pid, reason);
    token = th_runtime_seq_send(process, &env, to, message);
    send_signal(to, TH_SIGNAL_EXIT_LINKED, process->pid, 0, reason, token);
    th_env_release(&env);
}
