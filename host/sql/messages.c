/*
 * The table `messages`: a row for each message that is sent, with its receipt where the recording shows it.
 *
 * A trace message of a receipt does not name the sender. A receipt of a process is that of a message with
 * the same content, in this order:
 *   1. The message was sent to this process, by its pid or by a name that it has registered in the recording.
 *      If several such messages wait, they are from one sender: then the oldest one has arrived. If they are
 *      from several senders, any of them may have arrived: none of them gets a receipt.
 *   2. The message was sent to an alias, or to a name whose owner the recording does not show, contains a
 *      reference, and is the only one with this content.
 * If messages of both sorts wait, none gets a receipt. After a loss of events, no message that was sent before
 * gets one. Content is compared by a hash of 64 bits.
 */
#include "table.h"

#include "host/replay/call_ends.h"
#include "host/term/compare.h"
#include "host/trace/tags.h"

struct message {
    uint64_t record;
    struct message *next;          /* of the same queue */
    struct message *older, *newer; /* of all that wait */
    struct waiting *queue;
    struct th_event_time sent;
    struct th_sql_tracee sender;
    struct th_sql_tracee receiver; /* of another node, a text */
    const char *tag;
    bool unique;                 /* contains a reference */
    char *destination, *content; /* texts; NULL: not asked for */
    uint64_t receive_record;     /* 0: none */
    struct th_event_time received;
    int64_t latency; /* -1: not known */
};

#define ROW message
#define MESSAGE_COLUMNS(X)                                      \
    X(recording, TEXT, RECORDING, RECORDING, record)            \
    X(record, INTEGER, NOTHING, COUNT, record)                  \
    X(sent, INTEGER, NOTHING, TIME, sent)                       \
    X(clock, TEXT, NOTHING, CLOCK, sent)                        \
    X(sender, TEXT, NOTHING, TRACEE, sender)                    \
    X(receiver, TEXT, NOTHING, TRACEE, receiver)                \
    X(destination, TEXT, NOTHING, TEXT, destination)            \
    X(tag, TEXT, NOTHING, CONSTANT, tag)                        \
    X(message, TEXT, NOTHING, TEXT, content)                    \
    X(received, INTEGER, NOTHING, TIME, received)               \
    X(receive_record, INTEGER, NOTHING, NUMBER, receive_record) \
    X(latency, INTEGER, NOTHING, DURATION, latency)

enum { MESSAGE_COLUMNS(TH_SQL_COLUMN_ENUM) MESSAGE_COLUMN_COUNT };
static const struct th_sql_column message_columns[] = {MESSAGE_COLUMNS(TH_SQL_COLUMN_ROW)};

/* Messages with the same content and receiver, in the order of sending. */
struct waiting {
    uint64_t key;
    struct message *first, *last;
    size_t count;
    uint64_t sender; /* of the first one */
    bool mixed;      /* there was a message of another sender since the queue was empty */
};

struct messages {
    struct th_table queues; /* struct waiting by key */
    struct th_table names;  /* words of owners, as pointers, by name */
    struct message *oldest, *newest;
    size_t count;
    uint64_t forgotten;
};

static void begin_messages(struct th_sql_cursor *cursor)
{
    static const enum th_tracer_tag tags[] = {TH_TAG_send, TH_TAG_send_to_non_existing_process,
                                              TH_TAG_receive, TH_TAG_register, TH_TAG_unregister};

    cursor->state = th_alloc_zero(sizeof(struct messages));
    th_sql_window_begin(&cursor->scan);
    cursor->scan.tags = UINT64_C(1) << TH_SQL_TAG_DROP;
    for (size_t i = 0; i < sizeof tags / sizeof tags[0]; i++)
        cursor->scan.tags |= UINT64_C(1) << tags[i];
}

/* --- Messages that wait ----------------------------------------------------------------------- */

/* RECEIVER is TH_NONE for messages whose receiver is unknown. */
static uint64_t key_of_message(uint64_t hash, th_term receiver)
{
    return (hash ^ th_hash_mix(receiver)) | 1;
}

static uint64_t sender_of(const struct th_event *event)
{
    return th_is_immediate(event->tracee) ? event->tracee : th_internal_hash(event->tracee, 0);
}

static void add_waiting(struct messages *messages, struct message *message, uint64_t hash,
                        uint64_t sender)
{
    uint64_t key = key_of_message(hash, message->receiver.word);
    struct waiting *queue = th_hash_table_get(&messages->queues, key);

    if (!queue) {
        queue = th_alloc_zero(sizeof *queue);
        queue->key = key;
        queue->sender = sender;
        th_hash_table_set(&messages->queues, key, queue);
    }
    queue->mixed |= queue->sender != sender;
    queue->count++;
    *(queue->last ? &queue->last->next : &queue->first) = message;
    queue->last = message;
    message->queue = queue;
    message->older = messages->newest;
    *(messages->newest ? &messages->newest->newer : &messages->oldest) = message;
    messages->newest = message;
    messages->count++;
}

/* Takes the first message of QUEUE out of the lists. */
static struct message *take_first_of_queue(struct messages *messages, struct waiting *queue)
{
    struct message *message = queue->first;

    queue->first = message->next;
    if (!queue->first)
        queue->last = NULL;
    if (--queue->count == 0) {
        th_hash_table_remove(&messages->queues, queue->key);
        th_free(queue);
    }
    *(message->older ? &message->older->newer : &messages->oldest) = message->newer;
    *(message->newer ? &message->newer->older : &messages->newest) = message->older;
    messages->count--;
    return message;
}

/* The oldest message of all is the first of its queue. */
static struct message *take_oldest_message(struct messages *messages)
{
    return take_first_of_queue(messages, messages->oldest->queue);
}

static void queue_message(struct th_sql_cursor *cursor, struct message *message)
{
    th_sql_queue(cursor, message);
    th_free(message);
}

static void end_messages(struct th_sql_cursor *cursor)
{
    struct messages *messages = cursor->state;

    while (messages->oldest) {
        struct message *message = take_oldest_message(messages);
        th_sql_row_free(cursor->table, message);
        th_free(message);
    }
    th_hash_table_free(&messages->queues);
    th_hash_table_free(&messages->names);
    th_free(messages);
}

/* --- Records ---------------------------------------------------------------------------------- */

static th_term name_owner(const struct messages *messages, th_term name)
{
    return (th_term)(uintptr_t)th_hash_table_get(&messages->names, name);
}

/* Returns the process or port that gets a message to TO; TH_NONE: unknown. */
static th_term find_receiver(const struct th_sql_cursor *cursor, th_term to)
{
    const struct messages *messages = cursor->state;
    const th_term *e;

    if (th_is_atom(to))
        return name_owner(messages, to);
    if (th_is_tuple(to) && th_tuple_arity(to) == 2) {
        e = th_tuple_elements(to);
        return th_is_atom(e[0]) && e[1] == th_replay_reader_info(cursor->reader)->node.node
                   ? name_owner(messages, e[0])
                   : TH_NONE;
    }
    return th_is_immediate(to) ? to : TH_NONE;
}

/* A process or port of another node is the receiver, though it receives nothing here. */
static struct th_sql_tracee receiver_of(struct th_sql_cursor *cursor, th_term to)
{
    if ((th_is_pid(to) || th_is_port(to)) && !th_is_immediate(to))
        return th_sql_tracee_of(cursor, to);
    return (struct th_sql_tracee){.word = find_receiver(cursor, to)};
}

static void take_send(struct th_sql_cursor *cursor)
{
    struct messages *messages = cursor->state;
    const struct th_event *event = &cursor->event;
    struct message *message = th_alloc_zero(sizeof *message);

    message->record = event->number;
    message->sent = event->time;
    message->sender = th_sql_tracee_of(cursor, event->tracee);
    message->receiver = receiver_of(cursor, event->extra);
    message->tag = th_trace_tag_name(event->tag);
    message->unique = th_trace_message_has_reference(event->term);
    message->latency = -1;
    if (th_sql_uses(cursor, COLUMN_destination))
        message->destination = th_sql_text_of(cursor, event->extra);
    if (th_sql_uses(cursor, COLUMN_message))
        message->content = th_sql_text_of(cursor, event->term);
    messages->forgotten += messages->count >= TH_CALL_ENDS_MOST;
    if (event->tag != TH_TAG_send || message->receiver.text || messages->count >= TH_CALL_ENDS_MOST)
        queue_message(cursor, message);
    else
        add_waiting(messages, message, th_internal_hash(event->term, 0), sender_of(event));
}

/* Returns the nanoseconds between; -1: the times are of several clocks, or in the other order. */
static int64_t time_between(const struct th_event_time *from, const struct th_event_time *to)
{
    int64_t ns;

    if (from->kind == TH_TIME_NONE || to->kind == TH_TIME_NONE ||
        th_trace_time_clock(from->kind) != th_trace_time_clock(to->kind) ||
        __builtin_sub_overflow(to->ns, from->ns, &ns) || ns < 0)
        return -1;
    return ns;
}

static void take_receive(struct th_sql_cursor *cursor)
{
    struct messages *messages = cursor->state;
    const struct th_event *event = &cursor->event;
    uint64_t hash = th_internal_hash(event->term, 0);
    struct waiting *own = th_hash_table_get(&messages->queues, key_of_message(hash, event->tracee));
    struct waiting *other = th_hash_table_get(&messages->queues, key_of_message(hash, TH_NONE));
    bool known = own ? !own->mixed && !other : other && other->count == 1 && other->first->unique;
    struct message *message;

    if (!th_is_immediate(event->tracee) || (!own && !known))
        return;
    message = take_first_of_queue(messages, own ? own : other);
    if (known) {
        message->receiver.word = event->tracee;
        message->receive_record = event->number;
        message->received = event->time;
        message->latency = time_between(&message->sent, &message->received);
    }
    queue_message(cursor, message);
}

static enum th_status take_message_record(struct th_sql_cursor *cursor)
{
    struct messages *messages = cursor->state;
    struct th_event *event = &cursor->event;
    enum th_status status;

    if (event->kind == TH_EVENT_DROP) {
        while (messages->oldest)
            queue_message(cursor, take_oldest_message(messages));
        return TH_OK;
    }
    status = th_trace_event_decode(event, &cursor->env);
    if (status != TH_OK)
        return status;
    if (event->tag == TH_TAG_receive)
        take_receive(cursor);
    else if (event->tag == TH_TAG_register && th_is_atom(event->term) &&
             th_is_immediate(event->tracee))
        th_hash_table_set(&messages->names, event->term, (void *)(uintptr_t)event->tracee);
    else if (event->tag == TH_TAG_unregister && th_is_atom(event->term))
        th_hash_table_remove(&messages->names, event->term);
    else if (event->tag == TH_TAG_send || event->tag == TH_TAG_send_to_non_existing_process)
        take_send(cursor);
    return TH_OK;
}

static bool queue_waiting_message(struct th_sql_cursor *cursor)
{
    struct messages *messages = cursor->state;

    th_sql_scan_tell(cursor, "messages whose receipts are not known, as too many were waiting",
                     messages->forgotten);
    if (!messages->oldest)
        return false;
    queue_message(cursor, take_oldest_message(messages));
    return true;
}

const struct th_sql_table th_sql_messages = {.name = "messages",
                                             .columns = message_columns,
                                             .count = MESSAGE_COLUMN_COUNT,
                                             .row_size = sizeof(struct message),
                                             .begin = begin_messages,
                                             .take = take_message_record,
                                             .rest = queue_waiting_message,
                                             .end = end_messages,
                                             .owns_rows = true};
