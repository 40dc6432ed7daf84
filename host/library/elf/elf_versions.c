/*
 * The versions of symbols.
 *
 * Both version tables are lists of records, each of which has a list of its own; a record says at
 * which distance the next one lies, 0 at the end. What is needed is the highest version number: the
 * loader takes the numbers of the symbols on trust.
 */
#include "elf_file.h"

#include <string.h>

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
