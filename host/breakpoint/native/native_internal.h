/*
 * Shared by the files of native sites. Inner header of breakpoint/.
 *
 * Machine code of libraries is written while threads run it (native_text.c). The code is mapped
 * readable and executable; for a write, it is writable for a moment, which its threads do not
 * notice. A lock serialises the functions, so that none makes code unwritable that another is about
 * to write.
 */
#ifndef TH_NATIVE_INTERNAL_H
#define TH_NATIVE_INTERNAL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct th_library;

/* Registers with the kernel for th_native_text_write(). False: the kernel lacks membarrier(). */
bool th_native_text_begin(void);

/* A word to write, aligned, with the protection of its memory. */
struct th_text_word {
    uint64_t *word;
    uint64_t value;
    int protection;
};

/*
 * Writes each word by one store and restores the protection. On return, each thread that arrives
 * runs the new words. Sorts WORDS. False, with errno, if a part cannot be made writable; that part
 * and those after it are not written.
 */
bool th_native_text_write(struct th_text_word *words, size_t count);

/* True if WORD could be written now; else errno is set. */
bool th_native_text_can_write(const struct th_text_word *word);

/* --- Entries as compilers leave them, checked and merged (native_entry.c) --------------------- */

enum { TH_ENTRY_WORD = 8 /* bytes */ };

/* `cs nopl 0(%rax)`, in eight bytes, the first in the lowest byte. The jump of an entry begins with
 * an idle `cs`, too: a debugger with a breakpoint at the first byte later restores the byte that it
 * found, and must not spoil a word that was written since. */
#define TH_ENTRY_NOP UINT64_C(0x00000000801f0f2e)

/* A reason to refuse, used in two places. */
#define TH_ENTRY_UNWRITABLE                                                                 \
    "its code cannot be made writable: allow that (it is forbidden by prctl(PR_SET_MDWE), " \
    "systemd's MemoryDenyWriteExecute= or SELinux's execmod)"

/* Returns VALUE for an entry word that holds OLD, but keeps a breakpoint that a debugger has put at
 * the first byte. A debugger stops all threads to put one there. */
uint64_t th_native_entry_keeping_int3(uint64_t old, uint64_t value);

/*
 * Merges the NOPs in the first eight bytes of each entry of LIBRARY, which was just opened. Later,
 * when an entry is first traced, a thread could stand between two of the NOPs. The compiler lists
 * where the NOPs begin; a label is where an entry of the unwind table begins. An entry that is not
 * certain is left as it is, and refused (th_native_entry_refusal()).
 */
void th_native_entries_make_ready(const struct th_library *library);

/* Returns the reason why the entry at CODE is not a single, aligned NOP of LIBRARY; NULL: it is. */
const char *th_native_entry_refusal(const struct th_library *library, const void *code);

/*
 * Memory near libraries, for records of entries and their stubs (native_near.c), is allocated in
 * blocks: a page of stubs, and the records that the stubs load. A stub always has the same record,
 * so the page is written once and is executable only from then on. A block serves all libraries
 * that it reaches, and is never freed.
 *
 * A stub has no entry in an unwind table: libgcc takes a lock for tables that are registered at run
 * time, in each exception and in each walk from a signal handler. A walk that begins at one of the
 * two instructions of a stub finds no caller; a walk from the thunk does.
 *
 * Thread: one at a time, by native.c's lock.
 */

/* Finds a free record that a jump from WORD reaches; the record is no longer free if TAKE. NULL
 * with errno: there is no memory. */
struct th_native *th_native_near_find(const void *word, bool take);

void th_native_near_free(struct th_native *record);

/* Returns the address of RECORD's stub, the target of the entry's jump. */
uintptr_t th_native_near_stub(const struct th_native *record);

#endif
