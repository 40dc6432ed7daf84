/*
 * The node's trace port: with via => {port, Queue} in the wish, the node's driver trace_ip_drv sends the
 * records, by TCP, and the agent does not exist.
 *
 *   1. The port listens on all addresses and takes the first client that connects. Its first record is
 *      the mark 0. If it does not come, somebody else was first.
 *   2. Records are read after the last of the sender's first notes, {tracehost, port, Queue}.
 *   3. The driver applies no limits, so they are applied here, to what arrives. An arrival is as late as
 *      the reader is slow, so the limits count from the last moment at which nothing was left to read.
 *   4. Before its end the controller writes a mark to the port, behind all events. The answer is
 *      `drained`. If the driver's queue is full, it drops the mark like an event, and the drop is the last
 *      record. So each drop is answered with `mark`, the request for another mark, and the number of a
 *      mark tells how many of the dropped records were marks.
 */
#include "node_internal.h"

#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

enum { CHUNK = 256 << 10, MOST_WAITING = 16 << 20, LONGEST_RECORD = 256 << 20 };

static const int64_t SECOND_NS = 1000000000;
static const int64_t OPEN_LIMIT = 3000000000; /* ns; the controller ends after 5 s without a beat */

/* --- Records ---------------------------------------------------------------------------------------- */

/* Returns whether the record at BYTES is {tracehost, KEY, Number}. */
static bool is_note(const unsigned char *bytes, size_t size, const char *key, int64_t *number)
{
    struct th_node_place term = {bytes + TH_NODE_RECORD_HEAD + 1, bytes + size};
    size_t arity;

    return size > TH_NODE_RECORD_HEAD + 1 && th_node_read_tuple(&term, &arity) && arity == 3 &&
           th_node_read_atom(&term, "tracehost") && th_node_read_atom(&term, key) &&
           th_node_read_integer(&term, number);
}

bool th_node_port_is_noted(const unsigned char *bytes, size_t size)
{
    int64_t queue;

    return is_note(bytes, size, "port", &queue);
}

/* Returns the size of the whole record at the beginning of IN; 0: no record is whole. */
static size_t whole_record(const struct th_node_bytes *in)
{
    const unsigned char *head = in->bytes + in->taken;
    size_t there = in->size - in->taken, size = TH_NODE_RECORD_HEAD;

    if (there < size)
        return 0;
    if (head[0] != TH_NODE_DROP)
        size += th_node_head_number(head);
    return size <= there ? size : 0;
}

static bool is_broken(const struct th_node_bytes *in)
{
    const unsigned char *head = in->bytes + in->taken;

    return in->size - in->taken >= TH_NODE_RECORD_HEAD && head[0] != TH_NODE_DROP &&
           (head[0] != TH_NODE_MESSAGE || th_node_head_number(head) > LONGEST_RECORD);
}

/* Receives at most SIZE bytes. Returns 0 or an errno, ENOTCONN at the end. */
static int receive_bytes(struct th_node_port *port, size_t size)
{
    unsigned char *room = th_node_bytes_room(&port->in, size);
    ssize_t got;

    if (!room)
        return ENOMEM;
    got = recv(port->socket, room, size, 0);
    port->empty = got < (ssize_t)size;
    if (got > 0)
        port->in.size += (size_t)got;
    if (got < 0)
        return errno == EINTR ? EAGAIN : errno;
    return got == 0 ? ENOTCONN : 0;
}

/* --- Opening ---------------------------------------------------------------------------------------- */

/* Returns the bytes that are missing of the record, or of its head, at the beginning of IN. */
static size_t bytes_to_whole_record(const struct th_node_bytes *in)
{
    size_t there = in->size - in->taken, size = TH_NODE_RECORD_HEAD;

    if (there >= size)
        size += th_node_head_number(in->bytes + in->taken);
    return size - there;
}

/* Takes the mark 0, and no byte more, as a wait for later bytes does not see those before. Returns 0 or an
 * errno, EPROTO if another record is there. */
static int take_first_mark(const struct th_node_client *client, struct th_node_port *port,
                           int64_t deadline)
{
    int64_t number;
    size_t size;
    int error = 0;

    while (!error && !is_broken(&port->in)) {
        size = whole_record(&port->in);
        if (size > 0) {
            bool is_first =
                is_note(port->in.bytes + port->in.taken, size, "mark", &number) && number == 0;
            port->in.taken += size;
            return is_first ? 0 : EPROTO;
        }
        error = th_node_wait(client, port->socket, POLLIN, deadline);
        if (!error && (error = receive_bytes(port, bytes_to_whole_record(&port->in))) == EAGAIN)
            error = 0;
    }
    return error ? error : EPROTO;
}

bool th_node_port_open(struct th_node_client *client, unsigned number, struct th_node_port *port)
{
    const char *node = client->request->node;
    int64_t deadline = th_node_now() + OPEN_LIMIT;
    int error = th_node_connect_to_port(client, number, deadline, &port->socket);
    bool connected = !error;

    if (connected && !(error = take_first_mark(client, port, deadline)))
        return true;
    th_node_port_close(port);
    if (error == EINTR)
        return th_node_say(client, "ended by a signal");
    if (connected && (error == ENOTCONN || error == ECONNRESET || error == EPROTO))
        return th_node_say(client,
                           "somebody else has connected to the trace port of %s, port %u, first: "
                           "it takes one client, and asks for no cookie",
                           node, number);
    if (connected && error == ETIMEDOUT)
        return th_node_say(client,
                           "the trace port of %s, port %u, does not send its first record within 3 "
                           "seconds: somebody else was connected to it before, or the node is "
                           "stopped",
                           node, number);
    return th_node_say(client,
                       "cannot reach the trace port of %s, port %u of %s: %s: --via=agent needs no "
                       "other port than that of the distribution",
                       node, number, client->host,
                       error == ETIMEDOUT ? "no answer within 3 seconds (a firewall?)"
                                          : strerror(error));
}

void th_node_port_close(struct th_node_port *port)
{
    if (port->socket >= 0)
        close(port->socket);
    port->socket = -1;
}

/* --- Limits ----------------------------------------------------------------------------------------- */

/* Takes NS from an allowance of a second. *DUE is the time at which the allowance is whole again. Returns
 * whether nothing is left. */
static bool exceeds(const struct th_node_port *port, int64_t *due, int64_t ns, int64_t now)
{
    *due = (*due > port->since ? *due : port->since) + ns;
    return *due - now > SECOND_NS;
}

/* Returns the limit that an event of SIZE bytes exceeds, or NULL. */
static const char *limit_of(struct th_node_port *port, const struct tracehost_node_request *request,
                            size_t size, int64_t now)
{
    if (request->port_rate > 0 &&
        exceeds(port, &port->rate_due, SECOND_NS / request->port_rate, now))
        return "port_rate";
    if (request->port_bytes > 0 &&
        exceeds(port, &port->bytes_due, (int64_t)((double)size * 1e9 / (double)request->port_bytes),
                now))
        return "port_bytes";
    return NULL;
}

/* --- To the reader ---------------------------------------------------------------------------------- */

/* Adds SIZE bytes to WAITING, if there is a reader. */
static bool add_for_reader(struct th_node_bytes *waiting, const void *bytes, size_t size)
{
    return !waiting || th_node_bytes_add(waiting, bytes, size);
}

/* Adds the drop that was held back. */
static bool add_drop(struct th_node_port *port, struct th_node_bytes *waiting)
{
    unsigned char record[TH_NODE_RECORD_HEAD];
    uint32_t count = port->dropped < UINT32_MAX ? (uint32_t)port->dropped : UINT32_MAX;

    port->dropped = 0;
    th_node_head_write(record, TH_NODE_DROP, count);
    return count == 0 || add_for_reader(waiting, record, sizeof record);
}

bool th_node_port_end(const struct th_node_client *client, struct th_node_port *port,
                      struct th_node_bytes *waiting, const char *reason, unsigned long long events)
{
    bool by_rate = strcmp(reason, "port_rate") == 0;
    char text[200], record[sizeof text + 200];
    int size;

    if (port->told)
        return true;
    port->told = true;
    if (by_rate || strcmp(reason, "port_bytes") == 0)
        snprintf(text, sizeof text,
                 "more than %lld %s a second by the trace port, whose queue is lost",
                 (long long)(by_rate ? client->request->port_rate : client->request->port_bytes),
                 by_rate ? "events" : "bytes");
    else
        snprintf(text, sizeof text,
                 "more events at once than the trace port handles: 64 MiB waited");
    th_node_note_begin(record, &size, "off");
    ei_encode_tuple_header(record, &size, 3);
    ei_encode_atom(record, &size, reason);
    ei_encode_ulonglong(record, &size, events);
    ei_encode_binary(record, &size, text, (long)strlen(text));
    th_node_head_write(record, TH_NODE_MESSAGE, (uint32_t)size - TH_NODE_RECORD_HEAD);
    return add_drop(port, waiting) && add_for_reader(waiting, record, (size_t)size);
}

/* --- Reading ---------------------------------------------------------------------------------------- */

bool th_node_port_is_read(const struct th_node_port *port, const struct th_node_bytes *waiting)
{
    return port->socket >= 0 && port->noted && waiting->size - waiting->taken < MOST_WAITING;
}

/* Ends the reading after an error. */
static const char *port_fails(const struct th_node_client *client, struct th_node_port *port,
                              const char *wrong)
{
    th_node_port_close(port);
    th_node_say(client, "the trace port of %s %s", client->request->node, wrong);
    return "drained";
}

const char *th_node_port_take(const struct th_node_client *client, struct th_node_port *port,
                              struct th_node_bytes *waiting, unsigned long long *events)
{
    int64_t now = th_node_now();
    const char *answer = NULL, *limit;
    int64_t mark;
    size_t size;
    int error;

    if (port->empty)
        port->since = now;
    error = receive_bytes(port, CHUNK);
    while ((size = is_broken(&port->in) ? 0 : whole_record(&port->in)) > 0) {
        const unsigned char *record = port->in.bytes + port->in.taken;
        port->in.taken += size;
        if (record[0] == TH_NODE_DROP) {
            port->dropped += th_node_head_number(record);
            answer = "mark";
        } else if (is_note(record, size, "mark", &mark) && mark > 0) {
            port->dropped -=
                port->dropped < (uint64_t)mark - 1 ? port->dropped : (uint64_t)mark - 1;
            return add_drop(port, waiting) ? "drained" : port_fails(client, port, "needs memory");
        } else if (waiting && (limit = limit_of(port, client->request, size, now))) {
            th_node_port_close(port);
            th_node_port_end(client, port, waiting, limit, *events);
            return "drained";
        } else if (!add_drop(port, waiting) || !add_for_reader(waiting, record, size)) {
            return port_fails(client, port, "needs memory");
        } else {
            ++*events;
        }
    }
    if (is_broken(&port->in))
        return port_fails(client, port, "sent bytes that are no records");
    if (error && error != EAGAIN) { /* the controller, or the end of the node, has closed it */
        th_node_port_close(port);
        if (!add_drop(port, waiting))
            return port_fails(client, port, "needs memory");
    }
    return answer;
}
