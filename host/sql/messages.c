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

#define MESSAGE_COLUMNS(X)              \
    X(recording, TEXT, RECORDING)       \
    X(record, INTEGER, NOTHING)         \
    X(sent, INTEGER, NOTHING)           \
    X(clock, TEXT, NOTHING)             \
    X(sender, TEXT, NOTHING)            \
    X(receiver, TEXT, NOTHING)          \
    X(destination, TEXT, NOTHING)       \
    X(tag, TEXT, NOTHING)               \
    X(message, TEXT, NOTHING)           \
    X(received, INTEGER, NOTHING)       \
    X(receive_record, INTEGER, NOTHING) \
    X(latency, INTEGER, NOTHING)

enum { MESSAGE_COLUMNS(TH_SQL_COLUMN_ENUM) MESSAGE_COLUMN_COUNT };
static const struct th_sql_column message_columns[] = {MESSAGE_COLUMNS(TH_SQL_COLUMN_ROW)};

struct message {
    struct message *next;          /* of the same queue */
    struct message *older, *newer; /* of all that wait */
    struct waiting *queue;
    uint64_t record;
    struct th_event_time sent;
    struct th_sql_tracee sender;
    th_term receiver;            /* a word; TH_NONE: unknown */
    bool dead;                   /* there was no such process */
    bool unique;                 /* contains a reference */
    char *destination, *content; /* texts; NULL: not asked for */
    uint64_t receive_record;     /* 0: none */
    struct th_event_time received;
};

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
    struct message row; /* rest(): the row */
    bool told;
};

static void free_message(void *row)
{
    struct message *message = row;

    th_free(message->sender.text);
    th_free(message->destination);
    th_free(message->content);
}

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
    uint64_t key = key_of_message(hash, message->receiver);
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

    free_message(&messages->row);
    while (messages->oldest) {
        struct message *message = take_oldest_message(messages);
        free_message(message);
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

/* Returns whether TO is a process or port of another node, which receives nothing here. */
static bool is_of_other_node(th_term to)
{
    return (th_is_pid(to) || th_is_port(to)) && !th_is_immediate(to);
}

static void take_send(struct th_sql_cursor *cursor)
{
    struct messages *messages = cursor->state;
    const struct th_event *event = &cursor->event;
    struct message *message = th_alloc_zero(sizeof *message);

    message->record = event->number;
    message->sent = event->time;
    message->sender = th_sql_tracee_of(cursor, event->tracee);
    message->receiver = find_receiver(cursor, event->extra);
    message->dead = event->tag == TH_TAG_send_to_non_existing_process;
    message->unique = th_trace_message_has_reference(event->term);
    if (th_sql_uses(cursor, COLUMN_destination) || th_sql_uses(cursor, COLUMN_receiver))
        message->destination = th_sql_text_of(cursor, event->extra);
    if (th_sql_uses(cursor, COLUMN_message))
        message->content = th_sql_text_of(cursor, event->term);
    messages->forgotten += messages->count >= TH_CALL_ENDS_MOST;
    if (message->dead || is_of_other_node(event->extra) || messages->count >= TH_CALL_ENDS_MOST)
        queue_message(cursor, message);
    else
        add_waiting(messages, message, th_internal_hash(event->term, 0), sender_of(event));
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
        message->receiver = event->tracee;
        message->receive_record = event->number;
        message->received = event->time;
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

static const void *waiting_message(struct th_sql_cursor *cursor)
{
    struct messages *messages = cursor->state;
    struct message *message;

    if (!messages->told)
        th_sql_scan_tell(cursor, "messages whose receipts are not known, as too many were waiting",
                         messages->forgotten);
    messages->told = true;
    free_message(&messages->row);
    messages->row = (struct message){0};
    if (!messages->oldest)
        return NULL;
    message = take_oldest_message(messages);
    messages->row = *message;
    th_free(message);
    return &messages->row;
}

/* The receiver, if it is known to be a process or port. */
static void receiver_column(struct th_sql_cursor *cursor, sqlite3_context *context,
                            const struct message *message)
{
    const char *to = message->destination;

    if (message->receiver != TH_NONE)
        th_sql_cell_term(cursor, context, message->receiver);
    else if (to && (to[0] == '<' || strncmp(to, "#Port", 5) == 0) && to[1] != '<')
        th_sql_cell_text(context, to);
}

static void message_column(struct th_sql_cursor *cursor, sqlite3_context *context, int column)
{
    const struct message *message = cursor->row;
    int64_t ns;

    switch (column) {
    case COLUMN_recording:
        th_sql_cell_recording(cursor, context);
        break;
    case COLUMN_record:
        sqlite3_result_int64(context, (sqlite3_int64)message->record);
        break;
    case COLUMN_sent:
        th_sql_cell_time(context, &message->sent);
        break;
    case COLUMN_clock:
        th_sql_cell_clock(context, &message->sent);
        break;
    case COLUMN_sender:
        th_sql_cell_tracee(cursor, context, &message->sender);
        break;
    case COLUMN_receiver:
        receiver_column(cursor, context, message);
        break;
    case COLUMN_destination:
        th_sql_cell_text(context, message->destination);
        break;
    case COLUMN_tag:
        th_sql_cell_constant(context, message->dead ? "send_to_non_existing_process" : "send");
        break;
    case COLUMN_message:
        th_sql_cell_text(context, message->content);
        break;
    case COLUMN_received:
        th_sql_cell_time(context, &message->received);
        break;
    case COLUMN_receive_record:
        if (message->receive_record)
            sqlite3_result_int64(context, (sqlite3_int64)message->receive_record);
        break;
    case COLUMN_latency:
        if (message->receive_record && th_sql_time_between(&message->sent, &message->received, &ns))
            sqlite3_result_int64(context, ns);
        break;
    }
}

static uint64_t message_number(const struct th_sql_cursor *cursor)
{
    return ((const struct message *)cursor->row)->record;
}

const struct th_sql_table th_sql_messages = {.name = "messages",
                                             .columns = message_columns,
                                             .count = MESSAGE_COLUMN_COUNT,
                                             .row_size = sizeof(struct message),
                                             .begin = begin_messages,
                                             .take = take_message_record,
                                             .rest = waiting_message,
                                             .end = end_messages,
                                             .free_row = free_message,
                                             .number = message_number,
                                             .column = message_column};
