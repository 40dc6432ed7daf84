/*
 * Events as flat rows, for programs that group and filter columns: a row an event, each part of the
 * event in a column of its own. tracehost-dump(1), FLAT ROWS, documents the columns.
 *
 * A call's row has its duration if the streams can be read twice: th_replay_flat_learn() gets all
 * events, then th_replay_flat_add() gets them again.
 */
#ifndef TH_FLAT_ROWS_H
#define TH_FLAT_ROWS_H

#include "call_durations.h"

struct th_buffer;
struct th_event;
struct th_reader_info;

enum th_flat_format { TH_FLAT_CSV, TH_FLAT_TABLE, TH_FLAT_JSONL };

struct th_flat_counts {
    uint64_t calls;                       /* rows of calls */
    bool learns;                          /* false: no call has a duration */
    uint64_t of[TH_DURATION_KINDS];       /* those calls, by what is known of the duration */
    struct th_call_durations_counts ends; /* of all events, printed or not */
};

struct th_flat_rows;

/* LEARNS: th_replay_flat_learn() will get all events first. */
struct th_flat_rows *th_replay_flat_begin(enum th_flat_format format, bool learns);

/* Notes what EVENT shows of the durations of calls; terms are decoded into ENV.
 * Order: all events of the streams, before the first row.
 * Errors: TH_FAILED if the system refuses memory. */
enum th_status th_replay_flat_learn(struct th_flat_rows *rows, struct th_event *event, th_env *env);

/* Appends the row of the column names, if the format has one. */
void th_replay_flat_head(const struct th_flat_rows *rows, struct th_buffer *out);

/* Appends the row of EVENT, of the stream with INFO; terms are decoded into ENV.
 * Errors: TH_MALFORMED if EVENT is no term; OUT is unchanged then. */
enum th_status th_replay_flat_add(struct th_flat_rows *rows, const struct th_reader_info *info,
                                  struct th_event *event, th_env *env, struct th_buffer *out);

/* Append a cell. CSV: in quotes if necessary; SET is false for an absent value. Table: at most WIDTH characters, and
 * blanks up to them on the left if RIGHT; else on the right if PAD. */
void th_replay_flat_csv_cell(struct th_buffer *out, const char *text, size_t size, bool set);
void th_replay_flat_table_cell(struct th_buffer *out, const char *text, size_t size, size_t width,
                               bool right, bool pad);

/* Returns whether EVENT is a trace message without damage. Its terms are decoded into ENV; if BRIEF, they
 * are only checked. Errors: false with the cause. */
bool th_replay_flat_is_sound(struct th_event *event, th_env *env, bool brief);

/* Returns whether rows show the name of ATOM as it is: without quotes, as no terminal would obey its
 * characters. */
bool th_replay_flat_is_plain(th_term atom);

struct th_flat_counts th_replay_flat_counts(const struct th_flat_rows *rows);
void th_replay_flat_end(struct th_flat_rows *rows);

#endif
