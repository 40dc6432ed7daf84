/*
 * The USDT probes of any ELF file, read from its notes (section .note.stapsdt).
 *
 * The file is data: whatever is in it, nothing of it is mapped or runs, and notes that are damaged
 * are left out and counted.
 */
#ifndef TH_LIBRARY_PROBE_NOTES_H
#define TH_LIBRARY_PROBE_NOTES_H

#include "host/base/error.h"

#include <stdbool.h>
#include <stdint.h>

/* One place where a probe fires. */
struct th_probe_note {
    char *provider, *name;
    char *arguments;              /* as <sys/sdt.h> writes them: "8@%rdi -4@16(%rsp)" */
    uint64_t location, semaphore; /* addresses in the file; 0: it has no semaphore */
};

struct th_probe_notes {
    struct th_probe_note *notes; /* by provider, name and location */
    size_t count, capacity;
    size_t damaged;
};

/* Reads the file at PATH. TH_OK also where there are none; TH_MALFORMED if it is no ELF file,
 * TH_FAILED if it cannot be read. End with th_debuginfo_probe_notes_free(), also after an error. */
enum th_status th_debuginfo_probe_notes_read(struct th_probe_notes *notes, const char *path);
void th_debuginfo_probe_notes_free(struct th_probe_notes *notes);

/* The same of SIZE bytes in memory, which are left as they are. */
enum th_status th_debuginfo_probe_notes_parse(struct th_probe_notes *notes, const void *bytes,
                                              size_t size);

/* The next argument in *TEXT, which moves behind it: its size in bytes, negative where it is
 * signed, and what says where it is, of LENGTH bytes. False: there is none. A size of 0 is one that
 * the note does not tell. */
bool th_debuginfo_probe_next_argument(const char **text, int *size, const char **where,
                                      size_t *length);

#endif
