/*
 * Machine code of libraries, written while threads run it. Inner header of breakpoint/.
 *
 * It is mapped readable and executable. To be written it is, for a moment, writable too; threads
 * that run there notice nothing. The functions take turns, by a lock, so that none takes from
 * another what it has made writable.
 */
#ifndef TH_NATIVE_TEXT_H
#define TH_NATIVE_TEXT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* A part of a library that the loader has mapped as one. */
struct th_text_segment {
    uintptr_t start, end;
    int protection; /* PROT_... */
};

/* The segment of any open library that ADDRESS is in; false: it is in none. */
bool th_native_text_find_segment(uintptr_t address, struct th_text_segment *segment);

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

#endif
