/*
 * Entries as compilers leave them: what is fit for a breakpoint. Inner header of breakpoint/.
 */
#ifndef TH_NATIVE_ENTRY_H
#define TH_NATIVE_ENTRY_H

#include <stddef.h>
#include <stdint.h>

struct th_library;

enum { TH_ENTRY_WORD = 8 /* bytes */ };

/* `cs nopl 0(%rax)`, in eight bytes, the first in the lowest byte. An entry's jump begins with a
 * `cs` that says nothing, too: a debugger that has put its own breakpoint in the place of the first
 * byte puts back later what it found there, and must not spoil what has been written meanwhile. */
#define TH_ENTRY_NOP UINT64_C(0x00000000801f0f2e)

/* A reason to refuse, which is found in two places. */
#define TH_ENTRY_UNWRITABLE                                                                 \
    "its code cannot be made writable: allow that (it is forbidden by prctl(PR_SET_MDWE), " \
    "systemd's MemoryDenyWriteExecute= or SELinux's execmod)"

/* VALUE, to be written to an entry word where OLD is: a breakpoint that a debugger has put in the
 * place of the first byte stays, as the debugger thinks that it does. It stops all threads to put
 * it there. */
uint64_t th_native_entry_keeping_int3(uint64_t old, uint64_t value);

/*
 * LIBRARY was opened: makes one NOP of what are NOPs in the first eight bytes of its entries. Not
 * when an entry is first traced: a thread may stand between two of the NOPs then. The compiler
 * lists where the NOPs begin; the label is where an entry of the unwind table begins. An entry that
 * is not sure to be one is left as it is, and refused (th_native_entry_refusal()).
 */
void th_native_entries_make_ready(const struct th_library *library);

/* Why the entry at CODE is not a single NOP, aligned and LIBRARY's; as th_native_refusal(). */
const char *th_native_entry_refusal(const struct th_library *library, const void *code);

#endif
