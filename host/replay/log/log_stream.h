/*
 * Recordings as a log on an engine that others run: nats://HOST[:PORT]/NAME, a stream of NATS
 * JetStream. The engine's client is a shared object (nats/nats.h); this folder knows what a message is.
 *
 * A stream NAME has recordings, each with a random id and two subjects:
 *
 *   tracehost.NAME.records.ID  batches of all records, each once and in order
 *   tracehost.NAME.world.ID    of each batch that has some, copies of the records that change what
 *                              others mean (th_replay_packed_is_world()), stored before the batch; also
 *                              the first record, and the first of each clock. A reader that begins in
 *                              the middle takes them instead of the records that it passes over.
 *
 * A batch is a message: whole records of a trace port, unchanged, compressed as one zstd frame with a
 * checksum. It has at most TH_LOG_BATCH bytes, unless its only record has more. Its headers, in the
 * order of `enum th_log_field`:
 *
 *   Tracehost-Format     1
 *   Tracehost-Recording  the id
 *   Tracehost-Node, Tracehost-Creation
 *                        the recorded node, if it is known
 *   Tracehost-First      number of the batch's first record in the recording, from 1. (World: of the
 *                        batch whose records these are.)
 *   Tracehost-Count      number of records in the message
 *   Tracehost-Position, Tracehost-Bytes
 *                        bytes of plain records before the batch, and in the message
 *   Tracehost-World      bytes of the copies that the world's messages before the batch have
 *   Tracehost-Drops      events that drop records before the batch count
 *   Tracehost-Times      times in the batch, `CLOCK LEAST GREATEST` in nanoseconds of each clock, with
 *                        commas between: system, cpu, monotonic
 *   Tracehost-Span       times from the beginning of the recording to the end of the batch: `CLOCK FIRST
 *                        LEAST GREATEST`. GREATEST only grows, so that a search can halve the batches.
 *   Tracehost-Last       1: the recording is complete with this batch, which may have no records
 *
 * The message id is ID:FIRST, ID:world:FIRST for the world. A recording has one message in flight:
 * the next one is sent when the server has stored the one before. So messages are in order, and a
 * message that is sent again is one that the stream may have already: the server drops it by its id
 * for some time, and a reader drops it by its number for ever. A gap in the numbers is a loss.
 *
 * Thread: one at a time uses a writer. Readers are processes: log_feed.c.
 */
#ifndef TH_LOG_STREAM_H
#define TH_LOG_STREAM_H

#include "host/base/buffer.h"
#include "host/base/error.h"
#include "host/replay/nats/nats.h"
#include "host/replay/reader.h"
#include "host/trace/event.h"

enum {
    TH_LOG_BATCH = 128 << 10, /* bytes of records in a batch */
    TH_LOG_RECORDS = 4096,    /* records in a batch */
    TH_LOG_MOST = 1 << 30,    /* bytes that a batch of one record may claim to have */
    TH_LOG_HEADS = 2048,      /* bytes for the headers of a message */
    TH_LOG_ID = 17            /* bytes of an id's text */
};

/* --- Names (log_name.c) ------------------------------------------------------------------------ */

/* The records before a segment that are read, too. */
enum th_log_past {
    TH_LOG_WORLD, /* those of the world */
    TH_LOG_ALL,   /* all of them */
    TH_LOG_NOTHING,
    TH_LOG_BETWEEN /* those of the world between begin= and end=, and nothing else */
};

struct th_log_name {
    char *url, *host;
    char *stream;                                    /* NULL: the name is that of a server */
    char *copy;                                      /* the parts of the query */
    const char *recording, *creds, *ca, *cert, *key; /* NULL: not given */
    struct th_time_bound from;
    int64_t batch;      /* bytes; 0: not given */
    int64_t begin, end; /* of a segment: bytes; 0: not given */
    enum th_log_past past;
    bool tls;
    bool unencrypted; /* asked for */
    bool ends;        /* follow=no: the stream ends with what is there */
    bool drops;       /* full=drop */
};

/* Parses NAME, for which th_replay_log_is_name() is true.
 * Owner: th_replay_log_name_free(), whatever the status.
 * Errors: TH_MALFORMED with the fault. */
enum th_status th_replay_log_name_parse(const char *name, struct th_log_name *parsed);
void th_replay_log_name_free(struct th_log_name *name);

/* --- Batches (log_batch.c) --------------------------------------------------------------------- */

struct th_log_times {
    bool known;
    int64_t first, least, greatest;
};

struct th_log_batch {
    const char *recording;
    char node[128]; /* empty: unknown */
    uint64_t creation;
    uint64_t first, count, position, bytes, world, drops;
    struct th_log_times times[TH_CLOCKS], span[TH_CLOCKS]; /* by enum th_time_clock */
    bool last;
};

/* Writes the headers of BATCH, at most TRACEHOST_LOG_HEADERS, to HEADERS; returns their number. */
size_t th_replay_log_write_heads(const struct th_log_batch *batch,
                                 struct tracehost_log_header *headers);

/* Reads the headers of MESSAGE. `recording` is valid as long as the message.
 * Errors: TH_PARTIAL with the reason if the message is no batch. */
enum th_status th_replay_log_read_heads(const struct tracehost_log_engine *engine,
                                        const struct tracehost_log_message *message,
                                        struct th_log_batch *batch);

/* Makes PLAIN the records of MESSAGE, whose headers are BATCH. Begins the thread's memory budget. Errors: TH_PARTIAL with the reason. */
enum th_status th_replay_log_unpack(const struct tracehost_log_message *message,
                                    const struct th_log_batch *batch, struct th_buffer *plain);

/* Writes over the bytes of TEXT that a terminal could take as commands. */
void th_replay_log_hide_controls(char *text);

/* Returns the bytes of the first COUNT records of PLAIN, records that th_replay_log_unpack() has made. */
size_t th_replay_log_size_of(const struct th_buffer *plain, uint64_t count);

/* Notes that TIMES has NS, too. */
void th_replay_log_note_time(struct th_log_times *times, int64_t ns);

/* --- Connections (log_open.c) ------------------------------------------------------------------ */

struct th_log {
    const struct tracehost_log_engine *engine;
    struct tracehost_log_client client;
    char *subjects[TRACEHOST_LOG_SUBJECTS]; /* those of the stream; with stars */
    bool silent;   /* th_replay_log_open() failed as no server has answered */
    bool starting; /* likewise, but the server has taken the connection: it has just started, or
                    * its cluster elects a leader */
};

/* Finds the engine in its shared object. Errors: TH_MALFORMED. */
enum th_status th_replay_log_engine(const struct tracehost_log_engine **engine);

/* Connects to the server of NAME, whose stream, if it has one, must be there, or is made.
 * Owner: th_replay_log_close(), whatever the status.
 * Errors: TH_MALFORMED with the cause; then LOG->silent and LOG->starting are set. */
enum th_status th_replay_log_open(const struct th_log_name *name, bool make, struct th_log *log);
void th_replay_log_close(struct th_log *log);

/* Returns the name of the subject of recording ID, below SUBJECT, one of log->subjects. */
char *th_replay_log_subject(const char *subject, const char *id);

/* Finds the id of the recording of LOG that NAME asks for; if it asks for none, of the only one.
 * Owner: the caller frees *RECORDING. Errors: TH_MALFORMED with those that there are. */
enum th_status th_replay_log_choose(struct th_log *log, const struct th_log_name *name,
                                    char **recording);

/* Raises TH_MALFORMED, with the recordings that there are, if NAME's recording is none of LOG. */
enum th_status th_replay_log_refuse_choice(struct th_log *log, const struct th_log_name *name);

struct th_log_summary {
    const char *stream, *recording; /* NULL: the stream has none */
    uint64_t messages, sequence;    /* sequence: of the first message */
    bool readable;                  /* false: its last message is no batch; `last` is not set */
    struct th_log_batch last;       /* its headers sum up the recording */
};
typedef void th_log_visitor(void *context, const struct th_log_summary *summary);

/* Sums up the recordings of STREAM, in their order. A stream without recordings is visited once.
 * Errors: TH_MALFORMED with the cause. */
enum th_status th_replay_log_recordings(struct th_log *log, const char *stream,
                                        th_log_visitor *visit, void *context);

/* Does so for the stream of NAME, or for all streams of its server, by a connection of its own. */
enum th_status th_replay_log_list(const struct th_log_name *name, th_log_visitor *visit,
                                  void *context);

/* --- Writing (log_writer.c) -------------------------------------------------------------------- */

struct th_log_writer;

struct th_log_options {
    const volatile int *stop; /* NULL, or other than 0 ends a wait for the server */
    void (*notice)(void *context, const char *text); /* NULL, or called with news for the user */
    void *context;
    /* Written by the writer. */
    char id[TH_LOG_ID];
    uint64_t records, bytes, messages; /* that the log has */
    uint64_t lost; /* events that are not in the log: it was full, or they too large */
};

/* Makes a random id. */
void th_replay_log_make_id(char id[TH_LOG_ID]);

/* Begins a recording of the node HERE in the stream NAME. OPTIONS stays the caller's, to the end.
 * Errors: TH_FAILED with the cause. */
enum th_status th_replay_log_writer_begin(const char *name, const struct th_etf_node *here,
                                          struct th_log_options *options,
                                          struct th_log_writer **writer);

/* Adds EVENT, whose record has SIZE bytes at DATA. Waits for the server, or loses events, as the
 * name says. Errors: TH_FAILED if the server refuses, or *stop ended a wait. */
enum th_status th_replay_log_writer_add(struct th_log_writer *writer, struct th_event *event,
                                        const unsigned char *data, size_t size);

/* Sends what was added a short time ago, or before. Errors: as above. */
enum th_status th_replay_log_writer_flush(struct th_log_writer *writer);

/* Sends the rest, and says that the recording is complete. Errors: as above. */
enum th_status th_replay_log_writer_finish(struct th_log_writer *writer);

/* Ends WRITER, which may be NULL; without th_replay_log_writer_finish(), the recording stays incomplete. */
void th_replay_log_writer_end(struct th_log_writer *writer);

/* --- Reading (log_feed.c) ---------------------------------------------------------------------- */

struct th_node_feeder;

/* Starts a process that reads the recording NAME; READER_NAME: NULL, or the reader that goes on
 * (log_position.h). *FD becomes a pipe of trace-port records. Sets `live`, `before` and `position` of INFO.
 * Owner: as th_replay_node_open(). Errors: likewise; TH_USAGE if a reader cannot go on in NAME. */
enum th_status th_replay_log_read(const char *name, const char *reader_name,
                                  const volatile int *stop, struct th_node_feeder **feeder, int *fd,
                                  struct th_reader_info *info);

/* Finds the byte of its recording at which NAME, which has begin=, begins. Errors: as th_replay_log_read(). */
enum th_status th_replay_log_begin_of(const char *name, const volatile int *stop, uint64_t *before);

#endif
