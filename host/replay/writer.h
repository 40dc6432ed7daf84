/* Writers: events as recorded streams, the inverse of reader.h. */
#ifndef TH_WRITER_H
#define TH_WRITER_H

#include "pack.h"

#include "host/term/etf.h"

struct th_buffer;
struct th_event;

enum th_format { TH_FORMAT_TRACE_PORT, TH_FORMAT_JSONL };

struct th_writer_options {
    enum th_format format;
    /* Values of th_replay_reader_info(), once the node is known. With them, a stream that is read,
     * written and read again is identical byte by byte, if it is encoded as Erlang nodes do. */
    struct th_etf_node here; /* the recorded node: its identifiers are written as local ones */
    bool utf8_atoms;
    enum th_compression compression;
    int level; /* of compression; 0: th_replay_pack_level() */
    /* A packed recording (packed/packed.h), in trace-port format and compressed with zstd, whose frames end
     * with the first record from this number of bytes on; 0: none. The records of a trace port are copied
     * as they are, so that decompressing gives the same file. */
    size_t frame;
    /* FILE is a log (log/log_stream.h), whose format is that of a trace port; NULL: it is a file. */
    struct th_log_options *log;
};

struct th_writer;

/*
 * Begins FILE ("-": stdout). The data goes to a temporary file beside FILE, which
 * th_replay_writer_commit() renames; so FILE never exists half-written.
 * Errors: TH_FAILED with the cause.
 */
enum th_status th_replay_writer_open(const char *file, const struct th_writer_options *options,
                                     struct th_writer **writer);

/*
 * Writes EVENT; terms are decoded into ENV. A trace-port file cannot contain `external`, `tail` and
 * the callers of a call: they are left out, and th_replay_writer_plain() counts such calls.
 * Errors: TH_MALFORMED if EVENT is damaged, TH_FAILED if EVENT is too large for the format, and
 * nothing of EVENT is written; TH_FAILED if writing fails.
 */
enum th_status th_replay_writer_add(struct th_writer *writer, struct th_event *event, th_env *env);

/* Appends to OUT what th_replay_writer_open() and th_replay_writer_add() write. Errors: as
 * th_replay_writer_add(); OUT is unchanged then. */
void th_replay_writer_encode_head(struct th_buffer *out, const struct th_writer_options *options);
enum th_status th_replay_writer_encode(struct th_buffer *out,
                                       const struct th_writer_options *options,
                                       struct th_event *event, th_env *env);

/* Returns the number of calls that were written without their known `external`, `tail` or
 * callers. */
uint64_t th_replay_writer_plain(const struct th_writer *writer);

/* Flushes the written data, so that the reader of a pipe sees it.
 * Errors: TH_FAILED if writing fails. */
enum th_status th_replay_writer_flush(struct th_writer *writer);

/* Ends the file and renames it. Owner: frees the writer, whatever the status. */
enum th_status th_replay_writer_commit(struct th_writer *writer);

/* Drops the written data. Owner: frees the writer. */
void th_replay_writer_abandon(struct th_writer *writer);

#endif
