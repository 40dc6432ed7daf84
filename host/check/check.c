#include "check_internal.h"

_Atomic bool th_check_started;

void th_check_start(void)
{
    th_check_heaps_start();
    th_check_callbacks(true);
    atomic_store_explicit(&th_check_started, true, memory_order_relaxed);
}

/* What was freed is looked at before what was not, so that the lines stand in the order of time. */
uint64_t th_check_end(void)
{
    if (!th_check_on())
        return 0;
    atomic_store_explicit(&th_check_started, false, memory_order_relaxed);
    th_check_callbacks(false);
    th_check_heaps_end();
    th_check_owned_end();
    return th_check_findings_end();
}
