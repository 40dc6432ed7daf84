/*
 * Streams that `tracehost check` plays: the tour, which has an event of each shape that the documents
 * allow (replay/generate.h), and recordings.
 */
#ifndef TH_CHECK_STREAMS_H
#define TH_CHECK_STREAMS_H

#include "check_trial.h"

#include "host/replay/kept_records.h"

struct th_check_tour {
    struct th_replay_kept kept;
    size_t *shapes; /* of each record */
    size_t *left;   /* numbers of the records that are played, from 0 */
    size_t left_count;
    bool *covered; /* for each shape: a tracer's `trace` was called for it */
};

/* Errors: TH_FAILED if there is no memory for the tour. TOUR is freed in any case. */
enum th_status th_check_tour_make(struct th_check_tour *tour);
void th_check_tour_free(struct th_check_tour *tour);

/* Appends the stream of the records that are left. */
void th_check_tour_write(const struct th_check_tour *tour, struct th_buffer *stream);

/* Leaves out record number RECORD of this stream, from 1, from now on. */
void th_check_tour_leave_out(struct th_check_tour *tour, uint64_t record);

/* Notes the shapes that a trial of this stream has delivered. */
void th_check_tour_cover(struct th_check_tour *tour, const struct th_check_page *page);

/* Appends the beginning of the recording NAME to STREAM, in trace-port format, without damaged
 * records.
 * Errors: those of th_replay_reader_open(). */
enum th_status th_check_recording_read(const char *name, struct th_buffer *stream);

#endif
