#include "connection.h"

#include "reading.h"

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

static int connect_limit(const struct th_reader *reader)
{
    return reader->options.connect_ms ? reader->options.connect_ms : TH_TCP_CONNECT_MS;
}

enum th_status th_replay_connection_open(struct th_reader *reader, const char *name)
{
    enum th_status status;

    reader->connection = th_alloc_zero(sizeof *reader->connection);
    reader->info.live = true;
    reader->info.nodes = 1;
    reader->format = &th_replay_live_port_format;
    reader->info.format = reader->format->name;
    reader->input = (struct th_input){.fd = -1, .ended = true};
    status = th_replay_tcp_parse(name, &reader->connection->address);
    if (status == TH_OK)
        status = connect_once(reader, connect_limit(reader));
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

/* Waits before the next attempt. False if *stop came. */
static bool pause_for(const struct th_reader *reader, int64_t deadline)
{
    const struct th_reader_options *options = &reader->options;

    while (th_clock_real_monotonic() < deadline) {
        if (options->waiting)
            options->waiting(options->context);
        if (!th_replay_tcp_pause(options->stop, deadline))
            return false;
    }
    return true;
}

/* Attempts with growing pauses between them, until DEADLINE. */
static enum th_status connect_again(struct th_reader *reader, int64_t deadline)
{
    int64_t *pause = &reader->connection->pause;
    int64_t limit = connect_limit(reader) * MS;
    enum th_status status = th_error_raise(TH_MALFORMED, "it was sent away each time");
    int64_t left;

    while (status == TH_MALFORMED && (left = deadline - th_clock_real_monotonic()) > 0) {
        if (!pause_for(reader, deadline - left + (*pause < left ? *pause : left)))
            return TH_END;
        *pause = *pause < LONGEST_PAUSE_MS * MS / 2 ? 2 * *pause : LONGEST_PAUSE_MS * MS;
        left = deadline - th_clock_real_monotonic();
        if (left > 0)
            status = connect_once(reader, (int)((limit < left ? limit : left) / MS) + 1);
    }
    return status;
}

/* Says what has ended, and that it is not given up yet: once for all attempts. */
static void begin_attempts(struct th_reader *reader)
{
    struct th_connection *connection = reader->connection;
    unsigned long long records = reader->info.records;

    connection->ended = th_clock_real_monotonic();
    connection->pause = FIRST_PAUSE_MS * MS;
    tell_notice(reader,
                "the connection was %s after %llu record%s; trying for %g s to take it up again",
                connection->lost ? "lost" : "closed", records, th_log_plural(records),
                (double)reader->options.reconnect_ns / SECOND);
}

enum th_status th_replay_connection_again(struct th_reader *reader)
{
    struct th_connection *connection = reader->connection;
    enum th_status status;

    if (reader->options.reconnect_ns == 0 || reader->input.stopped || connection->given_up)
        return TH_END;
    if (!connection->again) /* else it was sent away again */
        begin_attempts(reader);
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

enum th_status th_replay_connection_resume(struct th_reader *reader)
{
    struct th_connection *connection = reader->connection;
    double seconds = (double)(th_clock_real_monotonic() - connection->ended) / SECOND;
    bool lost = connection->lost;

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

void th_replay_connection_free(struct th_connection *connection)
{
    if (!connection)
        return;
    th_replay_tcp_free(&connection->address);
    th_free(connection);
}
