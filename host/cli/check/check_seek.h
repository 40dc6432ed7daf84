/*
 * Trials that seek a finding of `tracehost check` again: in less input, with more patience.
 */
#ifndef TH_CHECK_SEEK_H
#define TH_CHECK_SEEK_H

#include "check_page.h"

#include <stddef.h>

/* Trials for the smallest input of a finding. Most need 15 to 50. */
enum { TH_CHECK_SEARCH_TRIALS = 300 };

/* Nanoseconds that a callback or call may take when a finding is confirmed, and when another one than a
 * hang is sought: a busy machine then finds the same as an idle one. */
#define TH_CHECK_PATIENCE INT64_C(1000000000)

struct th_check_seek {
    struct th_check_found *found; /* is sought by its key; becomes the one that was met last */
    uint64_t *trials;             /* counts */
    int64_t *limit_ns;            /* of a callback or call, a part of the circumstances */
    uint64_t most; /* number of trials, so that a busy machine finds the same as an idle one */
    const volatile int *stop; /* no trial begins once this is not 0 */
    bool ended;               /* set when a trial was not made for these reasons */
    /* Runs a trial of INPUT. Returns its results; NULL with an error if there is no process. */
    const struct th_check_page *(*run)(void *context, const void *input);
    void *context;
};

/* Returns whether the finding is met in INPUT, with patience if it is no hang. *NEEDED becomes how many
 * of the COUNT units of INPUT were needed; NULL: that is not wanted. */
bool th_check_seek_meet(struct th_check_seek *seek, const void *input, size_t count,
                        size_t *needed);

/* Returns whether the finding is met TIMES times in INPUT, with more patience for each callback or
 * call. `most` and `stop` do not limit these trials. */
bool th_check_seek_again(struct th_check_seek *seek, const void *input, int times);

/* Returns whether a finding is worth to be shown: a function that takes long at some attempts alone
 * was slowed down by other programs. CONFIRMED: it was met again. */
static inline bool th_check_seek_holds(const struct th_check_found *found, bool confirmed)
{
    return confirmed || found->rule != TH_RULE_HANG;
}

#endif
