/*
 * Connections to running nodes: tcp://HOST:PORT.
 *
 * dbg:trace_port(ip, Port) lets a node's driver trace_ip_drv listen there, and send trace messages
 * to one client, framed as in files (trace_port.c). What that driver does, as its source has it:
 *
 *   - While nobody is connected it keeps messages in a queue, 200 of them unless dbg is told
 *     otherwise, also before the first client comes. It does not wait for a client that is slow:
 *     messages are queued, too, until the client has read.
 *   - When the queue is full it counts what it drops, in a drop record at the queue's end.
 *   - A second client is accepted and sent away at once.
 *   - When a client goes away what the kernel had taken for it is lost, and the queue stays. Of a
 *     message that was sent in part the next client gets the other part: so a connection may begin
 *     in the middle of a record.
 *   - When the tracing ends (dbg:stop()) it closes, and drops its queue. A node that is killed
 *     closes, too, by its kernel.
 *
 * So a connection begins with a search for the first record (below). It ends in order if it
 * is closed behind a record; a node that was killed just then cannot be told from one whose tracing
 * was ended. One that ends otherwise is a stream that is cut off.
 *
 * With th_reader_options.reconnect_ns an end is followed by attempts to connect again. If one
 * succeeds that is a place where the stream is damaged, though every record came as a whole: what
 * was on its way is lost. A drop record of 0 events stands there, so that stacks of calls begin
 * anew as they do where events were dropped. Tracing goes on in the same world of processes and
 * names if it is shown to be the same node: one with a name, as only those have a creation, which
 * is another at each start. Else what follows may be of another node (info.nodes), whose
 * identifiers stand for others: a player ends there if it is known to be another.
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

/* One attempt. */
static enum th_status connect_once(struct th_reader *reader, int limit_ms)
{
    const struct th_reader_options *options = &reader->options;
    int fd;
    enum th_status status =
        th_replay_tcp_connect(&reader->connection->address, options->stop, limit_ms, &fd);

    if (status == TH_MALFORMED)
        return status;
    th_replay_reader_take_input(reader, fd);
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
    reader->info.live = true;
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

/* Attempts with growing pauses between them, until DEADLINE. */
static enum th_status connect_again(struct th_reader *reader, int64_t deadline)
{
    const struct th_reader_options *options = &reader->options;
    int64_t *pause = &reader->connection->pause;
    int64_t limit = reader->options.connect_ms * MS;
    enum th_status status = th_error_raise(TH_MALFORMED, "it was sent away each time");
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
    if (!connection->again) { /* else it was sent away again */
        connection->ended = th_clock_real_monotonic();
        connection->pause = FIRST_PAUSE_MS * MS;
        tell_notice(
            reader,
            "the connection was %s after %llu record%s; trying for %g s to take it up again",
            connection->lost ? "lost" : "closed", records, th_log_plural(records),
            (double)reader->options.reconnect_ns / SECOND);
    }
    status = connect_again(reader, connection->ended + reader->options.reconnect_ns);
    connection->given_up = status != TH_OK;
    if (status == TH_MALFORMED)
        tell_notice(reader, "it is not taken up again: %s", th_error_link(0));
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
 * The stream of a connection, where it is not known to stand at a record: at the beginning, as the
 * client before may have left in the middle of one, and behind what is no record.
 *
 * A record shows itself by the first bytes of its message: op, size, a tuple whose first element is
 * trace, trace_ts or seq_trace. Drops have too few bytes for that: they are taken for such in front
 * of a message, where the connection begins, and passed over where it has to be searched. The bytes
 * that show it are awaited, and the whole of the first message, which tells the node. A node sends
 * no less at a time, so events are handed on as they come all the same.
 */

/* So many in a row are taken for such; a queue has one at its end, and few more. */
enum { DROPS = 32 };

static bool is_message(const unsigned char *p)
{
    return th_etf_get32(p + 1) <= TH_PORT_LONGEST && th_replay_trace_port_shows_message(p);
}

/* True if there is a message, perhaps behind drops; *AT gets its place. Not if its first bytes do
 * not come any more. */
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

/* Passes over what is no message, as far as it is there. */
static void search_message(struct th_input *input)
{
    const unsigned char *begin = th_replay_input_bytes(input);
    const unsigned char *end = begin + th_replay_input_there(input) - TH_PORT_SHOWN + 1;
    const unsigned char *p = begin + 1;

    while (p < end && (p = memchr(p, TH_PORT_MESSAGE, (size_t)(end - p))) && !is_message(p))
        p++;
    th_replay_input_take(input, (size_t)((p ? p : end) - begin));
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
    if (empty && reader->connection->again)
        return TH_END;
    if (empty && !reader->connection->lost) { /* by the node, or somebody else; TH_PARTIAL once */
        th_error_raise(TH_PARTIAL, "a trace port has one client, and sends others away: there may "
                                   "be another; or the tracing has ended");
        return th_error_context("the connection was closed before anything came");
    }
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
        if (th_replay_input_there(input) < at + TH_PORT_SHOWN && input->ended)
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

/* The first record has come of a connection that was taken up again, perhaps to another node: says
 * so. TH_PARTIAL where nobody was told before that something is lost. */
static enum th_status resume_connection(struct th_reader *reader)
{
    const struct th_etf_node before = reader->info.node, *now = &reader->info.node;
    struct th_connection *connection = reader->connection;
    double seconds = (double)(th_clock_real_monotonic() - connection->ended) / SECOND;
    bool lost = connection->lost;

    th_replay_trace_port_end(reader);
    th_replay_trace_port_begin(reader);
    th_replay_trace_port_look_for_node(reader);
    /* Nodes without a name have no creation, that would tell one from the next. */
    if (now->node != before.node || now->creation != before.creation || now->creation == 0)
        reader->info.nodes++;

    connection->again = connection->lost = false;
    if (lost) {
        tell_notice(reader, "taken up again after %.1f s", seconds);
        return TH_OK;
    }
    return th_error_raise(TH_PARTIAL,
                          "the connection was closed, and taken up again after %.1f s: what was on "
                          "its way is lost",
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
