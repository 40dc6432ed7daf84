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

#include "native_machine.h"

#include <stddef.h>

struct th_library;

/* Registers with the kernel for th_native_text_write(). False: the kernel lacks membarrier(). */
bool th_native_text_begin(void);

/* A word to write, aligned, with the protection of its memory. */
struct th_text_word {
    th_entry_word *word;
    th_entry_word value;
    int protection;
};

/*
 * Writes each word by one store and restores the protection. On return, each thread that arrives
 * runs the new words. Sorts WORDS. False, with errno, if a part cannot be made writable; that part
 * and those after it are not written.
 */
bool th_native_text_write(struct th_text_word *words, size_t count);

/* Makes each thread execute the code from BEGIN to END as it was written before the call. */
void th_native_text_publish(uint8_t *begin, uint8_t *end);

/* True if WORD could be written now; else errno is set. */
bool th_native_text_can_write(const struct th_text_word *word);

/* --- Entries as compilers leave them (native_entry.c, and a file for each machine) ------------ */

enum { TH_ENTRY_WORD = sizeof(th_entry_word) /* bytes */ };

/* A reason to refuse, used in two places. */
#define TH_ENTRY_UNWRITABLE                                                                 \
    "its code cannot be made writable: allow that (it is forbidden by prctl(PR_SET_MDWE), " \
    "systemd's MemoryDenyWriteExecute= or SELinux's execmod)"

/* Text for reasons to refuse. */
#define TH_ENTRY_COMPILE "compile with `pkg-config --cflags tracehost-plugin`"

/*
 * Changes the entries of LIBRARY, which was just opened, where that is needed before a site can be
 * set. Later, when an entry is first traced, a thread could stand between two of the compiler's NOPs.
 * The compiler lists where the NOPs begin; a label is where an entry of the unwind table begins. An
 * entry that is not certain is left as it is, and refused (th_native_entry_refusal()).
 */
void th_native_entries_make_ready(const struct th_library *library);

/* Returns the reason why the entry at CODE can have no site in LIBRARY; NULL: it can. */
const char *th_native_entry_refusal(const struct th_library *library, const void *code);

/* True if an entry of the unwind table begins at ADDRESS. */
bool th_native_entry_unwinds(uintptr_t address);

/* True if an entry word at ADDRESS would be readable code of LIBRARY. */
bool th_native_entry_can_read(const struct th_library *library, uintptr_t address);

/* By machine: */

/* Returns the entry word of the function at CODE, which is readable. */
th_entry_word *th_native_entry_word(const void *code);

/* Decides how to make the entry ready for which the compiler lists FIRST_NOP. False: it is ready, or
 * not certain. */
bool th_native_entry_prepare(const struct th_library *library, uintptr_t first_nop,
                             struct th_text_word *word);

/* th_native_entry_refusal() for readable CODE. */
const char *th_native_entry_check(const struct th_library *library, const void *code);

/* Returns VALUE for an entry word that holds OLD, but keeps a breakpoint that a debugger has put
 * there, where the machine can. A debugger stops all threads to put one there. */
th_entry_word th_native_entry_keeping(th_entry_word old, th_entry_word value);

/*
 * Memory near libraries, for records of entries and their stubs (native_near.c), is allocated in
 * blocks: one page of stubs, and the records that the stubs load. A stub always has the same record,
 * so the page is written once and is executable only from then on. A block serves all libraries
 * that it reaches, and is never freed.
 *
 * A stub has no entry in an unwind table: libgcc takes a lock for tables that are registered at run
 * time, in each exception and in each walk from a signal handler. A walk that begins at one of the
 * instructions of a stub finds no caller; a walk from the thunk does.
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
