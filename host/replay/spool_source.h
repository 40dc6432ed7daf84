/*
 * Sources of the spool (spool.h): bytes that can be read once only. Compressed ones are read as plain
 * ones.
 */
#ifndef TH_SPOOL_SOURCE_H
#define TH_SPOOL_SOURCE_H

#include "reader.h"

#include <sys/types.h>

struct th_node_feeder;
struct th_unpack;

struct th_spool_source {
    int fd;                        /* closed by the user of the source */
    bool begun;                    /* its first byte was read */
    struct th_unpack *unpack;      /* NULL: not compressed; freed by the user, as is `feeder` */
    struct th_node_feeder *feeder; /* of a running node; NULL: none */
};

/* Opens NAME. NODE: see struct th_reader_options. Errors: TH_MALFORMED, TH_FAILED, with the cause. */
enum th_status th_replay_spool_source_open(const char *name, const struct th_node_options *node,
                                           struct th_spool_source *source);

/* As read(), of the plain bytes. SIZE is at least TH_UNPACK_SHOWN. Errors: as read(), and those of
 * th_replay_unpack_read(). */
ssize_t th_replay_spool_source_read(struct th_spool_source *source, unsigned char *data,
                                    size_t size);

/* Returns the size of the file FD in bytes; 0 if it is compressed, or no file. */
uint64_t th_replay_spool_source_size(int fd);

#endif
