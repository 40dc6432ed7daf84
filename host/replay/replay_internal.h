/*
 * What the files of replay/ share. The reader itself opens files, follows wrap sets and keeps the
 * counts; a format turns bytes into events. Inner header of replay/.
 */
#ifndef TH_REPLAY_INTERNAL_H
#define TH_REPLAY_INTERNAL_H

#include "reader.h"

#include <string.h>

struct th_event;

/* --- Bytes of a file, pipe or socket, in order (input.c) -------------------------------------- */

/* Readable bytes behind the last one of the buffer: what is read of them means nothing, but whole
 * words can be loaded without a look at the end. */
enum { TH_INPUT_SLACK = 16 };

struct th_input {
    unsigned char *data;
    size_t begin,
        end;         /* the bytes that are there and not yet taken: data[begin] to data[end - 1] */
    size_t capacity; /* of data, slack left out */
    size_t most;     /* what it grows to at most, unless more is wanted in one piece */
    uint64_t offset; /* of data[0] in the file */
    int fd;
    bool ended;   /* nothing comes after data[end - 1] */
    bool stopped; /* it ended because of *stop */
    int error;    /* errno of the read that ended it, 0: the end of the file */
    char *name;   /* for messages */

    /* NULL, or looked at while it waits for bytes, twice a second and when a signal comes: not 0
     * ends the input. Relaxed: it stands for itself. */
    const volatile int *stop;

    /* NULL, or called with CONTEXT before it waits for bytes, and twice a second while it does. */
    void (*waiting)(void *context);
    void *context;
};

/* Opens the file NAME, "-": stdin. TH_MALFORMED with the cause, which does not tell the name; then
 * the input is at its end. */
enum th_status th_replay_input_open(struct th_input *input, const char *name);

/* The same for an open file descriptor, which is closed with the input (stdin is not). */
void th_replay_input_attach(struct th_input *input, int fd, const char *name);

/* Closes; it is at its end then. An input of zeros is allowed. */
void th_replay_input_close(struct th_input *input);

/* Reads until WANTED bytes are there, or the end. Waits no longer than for these. */
void th_replay_input_fill(struct th_input *input, size_t wanted);

/* Takes SIZE bytes as they come. False if it ends before: then all were taken. */
bool th_replay_input_skip(struct th_input *input, uint64_t size);

/* Bytes that are there. */
static inline size_t th_replay_input_there(const struct th_input *input)
{
    return input->end - input->begin;
}

/* True if WANTED bytes are there, or have come now. */
static inline bool th_replay_input_have(struct th_input *input, size_t wanted)
{
    if (__builtin_expect(th_replay_input_there(input) >= wanted, 1))
        return true;
    th_replay_input_fill(input, wanted);
    return th_replay_input_there(input) >= wanted;
}

/* The next byte; valid until the next call of th_replay_input_fill(). */
static inline const unsigned char *th_replay_input_bytes(const struct th_input *input)
{
    return input->data + input->begin;
}

/* Where the next byte stands in the file. */
static inline uint64_t th_replay_input_position(const struct th_input *input)
{
    return input->offset + input->begin;
}

/* Takes SIZE bytes that are there. */
static inline void th_replay_input_take(struct th_input *input, size_t size)
{
    input->begin += size;
}

/* --- Wrap sets (wrap.c) ----------------------------------------------------------------------- */

struct th_wrap_set {
    char **names; /* the files in the order in which to read them */
    size_t count;
    char *note; /* what the user should be told, NULL: nothing */
};

/* The file or files that NAME stands for: at least one, that need not exist. TH_MALFORMED if it is
 * a pattern and there is no file for it, or they are no wrap set; the cause does not tell NAME. */
enum th_status th_replay_wrap_find(const char *name, struct th_wrap_set *set);

/* Just NAME. */
void th_replay_wrap_single(const char *name, struct th_wrap_set *set);

void th_replay_wrap_free(struct th_wrap_set *set);

/* --- Addresses tcp://HOST:PORT, and connecting to them (tcp.c) -------------------------------- */

/* HOST is a name, an IPv4 address, or an IPv6 address in brackets; PORT a number. */

enum { TH_TCP_CONNECT_MS = 10000 /* for looking up and connecting, unless told otherwise */ };

struct addrinfo;

struct th_tcp_address {
    char *host, *port;
};

/* True if NAME begins as such an address does: then it means nothing else. */
bool th_replay_tcp_is_address(const char *name);

/* Takes NAME apart; TH_MALFORMED with what is wrong with it. th_replay_tcp_free() in any case. */
enum th_status th_replay_tcp_parse(const char *name, struct th_tcp_address *address);
void th_replay_tcp_free(struct th_tcp_address *address);

/*
 * Connects within MILLISECONDS, trying in turn all addresses that the name has. The descriptor does
 * not block, and its end is noticed (within two minutes) also if the other machine just vanishes.
 * TH_MALFORMED with the cause: refused, unknown, too late... TH_END, without a cause, as soon as
 * *STOP (NULL: never) is not 0; it is looked at twice a second and when a signal comes.
 */
enum th_status th_replay_tcp_connect(const struct th_tcp_address *address, const volatile int *stop,
                                     int milliseconds, int *fd);

/* Waits until DEADLINE (th_clock_real_monotonic()), half a second at most; shorter if a signal
 * comes. False if *STOP is not 0. */
bool th_replay_tcp_pause(const volatile int *stop, int64_t deadline);

/* --- Readers (reader.c) ----------------------------------------------------------------------- */

struct th_reader_format {
    const char *name;

    /* Makes reader->state for the first file. TH_MALFORMED if it is not of this format after all;
     * then `end` is called all the same. */
    enum th_status (*begin)(struct th_reader *reader);

    /*
     * As th_replay_reader_next(), for the file at hand; fills in all of EVENT but its number. After
     * TH_PARTIAL the input stands where reading can go on, perhaps at its end. Records that are
     * passed over (TH_MALFORMED) must have been taken from the input.
     */
    enum th_status (*next)(struct th_reader *reader, struct th_event *event);

    void (*end)(struct th_reader *reader);
};

extern const struct th_reader_format th_trace_port_format, th_replay_jsonl_format;

/* For connections: until it stands at a record, from where th_trace_port_format goes on. */
extern const struct th_reader_format th_replay_live_port_format;

/* The reader of a connection does not stand at a record any more: th_replay_live_port_format takes
 * over.
 */
void th_replay_live_port_lose(struct th_reader *reader);

struct th_reader {
    const struct th_reader_format *format;
    void *state; /* of the format */
    struct th_input input;
    struct th_reader_options options;
    struct th_reader_info info;
    char *name;
    struct th_wrap_set set;
    size_t file;                      /* the one being read, in set.names */
    uint64_t bytes_before;            /* read of the files, or connections, before it */
    struct th_connection *connection; /* NULL: files */
};

/* The number of the record that is next, or being read: for messages. */
static inline unsigned long long th_replay_reader_number(const struct th_reader *reader)
{
    return reader->info.records + 1;
}

/* Reading the input failed: TH_PARTIAL once. TH_OK if it did not fail. */
enum th_status th_replay_reader_check_input(struct th_reader *reader);

/* Goes on with the input FD (-1: none) instead of the one at hand. */
void th_replay_reader_take_input(struct th_reader *reader, int fd);

/* Gives up what is left of the file at hand. */
static inline void th_replay_reader_skip_file(struct th_reader *reader)
{
    reader->input.ended = true;
    th_replay_input_take(&reader->input, th_replay_input_there(&reader->input));
}

/* --- Connections to running nodes (connection.c) ---------------------------------------------- */

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

void th_replay_connection_free(struct th_connection *connection);

/* --- The trace-port format (trace_port.c) ----------------------------------------------------- */

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

/* --- USDT probes of recorded events (event_probe.c) ------------------------------------------- */

/*
 * A recording can be watched with what watches a host (`tracehost replay --probes`). An event
 * without a probe of its own hits `trace`. What a recording does not tell, a depth or the length of
 * a queue, is 0 or "".
 */

/* EVENT has happened. If its probe is watched it is decoded, in ENV. TH_MALFORMED if it is damaged.
 */
enum th_status th_replay_event_probe(struct th_event *event, th_env *env);

#endif
