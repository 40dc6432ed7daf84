/* What is written to a terminal while `--top` has it: a file in between. */
#ifndef TH_TOP_HELD_H
#define TH_TOP_HELD_H

#include "host/base/base.h"

/* Stderr, and stdout if it is the same terminal, become a file. TH_FAILED, and nothing has changed,
 * if that cannot be. */
enum th_status th_top_held_begin(void);

/* They are what they were, and what was written is copied to the terminal. Async-signal-safe. Once.
 */
void th_top_held_end(void);

#endif
