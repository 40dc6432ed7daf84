/* Entries on arm64, as compilers leave them, checked and made ready. */
#ifdef __aarch64__

#include "host/breakpoint/native/native_internal.h"

#include "host/library/code_map.h"

#include <sys/mman.h>

enum { BTI_C = (int)0xd503245f, BTI_JC = (int)0xd50324df, NOP = (int)TH_ENTRY_NOP };

/* Returns whether INSTRUCTION is at ADDRESS, in LIBRARY's code. */
static bool has(const struct th_library *library, uintptr_t address, int instruction)
{
    return th_native_entry_can_read(library, address) && *(const int *)address == instruction;
}

/* Returns the end of the NOPs that begin at ADDRESS; a second one may have become `bti jc`. */
static uintptr_t end_of_nops(const struct th_library *library, uintptr_t address)
{
    while (has(library, address, NOP) || has(library, address, BTI_JC))
        address += TH_ENTRY_WORD;
    return address;
}

/* Returns whether a function begins with the entry word at WORD. Its entry in the unwind table begins
 * at the label, or after the NOPs (gcc 12). */
static bool begins_function(const struct th_library *library, uintptr_t word)
{
    return (has(library, word - TH_ENTRY_WORD, BTI_C) &&
            th_native_entry_unwinds(word - TH_ENTRY_WORD)) ||
           th_native_entry_unwinds(word) || th_native_entry_unwinds(end_of_nops(library, word));
}

th_entry_word *th_native_entry_word(const void *code)
{
    th_entry_word *label = (th_entry_word *)code;

    return label + (*label == (th_entry_word)BTI_C);
}

th_entry_word th_native_entry_keeping(th_entry_word old, th_entry_word value)
{
    (void)old;
    return value;
}

static bool entry_is_guarded(const struct th_library *library, uintptr_t address)
{
    return th_library_protection(library, address, TH_ENTRY_WORD) & TH_PROT_BTI;
}

/* Only guarded code needs `bti jc`. There, a label after NOPs is known by its `bti c`. */
bool th_native_entry_prepare(const struct th_library *library, uintptr_t first_nop,
                             struct th_text_word *word)
{
    uintptr_t entry = first_nop, end = end_of_nops(library, first_nop);

    if (!has(library, first_nop - TH_ENTRY_WORD, BTI_C) && has(library, end, BTI_C))
        entry = end + TH_ENTRY_WORD;
    word->word = (th_entry_word *)(entry + TH_ENTRY_WORD);
    word->value = (th_entry_word)BTI_JC;
    return entry_is_guarded(library, entry) && has(library, entry, NOP) &&
           has(library, entry + TH_ENTRY_WORD, NOP) && begins_function(library, entry);
}

/* Returns whether the compiler has listed NOPs that lead to LABEL. */
static bool lists_before(const struct th_library *library, uintptr_t label)
{
    const struct th_code_map *map = th_library_code_map(library);

    do
        label -= TH_ENTRY_WORD;
    while (has(library, label, NOP) && !th_library_code_map_lists(map, label));
    return th_library_code_map_lists(map, label);
}

const char *th_native_entry_check(const struct th_library *library, const void *code)
{
    const struct th_code_map *map = th_library_code_map(library);
    uintptr_t word = (uintptr_t)th_native_entry_word(code), second = word + TH_ENTRY_WORD;
    bool lists_word = th_library_code_map_lists(map, word);
    uintptr_t end = end_of_nops(library, word);

    if (lists_word && end == word)
        return "another tool has changed the first bytes of the code: use one tool alone, or load "
               "the library before the other tool changes the code";
    if (!lists_word && (end == word || !lists_before(library, (uintptr_t)code)))
        return "the code was compiled without room for a breakpoint at the "
               "entry: " TH_ENTRY_COMPILE;
    if (end == second)
        return "the room at the entry is less than two instructions: " TH_ENTRY_COMPILE;
    if (!begins_function(library, word))
        return "no entry of the unwind table begins at the code: compile with "
               "-fasynchronous-unwind-tables";
    if (!entry_is_guarded(library, second) || has(library, second, BTI_JC))
        return NULL;
    if (map->threads_started)
        return "threads may have run the code before the entry was prepared: the library has "
               "constructors and can start threads, or was loaded before; start threads in load(), "
               "do without constructors, or compile with -mbranch-protection=none";
    return TH_ENTRY_UNWRITABLE;
}

#endif
