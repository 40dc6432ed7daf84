/*
 * Reads symbols and strings.
 *
 * No field holds the number of symbols: it is one more than the highest in the hash table.
 */
#include "elf_file.h"

#include "host/base/buffer.h"
#include "host/library/examine.h"

#include <errno.h>
#include <limits.h>
#include <string.h>

const char *th_elf_string(const struct th_elf *elf, uint64_t offset)
{
    return offset < elf->strings->d_size ? (const char *)elf->strings->d_buf + offset : NULL;
}

bool th_elf_symbol(const struct th_elf *elf, size_t i, GElf_Sym *symbol, const char **name)
{
    if (!gelf_getsym(elf->symbols, (int)i, symbol))
        return false;
    *name = th_elf_string(elf, symbol->st_name);
    return *name != NULL;
}

/* Counts by DT_GNU_HASH, which has the symbols that the file defines; they follow all others. COUNT
 * stays 0 if there are none. Layout: bucket count, the first hashed symbol, words of the Bloom
 * filter, a shift; then the filter, the buckets (the first symbol of each chain, 0 none) and the
 * chains. */
static bool count_by_gnu_hash(const struct th_elf *elf, uint64_t address, size_t *count)
{
    Elf_Data *head = th_elf_at(elf, address, 16, ELF_T_WORD);
    const uint32_t *words = head ? head->d_buf : NULL;
    uint64_t size = th_elf_bytes_after(elf, address);
    uint64_t before_chains; /* in words */
    uint32_t highest = 0;

    /* The loader masks with the filter's size less 1, so the size must be a power of two. */
    if (!words || words[2] == 0 || (words[2] & (words[2] - 1)) || words[3] > 63 || !words[0])
        return false;
    before_chains = 4 + 2 * (uint64_t)words[2] + words[0];
    if (4 * before_chains > size || !(head = th_elf_at(elf, address, size & ~3ull, ELF_T_WORD)))
        return false;
    words = head->d_buf;
    for (uint64_t i = before_chains - words[0]; i < before_chains; i++) {
        if (words[i] != 0 && words[i] < words[1])
            return false;
        if (words[i] > highest)
            highest = words[i];
    }
    if (highest == 0)
        return true;
    /* The last symbol of the highest chain; the last entry of a chain has bit 0 set. */
    for (uint64_t i = before_chains + highest - words[1]; highest >= words[1] && i < size / 4; i++)
        if (words[i] & 1) {
            *count = words[1] + (i - before_chains) + 1;
            return true;
        }
    return false;
}

static bool count_symbols(struct th_elf *elf)
{
    size_t by_hash = 0, by_gnu_hash = 0;
    bool hash, gnu_hash;
    const uint32_t *words;
    uint64_t address;
    Elf_Data *head;

    /* DT_HASH: bucket count, chain count, buckets, chains; as many chains as symbols. */
    hash = th_elf_dynamic(elf, DT_HASH, &address);
    if (hash) {
        head = th_elf_at(elf, address, 8, ELF_T_WORD);
        words = head ? head->d_buf : NULL;
        if (!words || 4 * (2 + (uint64_t)words[0] + words[1]) > th_elf_bytes_after(elf, address))
            return false;
        by_hash = words[1];
    }
    gnu_hash = th_elf_dynamic(elf, DT_GNU_HASH, &address);
    if (gnu_hash && !count_by_gnu_hash(elf, address, &by_gnu_hash))
        return false;
    elf->symbol_count = by_hash > by_gnu_hash ? by_hash : by_gnu_hash;
    return hash || gnu_hash;
}

/* Returns the length of a printable name; SIZE_MAX if it has control characters. */
static size_t printable_length(const char *name)
{
    const char *end = name;

    while ((unsigned char)*end >= ' ' && *end != 0x7F)
        end++;
    return *end ? SIZE_MAX : (size_t)(end - name);
}

/* Linkers let names share their ends. If all names together are many times their table, the file is
 * refused: reading it would take too long. */
static bool symbols_are_sane(const struct th_elf *elf)
{
    uint64_t budget = 64 * (uint64_t)elf->strings->d_size;
    GElf_Sym symbol;
    const char *name;

    for (size_t i = 0; i < elf->symbol_count; i++) {
        size_t length;
        if (!th_elf_symbol(elf, i, &symbol, &name))
            return false;
        /* For an undefined symbol that no other library can define, the loader takes address 0. */
        if (i > 0 && symbol.st_shndx == SHN_UNDEF &&
            (GELF_ST_BIND(symbol.st_info) == STB_LOCAL ||
             GELF_ST_VISIBILITY(symbol.st_other) != STV_DEFAULT))
            return false;
        length = printable_length(name);
        if (length > budget)
            return false;
        budget -= length;
    }
    return true;
}

/* Checks the entries that name files, single ones and lists. */
static bool file_names_are_sane(const struct th_elf *elf)
{
    GElf_Dyn entry;
    const char *name;

    for (size_t i = 0; i < elf->dynamic_count; i++) {
        gelf_getdyn(elf->dynamic, (int)i, &entry);
        switch (entry.d_tag) {
        case DT_NEEDED:
        case DT_SONAME:
        case DT_RPATH:
        case DT_RUNPATH:
        case DT_AUXILIARY:
        case DT_FILTER:
            name = th_elf_string(elf, entry.d_un.d_val);
            if (!name || printable_length(name) > PATH_MAX)
                return false;
        }
    }
    return true;
}

enum th_status th_elf_read_symbols(struct th_elf *elf)
{
    uint64_t address, size;

    if (th_elf_dynamic(elf, DT_STRTAB, &address) && th_elf_dynamic(elf, DT_STRSZ, &size))
        elf->strings = th_elf_at(elf, address, size, ELF_T_BYTE);
    if (!elf->strings || ((const char *)elf->strings->d_buf)[size - 1] != 0 ||
        !file_names_are_sane(elf))
        return th_elf_refuse_damaged("string table");
    if (!count_symbols(elf) || elf->symbol_count > INT32_MAX)
        return th_elf_refuse_damaged("symbol hash table");
    if (th_elf_flags(elf, DT_FLAGS_1) & DF_1_PIE)
        return th_error_raise(TH_REFUSED, "the file is a program; link it with -shared");
    if (elf->symbol_count == 0)
        return th_error_raise(
            TH_REFUSED, "the library exports nothing, so it is neither a plugin nor a tracer");
    size = elf->symbol_count * sizeof(Elf64_Sym);
    if (!th_elf_dynamic(elf, DT_SYMTAB, &address) ||
        !(elf->symbols = th_elf_at(elf, address, size, ELF_T_SYM)))
        return th_elf_refuse_damaged("symbol table");
    if (!symbols_are_sane(elf))
        return th_elf_refuse_damaged("symbols");
    elf->referred = th_alloc_zero(elf->symbol_count * sizeof *elf->referred);
    return TH_OK;
}

/*
 * Sections, found by their names.
 *
 * The loader does not use section headers, so a file that loads may have wrong ones: they are a
 * claim, which is accepted if it agrees with the segments.
 */

struct headers {
    const struct th_elf *elf;
    const Elf64_Shdr *items;
    size_t count;
    const char *names; /* ends with a 0; NULL: the sections have no names */
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

/* Reads the section headers. A file with very many sections has the counts in the first section;
 * no library has so many. */
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

/* True if the section is an array of elements that will be in memory and is in the file. */
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
        if (section->sh_name >= headers.names_size ||
            strcmp(headers.names + section->sh_name, name) != 0 || section->sh_size == 0)
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
