/* Captures the message of th_bug(), which aborts the host. */
#ifndef DYING_H
#define DYING_H

#include <stddef.h>

/* Calls CALL in a child process, which must abort. SAID gets the first line of the child's stderr.
 * Thread: the process must have one thread only, as it forks. */
void die_of(void (*call)(void), char *said, size_t size);

#endif
