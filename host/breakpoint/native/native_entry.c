#include "native_internal.h"

#include "host/base/memory.h"
#include "host/library/code_map.h"

#include <sys/mman.h>
#include <unwind.h>

/* The compiler lists NOPs, not labels; merging NOPs elsewhere would damage the code. */
bool th_native_entry_unwinds(uintptr_t address)
{
    /* The argument is a return address, one byte after the call. */
    return _Unwind_FindEnclosingFunction((void *)(address + 1)) == (void *)address;
}

bool th_native_entry_can_read(const struct th_library *library, uintptr_t address)
{
    return th_library_protection(library, address, TH_ENTRY_WORD) & PROT_READ;
}

/* If the write fails, the NOPs remain, and th_native_entry_refusal() finds them. */
void th_native_entries_make_ready(const struct th_library *library)
{
    const struct th_code_map *map = th_library_code_map(library);
    struct th_text_word *words;
    size_t count = 0;

    if (map->patchable_count == 0 || map->threads_started)
        return;
    words = th_alloc(map->patchable_count * sizeof *words);
    for (size_t i = 0; i < map->patchable_count; i++)
        if (th_native_entry_prepare(library, map->patchable[i], &words[count])) {
            words[count].protection =
                th_library_protection(library, (uintptr_t)words[count].word, TH_ENTRY_WORD);
            count++;
        }
    th_native_text_write(words, count);
    th_free(words);
}

const char *th_native_entry_refusal(const struct th_library *library, const void *code)
{
    if (!th_native_entry_can_read(library, (uintptr_t)code))
        return "the code is not in this library: give a function of the library itself that calls "
               "the code";
    return th_native_entry_check(library, code);
}
