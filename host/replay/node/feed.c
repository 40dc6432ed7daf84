/*
 * The loop of the feeder: copies records from the node to the reader's pipe.
 *
 *   - The node sends {data, Records} to us, as far as its window lets it. Each byte that the pipe has
 *     taken is acknowledged to the sender by {ack, Bytes}. So a slow reader stops the sender, and the
 *     connection is always read: ticks and the end are seen.
 *   - The controller gets `beat` each second. Without it, the controller ends the tracing.
 *   - The sender gets `clocks` with each beat, unless an answer to an earlier `clocks` is due. The answer
 *     {clocks, Monotonic, System} waits for no records and is not acknowledged. It becomes a note
 *     round_trip among the records, after the first ones, by which readers know the node. The first
 *     question is sent before `go`, some more with the first answers.
 *   - `stop` to the controller ends the tracing in order. The sender then sends what it has, and
 *     {ended, Reason, Stats} as its last message.
 *   - After the last message, or the loss of the connection, the pipe gets what is there.
 */
#include "node_internal.h"

#include <errno.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/signalfd.h>
#include <time.h>
#include <unistd.h>

enum {
    ACK_SIZE = 64,
    NOTE_SIZE = 128,
    REST_MS = 1000,
    NOTES_SIZE = 1024, /* bytes of notes that wait for the reader: no more questions are asked */
    FIRST_TRIPS = 5 /* at the beginning, one after the other: the fastest one is the most precise */
};

static const int64_t BEAT_NS = 1000000000;
static const int64_t END_NS = 5000000000; /* longest silence of the node after `stop` */
static const int64_t PART_NS = 2000000000;
static const unsigned SEND_MS = 5000;
static const size_t MOST_WAITING = 512 << 20; /* many times what a node sends unacknowledged */

enum feed_state { FEED_GOES_ON, FEED_ENDED, FEED_LOST };

struct feed {
    struct th_node_client *client;
    const struct th_node_agent *agent;
    struct th_node_port port;     /* with a trace port as tracer */
    struct th_node_bytes waiting; /* records for OUT */
    size_t taken;                 /* bytes that OUT has taken and that are not acknowledged */
    size_t own;                   /* bytes of notes, which came to OUT's queue since then */
    int64_t asked_at;             /* time of day of `clocks`, in ns; 0: no answer is due */
    unsigned trips;               /* answers to `clocks` */
    bool has_data;                /* records have come */
    unsigned long long records;   /* received, without notes */
    enum feed_state state;
    bool stopping;
    bool no_reader;
    int64_t next_beat;
    int64_t stop_at;  /* INT64_MAX: never */
    int64_t progress; /* time of `stop`, or of the last data after it */
};

/* --- Messages to the node ------------------------------------------------------------------------- */

static void feed_lost(struct feed *feed, int error)
{
    const char *node = feed->client->request->node;
    const char *plural = feed->records == 1 ? "" : "s";

    feed->state = FEED_LOST;
    if (error == ETIMEDOUT)
        th_node_say(feed->client,
                    "the network to %s is cut: nothing was acknowledged for 6 seconds, after %llu "
                    "record%s",
                    node, feed->records, plural);
    else if (error != ENOTCONN && error != ECONNRESET && error != EPIPE)
        th_node_say(feed->client, "the connection to %s failed after %llu record%s: %s", node,
                    feed->records, plural, strerror(error));
    else if (th_node_listens(feed->client))
        th_node_say(feed->client,
                    "the node %s closed the connection after %llu record%s, and still runs", node,
                    feed->records, plural);
    else
        th_node_say(feed->client, "the node %s went down after %llu record%s", node, feed->records,
                    plural);
}

static void feed_send(struct feed *feed, const erlang_pid *to, char *term, int size)
{
    erlang_pid process = *to;

    if (feed->state != FEED_LOST &&
        ei_send_tmo(feed->client->socket, &process, term, size, SEND_MS) < 0 &&
        feed->state == FEED_GOES_ON)
        feed_lost(feed, erl_errno == EIO ? ENOTCONN : erl_errno);
}

static void feed_send_atom(struct feed *feed, const erlang_pid *to, const char *atom)
{
    char term[ACK_SIZE];
    int size = 0;

    ei_encode_version(term, &size);
    ei_encode_atom(term, &size, atom);
    feed_send(feed, to, term, size);
}

static void feed_acknowledge(struct feed *feed)
{
    size_t own = feed->own < feed->taken ? feed->own : feed->taken;
    char term[ACK_SIZE];
    int size = 0;

    feed->own -= own;
    feed->taken -= own;
    if (feed->taken == 0 || feed->state != FEED_GOES_ON)
        return;
    ei_encode_version(term, &size);
    ei_encode_tuple_header(term, &size, 2);
    ei_encode_atom(term, &size, "ack");
    ei_encode_ulong(term, &size, feed->taken);
    feed->taken = 0;
    feed_send(feed, &feed->agent->sender, term, size);
}

static void feed_stop(struct feed *feed)
{
    if (feed->stopping)
        return;
    feed->stopping = true;
    feed->stop_at = INT64_MAX;
    feed->progress = th_node_now();
    feed_send_atom(feed, &feed->agent->controller, "stop");
}

/* --- Records ---------------------------------------------------------------------------------------- */

/* Counts the records in BYTES, without notes of the agent. Returns false if they are not whole. */
static bool count_whole_records(const unsigned char *bytes, size_t size,
                                unsigned long long *records)
{
    const unsigned char *end = bytes + size;

    while (end - bytes >= TH_NODE_RECORD_HEAD && bytes[0] <= TH_NODE_DROP) {
        struct th_node_place term = {bytes + TH_NODE_RECORD_HEAD + 1, end};
        uint32_t length = th_node_head_number(bytes);
        size_t arity;
        if (bytes[0] == TH_NODE_DROP)
            length = 0;
        bytes += TH_NODE_RECORD_HEAD;
        if (length > (size_t)(end - bytes))
            return false;
        *records += length == 0 || !th_node_read_tuple(&term, &arity) ||
                    !th_node_read_atom(&term, "tracehost");
        bytes += length;
    }
    return bytes == end;
}

/* Returns the time of day in ns. */
static int64_t time_of_day(void)
{
    struct timespec now;

    clock_gettime(CLOCK_REALTIME, &now);
    return now.tv_sec * INT64_C(1000000000) + now.tv_nsec;
}

/* Asks, unless an answer is due, or notes wait for the reader. */
static void feed_ask_clocks(struct feed *feed)
{
    if (feed->asked_at != 0 || feed->own >= NOTES_SIZE)
        return;
    feed->asked_at = time_of_day();
    feed_send_atom(feed, &feed->agent->sender, "clocks");
}

/* Adds our notes to the queue, behind whole records. */
static void feed_add_notes(struct feed *feed)
{
    struct th_node_bytes *notes = &feed->client->notes;

    if (!feed->has_data || feed->no_reader || notes->size == 0 ||
        !th_node_bytes_add(&feed->waiting, notes->bytes, notes->size))
        return;
    feed->own += notes->size;
    notes->size = 0;
}

/* Makes a note of the answer to `clocks`, which had come by the time of day CAME_AT. */
static void feed_take_clocks(struct feed *feed, struct th_node_place *answer, int64_t came_at)
{
    int64_t monotonic, system;
    char note[NOTE_SIZE];
    int size;

    if (feed->asked_at == 0 || !th_node_read_integer(answer, &monotonic) ||
        !th_node_read_integer(answer, &system))
        return;
    if (came_at >= feed->asked_at) { /* else somebody has set the clock of this host */
        th_node_note_begin(note, &size, "round_trip");
        ei_encode_tuple_header(note, &size, 4);
        ei_encode_longlong(note, &size, monotonic);
        ei_encode_longlong(note, &size, system);
        ei_encode_longlong(note, &size, feed->asked_at);
        ei_encode_longlong(note, &size, came_at);
        th_node_note_end(feed->client, note, size);
        feed_add_notes(feed);
    }
    feed->asked_at = 0;
    if (++feed->trips < FIRST_TRIPS)
        feed_ask_clocks(feed);
}

static void feed_take_data(struct feed *feed, const unsigned char *bytes, size_t size)
{
    const char *node = feed->client->request->node;

    feed->port.noted |= th_node_port_is_noted(bytes, size);
    if (feed->no_reader) {
        feed->taken += size;
        return;
    }
    if (!count_whole_records(bytes, size, &feed->records)) {
        feed->state = FEED_LOST;
        th_node_say(feed->client, "%s sent bytes that are no records", node);
    } else if (feed->waiting.size - feed->waiting.taken + size > MOST_WAITING ||
               !th_node_bytes_add(&feed->waiting, bytes, size)) {
        feed->state = FEED_LOST;
        th_node_say(feed->client, "%s sent more than it may before it is acknowledged", node);
    } else {
        feed->progress = th_node_now();
        feed->has_data = true;
        feed_add_notes(feed);
    }
}

/* The records tell of an end by a limit; other reasons are only here. */
static void feed_take_end(struct feed *feed, struct th_node_place *reason)
{
    static const char *const KNOWN[] = {"stopped", "max_rate", "max_bytes", "backlog", "memory"};
    char text[300];

    feed->state = FEED_ENDED;
    for (size_t i = 0; i < sizeof KNOWN / sizeof *KNOWN; i++)
        if (th_node_read_atom(reason, KNOWN[i])) {
            if (feed->agent->port && strcmp(KNOWN[i], "memory") == 0)
                th_node_port_end(feed->client, &feed->port, feed->no_reader ? NULL : &feed->waiting,
                                 KNOWN[i], feed->records);
            return;
        }
    th_node_text(reason, text, sizeof text);
    th_node_say(feed->client, "%s ended the tracing: %s", feed->client->request->node, text);
}

static void feed_take_messages(struct feed *feed)
{
    struct th_node_place message;
    const unsigned char *bytes;
    const char *wrong;
    size_t arity, size;
    int error, got = 0;
    int64_t now;

    error = th_node_receive(feed->client);
    now = time_of_day();
    while (feed->state == FEED_GOES_ON &&
           (got = th_node_next_message(feed->client, &message, &wrong)) > 0) {
        if (!th_node_read_tuple(&message, &arity))
            continue;
        if (arity == 2 && th_node_read_atom(&message, "data") &&
            th_node_read_binary(&message, &bytes, &size))
            feed_take_data(feed, bytes, size);
        else if (arity == 3 && th_node_read_atom(&message, "clocks"))
            feed_take_clocks(feed, &message, now);
        else if (arity == 3 && th_node_read_atom(&message, "ended"))
            feed_take_end(feed, &message);
    }
    if (got < 0) {
        feed->state = FEED_LOST;
        th_node_say(feed->client, "%s %s", feed->client->request->node, wrong);
    } else if (feed->state == FEED_GOES_ON && error && error != EAGAIN) {
        feed_lost(feed, error);
    }
}

static void feed_take_port(struct feed *feed)
{
    const char *answer = th_node_port_take(feed->client, &feed->port,
                                           feed->no_reader ? NULL : &feed->waiting, &feed->records);

    feed->progress = th_node_now();
    if (!answer)
        return;
    if (strcmp(answer, "drained") == 0)
        feed_stop(feed);
    feed_send_atom(feed, &feed->agent->controller, answer);
}

/* --- The pipe --------------------------------------------------------------------------------------- */

static void feed_without_reader(struct feed *feed)
{
    feed->no_reader = true;
    feed->taken += feed->waiting.size - feed->waiting.taken;
    feed->waiting.taken = feed->waiting.size;
    feed_stop(feed);
}

static void feed_write(struct feed *feed)
{
    struct th_node_bytes *waiting = &feed->waiting;

    while (waiting->taken < waiting->size) {
        ssize_t written = write(feed->client->out, waiting->bytes + waiting->taken,
                                waiting->size - waiting->taken);
        if (written < 0 && errno == EINTR)
            continue;
        if (written < 0) {
            if (errno != EAGAIN)
                feed_without_reader(feed);
            return;
        }
        waiting->taken += (size_t)written;
        feed->taken += (size_t)written;
        feed->progress = th_node_now();
    }
}

/* --- The loop --------------------------------------------------------------------------------------- */

/* Does what is due now. Returns the time until something else is due, in ms. */
static int feed_by_time(struct feed *feed)
{
    bool waits = feed->waiting.taken < feed->waiting.size;
    int64_t now = th_node_now(), next;

    if (now >= feed->stop_at)
        feed_stop(feed);
    if (now >= feed->next_beat) {
        feed_send_atom(feed, &feed->agent->controller, "beat");
        feed_ask_clocks(feed);
        feed->next_beat = now + BEAT_NS;
    }
    if (feed->stopping && !waits && now >= feed->progress + END_NS && feed->state == FEED_GOES_ON) {
        feed->state = FEED_LOST;
        th_node_say(
            feed->client,
            "%s does not end the tracing within 5 seconds: it is stopped or hangs, and ends "
            "the tracing when it runs again",
            feed->client->request->node);
    }
    next = feed->next_beat < feed->stop_at ? feed->next_beat : feed->stop_at;
    if (feed->stopping && !waits && feed->progress + END_NS < next)
        next = feed->progress + END_NS;
    return (int)((next - now) / 1000000) + 1;
}

static void feed_take_signal(struct feed *feed)
{
    struct signalfd_siginfo signal;

    if (read(feed->client->signals, &signal, sizeof signal) > 0)
        feed_stop(feed);
}

static void feed_step(struct feed *feed)
{
    int limit_ms = feed->state == FEED_GOES_ON ? feed_by_time(feed) : -1;
    bool waits = feed->waiting.taken < feed->waiting.size;
    bool goes_on = feed->state == FEED_GOES_ON;
    bool reads_port;
    struct pollfd polled[] = {
        {.fd = feed->no_reader ? -1 : feed->client->out, .events = waits ? POLLOUT : 0},
        {.fd = goes_on ? feed->client->socket : -1, .events = POLLIN},
        {.fd = goes_on ? feed->client->signals : -1, .events = POLLIN},
        {.fd = -1, .events = POLLIN},
    };
    int ready;

    feed->port.noted |= !goes_on || feed->no_reader;
    reads_port = th_node_port_is_read(&feed->port, &feed->waiting);
    if (reads_port)
        polled[3].fd = feed->port.socket;
    if (!goes_on && !waits && !reads_port)
        return;
    ready = poll(polled, 4, goes_on ? limit_ms : reads_port ? REST_MS : -1);
    if (ready == 0 && !goes_on)
        th_node_port_close(&feed->port);
    if (ready <= 0)
        return;
    if (polled[0].revents & POLLOUT)
        feed_write(feed);
    else if (polled[0].revents)
        feed_without_reader(feed);
    if (polled[2].revents)
        feed_take_signal(feed);
    if (polled[3].revents)
        feed_take_port(feed);
    if (polled[1].revents)
        feed_take_messages(feed);
    feed_acknowledge(feed);
}

/* Lets the node remove what is left of us. The node closes the connection after that. */
static void feed_part(struct feed *feed)
{
    struct pollfd closed = {.fd = feed->client->socket, .events = POLLIN};
    int64_t limit = th_node_now() + PART_NS, left;
    char rest[4096];

    feed_send_atom(feed, &feed->agent->controller, "bye");
    feed_send_atom(feed, &feed->agent->sender, "bye"); /* if the controller was killed */
    while ((left = limit - th_node_now()) > 0)
        if (poll(&closed, 1, (int)(left / 1000000) + 1) > 0 &&
            read(closed.fd, rest, sizeof rest) <= 0)
            return;
}

int th_node_feed(struct th_node_client *client, const struct th_node_agent *agent)
{
    int64_t now = th_node_now(), limit = client->request->for_ns;
    struct feed feed = {
        .client = client,
        .agent = agent,
        .port.socket = -1,
        .next_beat = now,
        .stop_at = limit > 0 && limit < INT64_MAX - now ? now + limit : INT64_MAX,
    };
    bool refused = agent->port && !th_node_port_open(client, agent->port, &feed.port);

    if (!refused && write(client->status, "ok\n", 3) < 0)
        return TH_NODE_FAILED; /* the host is gone */
    feed_ask_clocks(&feed);
    feed_send_atom(&feed, &agent->sender, "go");
    if (refused) { /* the tracing ends as one that nobody reads */
        feed_without_reader(&feed);
        feed_send_atom(&feed, &agent->controller, "drained");
    }
    while (feed.state == FEED_GOES_ON || feed.waiting.taken < feed.waiting.size ||
           feed.port.socket >= 0)
        feed_step(&feed);
    if (feed.state == FEED_ENDED)
        feed_part(&feed);
    free(feed.waiting.bytes);
    free(feed.port.in.bytes);
    if (refused)
        return TH_NODE_REFUSED;
    return feed.state == FEED_ENDED ? TH_NODE_DONE : TH_NODE_LOST;
}
