/*
 * Writers: events as recorded streams, the way back of reader.h.
 */
#ifndef TH_WRITER_H
#define TH_WRITER_H

#include "host/term/etf.h"

struct th_event;

enum th_format { TH_FORMAT_TRACE_PORT, TH_FORMAT_JSONL };

struct th_writer_options {
    enum th_format format;
    /* As th_replay_reader_info() tells them, once it knows the node: then a stream that is read,
     * written and read again is the same to the byte, if it is encoded as Erlang nodes do. */
    struct th_etf_node here; /* the recorded node: its identifiers are local ones */
    bool utf8_atoms;
};

struct th_writer;

/*
 * Begins FILE ("-": stdout). A file is written beside its name and renamed by
 * th_replay_writer_commit(), so that no half-written file is ever seen under it. TH_FAILED with the
 * cause.
 */
enum th_status th_replay_writer_open(const char *file, const struct th_writer_options *options,
                                     struct th_writer **writer);

/*
 * Writes EVENT; terms that it needs are decoded into ENV. TH_MALFORMED if the event is damaged:
 * then nothing of it is written. TH_FAILED if writing fails, or the event is too large for the
 * format.
 *
 * What only JSON lines can tell of a call, `external`, `tail` and its callers, is left out of
 * trace-port files; th_replay_writer_plain() counts these calls.
 */
enum th_status th_replay_writer_add(struct th_writer *writer, struct th_event *event, th_env *env);

/* Number of calls that were written without `external`, `tail` or callers, which were known. */
uint64_t th_replay_writer_plain(const struct th_writer *writer);

/* Passes on what was written, so that a pipe's reader sees it. TH_FAILED if writing fails. */
enum th_status th_replay_writer_flush(struct th_writer *writer);

/* Ends the file and gives it its name. The writer is freed in any case. */
enum th_status th_replay_writer_commit(struct th_writer *writer);

/* Drops what was written. */
void th_replay_writer_abandon(struct th_writer *writer);

#endif
