/*
 * Memory near libraries, for records of entries and their stubs. Inner header of breakpoint/.
 *
 * It is made in blocks: a page of stubs, and the records that they hand over. Which stub has which
 * record never changes, so the page is written once, and executable only from then on. A block
 * serves all libraries that it reaches, and is never freed.
 *
 * A stub has no entry in an unwind table: libgcc takes a lock for tables that are registered at run
 * time, in each exception and in each walk from a signal handler. A walk that begins at one of the
 * two instructions of a stub finds no caller; from the thunk on each walk does.
 *
 * One thread at a time: native.c sees to that.
 */
#ifndef TH_NATIVE_NEAR_H
#define TH_NATIVE_NEAR_H

#include "native.h"

/* A record that is free, and that a jump from WORD reaches; NULL: there is no memory, errno says
 * why. It stays free unless TAKE. */
struct th_native *th_native_near_find(const void *word, bool take);

void th_native_near_free(struct th_native *record);

/* Where the entry jumps to. */
uintptr_t th_native_near_stub(const struct th_native *record);

#endif
