/*
 * The host's own processes, each in a slot.
 *
 * The receiver gets a message under the slot's lock. A message for a mailbox is copied before, so
 * that a slow copy delays only its sender.
 */
#include "process_internal.h"

#include "host/base/memory.h"
#include "host/probe/probe.h"
#include "host/term/make.h"
#include "host/term/text.h"

#include <limits.h>

/* --- Messages: a term with all its parts in one piece of memory ------------------------------- */

static size_t message_words(th_term term)
{
    return th_is_immediate(term) ? 0 : th_term_words(term);
}

static th_term copy_to(struct th_message *message, th_term *words, size_t count, th_term term)
{
    return count ? th_copy_into(words, count, &message->offheap, term) : term;
}

struct th_message *th_process_message_create_with(th_term term, th_term token)
{
    size_t words = message_words(term);
    size_t more = token == TH_NONE ? 0 : message_words(token);
    size_t all = words + more;
    struct th_message *message = th_alloc(sizeof *message + all * sizeof message->words[0]);

    TH_PROBE(copy__struct, (uint32_t)all);
    *message = (struct th_message){.words_count = all < UINT_MAX ? (unsigned)all : UINT_MAX};
    message->term = copy_to(message, message->words, words, term);
    message->token = copy_to(message, message->words + words, more, token);
    return message;
}

struct th_message *th_process_message_create(th_term term)
{
    return th_process_message_create_with(term, TH_NONE);
}

void th_process_message_free(struct th_message *message)
{
    struct th_offheap *share = message->offheap;

    while (share) {
        struct th_offheap *next = share->next;
        share->release(share);
        share = next;
    }
    th_free(message);
}

void th_process_messages_free(struct th_message *messages)
{
    while (messages) {
        struct th_message *next = messages->next;
        th_process_message_free(messages);
        messages = next;
    }
}

/* Converts T for the `int` of a probe. */
static int probe_number_of(th_term t)
{
    int64_t number = 0;

    th_get_int64(t, &number);
    return (int)number;
}

struct th_message_numbers th_process_message_numbers(th_term term, th_term token)
{
    struct th_message_numbers numbers = {.words = (uint32_t)message_words(term)};

    /* A token that travels with a user tag is {Tag, Token}. */
    if (token != TH_NONE && th_term_is(token, TH_TUPLE) && th_tuple_arity(token) == 2)
        token = th_tuple_elements(token)[1];
    if (token != TH_NONE && th_term_is(token, TH_TUPLE) && th_tuple_arity(token) == 5) {
        const th_term *parts = th_tuple_elements(token);

        numbers.label = th_is_small(parts[1]) ? probe_number_of(parts[1]) : 0;
        numbers.previous = probe_number_of(parts[4]);
        numbers.serial = probe_number_of(parts[2]);
    }
    return numbers;
}

/* --- Slots ------------------------------------------------------------------------------------ */

_Static_assert((TH_HOST_SERIAL & (TH_HOST_SERIAL - 1)) == 0, "some bits tell later serials");

struct th_mailbox *_Atomic th_process_host_pages[TH_HOST_MOST / TH_HOST_PAGE];

/* Guards the free slots and the making of new ones; no lock is taken under it. */
static pthread_mutex_t slots_lock = PTHREAD_MUTEX_INITIALIZER;
static uint32_t slot_count;
static struct th_mailbox *free_slots;

/* Returns a free slot. No thread uses the slot's lock before the slot has an identifier. */
static struct th_mailbox *take_slot(void)
{
    struct th_mailbox *slot, *page;
    uint32_t index;

    pthread_mutex_lock(&slots_lock);
    slot = free_slots;
    if (slot) {
        free_slots = slot->next_free;
    } else {
        index = slot_count++;
        if (index >= TH_HOST_MOST)
            th_bug("more than %d processes and ports of the host", TH_HOST_MOST);
        if (index % TH_HOST_PAGE == 0) {
            page = th_alloc_zero(TH_HOST_PAGE * sizeof *page);
            atomic_store_explicit(&th_process_host_pages[index / TH_HOST_PAGE], page,
                                  memory_order_release);
        }
        page = atomic_load_explicit(&th_process_host_pages[index / TH_HOST_PAGE],
                                    memory_order_relaxed);
        slot = &page[index % TH_HOST_PAGE];
        pthread_mutex_init(&slot->lock, NULL);
        slot->index = index;
    }
    pthread_mutex_unlock(&slots_lock);
    return slot;
}

/* Returns the slot at INDEX; NULL if there are fewer slots. */
static struct th_mailbox *host_process_slot_at(uint32_t index)
{
    struct th_mailbox *page;
    bool there;

    pthread_mutex_lock(&slots_lock);
    there = index < slot_count;
    pthread_mutex_unlock(&slots_lock);
    if (!there)
        return NULL;
    page = atomic_load_explicit(&th_process_host_pages[index / TH_HOST_PAGE], memory_order_acquire);
    return &page[index % TH_HOST_PAGE];
}

/* --- Mailboxes -------------------------------------------------------------------------------- */

static bool is_here(struct th_mailbox *slot, th_term id)
{
    return atomic_load_explicit(&slot->id, memory_order_relaxed) == id;
}

/* Number of messages in the mailbox, and of those taken out but not received. Under the lock. */
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

/* Fires the probe message__queued. Under the lock, as the receiver may free MESSAGE afterwards. */
static __attribute__((cold, noinline)) void report_queued(const struct th_mailbox *slot, th_term id,
                                                          const struct th_message *message)
{
    struct th_message_numbers numbers = th_process_message_numbers(message->term, message->token);
    char receiver[TH_PROBE_TEXT];

    if (message->kind == 0 && message->from != id)
        TH_PROBE(message__queued, th_text_fit(receiver, sizeof receiver, id), numbers.words,
                 (uint32_t)length_of_queue(slot), numbers.label, numbers.previous, numbers.serial);
}

/* Returns whether PID runs and has a mailbox. */
static bool has_mailbox(th_term pid)
{
    return th_process_host_life(pid) == TH_HOST_RUNNING &&
           atomic_load_explicit(&th_process_slot_of(pid)->has_mailbox, memory_order_relaxed);
}

bool th_process_enqueue(th_term pid, struct th_message *message)
{
    struct th_mailbox *slot = th_process_slot_of(pid);
    bool here = has_mailbox(pid);

    if (here) {
        pthread_mutex_lock(&slot->lock);
        here = is_here(slot, pid);
        if (here) {
            bool was_empty = !slot->first;
            *slot->last = message;
            slot->last = &message->next;
            slot->mail_count++;
            if (TH_PROBE_ENABLED(message__queued))
                report_queued(slot, pid, message);
            if (was_empty || message->kind)
                slot->arrived(slot->context, message);
        }
        pthread_mutex_unlock(&slot->lock);
    }
    if (!here)
        th_process_message_free(message);
    return here;
}

bool th_process_receive(th_term id, th_term message)
{
    struct th_mailbox *slot = th_process_slot_of(id);
    bool here;

    pthread_mutex_lock(&slot->lock);
    here = is_here(slot, id) && slot->receive;
    if (here)
        slot->receive(slot->context, message);
    pthread_mutex_unlock(&slot->lock);
    return here;
}

static _Atomic uint64_t dropped; /* relaxed: a count, read at the end */

/* Messages to recorded processes have no reader. */
bool th_process_send_from(th_term pid, th_term message, th_term token, th_term from)
{
    enum th_host_life life = th_is_local_pid(pid) ? th_process_host_life(pid) : TH_HOST_STOPPED;
    struct th_message *copy;

    if (life == TH_HOST_STOPPED || (life == TH_HOST_NEVER && th_process_life_ended(pid)))
        return false;
    if (life == TH_HOST_NEVER) {
        atomic_fetch_add_explicit(&dropped, 1, memory_order_relaxed);
        return true;
    }
    if (!atomic_load_explicit(&th_process_slot_of(pid)->has_mailbox, memory_order_relaxed))
        return th_process_receive(pid, message);
    copy = th_process_message_create_with(message, token);
    copy->from = from;
    return th_process_enqueue(pid, copy);
}

bool th_process_send(th_term pid, th_term message)
{
    return th_process_send_from(pid, message, TH_NONE, TH_NONE);
}

bool th_process_send_message(th_term pid, struct th_message *message)
{
    bool sent;

    if (has_mailbox(pid))
        return th_process_enqueue(pid, message);
    sent = th_process_send(pid, message->term);
    th_process_message_free(message);
    return sent;
}

uint64_t th_process_mail_dropped(void)
{
    return atomic_load_explicit(&dropped, memory_order_relaxed);
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

/* Empties the mailbox and returns its messages. Under the lock. */
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
    struct th_mailbox *slot = take_slot();
    uint32_t serial = atomic_load_explicit(&slot->serial, memory_order_relaxed);
    uint64_t later;
    th_term id;

    pthread_mutex_lock(&slot->lock);
    serial = serial ? serial + 1 : TH_HOST_SERIAL;
    later = serial - TH_HOST_SERIAL;
    id = kind == TH_HOST_PROCESS
             ? th_local_pid(slot->index + 1, serial)
             : th_local_port(TH_HOST_PORT_ID + (later << TH_HOST_INDEX_BITS | slot->index));
    atomic_store_explicit(&slot->serial, serial, memory_order_relaxed);
    slot->receive = receive;
    slot->arrived = arrived;
    slot->context = context;
    slot->kept = kept;
    slot->observed = false;
    take_mailbox(slot);
    atomic_store_explicit(&slot->has_mailbox, arrived != NULL, memory_order_relaxed);
    atomic_store_explicit(&slot->id, id, memory_order_release);
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

bool th_process_observe(th_term id)
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
        slot->observed = true;
    pthread_mutex_unlock(&slot->lock);
    return here;
}

bool th_process_take_or(struct th_mailbox *process, struct th_message **mail,
                        bool (*wait)(void *context))
{
    bool waits = false;

    pthread_mutex_lock(&process->lock);
    *mail = take_mailbox(process);
    if (!*mail && wait)
        waits = wait(process->context);
    pthread_mutex_unlock(&process->lock);
    return waits;
}

struct th_message *th_process_take(struct th_mailbox *process)
{
    struct th_message *mail;

    th_process_take_or(process, &mail, NULL);
    return mail;
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

    for (uint32_t index = 0; (slot = host_process_slot_at(index)); index++) {
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
    remains->observed = process->observed;
    pthread_mutex_unlock(&process->lock);
    remains->name = remains->observed ? th_process_names_end(id) : TH_NONE;
    if (atomic_load_explicit(&process->serial, memory_order_relaxed) < TH_PID_SERIAL_MAX) {
        pthread_mutex_lock(&slots_lock); /* else it stays unused: identifiers are unique */
        process->next_free = free_slots;
        free_slots = process;
        pthread_mutex_unlock(&slots_lock);
    }
    return id;
}

void th_process_leave(struct th_mailbox *process, th_term reason, struct th_host_remains *remains)
{
    th_term id = th_process_die(process, remains);

    if (remains->observed)
        th_process_monitors_fire(id, reason);
}

void th_process_exit(struct th_mailbox *process, th_term reason)
{
    struct th_host_remains remains;

    th_process_leave(process, reason, &remains);
    th_process_messages_free(remains.mail);
}
