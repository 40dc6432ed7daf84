/* The inner header of packed/: a packed recording that is read. */
#ifndef TH_PACKED_INTERNAL_H
#define TH_PACKED_INTERNAL_H

#include "packed.h"

#include "host/base/error.h"

#include <zstd.h>

struct th_packed_pick {
    uint64_t frame, ordinal;
};

struct th_packed_file {
    int fd;
    struct th_packed_index index;
    uint64_t tail;     /* offset in the file of what is not indexed */
    bool ends;         /* the file has its seek table: nothing is in the tail */
    bool end_reported; /* that there is no seek table, or no frame where one would be */
    bool mistrusted;
    ZSTD_DCtx *zstd;
    unsigned char *packed; /* bytes of a frame as they are in the file */
    size_t packed_size;
    struct th_packed_counts counts;

    bool *read;                   /* by frame; NULL: all */
    struct th_packed_pick *picks; /* single records of other frames, in order */
    size_t pick_count, pick_capacity;

    /* The place. */
    size_t at;   /* frame */
    bool inside; /* of frame `at`, which is not read as a whole */
    /* Why frame `at` is lost. The loss is reported behind the copies of its records: calls among them have lost their
     * ends. TH_OK: the frame is sound, or was not read. */
    struct th_error_chain fault;
    size_t pick; /* next one */
    struct th_packed_walk world;
    struct th_packed_record next; /* of the world; `data` NULL: none is left */
    struct th_buffer plain;       /* of the frame whose records are picked */
    uint64_t ordinal;             /* of the record at `place` in it */
    size_t place;
};

#endif
