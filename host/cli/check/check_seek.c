#include "check_seek.h"

#include "host/base/error.h"
#include "host/term/clock.h"

static const int64_t PATIENCE = 1000000000; /* limit of a callback when a finding is confirmed */

bool th_check_seek_meet(struct th_check_seek *seek, const void *input, size_t count, size_t *needed)
{
    const struct th_check_page *page;
    const struct th_check_found *found;

    if (*seek->stop || th_clock_real_monotonic() > seek->deadline_ns) {
        seek->ended = true;
        return false;
    }
    ++*seek->trials;
    page = seek->run(seek->context, input);
    found = page ? th_check_trial_find(page, seek->found->key) : NULL;
    th_error_clear();
    if (!found)
        return false;
    *seek->found = *found;
    if (needed)
        *needed =
            page->phase == TH_CHECK_PLAYING && page->played < count ? (size_t)page->played : count;
    return true;
}

bool th_check_seek_again(struct th_check_seek *seek, const void *input, int times)
{
    static const int never;
    const int64_t limit = *seek->limit_ns, deadline = seek->deadline_ns;
    const volatile int *stop = seek->stop;
    bool holds = true;

    seek->deadline_ns = INT64_MAX;
    seek->stop = &never;
    *seek->limit_ns = PATIENCE;
    for (int i = 0; i < times && holds; i++)
        holds = th_check_seek_meet(seek, input, 0, NULL);
    *seek->limit_ns = limit;
    seek->deadline_ns = deadline;
    seek->stop = stop;
    return holds;
}
