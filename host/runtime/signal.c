/*
 * Signals: actions of processes on each other. Signals arrive in the mailbox, in order with
 * messages, and the receiving process acts on them between two functions. So there is one order,
 * that of a BEAM, and a process needs no lock but its mailbox's. A thread outside sends requests in
 * the same way.
 *
 * Both sides record a link, and each side may remove the link, or end, before the other side has
 * learned of it. As in a BEAM:
 *
 *   1. The linking process records the link and sends `link`; the receiver records the link, too.
 *   2. The unlinking process marks the link with a number and sends `unlink` with the number. From
 *      now on it ignores signals over the link. The receiver of `unlink` removes its link and
 *      answers with the number.
 *   3. At the answer the mark is removed if it still has that number: linking once more removes the
 *      mark before, and the answer comes too late.
 *   4. While the link is marked, a `link` of the other side is ignored, too: it was sent before the
 *      other side got `unlink`, which then removes the link there.
 *
 * Monitors are identified by the number of their reference, on both sides. The host's processes
 * without a run queue (the console) never end, so links and monitors of them need no signal.
 */
#include "call_steps.h"
#include "mailbox.h"
#include "process_life.h"

#include "host/code/instance.h"
#include "host/runtime/traced/tracepoint.h"
#include "host/term/compare.h"
#include "host/term/make.h"

/* Returns whether LINK, a value of `links`, is TH_LINKED and not a mark. */
static bool is_active(const void *link)
{
    return link == TH_LINKED;
}

static void *mark(uint64_t number)
{
    return (void *)(uintptr_t)(number << 1);
}

/* `number` of an exit signal over a link to a process that did not exist. */
enum { NOBODY = 1 };

/* --- Links ----------------------------------------------------------------------------------- */

/* Returns whether PID, which has no mailbox, is one of the host's processes that never end. */
static bool is_eternal(th_term pid)
{
    return th_local_pid_serial(pid) >= TH_HOST_SERIAL && th_peer_of(pid) == 0 &&
           th_process_alive(pid);
}

bool th_runtime_process_link(struct th_call *call, th_term pid)
{
    struct th_process *self = call->process;

    if (!th_is_local_pid(pid))
        return false;
    if (!th_runtime_dirty_take(self))
        return true;
    th_traced_tracepoint_about(self, TH_TAG_link, pid);
    if (pid != self->pid && !is_active(th_hash_table_get(&self->links, pid))) {
        th_hash_table_set(&self->links, pid, TH_LINKED);
        if (!th_runtime_signal_send(pid, TH_SIGNAL_LINK, self->pid, 0, TH_NIL) && !is_eternal(pid))
            th_runtime_signal_send(self->pid, TH_SIGNAL_EXIT_LINKED, pid, NOBODY, TH_AM(noproc));
    }
    th_runtime_dirty_let_go(self);
    return true;
}

void th_runtime_process_unlink(struct th_call *call, th_term pid)
{
    struct th_process *self = call->process;
    uint64_t number;

    if (!th_runtime_dirty_take(self))
        return;
    th_traced_tracepoint_about(self, TH_TAG_unlink, pid);
    if (is_active(th_hash_table_get(&self->links, pid))) {
        number = ++self->unlinked;
        th_hash_table_set(&self->links, pid, mark(number));
        if (!th_runtime_signal_send(pid, TH_SIGNAL_UNLINK, self->pid, number, TH_NIL))
            th_hash_table_remove(&self->links, pid); /* its earlier signals find no link */
    }
    th_runtime_dirty_let_go(self);
}

static void on_unlink(struct th_process *self, const struct th_message *signal)
{
    if (is_active(th_hash_table_get(&self->links, signal->from))) {
        th_hash_table_remove(&self->links, signal->from);
        th_traced_tracepoint_about(self, TH_TAG_getting_unlinked, signal->from);
    }
    th_runtime_signal_send(signal->from, TH_SIGNAL_UNLINKED, self->pid, signal->number, TH_NIL);
}

/* --- Exits ----------------------------------------------------------------------------------- */

/* Adds MESSAGE to the inbox and delivers the event `receive`. */
static inline void signal_receive(struct th_process *self, th_term sender,
                                  struct th_message *message)
{
    th_traced_tracepoint_receive(self, sender == TH_NONE ? TH_AM(undefined) : sender,
                                 message->term);
    th_runtime_inbox_add(self, message);
}

/* Adds the message {'EXIT', From, Reason} from SENDER in place of SIGNAL. */
static void trap(struct th_process *self, th_term sender, const struct th_message *signal)
{
    th_env env;

    th_env_init(&env, TH_ENV_PLAIN);
    signal_receive(
        self, sender,
        th_process_message_create_with(
            th_make_tuple_of(&env, TH_AM(EXIT), signal->from, signal->term), signal->token));
    th_env_release(&env);
}

/* Returns true if SIGNAL ends the process. */
static bool on_exit_linked(struct th_process *self, const struct th_message *signal)
{
    if (!is_active(th_hash_table_remove(&self->links, signal->from)))
        return false;
    if (!self->traps_exits && signal->term != TH_AM(normal))
        return true;
    if (signal->number != NOBODY)
        th_traced_tracepoint_about(self, TH_TAG_getting_unlinked, signal->from);
    if (self->traps_exits)
        trap(self, signal->number == NOBODY ? TH_AM(system) : signal->from, signal);
    return false;
}

static bool on_exit_signal(struct th_process *self, struct th_message *signal)
{
    if (signal->term == TH_AM(kill)) {
        signal->term = TH_AM(killed);
        return true;
    }
    if (!self->traps_exits)
        return signal->term != TH_AM(normal) || signal->from == self->pid;
    trap(self, signal->from, signal);
    return false;
}

void th_runtime_process_exit_signal(struct th_call *call, th_term pid, th_term reason)
{
    if (!th_runtime_dirty_take(call->process))
        return;
    th_runtime_signal_send(pid, TH_SIGNAL_EXIT, call->process->pid, 0, reason);
    th_runtime_dirty_let_go(call->process);
}

bool th_runtime_process_trap_exit(struct th_call *call, bool traps)
{
    bool before;

    if (!th_runtime_dirty_take(call->process))
        return false;
    before = call->process->traps_exits;
    call->process->traps_exits = traps;
    th_runtime_dirty_let_go(call->process);
    return before;
}

/* --- Monitors -------------------------------------------------------------------------------- */

static void send_down(th_term to, th_term from, uint64_t number, th_term reason)
{
    th_runtime_signal_send(to, TH_SIGNAL_DOWN, from, number, reason);
}

th_term th_runtime_process_monitor(struct th_call *call, th_term pid)
{
    struct th_process *self = call->process;
    th_term reference = th_make_new_reference(call->env);
    uint64_t number = th_reference_number(reference);

    if (!th_runtime_dirty_take(self))
        return reference;
    th_hash_table_set(&self->monitors, number, (void *)(uintptr_t)pid);
    if (!th_runtime_signal_send(pid, TH_SIGNAL_MONITOR, self->pid, number, TH_NIL) &&
        !is_eternal(pid))
        send_down(self->pid, pid, number, TH_AM(noproc));
    th_runtime_dirty_let_go(self);
    return reference;
}

/* Removes the 'DOWN' message of MONITOR from inbox or mailbox. */
static void signal_flush(struct th_process *self, th_term monitor)
{
    struct th_message **place = &self->inbox;

    th_runtime_mailbox_look(self);
    while (*place) {
        th_term term = (*place)->term;
        bool is_it = *place != self->offered && th_term_is(term, TH_TUPLE) &&
                     th_tuple_arity(term) == 5 && th_tuple_elements(term)[0] == TH_AM(DOWN) &&
                     th_identical(th_tuple_elements(term)[1], monitor);
        if (is_it) {
            th_runtime_inbox_drop(self, place);
            return;
        }
        place = &(*place)->next;
    }
}

bool th_runtime_process_demonitor(struct th_call *call, th_term monitor, bool flushes)
{
    struct th_process *self = call->process;
    uint64_t number = th_reference_number(monitor);
    th_term pid = TH_NONE;

    if (!th_runtime_dirty_take(self))
        return false;
    if (number)
        pid = (th_term)(uintptr_t)th_hash_table_remove(&self->monitors, number);
    if (pid != TH_NONE)
        th_runtime_signal_send(pid, TH_SIGNAL_DEMONITOR, self->pid, number, TH_NIL);
    else if (flushes)
        signal_flush(self, monitor);
    th_runtime_dirty_let_go(self);
    return pid != TH_NONE;
}

/* --- Arrival ---------------------------------------------------------------------------------- */

/* Acts on SIGNAL. Returns true if SIGNAL ends the process. */
static bool act(struct th_process *self, struct th_message *signal)
{
    th_env env;

    switch ((enum th_signal)signal->kind) {
    case TH_SIGNAL_LINK:
        if (!th_hash_table_get(&self->links, signal->from)) {
            th_hash_table_set(&self->links, signal->from, TH_LINKED);
            th_traced_tracepoint_about(self, TH_TAG_getting_linked, signal->from);
        }
        return false;
    case TH_SIGNAL_UNLINK:
        on_unlink(self, signal);
        return false;
    case TH_SIGNAL_UNLINKED:
        if (th_hash_table_get(&self->links, signal->from) == mark(signal->number))
            th_hash_table_remove(&self->links, signal->from);
        return false;
    case TH_SIGNAL_EXIT_LINKED:
        return on_exit_linked(self, signal);
    case TH_SIGNAL_EXIT:
        return on_exit_signal(self, signal);
    case TH_SIGNAL_MONITOR:
        th_hash_table_set(&self->watchers, signal->number, (void *)(uintptr_t)signal->from);
        return false;
    case TH_SIGNAL_DEMONITOR:
        th_hash_table_remove(&self->watchers, signal->number);
        return false;
    case TH_SIGNAL_DOWN:
        if (th_hash_table_remove(&self->monitors, signal->number)) { /* else it was stopped */
            th_env_init(&env, TH_ENV_PLAIN);
            signal_receive(self, signal->from,
                           th_process_message_create(th_make_tuple_of(
                               &env, TH_AM(DOWN), th_make_numbered_reference(&env, signal->number),
                               TH_AM(process), signal->from, signal->term)));
            th_env_release(&env);
        }
        return false;
    case TH_SIGNAL_NAMED:
        th_traced_tracepoint_about(self, (enum th_tracer_tag)signal->number, signal->term);
        return false;
    case TH_SIGNAL_REQUEST:
        th_runtime_request_begin(self, (struct th_request *)(uintptr_t)signal->number);
        return false;
    case TH_SIGNAL_PURGE: /* while a function has the steps, another signal ends the process */
        return !th_runtime_dirty_is_over(self) && th_runtime_steps_are_in(self, signal->number);
    default:
        return true; /* TH_SIGNAL_END */
    }
}

/* Returns the link that the process will have when it acts on SIGNAL, by the rules of the functions
 * above. */
static const void *link_before(const struct th_process *self, const struct th_message *signal)
{
    const void *link = th_hash_table_get(&self->links, signal->from);
    const struct th_message *m = th_process_first(self->mailbox);

    for (; m != signal; m = m->next) {
        if (m->from != signal->from)
            continue;
        if (m->kind == TH_SIGNAL_LINK)
            link = link ? link : TH_LINKED;
        else if (m->kind == TH_SIGNAL_EXIT_LINKED ||
                 (m->kind == TH_SIGNAL_UNLINK && is_active(link)) ||
                 (m->kind == TH_SIGNAL_UNLINKED && link == mark(m->number)))
            link = NULL;
    }
    return link;
}

bool th_runtime_signal_ends(const struct th_process *self, const struct th_message *signal)
{
    switch ((enum th_signal)signal->kind) {
    case TH_SIGNAL_EXIT:
        return signal->term == TH_AM(kill) ||
               (!self->traps_exits && (signal->term != TH_AM(normal) || signal->from == self->pid));
    case TH_SIGNAL_EXIT_LINKED:
        return !self->traps_exits && signal->term != TH_AM(normal) &&
               is_active(link_before(self, signal));
    case TH_SIGNAL_PURGE:
        for (const struct th_call *call = th_self.call; call; call = call->outer)
            if (th_code_callee_is_of(call->callee, signal->number))
                return true;
        return th_runtime_steps_are_in(self, signal->number);
    case TH_SIGNAL_END:
        return true;
    default:
        return false;
    }
}

/* Later mail stays for th_runtime_signals_end(). */
void th_runtime_signals_take(struct th_process *process, struct th_message *mail)
{
    while (mail) {
        struct th_message *next = mail->next;
        if (process->ending)
            th_runtime_inbox_add(process, mail);
        else if (mail->kind == TH_SIGNAL_MESSAGE)
            signal_receive(process, mail->from, mail);
        else if (mail->kind == TH_SIGNAL_FILE || mail->kind == TH_SIGNAL_CODE)
            process->answer = mail;
        else if (act(process, mail))
            process->ending = mail;
        else
            th_process_message_free(mail);
        mail = next;
    }
    if (process->ending)
        process->ending->next = NULL;
    if (process->answer)
        process->answer->next = NULL;
}

/* --- The end --------------------------------------------------------------------------------- */

/* Answers SIGNAL, which came too late. */
static void answer(const struct th_process *self, const struct th_message *signal, th_term reason)
{
    if (signal->kind == TH_SIGNAL_LINK)
        th_runtime_signal_send(signal->from, TH_SIGNAL_EXIT_LINKED, self->pid, 0, TH_AM(noproc));
    else if (signal->kind == TH_SIGNAL_MONITOR)
        send_down(signal->from, self->pid, signal->number, TH_AM(noproc));
    else if (signal->kind == TH_SIGNAL_FILE)
        th_runtime_file_unwanted(signal);
    else if (signal->kind == TH_SIGNAL_REQUEST)
        th_runtime_request_end((struct th_request *)(uintptr_t)signal->number, reason);
}

/* Acts on the remaining `unlink` and `demonitor` signals, whose senders must get nothing more, and
 * on names. */
static void obey_last(struct th_process *self, const struct th_message *rest)
{
    for (; rest; rest = rest->next) {
        if (rest->kind == TH_SIGNAL_UNLINK)
            on_unlink(self, rest);
        else if (rest->kind == TH_SIGNAL_NAMED)
            th_traced_tracepoint_about(self, (enum th_tracer_tag)rest->number, rest->term);
        else if (rest->kind == TH_SIGNAL_DEMONITOR)
            th_hash_table_remove(&self->watchers, rest->number);
    }
}

void th_runtime_signals_end(struct th_process *process, const struct th_host_remains *remains,
                            th_term reason)
{
    struct th_message *rest = remains->mail;
    const struct th_slot *slot;
    size_t position = 0;

    obey_last(process, process->inbox);
    obey_last(process, rest);
    if (remains->name != TH_NONE)
        th_traced_tracepoint_about(process, TH_TAG_unregister, remains->name);
    while ((slot = th_hash_table_next(&process->links, &position)))
        if (is_active(slot->value))
            th_runtime_seq_exit(process, slot->key, reason);
    position = 0;
    while ((slot = th_hash_table_next(&process->watchers, &position)))
        send_down((th_term)(uintptr_t)slot->value, process->pid, slot->key, reason);
    position = 0;
    while ((slot = th_hash_table_next(&process->monitors, &position)))
        th_runtime_signal_send((th_term)(uintptr_t)slot->value, TH_SIGNAL_DEMONITOR, process->pid,
                               slot->key, TH_NIL);
    for (const struct th_message *m = process->inbox; m; m = m->next)
        answer(process, m, reason);
    for (const struct th_message *m = rest; m; m = m->next)
        answer(process, m, reason);
    th_process_messages_free(rest);
}
