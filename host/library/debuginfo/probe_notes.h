/*
 * Reads the USDT probes of any ELF file from its notes (section .note.stapsdt).
 *
 * The file is data: nothing of it is mapped or run. Damaged notes are left out and counted.
 */
#ifndef TH_LIBRARY_PROBE_NOTES_H
#define TH_LIBRARY_PROBE_NOTES_H

#include "host/base/error.h"

#include <stdbool.h>
#include <stdint.h>

/* One place of a probe. */
struct th_probe_note {
    char *provider, *name;
    char *arguments;              /* in the form of <sys/sdt.h>: "8@%rdi -4@16(%rsp)" */
    uint64_t location, semaphore; /* addresses in the file; semaphore 0: none */
};

struct th_probe_notes {
    struct th_probe_note *notes; /* sorted by provider, name and location */
    size_t count, capacity;
    size_t damaged;
};

/* Reads the file at PATH; TH_OK also if it has no probes.
 * Owner: the caller calls th_debuginfo_probe_notes_free(), also after an error.
 * Errors: TH_MALFORMED if the file is no ELF file, TH_FAILED if it cannot be read. */
enum th_status th_debuginfo_probe_notes_read(struct th_probe_notes *notes, const char *path);
void th_debuginfo_probe_notes_free(struct th_probe_notes *notes);

/* As th_debuginfo_probe_notes_read(), for SIZE bytes in memory, which are not changed. */
enum th_status th_debuginfo_probe_notes_parse(struct th_probe_notes *notes, const void *bytes,
                                              size_t size);

/* Reads the next argument of *TEXT, and moves *TEXT behind it. *SIZE is in bytes, negative if the
 * argument is signed, 0 if the note has no size; *WHERE, of LENGTH bytes, is the place of the
 * argument. False: there is none. */
bool th_debuginfo_probe_next_argument(const char **text, int *size, const char **where,
                                      size_t *length);

#endif
