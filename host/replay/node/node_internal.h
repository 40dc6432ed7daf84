/* The parts of the feeder, for each other. */
#ifndef HOST_REPLAY_NODE_NODE_INTERNAL_H
#define HOST_REPLAY_NODE_NODE_INTERNAL_H

#include "node.h"

#include <ei.h>
#include <netinet/in.h>

/* Exit statuses: the table of `tracehost --help`. */
enum { TH_NODE_DONE = 0, TH_NODE_FAILED = 1, TH_NODE_REFUSED = 3, TH_NODE_LOST = 4 };

/* Bytes in a queue: those from TAKEN to SIZE. */
/* Records: a byte, four bytes of size, the term of a message; a drop has a number for the size. */
enum { TH_NODE_MESSAGE = 0, TH_NODE_DROP = 1, TH_NODE_RECORD_HEAD = 5 };

struct th_node_bytes {
    unsigned char *bytes;
    size_t taken;
    size_t size;
    size_t capacity;
};

/* The beginning of the handshake as it was received, by which a failure is explained. */
struct th_node_heard {
    unsigned char bytes[64];
    size_t size;
    bool closed;
    bool timed_out;
};

struct th_node_client {
    const struct tracehost_node_request *request;
    char alive[256]; /* node's name without the host */
    char host[256];  /* host to connect to */
    char cookie[EI_MAX_COOKIE_SIZE + 1];
    int status;                 /* gets lines */
    int out;                    /* gets records */
    int signals;                /* signalfd; readable: the feeder is to end */
    struct sockaddr_in address; /* of the host */
    unsigned short port;        /* of the node */
    int socket;                 /* of the connection; -1: none */
    ei_cnode self;
    int64_t deadline;  /* of the handshake, monotonic time in ns */
    int connect_error; /* errno of the last attempt */
    struct th_node_heard heard;
    struct th_node_bytes in;    /* received, not yet taken as messages */
    struct th_node_bytes notes; /* records of ours, which go to OUT behind the node's first ones */
};

/* --- serve.c: lines for the user, time, queues ---------------------------------------------------- */

/* Writes "error: " and the text to STATUS, as a line. Bytes that are not printable become '?'.
 * Returns false. */
__attribute__((format(printf, 2, 3))) bool th_node_say(const struct th_node_client *client,
                                                       const char *format, ...);

/* Adds the text to client->notes, as a record {tracehost, notice, Text} for the user. */
__attribute__((format(printf, 2, 3))) void th_node_tell(struct th_node_client *client,
                                                        const char *format, ...);

/* Begins a note in RECORD: the head of the record, and of the term {tracehost, KEY, Value}, whose Value
 * the caller encodes at *SIZE. th_node_note_end() adds the record to client->notes. */
void th_node_note_begin(char *record, int *size, const char *key);
void th_node_note_end(struct th_node_client *client, char *record, int size);

/* Finds the node and the cookie, and connects. Says the reason if that fails. */
bool th_node_reach(struct th_node_client *client);

/* Returns the monotonic time in ns. */
int64_t th_node_now(void);

/* Waits until FD has EVENTS. Returns 0, ETIMEDOUT at DEADLINE, or EINTR if the feeder is to end. */
int th_node_wait(const struct th_node_client *client, int fd, short events, int64_t deadline);

/* Returns room for SIZE more bytes at the end of QUEUE, which the caller then counts in
 * queue->size. Returns NULL if there is no memory. */
unsigned char *th_node_bytes_room(struct th_node_bytes *queue, size_t size);

/* Adds SIZE bytes to the end of QUEUE. Returns false if there is no memory. */
bool th_node_bytes_add(struct th_node_bytes *queue, const void *bytes, size_t size);

/* Write and read the head of a record, TH_NODE_RECORD_HEAD bytes: OP, and the size of a message or the number
 * of dropped events. */
void th_node_head_write(void *head, unsigned char op, uint32_t number);
uint32_t th_node_head_number(const unsigned char *head);

/* --- epmd.c --------------------------------------------------------------------------------------- */

/* Finds the address of the host and the port of the node. Says the reason if that fails. */
bool th_node_find(struct th_node_client *client);

/* Connects to PORT of the host until DEADLINE. *FD gets the socket, also after a failure, -1 if there is
 * none. Returns 0 or an errno. */
int th_node_connect_to_port(const struct th_node_client *client, unsigned port, int64_t deadline,
                            int *fd);

/* Returns whether the node still accepts connections. */
bool th_node_listens(const struct th_node_client *client);

/* --- connect.c ------------------------------------------------------------------------------------ */

/* Connects under a free name. Says the reason if that fails. */
bool th_node_connect(struct th_node_client *client);

/* Writes SIZE bytes to the connection. Returns 0 or an errno. */
int th_node_write(struct th_node_client *client, const void *bytes, size_t size);

/* --- received.c: messages and terms of the node, which are not trusted --------------------------- */

/* A place in a term in external format. */
struct th_node_place {
    const unsigned char *at;
    const unsigned char *end;
};

/* Receives what has arrived. Returns 0, EAGAIN if nothing has, ENOTCONN if the node closed the
 * connection, or another errno. */
int th_node_receive(struct th_node_client *client);

/* Takes the next received message to a process of ours, and answers ticks. Returns 1; 0 if no whole
 * message is there; -1 if the connection is not usable, with the reason in *WRONG. MESSAGE is valid
 * until th_node_receive(). */
int th_node_next_message(struct th_node_client *client, struct th_node_place *message,
                         const char **wrong);

/* Each reads one term and moves behind it. They return false, and do not move, if another type is
 * there. */
bool th_node_read_tuple(struct th_node_place *place, size_t *arity);
bool th_node_read_atom(struct th_node_place *place, const char *name);
bool th_node_read_binary(struct th_node_place *place, const unsigned char **bytes, size_t *size);
bool th_node_read_integer(struct th_node_place *place, int64_t *value);
bool th_node_read_pid(struct th_node_place *place, erlang_pid *pid);
/* Reads the head of a list; its elements follow, and then its tail. A string is no such list. */
bool th_node_read_list(struct th_node_place *place, size_t *length);
bool th_node_read_map(struct th_node_place *place, size_t *pairs);
bool th_node_skip(struct th_node_place *place);

/* Writes the term as text for users, cut to SIZE bytes with the 0 at its end, and moves behind it:
 * atoms, binaries and strings as they are, other terms as Erlang's shell writes them. */
void th_node_text(struct th_node_place *place, char *text, size_t size);

/* --- start.c -------------------------------------------------------------------------------------- */

/* The processes in the node. */
struct th_node_agent {
    erlang_pid controller;
    erlang_pid sender;
    unsigned port; /* TCP port of the trace port that is the tracer; 0: the agent is */
};

/* Calls MODULE:FUNCTION with ARGUMENTS, a list, and frees them. Says the reason if that fails. *RESULT is
 * valid until the next call. */
bool th_node_call(struct th_node_client *client, const char *module, const char *function,
                  ei_x_buff *arguments, struct th_node_place *result);

/* Starts the agent in the node. Says the reason if that fails. */
bool th_node_start(struct th_node_client *client, struct th_node_agent *agent);

/* tracehost_agent.erl, compiled and as text, and evaluator.expr; made by the build. */
extern const unsigned char th_node_agent_code[], th_node_agent_source[], th_node_agent_evaluator[];
extern const size_t th_node_agent_code_size, th_node_agent_source_size,
    th_node_agent_evaluator_size;

/* --- refusal.c ------------------------------------------------------------------------------------ */

/* Says why tracehost_agent:start/2 refused: REASON is the term of {error, Reason}. Returns false. */
bool th_node_say_refusal(const struct th_node_client *client, struct th_node_place *reason);

/* --- port_client.c --------------------------------------------------------------------------------------- */

struct th_node_port {
    int socket;              /* -1: there is none any more */
    struct th_node_bytes in; /* received, from the beginning of a record on */
    bool noted;              /* the first notes have come; records follow them */
    bool empty;              /* all was received that was there */
    int64_t since;           /* time from which on limits count */
    int64_t rate_due, bytes_due;
    bool told;        /* the reader knows that the tracing has ended */
    uint64_t dropped; /* a drop that was not given to the reader yet */
};

/* Connects to the trace port of the node at the TCP port NUMBER. Says the reason if that fails. */
bool th_node_port_open(struct th_node_client *client, unsigned number, struct th_node_port *port);

void th_node_port_close(struct th_node_port *port);

/* Returns whether the records at BYTES begin with the sender's last note before events. */
bool th_node_port_is_noted(const unsigned char *bytes, size_t size);

/* Returns whether more can be taken, while WAITING waits for the reader. */
bool th_node_port_is_read(const struct th_node_port *port, const struct th_node_bytes *waiting);

/* Adds what has arrived to WAITING, which is NULL without a reader, and counts events. Returns an answer
 * to the controller, an atom, or NULL. */
const char *th_node_port_take(const struct th_node_client *client, struct th_node_port *port,
                              struct th_node_bytes *waiting, unsigned long long *events);

/* Adds to WAITING the note that the tracing has ended for REASON, port_rate, port_bytes or memory, after
 * EVENTS. Returns false if there is no memory. */
bool th_node_port_end(const struct th_node_client *client, struct th_node_port *port,
                      struct th_node_bytes *waiting, const char *reason, unsigned long long events);

/* --- feed.c --------------------------------------------------------------------------------------- */

/* Lets the node send, copies its records to OUT, and ends the tracing. Returns the exit status. */
int th_node_feed(struct th_node_client *client, const struct th_node_agent *agent);

#endif
