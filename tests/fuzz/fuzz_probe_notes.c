/* Fuzzes the notes of probes: any bytes get a result, and each argument lies in its note's text. */
#include "host/library/debuginfo/probe_notes.h"

#include <string.h>

static void check(const struct th_probe_note *note)
{
    const char *end = note->arguments + strlen(note->arguments);
    const char *text = note->arguments, *where;
    size_t length;
    int size;

    while (th_debuginfo_probe_next_argument(&text, &size, &where, &length))
        if (where < note->arguments || length > (size_t)(end - where) || text > end)
            th_bug("an argument outside of its text");
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size);
int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
    struct th_probe_notes notes;

    if (th_debuginfo_probe_notes_parse(&notes, bytes, size) != TH_OK)
        th_error_clear();
    for (size_t i = 0; i < notes.count; i++)
        check(&notes.notes[i]);
    th_debuginfo_probe_notes_free(&notes);
    return 0;
}
