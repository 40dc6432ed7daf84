/*
 * The guard: names a callback that crashes, hangs or ends the program.
 *
 * SIGSEGV, SIGBUS, SIGFPE, SIGILL, an abort or an exit inside a tracer's code (its callbacks,
 * load(), destructors, ...) ends the program with TH_CRASHED, after a report on stderr: tracer,
 * callback, record number and byte, the event as text. What stdio buffers hold is flushed before.
 * Outside of a tracer's code these signals do what they always do.
 *
 * The report is made in the signal handler, on a stack of its own, in a process whose heap may be
 * damaged; it uses more than async-signal-safe functions allow. So it goes from what is sure to
 * what is useful, and an alarm ends it wherever it stands.
 */
#ifndef TH_GUARD_H
#define TH_GUARD_H

#include "host/base/base.h"

#include <stdint.h>

/* Installs the handlers, for the calling thread's callbacks. Once, before tracers are loaded. */
void th_guard_install(void);

/* The tracers are gone: the program may end now. */
void th_guard_end(void);

/*
 * A callback of the calling thread, or load() and the like, that takes longer than NANOSECONDS is
 * reported as a crash is. Starts a thread, which looks eight times in that span. Once, after
 * th_guard_install().
 */
enum th_status th_guard_set_timeout(int64_t nanoseconds);

/* *NAME names the file whose records the report counts; it may change at any time. NULL: none. */
void th_guard_set_stream(const char *const *name);

#endif
