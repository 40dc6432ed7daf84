/*
 * Sections, found by their names.
 *
 * Nothing of what section headers say is needed to load a file, so nothing of it was checked by
 * whoever loads it: here it is taken as a claim, which holds if it agrees with the segments.
 */
#include "elf_file.h"

#include <errno.h>
#include <string.h>

struct headers {
    const struct th_elf *elf;
    const Elf64_Shdr *items;
    size_t count;
    const char *names; /* with a 0 at its end; NULL: the sections have none */
    uint64_t names_size;
};

static const void *bytes_at(const struct th_elf *elf, uint64_t offset, uint64_t size)
{
    uint64_t all = (uint64_t)elf->identity.st_size;
    Elf_Data *data;

    if (size == 0 || offset > all || size > all - offset)
        return NULL;
    errno = 0;
    data = elf_getdata_rawchunk(elf->elf, (int64_t)offset, size, ELF_T_BYTE);
    if (!data && errno == ENOMEM)
        th_memory_refuse(0);
    return data && data->d_size == size ? data->d_buf : NULL;
}

/* Where a file has very many sections, their number and that of the names' stand in the first. Such
 * numbers are not those of a library. */
static bool read_headers(struct headers *headers, const struct th_elf *elf)
{
    GElf_Ehdr header;
    const Elf64_Shdr *names;

    *headers = (struct headers){.elf = elf};
    if (!gelf_getehdr(elf->elf, &header) || header.e_shoff % _Alignof(Elf64_Shdr) != 0 ||
        header.e_shstrndx == SHN_UNDEF || header.e_shstrndx >= header.e_shnum)
        return false;
    headers->count = header.e_shnum;
    headers->items = bytes_at(elf, header.e_shoff, headers->count * sizeof(Elf64_Shdr));
    if (!headers->items)
        return false;
    names = &headers->items[header.e_shstrndx];
    headers->names_size = names->sh_size;
    headers->names = bytes_at(elf, names->sh_offset, names->sh_size);
    return headers->names && headers->names[headers->names_size - 1] == 0;
}

static bool is_called(const struct headers *headers, const Elf64_Shdr *section, const char *name)
{
    return section->sh_name < headers->names_size &&
           strcmp(headers->names + section->sh_name, name) == 0;
}

/* Elements that will be memory, and are in the file. */
static bool holds(const struct th_elf *elf, const Elf64_Shdr *section, size_t element)
{
    return section->sh_type == SHT_PROGBITS && (section->sh_flags & SHF_ALLOC) &&
           section->sh_addr % sizeof(uint64_t) == 0 && section->sh_size % element == 0 &&
           section->sh_size <= th_elf_bytes_after(elf, section->sh_addr) &&
           th_elf_segment_of(elf, section->sh_addr)->readable;
}

enum th_elf_found th_elf_sections(const struct th_elf *elf, const char *name, size_t element,
                                  struct th_extents *extents)
{
    uint64_t left = (uint64_t)elf->identity.st_size; /* sections do not overlap */
    enum th_elf_found found = TH_ELF_ABSENT;
    struct headers headers;

    if (!read_headers(&headers, elf))
        return TH_ELF_NAMELESS;
    for (size_t i = 0; i < headers.count; i++) {
        const Elf64_Shdr *section = &headers.items[i];
        if (!is_called(&headers, section, name) || section->sh_size == 0)
            continue;
        if (!holds(elf, section, element) || section->sh_size > left)
            return TH_ELF_WRONG;
        left -= section->sh_size;
        TH_ARRAY_GROW(extents->items, extents->count, extents->capacity);
        extents->items[extents->count++] = (struct th_extent){section->sh_addr, section->sh_size};
        found = TH_ELF_FOUND;
    }
    return found;
}
