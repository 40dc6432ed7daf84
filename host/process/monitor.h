/* Monitors, as the rest of process/ sees them. Both call DOWN, in the calling thread: no lock may
 * be held. */
#ifndef TH_MONITOR_H
#define TH_MONITOR_H

#include "host/term/term.h"

/* ID is dead, which everyone who asks is told already: fires those who watch it. */
void th_monitors_fire(th_term id, th_term reason);

/* Fires those who watch what was recorded. */
void th_monitors_fire_recorded(th_term reason);

#endif
