/*
 * Checks relocations, which the loader writes, and the functions that it calls at start and end.
 */
#include "elf_file.h"

#include <string.h>

/* The kinds that the loader knows; any other kind makes it end the process. */
static bool is_known_relocation(uint64_t type)
{
#if defined(__x86_64__)
    static const unsigned char known[] = {
        R_X86_64_64,        R_X86_64_PC32,      R_X86_64_COPY,       R_X86_64_GLOB_DAT,
        R_X86_64_JUMP_SLOT, R_X86_64_RELATIVE,  R_X86_64_32,         R_X86_64_DTPMOD64,
        R_X86_64_DTPOFF64,  R_X86_64_TPOFF64,   R_X86_64_SIZE32,     R_X86_64_SIZE64,
        R_X86_64_TLSDESC,   R_X86_64_IRELATIVE, R_X86_64_RELATIVE64,
    };
    return type < 256 && memchr(known, (int)type, sizeof known);
#elif defined(__aarch64__)
    return type == R_AARCH64_ABS64 || type == R_AARCH64_ABS32 || type == R_AARCH64_PREL32 ||
           (type >= R_AARCH64_COPY && type <= R_AARCH64_IRELATIVE);
#else
#error "the relocations that the loader knows on this machine"
#endif
}

#if defined(__x86_64__)
enum { RELATIVE = R_X86_64_RELATIVE, IRELATIVE = R_X86_64_IRELATIVE, TPOFF = R_X86_64_TPOFF64 };
#elif defined(__aarch64__)
enum {
    RELATIVE = R_AARCH64_RELATIVE,
    IRELATIVE = R_AARCH64_IRELATIVE,
    TPOFF = R_AARCH64_TLS_TPREL
};
#endif

static bool elf_relocations_is_code(const struct th_elf *elf, uint64_t address)
{
    const struct th_elf_segment *segment = th_elf_segment_of(elf, address);

    return segment && segment->executable && th_elf_bytes_after(elf, address) > 0;
}

/* The facts of the dynamic section by which relocations are judged, looked up once. */
struct judge {
    struct th_elf *elf;
    bool changes_code; /* relocations may change memory that is not writable */
    struct function_array {
        uint64_t start, size; /* bytes */
    } arrays[2];              /* functions that the loader calls at start and end */
    uint64_t calls;           /* number of relocations in ARRAYS */
};

/* Checks the relocations at ADDRESS, SIZE bytes, and marks their symbols in `referred`. The first
 * RELATIVE of them must be of the kind RELATIVE. */
static enum th_status walk_relocations(struct judge *judge, uint64_t address, uint64_t size,
                                       uint64_t relative)
{
    struct th_elf *elf = judge->elf;
    Elf_Data *table = th_elf_at(elf, address, size, ELF_T_RELA);
    uint64_t count = size / sizeof(Elf64_Rela);
    GElf_Rela relocation;

    if (size == 0)
        return TH_OK;
    if (!table || size % sizeof(Elf64_Rela) != 0 || count > INT32_MAX || relative > count)
        return th_elf_refuse_damaged("relocations");
    for (size_t i = 0; i < count; i++) {
        const struct th_elf_segment *segment;
        uint64_t type, symbol;
        bool called = false; /* it is in an array of functions */

        if (!gelf_getrela(table, (int)i, &relocation) ||
            (i < relative && GELF_R_TYPE(relocation.r_info) != RELATIVE))
            return th_elf_refuse_damaged("relocations");
        type = GELF_R_TYPE(relocation.r_info);
        symbol = GELF_R_SYM(relocation.r_info);
        if (type == 0)
            continue;
        segment = th_elf_segment_of(elf, relocation.r_offset);
        for (size_t k = 0; k < 2; k++)
            called |= relocation.r_offset - judge->arrays[k].start < judge->arrays[k].size;
        judge->calls += called;
        if (!is_known_relocation(type) || (symbol && symbol >= elf->symbol_count) ||
            !th_elf_maps(elf, relocation.r_offset, 8) ||
            !(segment->writable || judge->changes_code))
            return th_elf_refuse_damaged("relocation");
        if ((type == IRELATIVE || (type == RELATIVE && called)) &&
            !elf_relocations_is_code(elf, (uint64_t)relocation.r_addend))
            return th_elf_refuse_damaged("relocation");
        elf->referred[symbol] = true;
        elf->static_tls |= type == TPOFF;
    }
    return TH_OK;
}

/* True if there is no entry TABLE, or the entry TAG has the value WANTED. */
static bool goes_with(const struct th_elf *elf, int64_t table, int64_t tag, uint64_t wanted)
{
    uint64_t value;

    if (!th_elf_dynamic(elf, table, &value))
        return true;
    return th_elf_dynamic(elf, tag, &value) && value == wanted;
}

/* The loader aborts the process if a table has no size, or a wrong one. */
static bool sizes_are_sane(const struct th_elf *elf)
{
    static const int64_t pairs[][2] = {
        {DT_RELA, DT_RELASZ},
        {DT_JMPREL, DT_PLTRELSZ},
        {DT_JMPREL, DT_PLTREL},
        {DT_RELR, DT_RELRSZ},
        {DT_INIT_ARRAY, DT_INIT_ARRAYSZ},
        {DT_FINI_ARRAY, DT_FINI_ARRAYSZ},
        {DT_VERNEED, DT_VERNEEDNUM},
        {DT_VERDEF, DT_VERDEFNUM},
    };
    uint64_t value;

    for (size_t i = 0; i < sizeof pairs / sizeof pairs[0]; i++)
        if (th_elf_dynamic(elf, pairs[i][0], &value) != th_elf_dynamic(elf, pairs[i][1], &value))
            return false;
    return goes_with(elf, DT_RELA, DT_RELAENT, sizeof(Elf64_Rela)) &&
           goes_with(elf, DT_RELR, DT_RELRENT, sizeof(Elf64_Xword)) &&
           goes_with(elf, DT_PLTREL, DT_PLTREL, DT_RELA) &&
           goes_with(elf, DT_SYMTAB, DT_SYMENT, sizeof(Elf64_Sym)) &&
           !th_elf_dynamic(elf, DT_REL, &value);
}

/* --- Versions -------------------------------------------------------------------------------- */

/*
 * The versions of symbols.
 *
 * Both version tables are lists of records, each with a list of its own; a record holds the
 * distance to the next one, 0 at the end. The checks need the highest version number, as the loader
 * does not check the numbers of the symbols.
 */

struct version_walk {
    const struct th_elf *elf;
    const unsigned char *bytes; /* from the table to the end of its segment */
    uint64_t size;
    uint64_t budget; /* number of records that fit there; ends lists that overlap */
    unsigned highest;
};

static bool start_walk(struct version_walk *walk, int64_t tag)
{
    uint64_t address;
    Elf_Data *data;

    if (!th_elf_dynamic(walk->elf, tag, &address))
        return false;
    data = th_elf_at(walk->elf, address, th_elf_bytes_after(walk->elf, address), ELF_T_BYTE);
    walk->bytes = data ? data->d_buf : NULL;
    walk->size = data ? data->d_size : 0;
    walk->budget = walk->size / sizeof(Elf64_Verdaux);
    return true;
}

static const void *record_at(struct version_walk *walk, uint64_t offset, size_t size)
{
    if (offset % 4 != 0 || offset > walk->size || size > walk->size - offset || walk->budget == 0)
        return NULL;
    walk->budget--;
    return walk->bytes + offset;
}

static void note_version(struct version_walk *walk, unsigned number)
{
    number &= 0x7FFF; /* bit 15: hidden */
    if (number > walk->highest)
        walk->highest = number;
}

static bool walk_needed(struct version_walk *walk)
{
    const struct th_elf *elf = walk->elf;

    for (uint64_t offset = 0;;) {
        const Elf64_Verneed *file = record_at(walk, offset, sizeof *file);
        const char *name = file ? th_elf_string(elf, file->vn_file) : NULL;
        bool is_needed = false;
        uint64_t at;
        GElf_Dyn entry;

        if (!name)
            return false;
        /* The loader requires that versioned files are in DT_NEEDED. */
        for (size_t i = 0; i < elf->dynamic_count && !is_needed; i++)
            is_needed = gelf_getdyn(elf->dynamic, (int)i, &entry) && entry.d_tag == DT_NEEDED &&
                        strcmp(th_elf_string(elf, entry.d_un.d_val), name) == 0;
        if (!is_needed)
            return false;
        for (at = offset + file->vn_aux;;) {
            const Elf64_Vernaux *version = record_at(walk, at, sizeof *version);
            name = version ? th_elf_string(elf, version->vna_name) : NULL;
            if (!name || elf_hash(name) != version->vna_hash)
                return false;
            note_version(walk, version->vna_other);
            if (version->vna_next == 0)
                break;
            at += version->vna_next;
        }
        if (file->vn_next == 0)
            return true;
        offset += file->vn_next;
    }
}

static bool walk_defined(struct version_walk *walk)
{
    for (uint64_t offset = 0;;) {
        const Elf64_Verdef *version = record_at(walk, offset, sizeof *version);
        const Elf64_Verdaux *name =
            version ? record_at(walk, offset + version->vd_aux, sizeof *name) : NULL;
        if (!name || !th_elf_string(walk->elf, name->vda_name) ||
            elf_hash(th_elf_string(walk->elf, name->vda_name)) != version->vd_hash)
            return false;
        note_version(walk, version->vd_ndx);
        if (version->vd_next == 0)
            return true;
        offset += version->vd_next;
    }
}

/* False if a version record or the version number of a symbol is wrong. */
static bool check_versions(const struct th_elf *elf)
{
    struct version_walk walk = {.elf = elf, .highest = 1};
    size_t count = elf->symbol_count;
    uint64_t address;
    Elf_Data *numbers;

    if ((start_walk(&walk, DT_VERNEED) && !walk_needed(&walk)) ||
        (start_walk(&walk, DT_VERDEF) && !walk_defined(&walk)))
        return false;
    if (!th_elf_dynamic(elf, DT_VERSYM, &address))
        return !walk.bytes;
    numbers = th_elf_at(elf, address, count * sizeof(Elf64_Versym), ELF_T_HALF);
    for (size_t i = 0; numbers && i < count; i++)
        if ((((const Elf64_Versym *)numbers->d_buf)[i] & 0x7FFFu) > walk.highest)
            return false;
    return numbers != NULL;
}

/* --- Code to run at start and end ------------------------------------------------------------- */

static bool points_to_code(const struct th_elf *elf, int64_t tag)
{
    uint64_t address;

    return !th_elf_dynamic(elf, tag, &address) || elf_relocations_is_code(elf, address);
}

static bool is_in_file(const struct th_elf *elf, int64_t tag, uint64_t size)
{
    uint64_t address;

    return !th_elf_dynamic(elf, tag, &address) || size == 0 ||
           size <= th_elf_bytes_after(elf, address);
}

enum th_status th_elf_check_tables(struct th_elf *elf)
{
    struct judge judge = {
        .elf = elf,
        .arrays = {{th_elf_flags(elf, DT_INIT_ARRAY), th_elf_flags(elf, DT_INIT_ARRAYSZ)},
                   {th_elf_flags(elf, DT_FINI_ARRAY), th_elf_flags(elf, DT_FINI_ARRAYSZ)}},
    };
    enum th_status status = TH_OK;
    uint64_t address;

    judge.changes_code =
        th_elf_dynamic(elf, DT_TEXTREL, &address) || (th_elf_flags(elf, DT_FLAGS) & DF_TEXTREL);
    if (!sizes_are_sane(elf))
        return th_elf_refuse_damaged("sizes in the dynamic section");
    if (th_elf_dynamic(elf, DT_RELA, &address))
        status = walk_relocations(&judge, address, th_elf_flags(elf, DT_RELASZ),
                                  th_elf_flags(elf, DT_RELACOUNT));
    if (!status && th_elf_dynamic(elf, DT_JMPREL, &address))
        status = walk_relocations(&judge, address, th_elf_flags(elf, DT_PLTRELSZ), 0);
    if (status)
        return status;
    /* A relocation fills in each word of the arrays; or a packed one does, which is not walked. */
    if (!th_elf_dynamic(elf, DT_RELR, &address) &&
        judge.calls != judge.arrays[0].size / 8 + judge.arrays[1].size / 8)
        return th_elf_refuse_damaged("initialisers");
    if (!is_in_file(elf, DT_RELR, th_elf_flags(elf, DT_RELRSZ)))
        return th_elf_refuse_damaged("relative relocations");
    if (!points_to_code(elf, DT_INIT) || !points_to_code(elf, DT_FINI) ||
        !is_in_file(elf, DT_INIT_ARRAY, judge.arrays[0].size) ||
        !is_in_file(elf, DT_FINI_ARRAY, judge.arrays[1].size))
        return th_elf_refuse_damaged("initialisers");
    return check_versions(elf) ? TH_OK : th_elf_refuse_damaged("symbol versions");
}
