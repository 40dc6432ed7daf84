/* For tests of tracers that replace one another: instances of the tracer `successor`, each of a
 * file of its own, in a folder of the test's. */
#ifndef SUCCESSION_H
#define SUCCESSION_H

#include "host/library/library.h"
#include "tests/tracers/successor.h"

/* Makes the folder; removes it with all that is in it. */
void succession_begin(void);
void succession_end(void);

/* Opens one that works for SELF, of a new file at a path that others had before. It is not loaded.
 */
struct th_library *succession_open(struct successor *self);

#endif
