/*
 * The inner header of replay/. The reader opens files, follows wrap sets and counts; a format turns
 * bytes into events.
 */
#ifndef TH_REPLAY_INTERNAL_H
#define TH_REPLAY_INTERNAL_H

#include "reader.h"

#include "host/base/buffer.h"

#include <string.h>
#include <sys/types.h>

struct th_event;

/* --- Bytes of a file, pipe or socket, in order (input.c) -------------------------------------- */

/* Readable bytes behind the buffer's last byte. Their values mean nothing; they allow loads of
 * whole words without a test for the end. */
enum { TH_INPUT_SLACK = 16 };

struct th_input {
    unsigned char *data;
    size_t begin, end; /* data[begin] to data[end - 1] are read and not yet consumed */
    size_t capacity;   /* of data, without slack */
    size_t most;     /* upper bound of the capacity, unless more bytes are required in one piece */
    uint64_t offset; /* position of data[0] in the file */
    uint64_t limit;  /* see th_replay_reader_limit(); 0: none */
    struct th_buffer kept; /* bytes of a pipe, read and behind the limit; they are read again */
    int fd;
    bool ended;                    /* no bytes follow data[end - 1] */
    bool stopped;                  /* ended because *stop was set */
    int error;                     /* errno of the read that ended the input; 0: end of the file */
    char *name;                    /* for messages */
    struct th_spool_stream *spool; /* FD is a file that another process fills; NULL: it is not */
    struct th_unpack *unpack; /* FD is compressed; positions are those of the plain bytes. NULL */

    /* May be NULL. Read during a wait for bytes, twice a second and at each signal: other than 0
     * ends the input. Relaxed, as no other data depends on the flag. */
    const volatile int *stop;

    /* NULL, or called with CONTEXT before a wait for bytes, and twice a second during it. */
    void (*waiting)(void *context);
    void *context;
};

/* Opens the file NAME; "-" is stdin.
 * Errors: TH_MALFORMED with the cause, without the name; then the input is at its end. */
enum th_status th_replay_input_open(struct th_input *input, const char *name);

/* The same for an open file descriptor. Owner: the input closes FD, except stdin. */
void th_replay_input_attach(struct th_input *input, int fd, const char *name);

/* Waits for the first bytes of INPUT. If they are those of a compressed stream, INPUT has the plain
 * bytes from then on. Order: before any byte is taken; not needed for a stream that is plain. */
void th_replay_input_begin(struct th_input *input);

/* Returns room for SIZE bytes, which become all bytes of INPUT, the first one at POSITION; what
 * INPUT had is gone. NULL if there is no memory. */
unsigned char *th_replay_input_replace(struct th_input *input, uint64_t position, size_t size);

/* Closes the input, which is then at its end. An input of zeros is allowed. */
void th_replay_input_close(struct th_input *input);

/* Reads until WANTED bytes are available, or to the end. Waits only for these bytes. Behind the
 * limit, reads no byte that is not wanted, and nothing if no byte is available. */
void th_replay_input_fill(struct th_input *input, size_t wanted);

/* Waits at most MILLISECONDS for a byte. Returns false if none is there and one may come. */
bool th_replay_input_await(struct th_input *input, int milliseconds);

/* Returns the cause of INPUT's error, which must not be 0. */
const char *th_replay_input_fault(const struct th_input *input);

/* Consumes SIZE bytes as they arrive. Returns false if the input ends before; then all bytes were
 * consumed. */
bool th_replay_input_skip(struct th_input *input, uint64_t size);

/* Returns the number of bytes that are available. */
static inline size_t th_replay_input_there(const struct th_input *input)
{
    return input->end - input->begin;
}

/* Returns true if WANTED bytes are available, if necessary after th_replay_input_fill(). */
static inline bool th_replay_input_have(struct th_input *input, size_t wanted)
{
    if (__builtin_expect(th_replay_input_there(input) >= wanted, 1))
        return true;
    th_replay_input_fill(input, wanted);
    return th_replay_input_there(input) >= wanted;
}

/* Returns the next byte's address; valid until the next call of th_replay_input_fill(). */
static inline const unsigned char *th_replay_input_bytes(const struct th_input *input)
{
    return input->data + input->begin;
}

/* Returns the next byte's position in the file. */
static inline uint64_t th_replay_input_position(const struct th_input *input)
{
    return input->offset + input->begin;
}

/* Consumes SIZE bytes, which must be available. */
static inline void th_replay_input_take(struct th_input *input, size_t size)
{
    input->begin += size;
}

/* --- Streams of the spool, in a process that reads them (spool.c) ----------------------------- */

struct th_spool_stream;

/* Returns the stream NAME, the first one of that name that was not taken; NULL: there is none. */
struct th_spool_stream *th_replay_spool_take(const char *name);

/* The place at which a process begins to read: 1 and 0, or, if the beginning is not kept any more, the record
 * at which the process before it died. */
struct th_spool_start {
    int fd; /* the file; -1: none */
    uint64_t record, position;
    uint64_t size; /* as in struct th_reader_info */
};

/* Waits until the spool has opened STREAM, and sets *START.
 * Owner: the caller closes the file, before th_replay_spool_close().
 * Errors: TH_MALFORMED with the cause; TH_END when *STOP, unless STOP is NULL, becomes other than
 * 0. */
enum th_status th_replay_spool_await(struct th_spool_stream *stream, const volatile int *stop,
                                     struct th_spool_start *start);

/* Returns the descriptor to poll for news. After news call th_replay_spool_hear(), then look. */
int th_replay_spool_news(void);
void th_replay_spool_hear(void);

/* Returns whether a read at POSITION has a result. */
bool th_replay_spool_is_ready(const struct th_spool_stream *stream, uint64_t position);

/* As pread() of FD; EAGAIN if nothing is known of POSITION yet. Bytes before HELD are not needed any
 * more. */
ssize_t th_replay_spool_read(const struct th_spool_stream *stream, int fd, void *data, size_t size,
                             uint64_t position, uint64_t held);

/* Returns the cause why the spool could not copy the rest of STREAM; NULL: it lies in the stream. */
const char *th_replay_spool_fault(const struct th_spool_stream *stream);

/* Notes that this process does not read STREAM any more. */
void th_replay_spool_close(const struct th_spool_stream *stream);

/* --- Wrap sets (wrap.c) ----------------------------------------------------------------------- */

struct th_wrap_set {
    char **names; /* in the order of reading */
    size_t count;
    char *note; /* for the user; NULL: none */
};

/* Finds the file or files that NAME stands for: at least one, which need not exist.
 * Errors: TH_MALFORMED if NAME is a pattern without files, or the files are no wrap set; the cause
 * does not contain NAME. */
enum th_status th_replay_wrap_find(const char *name, struct th_wrap_set *set);

/* Makes a set of the single file NAME. */
void th_replay_wrap_single(const char *name, struct th_wrap_set *set);

void th_replay_wrap_free(struct th_wrap_set *set);

/* --- Addresses tcp://HOST:PORT, and connecting to them (tcp.c) -------------------------------- */

/* HOST is a name, an IPv4 address, or an IPv6 address in brackets; PORT is a number. */

enum { TH_TCP_CONNECT_MS = 10000 /* default limit for look-up and connection */ };

struct addrinfo;

struct th_tcp_address {
    char *host, *port;
};

/* Parses NAME.
 * Owner: th_replay_tcp_free(), whatever the status.
 * Errors: TH_MALFORMED with the fault. */
enum th_status th_replay_tcp_parse(const char *name, struct th_tcp_address *address);
void th_replay_tcp_free(struct th_tcp_address *address);

/*
 * Connects within MILLISECONDS; tries all addresses of the name in turn. *FD is non-blocking. A
 * lost peer is noticed within two minutes even if its machine vanishes.
 * Errors: TH_MALFORMED with the cause: refused, unknown name, too late and so on; TH_END, without a
 * cause, when *STOP (STOP may be NULL) becomes other than 0. *STOP is read twice a second and at
 * each signal.
 */
enum th_status th_replay_tcp_connect(const struct th_tcp_address *address, const volatile int *stop,
                                     int milliseconds, int *fd);

/* Waits until DEADLINE (th_clock_real_monotonic()) or a signal, at most half a second. Returns
 * false if *STOP is not 0; STOP may be NULL. */
bool th_replay_tcp_pause(const volatile int *stop, int64_t deadline);

/* --- Readers (reader.c) ----------------------------------------------------------------------- */

struct th_reader_format {
    const char *name;

    /* Creates reader->state for the first file.
     * Errors: TH_MALFORMED if the file has another format; `end` is called nevertheless. */
    enum th_status (*begin)(struct th_reader *reader);

    /*
     * As th_replay_reader_next(), for the current file; sets all of EVENT except its number. After
     * TH_PARTIAL the input stands where reading can go on, possibly at its end. A record that gives
     * TH_MALFORMED must have been consumed.
     */
    enum th_status (*next)(struct th_reader *reader, struct th_event *event);

    void (*end)(struct th_reader *reader);
};

extern const struct th_reader_format th_trace_port_format, th_replay_jsonl_format;

/* For connections, until the input stands at a record; then th_trace_port_format takes over. */
extern const struct th_reader_format th_replay_live_port_format;

/* The connection does not stand at a record any more: th_replay_live_port_format takes over. */
void th_replay_live_port_lose(struct th_reader *reader);

struct th_reader {
    const struct th_reader_format *format;
    void *state; /* of the format */
    struct th_input input;
    struct th_reader_options options;
    struct th_reader_info info;
    char *name;
    struct th_wrap_set set;
    size_t file;                      /* index of the current file in set.names */
    uint64_t bytes_before;            /* read before the current file or connection */
    struct th_connection *connection; /* NULL: files */
    struct th_node_feeder *feeder;    /* of a running node; NULL: none */
    struct th_spool_stream *spool;    /* NULL: this process reads the stream itself */
    struct th_merge *merge;           /* of th_replay_reader_merge(); NULL: one stream */
    struct th_packed_file *packed;    /* the file has an index; NULL: none is used */
};

/* Returns the number of the current or next record, for messages. */
static inline unsigned long long th_replay_reader_number(const struct th_reader *reader)
{
    return reader->info.records + 1;
}

/* Raises an error of the input, once; TH_OK if there is none.
 * Errors: TH_PARTIAL. */
enum th_status th_replay_reader_check_input(struct th_reader *reader);

/* Replaces the current input by FD (-1: none). */
void th_replay_reader_take_input(struct th_reader *reader, int fd);

/* Waits until the spool has opened reader->spool, and makes it the current input.
 * Errors: TH_MALFORMED; TH_END, with an input at its end, if *stop was set. */
enum th_status th_replay_reader_take_spooled(struct th_reader *reader);

/* Drops the rest of the current file. */
static inline void th_replay_reader_skip_file(struct th_reader *reader)
{
    reader->input.ended = true;
    th_replay_input_take(&reader->input, th_replay_input_there(&reader->input));
}

/* --- Connections to running nodes (connection.c) ---------------------------------------------- */

struct th_connection {
    struct th_tcp_address address;
    bool sought;   /* reported that the connection does not begin with a record */
    bool gap;      /* an unknown number of events was lost before the next record */
    bool again;    /* reconnected, and no record has come since */
    bool lost;     /* the previous connection ended in a record or with an error; reported */
    bool given_up; /* no reconnection any more */
    int64_t ended; /* end of the previous connection (th_clock_real_monotonic()) */
    int64_t pause; /* nanoseconds before the next attempt */
};

/* Connects for the first time, and sets the reader's input. If *stop was set, the input is at its
 * end.
 * Errors: TH_MALFORMED with the cause, without the address. */
enum th_status th_replay_connection_open(struct th_reader *reader, const char *name);

/* Reconnects after the end of the connection. Returns TH_OK; TH_END if reconnection is not
 * requested, its time is over, or *stop was set. */
enum th_status th_replay_connection_again(struct th_reader *reader);

void th_replay_connection_free(struct th_connection *connection);

/* --- Running nodes (node_stream.c) ------------------------------------------------------------- */

struct th_node_feeder;

/* Returns the name of the node in NAME, for which th_replay_node_is_name() is true. */
const char *th_replay_node_of(const char *name);

/* Finds the function NAME of the shared object, which stays open. Errors: TH_MALFORMED. */
enum th_status th_replay_node_symbol(const char *name, void **found);

/* Lets the node NAME trace. *FD becomes a pipe of trace-port records.
 * Owner: th_replay_node_close() frees *FEEDER, after *FD was closed.
 * Errors: TH_MALFORMED with the cause, without NAME; TH_FAILED; TH_END, without a cause, when *STOP
 * (STOP may be NULL) becomes other than 0. */
enum th_status th_replay_node_open(const char *name, const struct th_node_options *options,
                                   const volatile int *stop, struct th_node_feeder **feeder,
                                   int *fd);

/*
 * Starts a process that calls SERVE with REQUEST. SOURCE: what the process speaks with, for messages. *FD
 * becomes the pipe of records to which SERVE writes; STATUS, a socket, gets lines, as that of
 * tracehost_node_serve() (node/node.h).
 * Owner, errors: as th_replay_node_open().
 */
typedef int th_feeder_function(const void *request, int out, int status);
enum th_status th_replay_feeder_open(th_feeder_function *serve, const void *request,
                                     const char *source, const volatile int *stop,
                                     struct th_node_feeder **feeder, int *fd);

/* Returns what follows WORDS in the lines that FEEDER has written before `ok`; NULL: it has not written
 * them. Valid until the next call for FEEDER. */
const char *th_replay_feeder_told(struct th_node_feeder *feeder, const char *words);

/* Lets the feeder write that RECORDS records of its pipe have been delivered (log/log_position.h). No effect after
 * th_replay_node_end(). Errors: TH_FAILED. */
enum th_status th_replay_feeder_mark(struct th_node_feeder *feeder, uint64_t records);

/* Waits for the end of the feeder, after the end of its pipe.
 * Errors: TH_PARTIAL, once, if the stream has not ended in order. */
enum th_status th_replay_node_end(struct th_node_feeder *feeder);

/* Asks the node to end its tracing; what it still sends comes before the end of the pipe. */
void th_replay_node_stop(struct th_node_feeder *feeder);

/* Waits until the node is as it was. FEEDER may be NULL. */
void th_replay_node_close(struct th_node_feeder *feeder);

/* --- The trace-port format (trace_port.c) ----------------------------------------------------- */

/* Shortest message, in bytes: head, version, arity, and {seq_trace, with an old atom. */
enum { TH_PORT_SHOWN = 5 + 1 + 2 + 3 + 9 };

/* Longest message of a running node, in bytes; a longer size counts as damage. */
enum { TH_PORT_LONGEST = 1 << 29 };

enum { TH_PORT_MESSAGE = 0, TH_PORT_DROP = 1, TH_PORT_HEAD = 5 /* bytes of op and size */ };

/* Returns true if TH_PORT_SHOWN bytes from P are the beginning of a message: op, size, and a tuple
 * whose first element is trace, trace_ts or seq_trace. */
bool th_replay_trace_port_shows_message(const unsigned char *p);

/* For connections. begin: makes a state that does not know the node. look_for_node: finds the node
 * in messages that have arrived, if the input stands at a message. drop: makes EVENT a drop of
 * DROPPED events at the current place; consumes nothing. */
enum th_status th_replay_trace_port_begin(struct th_reader *reader);
void th_replay_trace_port_end(struct th_reader *reader);
void th_replay_trace_port_look_for_node(struct th_reader *reader);
enum th_status th_replay_trace_port_drop(struct th_reader *reader, struct th_event *event,
                                         uint32_t dropped);

/* HERE is the node whose processes and ports are read as local ones, in place of the recorded node. */
void th_replay_trace_port_set_here(struct th_reader *reader, const struct th_etf_node *here);

/* --- Several streams as one (merge_streams.c) ---------------------------------------------------------- */

struct th_merge;

/* As th_replay_reader_stops(), for each part. */
bool th_replay_merge_stops(struct th_merge *merge, const volatile int *stop);

/* As th_replay_reader_await(), for any part. */
bool th_replay_merge_await(struct th_merge *merge, int milliseconds);

void th_replay_merge_free(struct th_merge *merge);

/* --- USDT probes of recorded events (event_probe.c) ------------------------------------------- */

/*
 * Recorded events can hit USDT probes, for the tools that watch a host (`tracehost replay
 * --probes`). An event without a probe of its own hits `trace`. Values that a recording does not
 * contain (a depth, the length of a queue) are 0 or "".
 */

/* Hits EVENT's probe; if the probe is watched, decodes EVENT into ENV.
 * Errors: TH_MALFORMED if EVENT is damaged. */
enum th_status th_replay_event_probe(struct th_event *event, th_env *env);

#endif
