/*
 * Readers: recorded streams as events.
 *
 * A stream is a trace-port file (of dbg:trace_port(file, ...)), a wrap set of such files, JSON
 * lines, or a connection to a running node's trace port (dbg:trace_port(ip, ...), see
 * connection.c). Files and pipes may be compressed with gzip or zstd (unpack.h): positions and sizes
 * are those of the plain bytes. The content decides the format. Files are read, not mapped; memory
 * does not grow with the stream.
 * Thread: one at a time uses a reader.
 */
#ifndef TH_READER_H
#define TH_READER_H

#include "host/term/etf.h"

struct th_event;
struct th_mfa;
struct th_reader;

enum {
    TH_READER_MEMORY = 512 << 20,
    TH_READER_LEAST_MEMORY = 1 << 20 /* lower limit of th_reader_options.max_memory */
};

/* A stream node:NAME@HOST asks the node for this. The texts and bytes must stay valid. */
struct th_node_options {
    const char *cookie;        /* NULL: the content of cookie_file */
    const char *cookie_file;   /* NULL: ~/.erlang.cookie */
    const unsigned char *wish; /* what is to be traced: an external term, see node/node.h */
    size_t wish_size;          /* in bytes */
    bool evaluated;            /* no module is loaded in the node */
    int64_t for_ns;            /* nanoseconds of tracing; 0: until the stream is closed */
    int64_t port_rate;         /* most events a second by a trace port; 0: no limit */
    int64_t port_bytes;        /* most bytes of them; 0: no limit */
};

struct th_reader_options {
    bool scheduler_id; /* see th_trace_event_from_tuple() */
    /* Bytes that one event may take, from its record to its terms; a larger event counts as
     * damaged. At least TH_READER_LEAST_MEMORY; 0: TH_READER_MEMORY. */
    size_t max_memory;
    /* NULL, or a flag that a signal handler or another thread sets: a wait for bytes ends, and the
     * stream with it. */
    const volatile int *stop;

    const struct th_node_options *node; /* NULL: a running node cannot be opened */

    const char *resume; /* NULL, or the reader that goes on in a log: letters, digits, - and _ */

    /* For connections. */
    int64_t reconnect_ns; /* nanoseconds to try to reconnect; 0: no attempt */
    int connect_ms;       /* limit of one attempt, in milliseconds; 0: TH_TCP_CONNECT_MS */

    /* NULL, or called with CONTEXT by the thread that reads. */
    void (*waiting)(void *context); /* before a wait for bytes, and twice a second during it */
    void (*notice)(void *context, const char *text); /* state of a connection, for the user */
    void (*ending)(void *context);                   /* of a log or a node: all records were read */
    void (*keep)(void *context, const struct th_event *event); /* each sound record, drops too */
    void *context;
};

/*
 * Opens NAME: a file; "-" for stdin; a wrap set, named NAME*TAIL (the star stands for the number)
 * or by its first file (wrap.c has the rules), whose files are read in order, the oldest first; 
 * tcp://HOST:PORT, the trace port of a running node; node:NAME@HOST, a running node that is asked to
 * trace; or nats://HOST/NAME, a recording in a log (log/log_stream.h). OPTIONS may be NULL.
 * Errors: TH_MALFORMED with the cause: not found, a folder, unknown format, connection refused and
 * so on.
 */
enum th_status th_replay_reader_open(const char *name, const struct th_reader_options *options,
                                     struct th_reader **reader);

/* The same for an open file descriptor; NAME is for messages. Owner: the reader closes FD. */
enum th_status th_replay_reader_attach(int fd, const char *name,
                                       const struct th_reader_options *options,
                                       struct th_reader **reader);

/*
 * Opens COUNT streams as one, whose events are those of all, in the order of time. They may be of several nodes:
 * the first one that is known is this node, whose clock the times have; the others are peers (term/peer.h).
 * Raw bytes of records are not to be had.
 * Errors: those of th_replay_reader_open(); TH_USAGE if identifiers would be mistaken. th_replay_reader_next()
 * returns TH_USAGE, and then TH_END, if times cannot be compared.
 */
enum th_status th_replay_reader_merge(const char *const *names, size_t count,
                                      const struct th_reader_options *options,
                                      struct th_reader **reader);

/* The system clock of a node among merged streams. */
struct th_part_clock {
    th_term node;   /* TH_NONE: unknown */
    bool is_first;  /* the node whose clock the events have */
    bool shared;    /* the node is on the host of the first one */
    bool known;     /* round trips or messages tell `behind` */
    int64_t behind; /* nanoseconds behind the clock of the first one; 0 if unknown */
    int64_t doubt;  /* nanoseconds by which this may be wrong */
};

/* Tells what is known now of stream NUMBER, from 0. Returns false if there is none. */
bool th_replay_reader_clock(const struct th_reader *reader, size_t number,
                            struct th_part_clock *clock);

/* Tests th_replay_reader_open() of NAME. *NODE gets the node if the beginning of the stream has it,
 * else zeros. A stream that can be read only once is not opened: TH_OK, zeros.
 * Errors: those of th_replay_reader_open(). */
enum th_status th_replay_reader_peek(const char *name, struct th_etf_node *node);

/* Return true if NAME begins with the scheme of a connection, "tcp://" in any case or "node:"; then
 * NAME is nothing else. */
bool th_replay_tcp_is_address(const char *name);
bool th_replay_node_is_name(const char *name);

/* Returns true if NAME begins with the scheme of a log, "nats://" in any case. A log can be read again. */
bool th_replay_log_is_name(const char *name);

/* Calls VISIT for each module that the running node NAME has loaded, with function and arity 0, or,
 * unless MODULE is TH_NONE, for each function of MODULE, if that is loaded. The order is the node's.
 * Visits none if the node cannot be asked, for any reason, or takes longer than *LEFT_MS; *LEFT_MS is
 * reduced by the time that has passed. The node loads nothing. For the completion of command lines. */
void th_replay_node_list(const char *name, const struct th_node_options *options, th_term module,
                         int *left_ms, void (*visit)(void *context, const struct th_mfa *found),
                         void *context);
static inline bool th_replay_is_connection(const char *name)
{
    return th_replay_tcp_is_address(name) || th_replay_node_is_name(name);
}

/* Returns whether NAME can be read only once: stdin, a pipe, a device, a connection. *FILES gets the
 * number of files that it stands for. */
bool th_replay_reader_reads_once(const char *name, size_t *files);

/* Returns true if th_replay_reader_open() of NAME would read the regular file FILE, by any of its
 * names. FILE "-" stands for the file to which stdout is redirected. */
bool th_replay_reader_would_read(const char *name, const char *file);

/* A bound of times. */
struct th_time_bound {
    bool set;
    bool relative; /* to the stream's first time by the same clock */
    int64_t ns;
};

/* Returns NS, a time of a clock whose first time is ZERO, on the scale of BOUND; saturates. */
static inline int64_t th_replay_on_scale(const struct th_time_bound *bound, int64_t zero,
                                         int64_t ns)
{
    int64_t since;

    if (!bound->relative)
        return ns;
    if (!__builtin_sub_overflow(ns, zero, &since))
        return since;
    return ns < 0 ? INT64_MIN : INT64_MAX;
}

/* Returns whether a time from LEAST to GREATEST, of a clock whose first time is ZERO, can lie between FROM
 * and TO, both included. */
static inline bool th_replay_is_between(const struct th_time_bound *from,
                                        const struct th_time_bound *to, int64_t zero, int64_t least,
                                        int64_t greatest)
{
    return (!from->set || th_replay_on_scale(from, zero, greatest) >= from->ns) &&
           (!to->set || th_replay_on_scale(to, zero, least) <= to->ns);
}

/* A wish for some records of a stream. The zero of each member: no condition. */
struct th_reader_selection {
    struct th_time_bound from, to; /* both included; events without a time are wanted */
    uint64_t tags;                 /* bits by enum th_tracer_tag */
    const th_term *tracees;        /* pids and ports of the recorded node */
    size_t tracee_count;
    bool *met; /* by tracee: gets true if the stream has the tracee; NULL: nobody asks */
    /* Returns whether calls of FUNCTION, and their ends, are wanted. */
    bool (*is_wanted)(void *context, const struct th_mfa *function);
    void *context;
    uint64_t others; /* bits of events that are wanted beside these, and do not come in any case */
    bool stacks;     /* also the calls that are open when a wanted event comes: callers matter */
};

/* The frames that a reader passes over. */
struct th_reader_passed {
    uint64_t inside;   /* records in those whose times match */
    uint64_t tags;     /* of these frames; bits by enum th_tracer_tag */
    uint64_t all_tags; /* of all frames */
    struct {           /* by enum th_time_clock */
        bool known;
        int64_t least, greatest, zero; /* zero: the first time of the stream */
    } clocks[3];
};

/*
 * Lets a packed recording (packed/packed.h) pass over records that SELECTION does not want; other
 * streams have all. The records that still come, in their order and with their numbers: the wanted
 * ones; those that change what others mean (spawns, names, links, exits, drops, the first time of a
 * clock); some others. PASSED may be NULL.
 * Order: before the first record is taken.
 */
void th_replay_reader_select(struct th_reader *reader, const struct th_reader_selection *selection,
                             struct th_reader_passed *passed);

/*
 * Reads the next event, which is valid until the next call.
 *   TH_OK         *EVENT is the event
 *   TH_END        end of the stream
 *   TH_MALFORMED  this record is damaged, its frame is not; the chain has the reason; go on
 *   TH_PARTIAL    the stream is cut off or damaged here; the chain has the place. The next call
 *                 goes on behind the damage if there is a trusted place (the next file of a wrap
 *                 set, the next record of a connection), else it returns TH_END
 * The chain does not name the file; th_replay_reader_info() does.
 */
enum th_status th_replay_reader_next(struct th_reader *reader, struct th_event *event);

/* Waits at most MILLISECONDS for bytes of the next record. Returns false if none has come and one may
 * come, also if a connection has ended that may begin anew. */
bool th_replay_reader_await(struct th_reader *reader, int milliseconds);

/* Returns the bytes of EVENT, the latest record, as they stand in the stream, and their number in
 * *SIZE: a trace-port record, or a JSON line, whose newline may be missing. 0 bytes: the reader has
 * made the record itself. Valid until the next call of th_replay_reader_next(). */
const unsigned char *th_replay_reader_raw(const struct th_reader *reader,
                                          const struct th_event *event, size_t *size);

/*
 * Passes over the records that begin before byte POSITION of a trace-port file, and returns TH_OK,
 * with the event in EVENT, for each record that may change what later events mean: the first one,
 * those that register, unregister or end a tracee, the first one with a time of a clock, and those
 * that only th_replay_reader_next() can judge. TH_END: the next record begins at POSITION or behind
 * it, or the file has ended. The other statuses are those of th_replay_reader_next(); damage inside
 * of a record that is passed over is not found. Source: facts/workers.md, 7.
 */
enum th_status th_replay_reader_pass(struct th_reader *reader, uint64_t position,
                                     struct th_event *event);

/* Ends the stream, a file that can be read again, or a log, before the first record that begins at byte
 * POSITION or behind it. POSITION 0: removes the limit, and reading goes on. */
void th_replay_reader_limit(struct th_reader *reader, uint64_t position);

/* Lets READER, of a log, go on with the stream NAME, whose first record is the next one. READER may be the copy of
 * one that is read on in the parent. Errors: as th_replay_reader_open(). */
enum th_status th_replay_reader_branch(struct th_reader *reader, const char *name);

/* Adds the counts of records that other readers of the same stream have read. */
void th_replay_reader_count(struct th_reader *reader, uint64_t records, uint64_t drops,
                            uint64_t gaps);

/* State of the whole stream; counts are updated by each call of th_replay_reader_next(). */
struct th_reader_info {
    const char *format;      /* "trace-port", "jsonl" */
    const char *name;        /* as given to th_replay_reader_open() */
    const char *file;        /* the file being read; differs from `name` for a wrap set */
    const char *note;        /* how the name was understood, for the user; NULL: literally */
    struct th_etf_node node; /* the recorded node; zeros until a record contains it */
    bool utf8_atoms;         /* atoms are encoded as OTP 26 and later do; known with the node */
    uint64_t records;        /* read so far, drops and malformed ones included */
    uint64_t drops;          /* events dropped by the recorder */
    uint64_t gaps;           /* drop records of 0 events: an unknown number of events was lost */
    uint64_t malformed;      /* calls that returned TH_MALFORMED */
    uint64_t damages;        /* calls that returned TH_PARTIAL */
    uint64_t bytes;          /* read so far */
    /* All files' bytes, when they were opened; 0: unknown (a pipe, a compressed file, ...). */
    uint64_t size;
    const char *compressed; /* "gzip", "zstd"; NULL: the stream is plain */
    /* A packed recording's frames; those that were read; records of damaged ones. */
    uint64_t frames, frames_read, frame_losses;
    uint64_t late;    /* events of merged streams that came after later ones */
    uint64_t missing; /* bytes at the beginning that the spool (spool.h) does not keep any more */
    uint64_t before; /* bytes of records before those that begin= of a log, or `resume`, asks for */
    uint64_t position; /* number of the record with which `resume` begins; from 1 */
    bool live; /* a connection, or a recording that still grows: the user normally ends it */
    /* Incremented when the following records may be of another node than those before, perhaps with
     * the same name: equal identifiers may then name different processes. */
    uint32_t nodes;
};
const struct th_reader_info *th_replay_reader_info(const struct th_reader *reader);

/* Returns whether the stream ends here, as *STOP (STOP may be NULL) is not 0. A running node is asked
 * to end its tracing instead, and its stream has what it sends until then. */
bool th_replay_reader_stops(struct th_reader *reader, const volatile int *stop);

/* Writes, for `resume`, that all records that were read have been delivered, and waits until the server has the
 * position. No effect behind the end of the stream, except in `ending`.
 * Order: between two records. Outputs were flushed.
 * Errors: TH_FAILED, also if another process reads as the same reader. */
enum th_status th_replay_reader_mark(struct th_reader *reader);

void th_replay_reader_close(struct th_reader *reader);

#endif
