/* Streams as the commands read them: opened by name and read to the end; each damage is reported
 * and counted. */
#ifndef TH_STREAM_H
#define TH_STREAM_H

#include "node_options.h"
#include "progress_line.h"

#include "host/control/control.h"
#include "host/replay/player.h"
#include "host/replay/reader.h"
#include "host/term/env.h"

struct th_mfa;
struct th_event;

/* Texts for help. */
#define TH_STREAM_HELP                                                                 \
    "STREAM is a trace-port file, a wrap set NAME*TAIL, JSON lines (also .gz, .zst), " \
    "- for stdin, a node: node:NAME@HOST, tcp://HOST:PORT, a log: nats://HOST/NAME."
#define TH_STREAM_MORE_HELP                                                                        \
    "A wrap set may also be named by its first file. node:NAME@HOST traces what -p and --flags "   \
    "ask "                                                                                         \
    "for, and leaves the node as it was. tcp://HOST:PORT is the port of dbg:trace_port(ip, PORT) " \
    "in "                                                                                          \
    "the node. tracehost-nats(7) describes logs."
#define TH_NODE_HELP                                                                               \
    "-p, --flags, --processes, --ports and the options of -p tell what node:NAME@HOST traces; of " \
    "other streams every record is taken."
#define TH_TIME_HELP                                                                            \
    "T is a time: 1.5 or 1.5s, 250ms, 10us, 3ns, 2min. T of --from and --to counts from the "   \
    "first record of the first STREAM; @T is a time of the recording's own clock, for example " \
    "@1795233754.349."

struct th_stream_options {
    bool allow_partial; /* damage does not change the exit status */
    bool scheduler_id;
    bool alone;                  /* no note that a stream may be a part of a wrap set */
    size_t max_memory;           /* see th_reader_options */
    int64_t reconnect_ns;        /* see th_reader_options */
    const char *resume;          /* see th_reader_options */
    struct th_limit max_records; /* for th_cli_stream_next() */
    enum th_progress_when progress;

    /* For running nodes. */
    struct th_node_options node;
    struct th_node_limits limits;
    bool rate_given, explain;
};

/* The options of all commands on streams, as members of struct th_stream_options. */
extern const struct th_argument th_cli_stream_arguments[];

/* --max-records, and --max-events as its synonym, for commands in which each record is an event.
 * Likewise. */
extern const struct th_argument th_cli_limit_arguments[];

/* Stores VALUE as a struct th_limit that is set, in ARGUMENT's member of INPUT. */
enum th_status th_cli_limit_take(const struct th_argument *argument, const char *value,
                                 void *input);

struct th_stream {
    const char *command;      /* for messages */
    const char *name;         /* as given by the user */
    const char *const *names; /* streams to be merged; NULL: `name` alone */
    size_t count;             /* of names */
    const struct th_stream_options *options;
    struct th_reader *reader;
    struct th_progress progress;
    /* NULL, or called with idle_context before each wait for bytes, to pass on pending output;
     * stdout is flushed anyway. */
    void (*idle)(void *context);
    void (*ending)(void *context); /* likewise, NULL or see th_reader_options */
    void *idle_context;
    /* NULL, or called with keep_context for each sound record, before it is played. */
    void (*keep)(void *context, const struct th_reader *reader, const struct th_event *event);
    void *keep_context;
    bool again;       /* the stream was open before: its note has been printed */
    bool live;        /* as th_replay_reader_info(); valid after the stream is closed, too */
    int status;       /* TH_OK, TH_PARTIAL or TH_USAGE so far */
    uint64_t skipped; /* damaged records within a sound frame */
    uint64_t damages; /* places where the stream is cut off or damaged otherwise */
};

/* Returns whether two of the streams are connections, which are read at the same time: merged. */
bool th_cli_stream_are_live(const char *const *names, size_t count);

/* Checks that stdout does not go to the file of stream NAME. Errors: TH_USAGE if it does. */
enum th_status th_cli_stream_check_stdout(const char *name);

/* Lets STREAM be NAMES, which are merged if they are several. */
void th_cli_stream_take(struct th_stream *stream, const struct th_texts *names);

/* Opens STREAM->name, after th_cli_stream_check_stdout(). Returns the exit status; an error is
 * already reported. */
int th_cli_stream_open(struct th_stream *stream);

/* Reads the next sound record. Damage on the way is reported on stderr and counted. Returns false
 * at the end of the stream, after max_records, or after a signal. */
bool th_cli_stream_next(struct th_stream *stream, struct th_event *event);

/* Updates the progress line. For commands that do not use th_cli_stream_next(). */
void th_cli_stream_step(struct th_stream *stream);

/* Reports EVENT's content as damaged, from the thread's chain, and counts it. */
void th_cli_stream_malformed(struct th_stream *stream, const struct th_event *event);

/* Checks all of EVENT, so that a record counts as damaged for all commands or for none. Sets FUNCTION
 * for a call. Terms are made in ENV, but EVENT need not be decoded afterwards. A drop has no terms.
 * Errors: TH_MALFORMED with the cause if EVENT is damaged or no trace message; TH_FAILED if the
 * system refuses memory. */
enum th_status th_cli_stream_look_into(struct th_event *event, th_env *env,
                                       struct th_mfa *function);

/* Checks EVENT, which the command copies unchanged, and counts damage that a player would find.
 * Decodes terms into ENV. */
void th_cli_stream_check(struct th_stream *stream, struct th_event *event, th_env *env);

/* Reports the damage in the thread's chain as one of this stream and counts it: TH_MALFORMED as a
 * skipped record, any other status as a damaged place. Only the first few are reported. */
void th_cli_stream_complain(struct th_stream *stream);

/* Prints a line about the stream on stderr, after flushing stdout. */
void th_cli_stream_say(struct th_stream *stream, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

/* The same for TEXT, news of the stream CONTEXT. If streams are merged, the line names the stream of
 * the latest record. */
void th_cli_stream_notice(void *context, const char *text);

/* Flushes stdout, closes the reader and sums up the damage on stderr. Returns the exit status:
 * TH_OK, TH_PARTIAL, TH_USAGE, or 128 + the signal that came. */
int th_cli_stream_close(struct th_stream *stream);

/* Returns "stdin" for "-", else NAME. */
const char *th_cli_stream_title(const char *name);

#endif
