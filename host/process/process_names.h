/*
 * Names, as the rest of process/ sees them. What is asked of them stands in process.h.
 */
#ifndef TH_NAMES_H
#define TH_NAMES_H

#include "name_table.h"

/* The names of the recording. Written by the world's thread only. */
extern struct th_name_table th_names_recorded;

/* ID, a process or port of the host, is dead; so is its name, which is returned (TH_NONE: none). */
th_term th_names_end(th_term id);

#endif
