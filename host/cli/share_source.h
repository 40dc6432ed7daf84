/*
 * Sources of shares: where the results of the shares come from that shards.c merges, and where a share
 * begins. Shares of a file are played by children (shards.c), segments of a log by workers (workers.c).
 */
#ifndef TH_SHARE_SOURCE_H
#define TH_SHARE_SOURCE_H

#include "host/base/error.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct th_buffer;
struct th_reader;
struct th_replaying;
struct th_share_process;
struct th_shards;

struct th_share_source {
    const char *option; /* of the command line, for messages */
    bool is_far;        /* results leave this machine: no files can pass with them */
    /* In the parent: appends the results of SHARE to DATA. False: they cannot be merged. */
    bool (*receive)(void *context, size_t share, struct th_buffer *data);
    /* Returns the byte of READER's stream at which SHARE begins. PAST: see struct th_shards. */
    uint64_t (*begin_of)(void *context, const struct th_reader *reader, size_t share,
                         unsigned past);
    /* NULL, or called before the stream is opened. PAST: tracers need the events before the share.
     * Errors: with the cause. */
    enum th_status (*prepare)(void *context, bool past);
    /* NULL, or in a child that knows what comes before the share: true in the process that plays the share.
     * In another one, false: it goes on to a later share, whose beginning begin_of() returns from now on. */
    bool (*branch)(void *context, struct th_reader *reader);
    /* NULL, or in a child: hands over DATA, the results, in place of th_cli_share_process_send(). */
    __attribute__((noreturn)) void (*deliver)(void *context, const struct th_buffer *data);
    /* Ends the source. May be called again. In a child that has failed with STATUS: ends the process. */
    void (*end)(void *context, int status);
};

/* The beginning of the results of a share. The struct is that of one build of tracehost; identifiers are
 * those of the recorded node, which are numbers in each process. */
bool th_cli_shards_is_sound(const struct th_buffer *results);
bool th_cli_shards_is_interrupted(const struct th_buffer *results);

/* Makes COUNT shares of SOURCE, of which this process plays OWN. PROCESS: this process, if it is a child.
 * RECORDS: the number that all shares must have together; 0: unknown.
 * Owner: th_cli_shards_end(), which calls SOURCE->end(). */
struct th_shards *th_cli_shards_make(size_t count, size_t own,
                                     const struct th_share_process *process, uint64_t records,
                                     const struct th_share_source *source, void *context);

/* Checks that REPLAY can be played in shares by OPTION. Errors: TH_USAGE. */
enum th_status th_cli_shards_check_options(const struct th_replaying *replay, const char *option);

#endif
