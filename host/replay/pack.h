/*
 * Compresses the bytes that a writer writes, as one stream: gzip, or zstd with checksums. unpack.h is
 * the inverse.
 * Thread: one at a time.
 */
#ifndef TH_PACK_H
#define TH_PACK_H

#include "host/base/error.h"

#include <stddef.h>

struct th_buffer;
struct th_pack;

enum th_compression { TH_COMPRESSION_NONE, TH_COMPRESSION_GZIP, TH_COMPRESSION_ZSTD };

/* Returns the level of compression unless the user chooses another, and the highest: 1 is the lowest. */
int th_replay_pack_level(enum th_compression compression);
int th_replay_pack_level_most(enum th_compression compression);

/* Begins a stream. COMPRESSION is not NONE. LEVEL 0: th_replay_pack_level().
 * Errors: TH_FAILED if the system refuses memory. */
enum th_status th_replay_pack_begin(enum th_compression compression, int level,
                                    struct th_pack **pack);

enum th_pack_how {
    TH_PACK_MORE,  /* bytes may stay inside */
    TH_PACK_FLUSH, /* the reader of what was written can have all bytes */
    TH_PACK_END    /* the stream ends */
};

/* Compresses SIZE bytes at DATA, and appends what is ready to OUT.
 * Errors: TH_FAILED if the system refuses memory. */
enum th_status th_replay_pack_add(struct th_pack *pack, const void *data, size_t size,
                                  enum th_pack_how how, struct th_buffer *out);

/* Frees PACK, which may be NULL. */
void th_replay_pack_free(struct th_pack *pack);

#endif
