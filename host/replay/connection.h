/*
 * Connections to running nodes: tcp://HOST:PORT.
 *
 * dbg:trace_port(ip, Port) lets a node's driver trace_ip_drv listen there, and send trace messages
 * to one client, framed as in files (trace_port.h). What that driver does, as its source has it:
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
 * So a connection begins with a search for the first record (live_port.c). It ends in order if it
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
#ifndef TH_CONNECTION_H
#define TH_CONNECTION_H

#include "reader.h"
#include "tcp.h"

struct th_connection {
    struct th_tcp_address address;
    bool sought;   /* that it does not begin with a record was told */
    bool gap;      /* before the next record events were lost, and nobody knows how many */
    bool again;    /* it was taken up again, and no record has come since */
    bool lost;     /* the one before ended within a record, or by an error; that was told */
    bool given_up; /* it will not be taken up again */
    int64_t ended; /* when the one before ended (th_clock_real_monotonic()), ... */
    int64_t pause; /* ... and how long to wait before the next attempt */
};

/* Connects for the first time, and gives the reader its input. TH_MALFORMED with the cause, which
 * does not tell the address. If *stop came the input is at its end. */
enum th_status th_replay_connection_open(struct th_reader *reader, const char *name);

/* The connection has ended. Takes it up again: TH_OK if it has; TH_END if that is not wanted, or
 * was tried for long enough, or *stop came. */
enum th_status th_replay_connection_again(struct th_reader *reader);

/* The first record has come of one that was taken up again: says so. TH_PARTIAL where nobody was
 * told before that something is lost. */
enum th_status th_replay_connection_resume(struct th_reader *reader);

void th_replay_connection_free(struct th_connection *connection);

#endif
