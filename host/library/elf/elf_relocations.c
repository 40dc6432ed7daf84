/*
 * Relocations: what the loader writes where, and the functions it calls at start and end.
 */
#include "elf_file.h"

#include <string.h>

static enum th_status refuse_table(const char *what)
{
    return th_error_raise(TH_REFUSED, "it is damaged: wrong %s", what);
}

/* The kinds that the loader knows; for any other it ends the process. */
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
#endif
}

#if defined(__x86_64__)
enum { RELATIVE = R_X86_64_RELATIVE, IRELATIVE = R_X86_64_IRELATIVE };
#elif defined(__aarch64__)
enum { RELATIVE = R_AARCH64_RELATIVE, IRELATIVE = R_AARCH64_IRELATIVE };
#endif

static bool is_code(const struct th_elf *elf, uint64_t address)
{
    const struct th_elf_segment *segment = th_elf_segment_of(elf, address);

    return segment && segment->executable && th_elf_bytes_after(elf, address) > 0;
}

/* Relocations are judged by what the dynamic section says, which is looked up once. */
struct judge {
    struct th_elf *elf;
    bool changes_code; /* relocations may lie in what is not writable */
    struct function_array {
        uint64_t start, size; /* bytes */
    } arrays[2];              /* of functions that the loader calls at start and end */
    uint64_t calls;           /* relocations that lie there */
};

static struct judge make_judge(struct th_elf *elf)
{
    struct judge judge = {.elf = elf};
    uint64_t value;

    judge.changes_code =
        th_elf_dynamic(elf, DT_TEXTREL, &value) || (th_elf_flags(elf, DT_FLAGS) & DF_TEXTREL);
    judge.arrays[0] = (struct function_array){th_elf_flags(elf, DT_INIT_ARRAY),
                                              th_elf_flags(elf, DT_INIT_ARRAYSZ)};
    judge.arrays[1] = (struct function_array){th_elf_flags(elf, DT_FINI_ARRAY),
                                              th_elf_flags(elf, DT_FINI_ARRAYSZ)};
    return judge;
}

static bool is_in_array(const struct judge *judge, uint64_t address)
{
    for (size_t i = 0; i < 2; i++)
        if (address - judge->arrays[i].start < judge->arrays[i].size)
            return true;
    return false;
}

static bool is_sane(struct judge *judge, const GElf_Rela *relocation)
{
    const struct th_elf *elf = judge->elf;
    const struct th_elf_segment *segment = th_elf_segment_of(elf, relocation->r_offset);
    uint64_t type = GELF_R_TYPE(relocation->r_info);
    uint64_t symbol = GELF_R_SYM(relocation->r_info);
    bool called = is_in_array(judge, relocation->r_offset);

    judge->calls += called;
    if (!is_known_relocation(type) || (symbol && symbol >= elf->symbol_count) ||
        !th_elf_maps(elf, relocation->r_offset, 8) || !(segment->writable || judge->changes_code))
        return false;
    return !(type == IRELATIVE || (type == RELATIVE && called)) ||
           is_code(elf, (uint64_t)relocation->r_addend);
}

/* Checks the relocations at ADDRESS, of which the first must be RELATIVE, and marks the symbols
 * that they refer to. */
static enum th_status walk_relocations(struct judge *judge, uint64_t address, uint64_t size,
                                       uint64_t relative)
{
    Elf_Data *table = th_elf_at(judge->elf, address, size, ELF_T_RELA);
    uint64_t count = size / sizeof(Elf64_Rela);
    GElf_Rela relocation;

    if (size == 0)
        return TH_OK;
    if (!table || size % sizeof(Elf64_Rela) != 0 || count > INT32_MAX || relative > count)
        return refuse_table("relocations");
    for (size_t i = 0; i < count; i++) {
        if (!gelf_getrela(table, (int)i, &relocation) ||
            (i < relative && GELF_R_TYPE(relocation.r_info) != RELATIVE))
            return refuse_table("relocations");
        if (GELF_R_TYPE(relocation.r_info) == 0)
            continue;
        if (!is_sane(judge, &relocation))
            return refuse_table("relocation");
        judge->elf->referred[GELF_R_SYM(relocation.r_info)] = true;
    }
    return TH_OK;
}

/* True if the entry TAG is there with that value wherever the entry TABLE is. */
static bool goes_with(const struct th_elf *elf, int64_t table, int64_t tag, uint64_t wanted)
{
    uint64_t value;

    if (!th_elf_dynamic(elf, table, &value))
        return true;
    return th_elf_dynamic(elf, tag, &value) && value == wanted;
}

/* The loader aborts the process where a table comes without its size, or a size is wrong. */
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

/* Each word of the arrays is filled in by a relocation; packed ones, which are not walked, may do
 * that too. */
static bool arrays_are_filled(const struct judge *judge)
{
    uint64_t value;

    return th_elf_dynamic(judge->elf, DT_RELR, &value) ||
           judge->calls == judge->arrays[0].size / 8 + judge->arrays[1].size / 8;
}

static enum th_status check_relocations(struct th_elf *elf)
{
    struct judge judge = make_judge(elf);
    uint64_t address;
    enum th_status status = TH_OK;

    if (!sizes_are_sane(elf))
        return refuse_table("sizes in the dynamic section");
    if (th_elf_dynamic(elf, DT_RELA, &address))
        status = walk_relocations(&judge, address, th_elf_flags(elf, DT_RELASZ),
                                  th_elf_flags(elf, DT_RELACOUNT));
    if (!status && th_elf_dynamic(elf, DT_JMPREL, &address))
        status = walk_relocations(&judge, address, th_elf_flags(elf, DT_PLTRELSZ), 0);
    if (!status && !arrays_are_filled(&judge))
        status = refuse_table("initialisers");
    return status;
}

/* --- Code to run at start and end ------------------------------------------------------------- */

static bool points_to_code(const struct th_elf *elf, int64_t tag)
{
    uint64_t address;

    return !th_elf_dynamic(elf, tag, &address) || is_code(elf, address);
}

static bool is_in_file(const struct th_elf *elf, int64_t tag, uint64_t size)
{
    uint64_t address;

    return !th_elf_dynamic(elf, tag, &address) || size == 0 ||
           size <= th_elf_bytes_after(elf, address);
}

enum th_status th_elf_check_tables(struct th_elf *elf)
{
    enum th_status status = check_relocations(elf);

    if (status)
        return status;
    if (!is_in_file(elf, DT_RELR, th_elf_flags(elf, DT_RELRSZ)))
        return refuse_table("relative relocations");
    if (!points_to_code(elf, DT_INIT) || !points_to_code(elf, DT_FINI) ||
        !is_in_file(elf, DT_INIT_ARRAY, th_elf_flags(elf, DT_INIT_ARRAYSZ)) ||
        !is_in_file(elf, DT_FINI_ARRAY, th_elf_flags(elf, DT_FINI_ARRAYSZ)))
        return refuse_table("initialisers");
    if (!th_elf_check_versions(elf))
        return refuse_table("symbol versions");
    return TH_OK;
}

/*
 * The versions of symbols.
 *
 * Both version tables are lists of records, each of which has a list of its own; a record says at
 * which distance the next one lies, 0 at the end. What is needed is the highest version number: the
 * loader takes the numbers of the symbols on trust.
 */

struct version_walk {
    const struct th_elf *elf;
    const unsigned char *bytes; /* from the table on to the end of its segment */
    uint64_t size;
    uint64_t budget; /* records that fit there, so that lists which overlap come to an end */
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

static bool walk_needed_versions(struct version_walk *walk, uint64_t offset)
{
    for (;;) {
        const Elf64_Vernaux *version = record_at(walk, offset, sizeof *version);
        const char *name = version ? th_elf_string(walk->elf, version->vna_name) : NULL;
        if (!name || elf_hash(name) != version->vna_hash)
            return false;
        note_version(walk, version->vna_other);
        if (version->vna_next == 0)
            return true;
        offset += version->vna_next;
    }
}

/* The loader insists that versions are wanted of libraries that are needed. */
static bool is_needed(const struct th_elf *elf, const char *file)
{
    GElf_Dyn entry;

    for (size_t i = 0; i < elf->dynamic_count; i++)
        if (gelf_getdyn(elf->dynamic, (int)i, &entry) && entry.d_tag == DT_NEEDED &&
            strcmp(th_elf_string(elf, entry.d_un.d_val), file) == 0)
            return true;
    return false;
}

static bool walk_needed(struct version_walk *walk)
{
    for (uint64_t offset = 0;;) {
        const Elf64_Verneed *file = record_at(walk, offset, sizeof *file);
        const char *name = file ? th_elf_string(walk->elf, file->vn_file) : NULL;
        if (!name || !is_needed(walk->elf, name) ||
            !walk_needed_versions(walk, offset + file->vn_aux))
            return false;
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

static bool numbers_are_known(const struct version_walk *walk)
{
    size_t count = walk->elf->symbol_count;
    uint64_t address;
    Elf_Data *numbers;

    if (!th_elf_dynamic(walk->elf, DT_VERSYM, &address))
        return !walk->bytes;
    numbers = th_elf_at(walk->elf, address, count * sizeof(Elf64_Versym), ELF_T_HALF);
    for (size_t i = 0; numbers && i < count; i++)
        if ((((const Elf64_Versym *)numbers->d_buf)[i] & 0x7FFFu) > walk->highest)
            return false;
    return numbers != NULL;
}

bool th_elf_check_versions(const struct th_elf *elf)
{
    struct version_walk walk = {.elf = elf, .highest = 1};

    return !(start_walk(&walk, DT_VERNEED) && !walk_needed(&walk)) &&
           !(start_walk(&walk, DT_VERDEF) && !walk_defined(&walk)) && numbers_are_known(&walk);
}
