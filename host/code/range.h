/*
 * Ranges: which code lies where, replicated under the code indices (index.h). Handlers are
 * replicated with them: an instance has the names of its functions since it was prepared, so that
 * an address which the ranges of an index have leads to its handler's name (th_code_place()).
 * Inner header of code/, but for what finds: th_code_at() is export.h's, th_code_instance_at() and
 * th_code_place() instance.h's.
 */
#ifndef TH_RANGE_H
#define TH_RANGE_H

#include <stddef.h>

struct th_instance;

/* In the staging index: INSTANCE is found by the addresses of its code; no more, and may be freed
 * after thread progress once that is committed. */
void th_code_ranges_add(struct th_instance *instance);
void th_code_ranges_remove(struct th_instance *instance);

/* For stage.c. catch_up brings INDEX up to date. commit is called before INDEX becomes the active
 * one: the other indices must be brought up to date later. */
void th_code_ranges_catch_up(unsigned index);
void th_code_ranges_commit(unsigned index);

#endif
