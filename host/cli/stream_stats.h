/* What `tracehost info` counts in a stream. Memory grows with distinct tracees and functions, not
 * with the stream. */
#ifndef TH_STREAM_STATS_H
#define TH_STREAM_STATS_H

#include "host/replay/replay.h"

struct th_stream_stats_row {
    enum th_event_kind kind;
    th_term tag;         /* an atom; of seq_trace: print, send or receive */
    uint32_t tuple_size; /* elements of the records' tuples */
    uint64_t count;
};

struct th_stream_stats_item {
    uint64_t key; /* a pid or port, or what th_cli_stream_stats_function() takes apart */
    uint64_t count;
};

struct th_stream_stats_list {
    struct th_stream_stats_item *items; /* the most frequent first */
    size_t count;
    size_t shown; /* of them */
};

struct th_stream_stats {
    uint64_t total; /* sound records, drops included */
    uint64_t drops; /* drop records */
    uint64_t lost;  /* events that these say were dropped */
    uint64_t other; /* records that are no trace messages */
    uint64_t calls;
    uint64_t foreign; /* events of tracees of other nodes */
    struct th_stream_stats_row *rows;
    size_t row_count, row_capacity, row_last;
    struct th_table functions, tracees; /* values: counts */
    struct th_span {
        int64_t first, last; /* nanoseconds, in the order of the records */
        bool used;
    } spans[TH_TIME_STRICT_MONOTONIC + 1]; /* by the kind of time: a stream may have several */
};

/* Decodes all of EVENT into ENV, so that a record is damaged for all commands or for none. FUNCTION
 * is set for a call. TH_MALFORMED with the cause if it is damaged, or no trace message. */
enum th_status th_cli_stream_stats_look_into(struct th_event *event, th_env *env,
                                             struct th_mfa *function);

/* Counts one event. TH_MALFORMED if its content is damaged: then it is not counted. */
enum th_status th_cli_stream_stats_add(struct th_stream_stats *census, struct th_event *event,
                                       th_env *env);

/* Orders the rows by kind, tag and size; the lists by count, then by name. Of these TOP are shown,
 * 0: all. The caller frees items. */
void th_cli_stream_stats_sort_rows(struct th_stream_stats *census);
struct th_stream_stats_list th_cli_stream_stats_functions(const struct th_stream_stats *census,
                                                          uint64_t top);
struct th_stream_stats_list th_cli_stream_stats_tracees(const struct th_stream_stats *census,
                                                        uint64_t top);

struct th_mfa th_cli_stream_stats_function(uint64_t key);
/* The names of kinds of events. */
extern const char *const th_cli_stream_stats_kinds[];

void th_cli_stream_stats_free(struct th_stream_stats *census);

#endif
