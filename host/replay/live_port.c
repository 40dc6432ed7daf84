/*
 * The stream of a connection, where it is not known to stand at a record: at the beginning, as the
 * client before may have left in the middle of one (connection.h), and behind what is no record.
 *
 * A record shows itself by the first bytes of its message: op, size, a tuple whose first element is
 * trace, trace_ts or seq_trace. Drops have too few bytes for that: they are taken for such in front
 * of a message, where the connection begins, and passed over where it has to be searched. The bytes
 * that show it are awaited, and the whole of the first message, which tells the node. A node sends
 * no less at a time, so events are handed on as they come all the same.
 */
#include "reading.h"
#include "trace_port.h"

enum {
    SHOWN = TH_PORT_SHOWN,
    DROPS = 32 /* so many in a row are taken for such; a queue has one at its end, and few more */
};

static bool is_message(const unsigned char *p)
{
    return th_etf_get32(p + 1) <= TH_PORT_LONGEST && th_replay_trace_port_shows_message(p);
}

/* True if there is a message, perhaps behind drops; *AT gets its place. Not if its first bytes do
 * not come any more. */
static bool find_message(struct th_input *input, size_t *at)
{
    *at = 0;
    for (int drops = 0; drops <= DROPS && th_replay_input_have(input, *at + SHOWN); drops++) {
        const unsigned char *p = th_replay_input_bytes(input) + *at;
        if (is_message(p))
            return true;
        if (p[0] != TH_PORT_DROP)
            return false;
        *at += TH_PORT_HEAD;
    }
    return false;
}

/* Passes over what is no message, as far as it is there. */
static void search_message(struct th_input *input)
{
    const unsigned char *begin = th_replay_input_bytes(input);
    const unsigned char *end = begin + th_replay_input_there(input) - SHOWN + 1;
    const unsigned char *p = begin + 1;

    while (p < end && (p = memchr(p, TH_PORT_MESSAGE, (size_t)(end - p))) && !is_message(p))
        p++;
    th_replay_input_take(input, (size_t)((p ? p : end) - begin));
}

/* The node, or somebody else, has closed before a byte came. TH_PARTIAL once. */
static enum th_status closed_at_once(const struct th_reader *reader)
{
    if (reader->connection->again)
        return TH_END;
    th_error_raise(TH_PARTIAL, "a trace port has one client, and sends others away: there may be "
                               "another; or the tracing has ended");
    return th_error_context("the connection was closed before anything came");
}

/* There are too few bytes for a message, and no more come. TH_OK: trace_port.c knows what it is. */
static enum th_status at_end_of_connection(struct th_reader *reader)
{
    struct th_input *input = &reader->input;
    bool empty = th_replay_input_position(input) + th_replay_input_there(input) == 0;

    if (th_replay_reader_check_input(reader) != TH_OK)
        return TH_PARTIAL;
    if (input->stopped || reader->connection->given_up)
        return TH_END;
    if (empty && !reader->connection->lost)
        return closed_at_once(reader);
    if (!reader->connection->sought)
        return empty ? TH_END : TH_OK;
    th_replay_reader_skip_file(reader);
    return TH_END;
}

/* Goes to the next record. TH_OK: the input stands there. */
static enum th_status seek_record(struct th_reader *reader)
{
    struct th_input *input = &reader->input;
    size_t at, size;

    while (!find_message(input, &at)) {
        if (th_replay_input_there(input) < at + SHOWN && input->ended)
            return at_end_of_connection(reader);
        if (!reader->connection->sought) {
            reader->connection->sought = true;
            th_error_raise(TH_PARTIAL, "the client before may have left in the middle of one; or "
                                       "it is no trace port's");
            return th_error_context("the connection begins with byte %u, and not with a record: "
                                    "what comes before the next one is lost",
                                    *th_replay_input_bytes(&reader->input));
        }
        search_message(input);
    }
    size = th_etf_get32(th_replay_input_bytes(input) + at + 1);
    if (size <= reader->options.max_memory)
        th_replay_input_have(input, at + TH_PORT_HEAD + size);
    return TH_OK;
}

/* A connection that was taken up again: perhaps to another node. */
static enum th_status resume_connection(struct th_reader *reader)
{
    const struct th_etf_node before = reader->info.node, *now = &reader->info.node;

    th_replay_trace_port_end(reader);
    th_replay_trace_port_begin(reader);
    th_replay_trace_port_look_for_node(reader);
    /* Nodes without a name have no creation, that would tell one from the next. */
    if (now->node != before.node || now->creation != before.creation || now->creation == 0)
        reader->info.nodes++;
    return th_replay_connection_resume(reader);
}

static enum th_status next_of_connection(struct th_reader *reader, struct th_event *event)
{
    struct th_connection *connection = reader->connection;
    enum th_status status = seek_record(reader);

    if (status == TH_OK && connection->again)
        status = resume_connection(reader);
    if (status != TH_OK)
        return status;
    if (connection->gap) {
        connection->gap = false;
        event->position = th_replay_input_position(&reader->input);
        return th_replay_trace_port_drop(reader, event, 0);
    }
    if (reader->info.node.node == TH_NONE)
        th_replay_trace_port_look_for_node(reader);
    reader->format = &th_trace_port_format;
    return reader->format->next(reader, event);
}

void th_replay_live_port_lose(struct th_reader *reader)
{
    reader->connection->sought = reader->connection->gap = true;
    reader->format = &th_replay_live_port_format;
}

const struct th_reader_format th_replay_live_port_format = {
    .name = "trace-port",
    .begin = th_replay_trace_port_begin,
    .next = next_of_connection,
    .end = th_replay_trace_port_end,
};
