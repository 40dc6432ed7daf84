/*
 * Tables of names: from atoms to pids and ports. One thread at a time writes a table; any may read
 * it, without a lock. Inside process/ only.
 */
#ifndef TH_NAME_TABLE_H
#define TH_NAME_TABLE_H

#include "host/term/term.h"

struct th_name_places;

/* {0} is an empty table. */
struct th_name_table {
    struct th_name_places *_Atomic places; /* release: they are filled in; acquire */
};

/* Who has NAME, TH_NONE: nobody. In a read section (progress/), or by who writes. */
th_term th_name_table_get(const struct th_name_table *table, th_term name);

/* Gives NAME, an atom, to ID; to nobody if that is TH_NONE. */
void th_name_table_set(struct th_name_table *table, th_term name, th_term id);

/* Forgets all names. */
void th_name_table_clear(struct th_name_table *table);

#endif
