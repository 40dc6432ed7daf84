/* What the host says of its own bugs, before it aborts. */
#ifndef DYING_H
#define DYING_H

#include <stddef.h>

/* Calls CALL in a child process, which must abort; SAID gets the first line that it says on stderr.
 * While there is one thread. */
void die_of(void (*call)(void), char *said, size_t size);

#endif
