/* Streams as the commands see them: opened by name, walked to their end, every damage told and
 * counted. */
#ifndef TH_STREAM_H
#define TH_STREAM_H

#include "progress_line.h"

#include "host/control/argument.h"
#include "host/replay/player.h"
#include "host/term/env.h"

struct th_mfa;
struct th_event;

/* For a command's help. */
#define TH_STREAM_HELP                                                                           \
    "STREAM is a trace-port file, a file of a wrap set or its pattern NAME*TAIL, JSON lines, - " \
    "for stdin, or tcp://HOST:PORT for what a running node sends to dbg:trace_port(ip, PORT)."

struct th_stream_options {
    bool allow_partial; /* damage does not change the exit status */
    bool scheduler_id;
    size_t max_memory;           /* see th_reader_options */
    int64_t reconnect_ns;        /* see th_reader_options */
    struct th_limit max_records; /* for th_cli_stream_next() */
    enum th_progress_when progress;
};

/* The options that all commands on streams have: of a struct th_stream_options. */
extern const struct th_argument th_cli_stream_arguments[];

/* --max-records, which is --max-events as well, for commands whose events are records. Likewise. */
extern const struct th_argument th_cli_limit_arguments[];

/* Takes a number as a struct th_limit that is set, which ARGUMENT's member is. */
enum th_status th_cli_limit_take(const struct th_argument *argument, const char *value,
                                 void *input);

struct th_stream {
    const char *command; /* for messages */
    const char *name;    /* as the user gave it */
    const struct th_stream_options *options;
    struct th_reader *reader;
    struct th_progress progress;
    void (*idle)(void *context); /* NULL, or called with idle_context before a wait for bytes: to
                                    pass on what has come; stdout is flushed anyhow */
    void *idle_context;
    bool live;        /* as th_replay_reader_info() says; good after the stream was closed, too */
    int status;       /* TH_OK or TH_PARTIAL so far */
    uint64_t skipped; /* records that were damaged within a sound frame */
    uint64_t damages; /* places where it is cut off or damaged otherwise */
};

/* TH_USAGE if stdout goes to the file that the stream NAME is read from. */
enum th_status th_cli_stream_check_stdout(const char *name);

/* Opens STREAM->name, after th_cli_stream_check_stdout(). Another status than TH_OK was told
 * already.
 */
int th_cli_stream_open(struct th_stream *stream);

/* The next sound record. Damage on the way is told on stderr and counted. False at the end, when
 * max_records were read, or when a signal came. */
bool th_cli_stream_next(struct th_stream *stream, struct th_event *event);

/* The stream has come a little further: for those that do not use th_cli_stream_next(). */
void th_cli_stream_step(struct th_stream *stream);

/* EVENT's content turned out to be damaged: tells it from the chain, and counts it. */
void th_cli_stream_malformed(struct th_stream *stream, const struct th_event *event);

/* Decodes all of EVENT into ENV, so that a record is damaged for all commands or for none. FUNCTION
 * is set for a call. TH_MALFORMED with the cause if it is damaged, or no trace message. */
enum th_status th_cli_stream_look_into(struct th_event *event, th_env *env,
                                       struct th_mfa *function);

/* Looks whether EVENT, which the command keeps as it is, is sound for who plays it; else counts it
 * as damage. Terms are decoded into ENV. */
void th_cli_stream_check(struct th_stream *stream, struct th_event *event, th_env *env);

/* Tells the damage that the thread's chain is about, as one of this stream; counts it by its
 * status, TH_MALFORMED or TH_PARTIAL. Of very many only the first are told. */
void th_cli_stream_complain(struct th_stream *stream);

/* Prints a line on stderr that is about the stream, behind what is on stdout. */
void th_cli_stream_say(struct th_stream *stream, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

/* Flushes stdout, closes the reader, sums up on stderr what went wrong, and returns the exit
 * status: TH_OK, TH_PARTIAL, or 128 and more if a signal came. */
int th_cli_stream_close(struct th_stream *stream);

/* "stdin" for "-", else the name itself. */
const char *th_cli_stream_title(const char *name);

#endif
