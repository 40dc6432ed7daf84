#include "check_seek.h"

#include "host/base/error.h"

bool th_check_seek_meet(struct th_check_seek *seek, const void *input, size_t count, size_t *needed)
{
    const int64_t limit = *seek->limit_ns;
    const struct th_check_page *page;
    const struct th_check_found *found;

    if (*seek->stop || *seek->trials >= seek->most) {
        seek->ended = true;
        return false;
    }
    ++*seek->trials;
    if (seek->found->rule != TH_RULE_HANG)
        *seek->limit_ns = TH_CHECK_PATIENCE;
    page = seek->run(seek->context, input);
    *seek->limit_ns = limit;
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
    const int64_t limit = *seek->limit_ns;
    const uint64_t most = seek->most;
    const volatile int *stop = seek->stop;
    bool holds = true;

    seek->most = UINT64_MAX;
    seek->stop = &never;
    *seek->limit_ns = TH_CHECK_PATIENCE;
    for (int i = 0; i < times && holds; i++)
        holds = th_check_seek_meet(seek, input, 0, NULL);
    *seek->limit_ns = limit;
    seek->most = most;
    seek->stop = stop;
    return holds;
}
