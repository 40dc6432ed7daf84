/*
 * Connections to running nodes: tcp://HOST:PORT.
 *
 * dbg:trace_port(ip, Port) makes a node's driver trace_ip_drv listen at Port, and send trace
 * messages to one client, framed as in files (trace_port.c). According to the driver's source:
 *
 *   - Without a client, messages are queued, also before the first client comes: 200 of them,
 *     unless dbg gives another limit. Nor does the driver wait for a slow client: messages are
 *     queued until the client has read.
 *   - When the queue is full, the driver counts dropped messages in a drop record at the queue's
 *     end.
 *   - A second client is accepted and disconnected at once.
 *   - When a client disconnects, the data in the kernel's buffer is lost, and the queue stays.
 *     If a message was sent in part, the next client gets the rest: so a connection may begin in
 *     the middle of a record.
 *   - When the tracing ends (dbg:stop()), the driver closes the connection and drops its queue.
 *     If a node is killed, its kernel closes the connection.
 *
 * So the reader of a connection first searches for a record (below). A connection that is closed
 * after a whole record has ended in order; a node that was killed at that moment looks the same.
 * Any other end is a stream that is cut off.
 *
 * If th_reader_options.reconnect_ns is set, the reader tries to connect again after an end. A
 * reconnection counts as damage of the stream even if every record came as a whole: data on its way
 * is lost. A drop record of 0 events marks the place, so that call stacks begin anew, as after
 * dropped events. The world of processes and names continues if the node is known to be the same:
 * only a node with a name has a creation, which changes at each start. Otherwise the node may be
 * another one (info.nodes), whose identifiers name other processes; if it is known to be another, a
 * player ends the stream.
 */
#include "replay_internal.h"

#include "host/base/buffer.h"
#include "host/base/error.h"
#include "host/term/clock.h"
#include "host/term/etf_tags.h"
#include "host/trace/event.h"

enum { FIRST_PAUSE_MS = 100, LONGEST_PAUSE_MS = 5000 };

static const int64_t MS = 1000000;
static const double SECOND = 1e9;

/* Tries to connect once. */
static enum th_status connect_once(struct th_reader *reader, int limit_ms)
{
    enum th_status status;
    int fd;

    if (reader->spool) {
        status = th_replay_reader_take_spooled(reader);
    } else {
        status = th_replay_tcp_connect(&reader->connection->address, reader->options.stop, limit_ms,
                                       &fd);
        if (status != TH_MALFORMED)
            th_replay_reader_take_input(reader, fd);
    }
    if (status == TH_MALFORMED)
        return status;
    if (status == TH_END) {
        reader->input.ended = reader->input.stopped = true;
        return TH_END;
    }
    reader->connection->sought = false;
    reader->format = &th_replay_live_port_format;
    return TH_OK;
}

enum th_status th_replay_connection_open(struct th_reader *reader, const char *name)
{
    enum th_status status;

    reader->connection = th_alloc_zero(sizeof *reader->connection);
    reader->format = &th_replay_live_port_format;
    reader->info.format = reader->format->name;
    reader->input = (struct th_input){.fd = -1, .ended = true};
    status = th_replay_tcp_parse(name, &reader->connection->address);
    if (status == TH_OK)
        status = connect_once(reader, reader->options.connect_ms);
    return status == TH_MALFORMED ? status : reader->format->begin(reader);
}

static __attribute__((format(printf, 2, 3))) void tell_notice(const struct th_reader *reader,
                                                              const char *format, ...)
{
    char text[256];
    va_list arguments;

    if (!reader->options.notice)
        return;
    va_start(arguments, format);
    vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    reader->options.notice(reader->options.context, text);
}

/* Tries to connect, with growing pauses, until DEADLINE. */
static enum th_status connect_again(struct th_reader *reader, int64_t deadline)
{
    const struct th_reader_options *options = &reader->options;
    int64_t *pause = &reader->connection->pause;
    int64_t limit = reader->options.connect_ms * MS;
    enum th_status status = th_error_raise(TH_MALFORMED, "the node closed each new connection");
    int64_t left;

    while (status == TH_MALFORMED && (left = deadline - th_clock_real_monotonic()) > 0) {
        int64_t next = deadline - left + (*pause < left ? *pause : left);
        while (th_clock_real_monotonic() < next) {
            if (options->waiting)
                options->waiting(options->context);
            if (!th_replay_tcp_pause(options->stop, next))
                return TH_END;
        }
        *pause = *pause < LONGEST_PAUSE_MS * MS / 2 ? 2 * *pause : LONGEST_PAUSE_MS * MS;
        left = deadline - th_clock_real_monotonic();
        if (left > 0)
            status = connect_once(reader, (int)((limit < left ? limit : left) / MS) + 1);
    }
    return status;
}

enum th_status th_replay_connection_again(struct th_reader *reader)
{
    struct th_connection *connection = reader->connection;
    unsigned long long records = reader->info.records;
    enum th_status status;

    if (reader->options.reconnect_ns == 0 || reader->input.stopped || connection->given_up)
        return TH_END;
    if (!connection->again) { /* otherwise the node closed the new connection at once */
        connection->ended = th_clock_real_monotonic();
        connection->pause = FIRST_PAUSE_MS * MS;
        tell_notice(reader,
                    "the connection was %s after %llu record%s; trying to connect again for %g s",
                    connection->lost ? "lost" : "closed", records, th_log_plural(records),
                    (double)reader->options.reconnect_ns / SECOND);
    }
    status = connect_again(reader, connection->ended + reader->options.reconnect_ns);
    connection->given_up = status != TH_OK;
    if (status == TH_MALFORMED)
        tell_notice(reader, "cannot connect again: %s", th_error_link(0));
    th_error_clear();
    if (status != TH_OK)
        return TH_END;
    connection->again = connection->gap = true;
    return TH_OK;
}

void th_replay_connection_free(struct th_connection *connection)
{
    if (!connection)
        return;
    th_replay_tcp_free(&connection->address);
    th_free(connection);
}

/* --- Finding a record ------------------------------------------------------------------------- */

/*
 * The stream of a connection at a place that may be no record: at the beginning, as the previous
 * client may have left in the middle of a record, and after bytes that are no record.
 *
 * A record is recognised by the first bytes of its message: op, size, and a tuple whose first
 * element is trace, trace_ts or seq_trace. A drop has too few bytes for that: at the beginning of a
 * connection, drops before a message are accepted; in a search they are skipped. The reader waits
 * for the bytes that identify a message, and for the whole first message, which contains the node.
 * A node always sends at least that much, so events are still delivered as they come.
 */

/* Greatest number of drops accepted in a row; a queue ends with one, and few come together. */
enum { DROPS = 32 };

static bool is_message(const unsigned char *p)
{
    return th_etf_get32(p + 1) <= TH_PORT_LONGEST && th_replay_trace_port_shows_message(p);
}

/* Returns true if there is a message, possibly after drops; *AT gets its offset. Returns false also
 * if the input ends before. */
static bool find_message(struct th_input *input, size_t *at)
{
    *at = 0;
    for (int drops = 0; drops <= DROPS && th_replay_input_have(input, *at + TH_PORT_SHOWN);
         drops++) {
        const unsigned char *p = th_replay_input_bytes(input) + *at;
        if (is_message(p))
            return true;
        if (p[0] != TH_PORT_DROP)
            return false;
        *at += TH_PORT_HEAD;
    }
    return false;
}

/* Skips bytes that are no message, as far as they have arrived. */
static void search_message(struct th_input *input)
{
    const unsigned char *begin = th_replay_input_bytes(input);
    const unsigned char *end = begin + th_replay_input_there(input) - TH_PORT_SHOWN + 1;
    const unsigned char *p = begin + 1;

    while (p < end && (p = memchr(p, TH_PORT_MESSAGE, (size_t)(end - p))) && !is_message(p))
        p++;
    th_replay_input_take(input, (size_t)((p ? p : end) - begin));
}

/* Handles the end of the input with too few bytes for a message. TH_OK: trace_port.c handles the
 * rest. */
static enum th_status at_end_of_connection(struct th_reader *reader)
{
    struct th_input *input = &reader->input;
    bool empty = th_replay_input_position(input) + th_replay_input_there(input) == 0;

    if (th_replay_reader_check_input(reader) != TH_OK)
        return TH_PARTIAL;
    if (input->stopped || reader->connection->given_up)
        return TH_END;
    if (empty && reader->connection->again)
        return TH_END;
    if (empty && !reader->connection->lost) { /* closed by the peer; TH_PARTIAL once */
        th_error_raise(TH_PARTIAL, "a trace port accepts one client only: another client is "
                                   "connected, or the tracing has ended");
        return th_error_context("the connection was closed before data arrived");
    }
    if (!reader->connection->sought)
        return empty ? TH_END : TH_OK;
    th_replay_reader_skip_file(reader);
    return TH_END;
}

/* Moves to the next record. TH_OK: the input stands at a record. */
static enum th_status seek_record(struct th_reader *reader)
{
    struct th_input *input = &reader->input;
    size_t at, size;

    while (!find_message(input, &at)) {
        if (th_replay_input_there(input) < at + TH_PORT_SHOWN && input->ended)
            return at_end_of_connection(reader);
        if (!reader->connection->sought) {
            reader->connection->sought = true;
            th_error_raise(TH_PARTIAL, "the previous client may have left within a record, or the "
                                       "server is not a trace port");
            return th_error_context("the connection begins with byte %u, not with a record: all "
                                    "bytes up to the next record are lost",
                                    *th_replay_input_bytes(&reader->input));
        }
        search_message(input);
    }
    size = th_etf_get32(th_replay_input_bytes(input) + at + 1);
    if (size <= reader->options.max_memory)
        th_replay_input_have(input, at + TH_PORT_HEAD + size);
    return TH_OK;
}

/* Handles the first record after a reconnection, possibly of another node. Errors: TH_PARTIAL if no
 * loss was reported before. */
static enum th_status resume_connection(struct th_reader *reader)
{
    const struct th_etf_node before = reader->info.node, *now = &reader->info.node;
    struct th_connection *connection = reader->connection;
    double seconds = (double)(th_clock_real_monotonic() - connection->ended) / SECOND;
    bool lost = connection->lost;

    th_replay_trace_port_end(reader);
    th_replay_trace_port_begin(reader);
    th_replay_trace_port_look_for_node(reader);
    /* Nodes without a name have no creation, which would identify them. */
    if (now->node != before.node || now->creation != before.creation || now->creation == 0)
        reader->info.nodes++;

    connection->again = connection->lost = false;
    if (lost) {
        tell_notice(reader, "connected again after %.1f s", seconds);
        return TH_OK;
    }
    return th_error_raise(
        TH_PARTIAL,
        "the connection was closed, and made again after %.1f s: events in between are lost",
        seconds);
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
