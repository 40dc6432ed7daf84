/* The current watcher inside the host, as notes.c reads it. Inner header of probe/. */
#ifndef TH_PROBE_WATCHER_H
#define TH_PROBE_WATCHER_H

#include "probe.h"

#include <stdatomic.h>

/* Written by th_probe_watch(), read by any thread. */
extern _Atomic(th_probe_watcher) th_probe_watcher_set;

/* Acquire: data that the watcher reads was written before the watcher was set. */
static inline th_probe_watcher th_probe_watcher_now(void)
{
    return atomic_load_explicit(&th_probe_watcher_set, memory_order_acquire);
}

#endif
