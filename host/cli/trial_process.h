/* Trials: processes in which code of libraries is tried, with a limit of time and without output. */
#ifndef TH_TRIAL_PROCESS_H
#define TH_TRIAL_PROCESS_H

#include <stdbool.h>
#include <stdint.h>

/*
 * Runs WORK(CONTEXT) in a child, whose stdin, stdout and stderr are /dev/null, which leaves no core
 * file and ends with this process. WORK ends the child with th_crash_end_trial(). Waits for the end,
 * and fills *STATUS as waitpid() does.
 *
 * Returns false if no child can be made, or if it was killed as it took more than LIMIT_NS
 * nanoseconds; *STATUS is -1 if there was no child.
 * Order: this process has one thread.
 */
bool th_cli_trial_process(void (*work)(void *context), void *context, int64_t limit_ns,
                          int *status);

/* Returns the number of threads of this process, INT16_MAX if it cannot be found. */
int th_cli_trial_threads(void);

#endif
