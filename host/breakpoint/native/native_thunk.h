/*
 * The offsets in struct th_native that the thunks of each machine use. Inner header of breakpoint/,
 * for C and for the assembler.
 */
#ifndef TH_NATIVE_THUNK_H
#define TH_NATIVE_THUNK_H

#define TH_NATIVE_ACTIVE 16
#define TH_NATIVE_HANDLER 40
#define TH_NATIVE_BODY 48
#define TH_NATIVE_THUNK 72

#ifndef __ASSEMBLER__

#include "native.h"

_Static_assert(offsetof(struct th_native, active) == TH_NATIVE_ACTIVE, "as the thunks have it");
_Static_assert(offsetof(struct th_native, handler) == TH_NATIVE_HANDLER, "as the thunks have it");
_Static_assert(offsetof(struct th_native, body) == TH_NATIVE_BODY, "as the thunks have it");
_Static_assert(offsetof(struct th_native, thunk) == TH_NATIVE_THUNK, "as the thunks have it");
_Static_assert(sizeof(((struct th_native *)NULL)->active[0]) == 4, "an index counts four bytes");
_Static_assert(sizeof th_breakpoint_active_index == 4, "one register, as the thunks have it");

/* Jumped to by a stub, with its record in a register. Jumps to the record's handler, with the record as
 * the last parameter of a function of this form; or to the body. */
void th_native_thunk_terms_0(void) __attribute__((visibility("hidden")));
void th_native_thunk_terms_1(void) __attribute__((visibility("hidden")));
void th_native_thunk_terms_2(void) __attribute__((visibility("hidden"))); /* and NIF */
void th_native_thunk_terms_3(void) __attribute__((visibility("hidden")));
void th_native_thunk_terms_4(void) __attribute__((visibility("hidden")));
void th_native_thunk_terms_5(void) __attribute__((visibility("hidden")));

#endif

#endif
