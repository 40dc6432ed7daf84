/*
 * Readers: recorded streams as events.
 *
 * A stream is a trace-port file (as dbg:trace_port(file, ...) writes it), a wrap set of such files,
 * or JSON lines; what it is is told by its content. Files are read, not mapped; memory does not
 * grow with the stream. Or it is what a running node sends at this moment to a trace port of the
 * other kind, dbg:trace_port(ip, ...); connection.c tells of those. One thread at a time.
 */
#ifndef TH_READER_H
#define TH_READER_H

#include "host/term/etf.h"

struct th_event;
struct th_reader;

enum {
    TH_READER_MEMORY = 512 << 20,
    TH_READER_LEAST_MEMORY = 1 << 20 /* readers and environments have as much at hand */
};

struct th_reader_options {
    bool scheduler_id;        /* see th_trace_event_from_tuple() */
    size_t max_memory;        /* bytes that an event may take, from its record to its terms; what
                                 takes more is damaged. TH_READER_LEAST_MEMORY or more;
                                 0: TH_READER_MEMORY */
    const volatile int *stop; /* NULL, or set by a signal handler or another thread: a wait for
                                 bytes is given up, and the stream ends there */

    /* Of connections. */
    int64_t reconnect_ns; /* how long to try to take up again one that has ended; 0: not at all */
    int connect_ms;       /* how long one attempt may take; 0: TH_TCP_CONNECT_MS */

    /* NULL, or called with CONTEXT by the thread that reads. */
    void (*waiting)(void *context); /* before a wait for bytes, and twice a second during it */
    void (*notice)(void *context, const char *text); /* what becomes of a connection: "..." */
    void *context;
};

/*
 * Opens NAME: a file; "-" for stdin; a wrap set, given as NAME*TAIL (the star stands for the
 * number) or as the name of its first file (wrap.c tells what is taken for one): then the files of
 * the set follow each other, the oldest first; tcp://HOST:PORT, the trace port of a running node.
 * OPTIONS may be NULL. TH_MALFORMED with the cause: not there, a folder, no such format, refused...
 */
enum th_status th_replay_reader_open(const char *name, const struct th_reader_options *options,
                                     struct th_reader **reader);

/* The same for an open file descriptor, which the reader will close; NAME is for messages. */
enum th_status th_replay_reader_attach(int fd, const char *name,
                                       const struct th_reader_options *options,
                                       struct th_reader **reader);

/* Whether th_replay_reader_open() of NAME succeeds, and the node, as far as the beginning of the
 * stream tells it; else NODE 0. A stream that can be read only once is not touched: TH_OK, NODE 0.
 * Errors: those of th_replay_reader_open(). */
enum th_status th_replay_reader_peek(const char *name, struct th_etf_node *node);

/* Whether th_replay_reader_open() of NAME would read the regular file FILE, by any name. FILE "-"
 * is what stdout is redirected to. */
bool th_replay_reader_would_read(const char *name, const char *file);

/*
 * The next event. It is valid until the next call.
 *   TH_OK         *EVENT is it
 *   TH_END        there are no more
 *   TH_MALFORMED  this record is damaged, its frame is not: the chain says what and where; go on
 *   TH_PARTIAL    the stream is cut off or damaged here: the chain says where. A further call goes
 *                 on behind the damage if there is anything that can be trusted (the next file of a
 *                 wrap set), else it returns TH_END
 * The chain does not tell the file: that is in th_replay_reader_info().
 */
enum th_status th_replay_reader_next(struct th_reader *reader, struct th_event *event);

/* What is known of the whole stream; counts are up to date after each call of
 * th_replay_reader_next(). */
struct th_reader_info {
    const char *format;      /* "trace-port", "jsonl" */
    const char *name;        /* as it was given */
    const char *file;        /* the file being read: differs from the name given for a wrap set */
    const char *note;        /* how the name was taken, for the user; NULL: as it stands */
    struct th_etf_node node; /* the recorded node: node 0 while no record has told it; mostly known
                                from the opening on */
    bool utf8_atoms;         /* atoms are written as OTP 26 and later do; known with the node */
    uint64_t records;        /* read so far, drops and malformed ones included */
    uint64_t drops;          /* events that the recorder says it lost */
    uint64_t gaps;           /* places where events were lost, and nobody knows how many: drops of 0
                                events */
    uint64_t malformed;      /* records of which TH_MALFORMED was returned */
    uint64_t damages;        /* times that TH_PARTIAL was returned */
    uint64_t bytes;          /* read so far */
    uint64_t size;           /* of all its files, as they were found; 0: not known (a pipe, ...) */
    bool live;               /* a connection: it is normal for whoever reads to end it */
    uint32_t nodes; /* counts up when what comes from now on may be of another node than before, of
                       the same name perhaps, whose identifiers stand for others */
};
const struct th_reader_info *th_replay_reader_info(const struct th_reader *reader);

void th_replay_reader_close(struct th_reader *reader);

#endif
