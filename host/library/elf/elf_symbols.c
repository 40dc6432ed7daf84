/*
 * Symbols and strings.
 *
 * The number of symbols stands nowhere: it is one more than the highest that the hash table knows.
 */
#include "elf_file.h"

#include <limits.h>
#include <string.h>

static enum th_status refuse_table(const char *what)
{
    return th_error_raise(TH_REFUSED, "it is damaged: wrong %s", what);
}

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

/* DT_HASH: bucket count, chain count, buckets, chains; as many chains as symbols. */
static bool count_by_hash(const struct th_elf *elf, uint64_t address, size_t *count)
{
    Elf_Data *head = th_elf_at(elf, address, 8, ELF_T_WORD);
    const uint32_t *words = head ? head->d_buf : NULL;
    uint64_t all;

    if (!words)
        return false;
    all = 4 * (2 + (uint64_t)words[0] + words[1]);
    *count = words[1];
    return all <= th_elf_bytes_after(elf, address);
}

/* The highest symbol of a chain that starts at symbol INDEX; the last of a chain has bit 0 set. */
static bool walk_gnu_chain(const uint32_t *chains, uint64_t chain_count, uint32_t first,
                           uint32_t index, size_t *count)
{
    for (uint64_t i = index - first; index >= first && i < chain_count; i++) {
        if (chains[i] & 1) {
            *count = first + i + 1;
            return true;
        }
    }
    return false;
}

/* DT_GNU_HASH, which has only symbols that the file defines, after all that it does not; COUNT
 * stays 0 if it defines none. Bucket count, the first symbol that is hashed, words of the Bloom
 * filter, a shift; then the filter, the buckets (the first symbol of each chain, 0 none) and the
 * chains. */
static bool count_by_gnu_hash(const struct th_elf *elf, uint64_t address, size_t *count)
{
    Elf_Data *head = th_elf_at(elf, address, 16, ELF_T_WORD);
    const uint32_t *words = head ? head->d_buf : NULL;
    uint64_t size = th_elf_bytes_after(elf, address);
    uint64_t before_chains; /* in words */
    uint32_t highest = 0;

    /* The loader masks with the filter's size less 1. */
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
    return highest == 0 || walk_gnu_chain(words + before_chains, size / 4 - before_chains, words[1],
                                          highest, count);
}

static bool count_symbols(struct th_elf *elf)
{
    uint64_t address;
    size_t by_hash = 0;
    size_t by_gnu_hash = 0;
    bool hash = th_elf_dynamic(elf, DT_HASH, &address);

    if (hash && !count_by_hash(elf, address, &by_hash))
        return false;
    if (th_elf_dynamic(elf, DT_GNU_HASH, &address)) {
        if (!count_by_gnu_hash(elf, address, &by_gnu_hash))
            return false;
    } else if (!hash) {
        return false;
    }
    elf->symbol_count = by_hash > by_gnu_hash ? by_hash : by_gnu_hash;
    return true;
}

static bool read_strings(struct th_elf *elf)
{
    uint64_t address, size;

    if (!th_elf_dynamic(elf, DT_STRTAB, &address) || !th_elf_dynamic(elf, DT_STRSZ, &size))
        return false;
    elf->strings = th_elf_at(elf, address, size, ELF_T_BYTE);
    return elf->strings && ((const char *)elf->strings->d_buf)[size - 1] == 0;
}

/* For an undefined symbol that cannot be another library's, the loader takes address 0. */
static bool is_bindable(const GElf_Sym *symbol)
{
    return symbol->st_shndx != SHN_UNDEF || (GELF_ST_BIND(symbol->st_info) != STB_LOCAL &&
                                             GELF_ST_VISIBILITY(symbol->st_other) == STV_DEFAULT);
}

/* The length of a name that can be shown; SIZE_MAX if it has control characters. */
static size_t printable_length(const char *name)
{
    const char *end = name;

    while ((unsigned char)*end >= ' ' && *end != 0x7F)
        end++;
    return *end ? SIZE_MAX : (size_t)(end - name);
}

/* Linkers let names share their ends, but not so much that all names together are many times their
 * table: then it takes for ever to read them. */
static bool symbols_are_sane(const struct th_elf *elf)
{
    uint64_t budget = 64 * (uint64_t)elf->strings->d_size;
    GElf_Sym symbol;
    const char *name;

    for (size_t i = 0; i < elf->symbol_count; i++) {
        size_t length;
        if (!th_elf_symbol(elf, i, &symbol, &name) || (i > 0 && !is_bindable(&symbol)))
            return false;
        length = printable_length(name);
        if (length > budget)
            return false;
        budget -= length;
    }
    return true;
}

/* Entries that are names of files, one of a kind or many. */
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
    uint64_t address;
    uint64_t size;

    if (!read_strings(elf) || !file_names_are_sane(elf))
        return refuse_table("string table");
    if (!count_symbols(elf) || elf->symbol_count > INT32_MAX)
        return refuse_table("symbol hash table");
    if (elf->symbol_count == 0)
        return th_error_raise(TH_REFUSED,
                              "it exports nothing, and so is neither plugin nor tracer");
    size = elf->symbol_count * sizeof(Elf64_Sym);
    if (!th_elf_dynamic(elf, DT_SYMTAB, &address) ||
        !(elf->symbols = th_elf_at(elf, address, size, ELF_T_SYM)))
        return refuse_table("symbol table");
    if (!symbols_are_sane(elf))
        return refuse_table("symbols");
    elf->referred = th_alloc_zero(elf->symbol_count * sizeof *elf->referred);
    return TH_OK;
}
