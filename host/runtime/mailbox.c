/*
 * Messages: from the mailbox into the process' inbox, and from there to the waiting function.
 *
 * A message is offered as an argument. Only the function's answer shows whether it took the
 * message, or leaves it in the inbox and wants the next one. `offer` is the place in the inbox
 * where the search continues, so that each th_await() looks at each message once.
 */
#include "mailbox.h"

#include "process_life.h"
#include "queue.h"

#include "host/check/check.h"
#include "host/runtime/traced/tracepoint.h"

/* --- Arrival ---------------------------------------------------------------------------------- */

/* Under the mailbox's lock. A process waits for a normal scheduler only. */
static void mailbox_wake(struct th_process *process)
{
    if (process->waiting) {
        process->waiting = false;
        th_runtime_shown_doing(&process->shown, TH_PROCESS_QUEUED);
        th_runtime_run_queue_add(process);
    }
}

void th_runtime_mailbox_wake(void *context, const struct th_message *message)
{
    struct th_process *process = context;

    if (message->kind == TH_SIGNAL_EXIT || message->kind == TH_SIGNAL_EXIT_LINKED ||
        message->kind == TH_SIGNAL_PURGE || message->kind == TH_SIGNAL_END)
        atomic_store_explicit(&process->end_arrived, true, memory_order_relaxed);
    atomic_store_explicit(&process->mail, true, memory_order_relaxed);
    if (__builtin_expect(
            atomic_load_explicit(&process->dirty, memory_order_relaxed) == TH_DIRTY_LET_GO, 0))
        th_runtime_dirty_arrived(process, message);
    mailbox_wake(process);
}

/* Under the mailbox's lock. */
void th_runtime_mailbox_timed_out(void *context)
{
    struct th_process *process = context;

    process->timed_out = true;
    mailbox_wake(process);
}

void th_runtime_inbox_add(struct th_process *process, struct th_message *message)
{
    message->next = NULL;
    *process->inbox_end = message;
    process->inbox_end = &message->next;
    th_runtime_shown_add(&process->shown.inbox, 1);
}

/* `mail` is cleared before the mail is taken, so that nothing is missed. */
void th_runtime_mailbox_look(struct th_process *process)
{
    atomic_store_explicit(&process->mail, false, memory_order_relaxed);
    atomic_store_explicit(&process->end_arrived, false, memory_order_relaxed);
    th_runtime_signals_take(process, th_process_take(process->mailbox));
}

struct fate {
    const struct th_process *process;
    bool ends;
};

/* Under the mailbox's lock. */
static void look_for_end(void *context)
{
    struct fate *fate = context;

    for (const struct th_message *m = th_process_first(fate->process->mailbox); m && !fate->ends;
         m = m->next)
        fate->ends = th_runtime_signal_ends(fate->process, m);
}

/* On a normal scheduler signals wait for the function's end, as in a BEAM: the answer is the state
 * before. */
bool th_runtime_call_process_alive(const th_env *env)
{
    struct th_process *process = th_self.call ? th_self.call->process : NULL;
    struct fate fate = {process, false};

    if (!process || process->pid != env->self ||
        th_self.scheduler->type == ERL_NIF_THR_NORMAL_SCHEDULER)
        return th_process_alive(env->self);
    if (!th_runtime_dirty_take(process))
        return false;
    if (atomic_load_explicit(&process->end_arrived, memory_order_relaxed))
        th_process_with(process->mailbox, look_for_end, &fate);
    th_runtime_dirty_let_go(process);
    return !fate.ends;
}

/* Takes the message at PLACE out of the inbox. */
static struct th_message *mailbox_take_out(struct th_process *process, struct th_message **place)
{
    struct th_message *message = *place;

    *place = message->next;
    if (process->inbox_end == &message->next)
        process->inbox_end = place;
    message->next = NULL;
    th_runtime_shown_add(&process->shown.inbox, (uint64_t)-1);
    return message;
}

void th_runtime_inbox_drop(struct th_process *process, struct th_message **place)
{
    if (process->offer == &(*place)->next)
        process->offer = place;
    th_process_message_free(mailbox_take_out(process, place));
}

/* --- Waiting --------------------------------------------------------------------------------- */

/* Under the mailbox's lock. */
static bool begin_to_wait(void *context)
{
    struct th_process *process = context;

    process->waiting = !process->timed_out;
    if (process->waiting)
        th_runtime_shown_doing(&process->shown, TH_PROCESS_WAITING);
    return process->waiting;
}

/* The process is scheduled out before another thread can use it. */
bool th_runtime_mailbox_wait(struct th_process *process)
{
    struct th_message *mail;

    th_traced_tracepoint_out(process);
    th_runtime_process_show(process);
    atomic_store_explicit(&process->mail, false, memory_order_relaxed);
    atomic_store_explicit(&process->end_arrived, false, memory_order_relaxed);
    if (th_process_take_or(process->mailbox, &mail, begin_to_wait))
        return false;
    th_traced_tracepoint_in(process);
    th_runtime_signals_take(process, mail);
    return true;
}

/* Returns TERM of a message as the function gets it: a copy while the checker is on. */
static th_term argument_of(struct th_process *process, th_term term)
{
    return th_check_on() ? th_copy(process->env, term) : term;
}

bool th_runtime_mailbox_await(struct th_process *process,
                              void (*go_on)(struct th_process *process,
                                            const struct th_message *answer))
{
    struct th_message *answer;

    while (!process->answer) {
        if (!th_runtime_mailbox_wait(process))
            return false;
        if (process->ending)
            return true;
    }
    answer = process->answer;
    process->answer = NULL;
    go_on(process, answer);
    process->next.step = TH_STEP_RUN;
    process->next.argv[0] = argument_of(process, answer->term);
    th_runtime_heap_attach(process, answer);
    return true;
}

/* --- Offering -------------------------------------------------------------------------------- */

/* Takes the offered message out of the inbox. */
static struct th_message *mailbox_receive(struct th_process *process)
{
    struct th_message *message = mailbox_take_out(process, process->offer);

    if (TH_PROBE_ENABLED(message__receive))
        th_traced_probe_receive(process, message);
    process->receive_probed = false;
    return message;
}

/* Offers the next message, or the timeout. */
static void mailbox_offer(struct th_process *process)
{
    struct th_continuation *next = &process->next;

    process->timed_out = false;
    process->offered = *process->offer;
    if (!process->offered)
        process->offer = &process->inbox;
    if (next->step == TH_STEP_RECEIVE) {
        if (process->offered)
            process->request->message = mailbox_receive(process);
        process->offered = NULL;
        th_runtime_request_finish(process, TH_CALL_RETURNED, TH_NONE);
        return;
    }
    process->offered_to = *next;
    process->receive_probed = false;
    next->step = TH_STEP_RUN;
    if (!process->offered) {
        th_traced_tracepoint_receive(process, TH_AM(clock_service), TH_AM(timeout));
        return;
    }
    next->argv[0] = argument_of(process, process->offered->term);
    process->seq_changed =
        process->seq.set || process->seq.tag || process->offered->token != TH_NONE;
    if (process->seq_changed) {
        process->seq_before = process->seq;
        process->seq.label = NULL;
        process->seq.tag = th_runtime_tag_copy(&process->seq_before);
        th_runtime_seq_receive(process, process->offered->token);
        process->seq_untold = process->seq.set;
    }
}

bool th_runtime_mailbox_offer(struct th_process *process)
{
    const int64_t deadline = process->next.deadline;

    th_runtime_timer_stop(process);
    if (!*process->offer && atomic_load_explicit(&process->mail, memory_order_relaxed))
        th_runtime_mailbox_look(process);
    if (process->ending)
        return true;
    if (!*process->offer && !process->timed_out &&
        (deadline < 0 || (deadline > 0 && deadline > th_runtime_timer_now()))) {
        if (deadline > 0)
            th_runtime_timer_start(process, deadline);
        return th_runtime_mailbox_wait(process);
    }
    mailbox_offer(process);
    return true;
}

void th_runtime_mailbox_offered(struct th_process *process)
{
    struct th_message *message = process->offered;
    bool skipped = process->next.step == TH_STEP_SKIP;

    if (!skipped)
        th_runtime_seq_taken(process);
    process->seq_untold = false;
    process->offered = NULL;
    if (process->seq_changed) { /* the message's token stays only if the message was taken */
        process->seq_changed = false;
        th_runtime_seq_release(skipped ? &process->seq : &process->seq_before);
        if (skipped)
            process->seq = process->seq_before;
    }
    if (skipped) {
        process->next = process->offered_to;
        process->next.argv[0] = TH_NONE;
        process->offer = &message->next;
        return;
    }
    th_runtime_heap_attach(process, mailbox_receive(process));
    process->offer = &process->inbox;
}
