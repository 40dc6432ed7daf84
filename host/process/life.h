/*
 * Who was ever seen in this world, and who has ended: two bits an identifier.
 *
 * One thread writes, the one that the world belongs to; any thread reads, without a lock. Inside
 * process/ only.
 */
#ifndef TH_LIFE_H
#define TH_LIFE_H

#include "host/term/term.h"

enum th_life { TH_LIFE_SEEN, TH_LIFE_ENDED, TH_LIFE_FACTS };

/* Notes FACT of ID, a local pid or port. True if it is new. */
bool th_life_note(th_term id, enum th_life fact);

/* What is known of ID, a local pid or port. Any thread. */
bool th_life_ended(th_term id);

/* Forgets everything. */
void th_life_reset(void);

#endif
