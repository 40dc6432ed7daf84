#include "check_seek.h"

#include "host/base/error.h"

/* As th_check_seek_meet(). PATIENT: each callback or call may take long. */
static bool meet_once(struct th_check_seek *seek, const void *input, size_t count, size_t *needed,
                      bool patient)
{
    const int64_t limit = *seek->limit_ns;
    const struct th_check_page *page;
    const struct th_check_found *found;

    if (*seek->stop || *seek->trials >= seek->most) {
        seek->ended = true;
        return false;
    }
    ++*seek->trials;
    if (patient)
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

bool th_check_seek_meet(struct th_check_seek *seek, const void *input, size_t count, size_t *needed)
{
    return meet_once(seek, input, count, needed, seek->found->rule != TH_RULE_HANG);
}

bool th_check_seek_again(struct th_check_seek *seek, const void *input, int times)
{
    static const int never;
    const uint64_t most = seek->most;
    const volatile int *stop = seek->stop;
    bool holds = true;

    seek->most = UINT64_MAX;
    seek->stop = &never;
    for (int i = 0; i < times && holds; i++)
        holds = meet_once(seek, input, 0, NULL, true);
    seek->most = most;
    seek->stop = stop;
    return holds;
}
