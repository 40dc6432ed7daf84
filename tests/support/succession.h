/* Opens instances of the tracer `successor` for tests of tracers that replace one another. Each has
 * a file of its own, in a folder of the test. */
#ifndef SUCCESSION_H
#define SUCCESSION_H

#include "host/library/library.h"
#include "tests/tracers/successor.h"

/* Creates the folder; removes the folder with all files. */
void succession_begin(void);
void succession_end(void);

/* Opens, without loading, an instance that works for SELF, from a new file at a path that previous
 * instances had, too. */
struct th_library *succession_open(struct successor *self);

#endif
