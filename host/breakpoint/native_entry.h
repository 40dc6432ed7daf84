/*
 * Entries as compilers leave them: what is fit for a breakpoint. Inner header of breakpoint/.
 */
#ifndef TH_NATIVE_ENTRY_H
#define TH_NATIVE_ENTRY_H

#include <stddef.h>
#include <stdint.h>

struct th_library;

enum { TH_ENTRY_WORD = 8 /* bytes */ };

/* `nopl 0(%rax,%rax,1)` of eight bytes, the first in the lowest byte. */
#define TH_ENTRY_NOP UINT64_C(0x0000000000841f0f)

/* LIBRARY was opened: makes one NOP of what are NOPs in the first eight bytes of its entries. */
void th_entries_make_ready(const struct th_library *library);

/* Why the entry at CODE is not a single NOP, aligned and LIBRARY's; as th_native_refusal(). */
const char *th_entry_refusal(const struct th_library *library, const void *code);

#endif
