/*
 * The trace-port format: records of 1 byte op, 4 bytes size (big-endian), payload.
 *
 *   op 0   a trace message: SIZE bytes of external term format
 *   op 1   no payload: SIZE is the number of events that the recorder dropped
 *
 * There is no file header: that a file is one shows in its records. A file that was cut off ends
 * inside a record. Behind an op that there is not nothing can be trusted, as the places of all
 * further records depend on it.
 */
#ifndef TH_TRACE_PORT_H
#define TH_TRACE_PORT_H

#include "host/term/term.h"

struct th_reader;
struct th_event;

/* No message is shorter: its head, version, arity, and {seq_trace, with an old atom. */
enum { TH_PORT_SHOWN = 5 + 1 + 2 + 3 + 9 };

/* A node that runs sends no longer messages, in bytes: one that claims to be longer is damaged. */
enum { TH_PORT_LONGEST = 1 << 29 };

enum { TH_PORT_MESSAGE = 0, TH_PORT_DROP = 1, TH_PORT_HEAD = 5 /* bytes of op and size */ };

/* TH_PORT_SHOWN bytes from P on are how a message begins: op, size, a tuple whose first element is
 * trace, trace_ts or seq_trace. */
bool th_replay_trace_port_shows_message(const unsigned char *p);

/* For connections. A reader that knows nothing of the node yet; what it knows from the messages
 * that have come, if they begin where its input stands; a drop of DROPPED events there, for which
 * nothing is taken from the input. */
enum th_status th_replay_trace_port_begin(struct th_reader *reader);
void th_replay_trace_port_end(struct th_reader *reader);
void th_replay_trace_port_look_for_node(struct th_reader *reader);
enum th_status th_replay_trace_port_drop(struct th_reader *reader, struct th_event *event,
                                         uint32_t dropped);

#endif
