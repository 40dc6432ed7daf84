/* Entries on x86-64, as compilers leave them, checked and merged. */
#ifdef __x86_64__

#include "host/breakpoint/native/native_internal.h"

#include "host/library/code_map.h"

/* --- NOPs ------------------------------------------------------------------------------------- */

/* Returns the length of the NOP at CODE, 0 if there is none. Reads fewer than 16 bytes. */
static size_t nop_length(const uint8_t *code)
{
    enum { IN_REGISTER = 3, HAS_SIB = 4, RELATIVE = 5 };
    size_t length = 0; /* of the prefixes, then of the whole NOP */
    unsigned mod, rm;
    const uint8_t *modrm;

    while (length < 8 && (code[length] == 0x66 || code[length] == 0x2e))
        length++;
    if (code[length] == 0x90)
        return length + 1;
    if (code[length] != 0x0f || code[length + 1] != 0x1f)
        return 0;
    /* ModRM and its address follow. */
    modrm = code + length + 2;
    mod = modrm[0] >> 6;
    rm = modrm[0] & 7;
    length += rm == HAS_SIB && mod != IN_REGISTER ? 4 : 3;
    if (mod == 1)
        return length + 1;
    if (mod == 2 || (mod == 0 && (rm == RELATIVE || (rm == HAS_SIB && (modrm[1] & 7) == RELATIVE))))
        return length + 4;
    return length;
}

/* A debugger that had a pending breakpoint in the library has put its int3 at the label by now. */
enum { FIRST = 0xff, INT3 = 0xcc, NOP = 0x90 };
#define NOPS UINT64_C(0x9090909090909090)

static bool ends_as(uint64_t word, uint64_t other)
{
    return ((word ^ other) & ~(uint64_t)FIRST) == 0;
}

th_entry_word th_native_entry_keeping(th_entry_word old, th_entry_word value)
{
    return (old & FIRST) == INT3 ? (value & ~(uint64_t)FIRST) | INT3 : value;
}

/* The NOPs of an entry word. */
struct nops {
    size_t count;
    size_t bytes; /* up to the end of the last one that begins in the word */
};

static struct nops count_nops(const struct th_library *library, uintptr_t label)
{
    enum { LOOKED_AT = TH_ENTRY_WORD + 16 };
    uint8_t code[LOOKED_AT] = {0}; /* padded with zeros at the end of the library */
    struct nops nops = {0, 0};
    size_t length;
    uint64_t word;

    memcpy(code, (const void *)label,
           th_library_executes(library, label, LOOKED_AT) ? LOOKED_AT : TH_ENTRY_WORD);
    memcpy(&word, code, TH_ENTRY_WORD);
    /* Undoes an int3 if the byte under it is known: a NOP of one byte, which stays one. Such a NOP
     * does no harm before the rest of TH_ENTRY_NOP or of a jump, so the debugger may restore it at
     * any time. */
    if ((word & FIRST) == INT3 && ends_as(word, NOPS))
        word = NOPS;
    else if (((word & FIRST) == INT3 || (word & FIRST) == NOP) && ends_as(word, TH_ENTRY_NOP))
        word = TH_ENTRY_NOP;
    memcpy(code, &word, TH_ENTRY_WORD);

    while (nops.bytes < TH_ENTRY_WORD && (length = nop_length(code + nops.bytes)) > 0) {
        nops.count++;
        nops.bytes += length;
    }
    return nops;
}

/* --- Making ready ----------------------------------------------------------------------------- */

th_entry_word *th_native_entry_word(const void *code)
{
    return (th_entry_word *)code;
}

/* The label: at the first of the NOPs with =8 and =16,0; eight bytes on with =16,8. */
bool th_native_entry_prepare(const struct th_library *library, uintptr_t first_nop,
                             struct th_text_word *word)
{
    uintptr_t label = first_nop + (th_native_entry_unwinds(first_nop) ? 0 : TH_ENTRY_WORD);
    struct nops nops;

    if (!th_native_entry_unwinds(label) || label % TH_ENTRY_WORD != 0 ||
        !th_native_entry_can_read(library, label))
        return false;
    nops = count_nops(library, label);
    word->word = (th_entry_word *)label;
    word->value = th_native_entry_keeping(*word->word, TH_ENTRY_NOP);
    return nops.count > 0 && nops.bytes == TH_ENTRY_WORD && *word->word != word->value;
}

/* --- Refusing --------------------------------------------------------------------------------- */

/* The reason why several NOPs, or none, are refused. */
static const char *refuse_nops(const struct th_code_map *map, struct nops nops)
{
    if (nops.count == 0)
        return "another tool has changed the first bytes of the code: use one tool alone, or load "
               "the library before the other tool changes the code";
    if (nops.bytes < TH_ENTRY_WORD)
        return "the room at the entry is less than eight bytes: " TH_ENTRY_COMPILE;
    if (nops.bytes > TH_ENTRY_WORD)
        return "the NOPs at the entry do not end after eight bytes: " TH_ENTRY_COMPILE;
    if (map->threads_started)
        return "threads may have run the code before the entry was prepared: the library has "
               "constructors and can start threads, or was loaded before; start threads in load(), "
               "do without constructors, or compile with clang, whose entries need no preparation";
    return TH_ENTRY_UNWRITABLE;
}

const char *th_native_entry_check(const struct th_library *library, const void *code)
{
    const struct th_code_map *map = th_library_code_map(library);
    uintptr_t label = (uintptr_t)code;
    struct nops nops;

    if (!th_library_code_map_lists(map, label) &&
        !th_library_code_map_lists(map, label - TH_ENTRY_WORD))
        return "the code was compiled without room for a breakpoint at the "
               "entry: " TH_ENTRY_COMPILE;
    if (memcmp(code, (const uint8_t[]){0xf3, 0x0f, 0x1e, 0xfa}, 4) == 0)
        return "the code begins with `endbr64`, in the place of a breakpoint: compile with "
               "-fcf-protection=none";
    if (label % TH_ENTRY_WORD != 0)
        return "the entry is not aligned to eight bytes: compile with -O2, which aligns functions, "
               "or declare the function with __attribute__((aligned(16)))";
    if (!th_native_entry_unwinds(label))
        return "no entry of the unwind table begins at the code: compile with "
               "-fasynchronous-unwind-tables";
    nops = count_nops(library, label);
    return nops.count == 1 && nops.bytes == TH_ENTRY_WORD ? NULL : refuse_nops(map, nops);
}

#endif
