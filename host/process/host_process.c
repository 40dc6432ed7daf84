/*
 * The host's own processes: each has a slot.
 *
 * A message is given to the receiver under the slot's lock. For a mailbox it is copied before that,
 * so that what is large or slow to copy holds up its sender only.
 */
#include "process_internal.h"

#include "host/probe/probe.h"

static bool is_here(struct th_mailbox *slot, th_term id)
{
    return atomic_load_explicit(&slot->id, memory_order_relaxed) == id;
}

/* What is in the mailbox, and what was taken out of it but not received. Under the lock. */
static uint64_t length_of_queue(const struct th_mailbox *slot)
{
    return slot->mail_count +
           (slot->kept ? atomic_load_explicit(slot->kept, memory_order_relaxed) : 0);
}

uint64_t th_process_queue(struct th_mailbox *process)
{
    uint64_t length;

    pthread_mutex_lock(&process->lock);
    length = length_of_queue(process);
    pthread_mutex_unlock(&process->lock);
    return length;
}

/* The probe message__queued. Under the lock, as the receiver may take and free MESSAGE then. */
static __attribute__((cold, noinline)) void tell_queued(const struct th_mailbox *slot, th_term id,
                                                        const struct th_message *message)
{
    struct th_message_numbers numbers = th_process_message_numbers(message);
    char receiver[TH_PROBE_TEXT];

    if (message->kind == 0 && message->from != id)
        TH_PROBE(message__queued, th_text_fit(receiver, sizeof receiver, id), numbers.words,
                 (uint32_t)length_of_queue(slot), numbers.label, numbers.previous, numbers.serial);
}

static bool put_into_mailbox(struct th_mailbox *slot, th_term id, struct th_message *message)
{
    bool here;

    pthread_mutex_lock(&slot->lock);
    here = is_here(slot, id);
    if (here) {
        bool was_empty = !slot->first;
        *slot->last = message;
        slot->last = &message->next;
        slot->mail_count++;
        if (TH_PROBE_ENABLED(message__queued))
            tell_queued(slot, id, message);
        if (was_empty || message->kind)
            slot->arrived(slot->context, message);
    }
    pthread_mutex_unlock(&slot->lock);
    if (!here)
        th_process_message_free(message);
    return here;
}

bool th_process_post(th_term pid, struct th_message *message)
{
    struct th_mailbox *slot = th_process_slot_of(pid);

    if (th_process_host_life(pid) == TH_HOST_RUNNING &&
        atomic_load_explicit(&slot->has_mailbox, memory_order_relaxed))
        return put_into_mailbox(slot, pid, message);
    th_process_message_free(message);
    return false;
}

static bool receive_at(struct th_mailbox *slot, th_term id, th_term message)
{
    bool here;

    pthread_mutex_lock(&slot->lock);
    here = is_here(slot, id) && slot->receive;
    if (here)
        slot->receive(slot->context, message);
    pthread_mutex_unlock(&slot->lock);
    return here;
}

bool th_process_deliver(th_term id, th_term message, th_term from)
{
    struct th_mailbox *slot = th_process_slot_of(id);

    if (th_process_host_life(id) != TH_HOST_RUNNING)
        return false;
    if (atomic_load_explicit(&slot->has_mailbox, memory_order_relaxed)) {
        struct th_message *copy = th_process_message_create(message);
        copy->from = from;
        return put_into_mailbox(slot, id, copy);
    }
    return receive_at(slot, id, message);
}

bool th_process_host_port_takes(th_term id)
{
    struct th_mailbox *slot = th_process_slot_of(id);
    bool takes;

    if (!th_is_local_port(id) || th_process_host_life(id) != TH_HOST_RUNNING)
        return false;
    pthread_mutex_lock(&slot->lock);
    takes = is_here(slot, id) && slot->receive;
    pthread_mutex_unlock(&slot->lock);
    return takes;
}

/* What the mailbox holds; it is empty then. Under the lock. */
static struct th_message *take_mailbox(struct th_mailbox *slot)
{
    struct th_message *first = slot->first;

    slot->first = NULL;
    slot->last = &slot->first;
    slot->mail_count = 0;
    return first;
}

uint64_t th_process_mail(th_term pid)
{
    return th_process_slot_of(pid)->mail_count;
}

static struct th_mailbox *start_in_slot(enum th_host_kind kind,
                                        void (*receive)(void *context, th_term message),
                                        th_host_arrived *arrived, void *context,
                                        const _Atomic uint64_t *kept)
{
    struct th_mailbox *slot = th_process_slot_take();

    pthread_mutex_lock(&slot->lock);
    slot->receive = receive;
    slot->arrived = arrived;
    slot->context = context;
    slot->kept = kept;
    slot->attended = false;
    take_mailbox(slot);
    atomic_store_explicit(&slot->has_mailbox, arrived != NULL, memory_order_relaxed);
    atomic_store_explicit(&slot->id, th_process_slot_next_id(slot, kind), memory_order_release);
    pthread_mutex_unlock(&slot->lock);
    return slot;
}

struct th_mailbox *th_process_start(void (*receive)(void *context, th_term message), void *context)
{
    return start_in_slot(TH_HOST_PROCESS, receive, NULL, context, NULL);
}

struct th_mailbox *th_process_start_mailbox(th_host_arrived *arrived, void *context,
                                            const _Atomic uint64_t *kept)
{
    return start_in_slot(TH_HOST_PROCESS, NULL, arrived, context, kept);
}

struct th_mailbox *th_process_host_port_start(void (*receive)(void *context, th_term command),
                                              void *context)
{
    return start_in_slot(TH_HOST_PORT, receive, NULL, context, NULL);
}

th_term th_process_pid(const struct th_mailbox *process)
{
    return atomic_load_explicit(&process->id, memory_order_relaxed);
}

bool th_process_attend(th_term id)
{
    enum th_host_life life = th_process_host_life(id);
    struct th_mailbox *slot;
    bool here;

    if (life != TH_HOST_RUNNING)
        return life == TH_HOST_NEVER;
    slot = th_process_slot_of(id);
    pthread_mutex_lock(&slot->lock);
    here = is_here(slot, id);
    if (here)
        slot->attended = true;
    pthread_mutex_unlock(&slot->lock);
    return here;
}

struct th_message *th_process_take(struct th_mailbox *process)
{
    struct th_message *mail;

    pthread_mutex_lock(&process->lock);
    mail = take_mailbox(process);
    pthread_mutex_unlock(&process->lock);
    return mail;
}

bool th_process_take_or(struct th_mailbox *process, struct th_message **mail,
                        bool (*wait)(void *context))
{
    bool waits = false;

    pthread_mutex_lock(&process->lock);
    *mail = take_mailbox(process);
    if (!*mail)
        waits = wait(process->context);
    pthread_mutex_unlock(&process->lock);
    return waits;
}

const struct th_message *th_process_first(const struct th_mailbox *process)
{
    return process->first;
}

void th_process_with(struct th_mailbox *process, void (*called)(void *context), void *context)
{
    pthread_mutex_lock(&process->lock);
    called(context);
    pthread_mutex_unlock(&process->lock);
}

void th_process_each(th_host_arrived *arrived, void (*seen)(void *context, void *what, th_term pid),
                     void *context)
{
    struct th_mailbox *slot;

    for (uint32_t index = 0; (slot = th_process_slot_at(index)); index++) {
        pthread_mutex_lock(&slot->lock);
        if (!is_here(slot, TH_NONE) && slot->arrived == arrived)
            seen(context, slot->context, th_process_pid(slot));
        pthread_mutex_unlock(&slot->lock);
    }
}

th_term th_process_die(struct th_mailbox *process, struct th_host_remains *remains)
{
    th_term id;

    pthread_mutex_lock(&process->lock);
    id = atomic_load_explicit(&process->id, memory_order_relaxed);
    atomic_store_explicit(&process->id, TH_NONE, memory_order_release);
    remains->mail = take_mailbox(process);
    remains->attended = process->attended;
    pthread_mutex_unlock(&process->lock);
    remains->name = remains->attended ? th_process_names_end(id) : TH_NONE;
    th_process_slot_give(process);
    return id;
}

void th_process_leave(struct th_mailbox *process, th_term reason, struct th_host_remains *remains)
{
    th_term id = th_process_die(process, remains);

    if (remains->attended)
        th_process_monitors_fire(id, reason);
}

void th_process_exit(struct th_mailbox *process, th_term reason)
{
    struct th_host_remains remains;

    th_process_leave(process, reason, &remains);
    while (remains.mail) {
        struct th_message *next = remains.mail->next;
        th_process_message_free(remains.mail);
        remains.mail = next;
    }
}

void th_process_stop(struct th_mailbox *process)
{
    th_process_exit(process, TH_AM(normal));
}

/* --- Mail: nobody reads what goes to recorded processes ----------------------------------------
 */

static _Atomic uint64_t dropped; /* relaxed: a count, read when all is done */

bool th_process_mail_send_from(th_term pid, th_term message, th_term from)
{
    if (!th_is_local_pid(pid))
        return false;
    if (th_process_host_life(pid) != TH_HOST_NEVER)
        return th_process_deliver(pid, message, from);
    if (th_process_life_ended(pid))
        return false;
    atomic_fetch_add_explicit(&dropped, 1, memory_order_relaxed);
    return true;
}

bool th_process_mail_send(th_term pid, th_term message)
{
    return th_process_mail_send_from(pid, message, TH_NONE);
}

uint64_t th_process_mail_dropped(void)
{
    return atomic_load_explicit(&dropped, memory_order_relaxed);
}
