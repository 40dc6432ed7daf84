/*
 * What the readers of the formats share. The reader itself opens files, follows wrap sets and keeps
 * the counts; a format turns bytes into events.
 */
#ifndef TH_READING_H
#define TH_READING_H

#include "connection.h"
#include "input.h"
#include "reader.h"
#include "wrap.h"

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

#endif
