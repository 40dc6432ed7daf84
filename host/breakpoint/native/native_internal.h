/*
 * What the files of native sites share. Inner header of breakpoint/.
 *
 * Machine code of libraries is written while threads run it (native_text.c). It is mapped readable
 * and executable. To be written it is, for a moment, writable too; threads that run there notice
 * nothing. The functions take turns, by a lock, so that none takes from another what it has made
 * writable.
 */
#ifndef TH_NATIVE_INTERNAL_H
#define TH_NATIVE_INTERNAL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct th_library;

/* Asks the kernel for what th_native_text_write() needs. False: it has no such thing. */
bool th_native_text_begin(void);

/* A word to be written, aligned, in memory of that protection. */
struct th_text_word {
    uint64_t *word;
    uint64_t value;
    int protection;
};

/*
 * Writes all words, each by one store, the protection being what it was afterwards. When this
 * returns, each thread that comes there runs the new ones. Sorts WORDS. False: a part cannot be
 * made writable, and those from there on are not written; errno says why.
 */
bool th_native_text_write(struct th_text_word *words, size_t count);

/* True if that word could be written now; errno. */
bool th_native_text_can_write(const struct th_text_word *word);

/* --- Entries as compilers leave them: what is fit for a breakpoint (native_entry.c) ----------- */

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

/*
 * Memory near libraries, for records of entries and their stubs (native_near.c), is made in blocks:
 * a page of stubs, and the records that they hand over. Which stub has which record never changes,
 * so the page is written once, and executable only from then on. A block serves all libraries that
 * it reaches, and is never freed.
 *
 * A stub has no entry in an unwind table: libgcc takes a lock for tables that are registered at run
 * time, in each exception and in each walk from a signal handler. A walk that begins at one of the
 * two instructions of a stub finds no caller; from the thunk on each walk does.
 *
 * One thread at a time: native.c sees to that.
 */

/* A record that is free, and that a jump from WORD reaches; NULL: there is no memory, errno says
 * why. It stays free unless TAKE. */
struct th_native *th_native_near_find(const void *word, bool take);

void th_native_near_free(struct th_native *record);

/* Where the entry jumps to. */
uintptr_t th_native_near_stub(const struct th_native *record);

#endif
