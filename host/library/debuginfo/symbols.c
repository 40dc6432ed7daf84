#include "symbols.h"

#include "debug_file.h"
#include "host/library/library_internal.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static Elf_Data *find_section(Elf *elf, GElf_Word type, GElf_Shdr *header)
{
    Elf_Scn *section = NULL;

    while ((section = elf_nextscn(elf, section)))
        if (gelf_getshdr(section, header) && header->sh_type == type && header->sh_size > 0)
            return elf_getdata(section, NULL);
    return NULL;
}

/* The strings that section LINK is, ended by a zero in any case; 0 of them if it is no such. */
static size_t copy_names(struct th_symbols *symbols, Elf *elf, GElf_Word link)
{
    Elf_Scn *section = elf_getscn(elf, link);
    GElf_Shdr header;
    Elf_Data *data = section && gelf_getshdr(section, &header) && header.sh_type == SHT_STRTAB
                         ? elf_getdata(section, NULL)
                         : NULL;

    if (!data || !data->d_buf || data->d_size == 0)
        return 0;
    th_free(symbols->names);
    symbols->names = th_alloc(data->d_size + 1);
    memcpy(symbols->names, data->d_buf, data->d_size);
    symbols->names[data->d_size] = '\0';
    return data->d_size;
}

/* Of several with one address the first in the file comes last: names of one function do not change
 * places between two runs. */
static int compare(const void *a, const void *b)
{
    const struct th_symbol *first = a, *second = b;

    if (first->address != second->address)
        return first->address > second->address ? 1 : -1;
    return (first->name < second->name) - (first->name > second->name);
}

void th_debuginfo_symbols_read(struct th_symbols *symbols, Elf *elf, GElf_Word type)
{
    GElf_Shdr header;
    Elf_Data *data = elf ? find_section(elf, type, &header) : NULL;
    size_t count = data ? data->d_size / sizeof(Elf64_Sym) : 0;
    size_t named = count > 0 ? copy_names(symbols, elf, header.sh_link) : 0;
    GElf_Sym symbol;

    for (size_t i = 0; i < count && i < INT32_MAX && gelf_getsym(data, (int)i, &symbol); i++) {
        if (GELF_ST_TYPE(symbol.st_info) != STT_FUNC || symbol.st_shndx == SHN_UNDEF ||
            symbol.st_size == 0 || symbol.st_name >= named || !symbols->names[symbol.st_name])
            continue;
        TH_ARRAY_GROW(symbols->items, symbols->count, symbols->capacity);
        symbols->items[symbols->count++] =
            (struct th_symbol){symbol.st_value, symbol.st_size, &symbols->names[symbol.st_name]};
    }
    if (symbols->count > 0)
        qsort(symbols->items, symbols->count, sizeof *symbols->items, compare);
}

void th_library_symbols(const struct th_library *library, struct th_symbols *symbols)
{
    int fd = th_debuginfo_own_open(&library->facts);
    Elf *elf = NULL;

    if (fd < 0)
        return;
    elf_version(EV_CURRENT);
    elf = elf_begin(fd, ELF_C_READ, NULL); /* only the sections that are asked for */
    th_debuginfo_symbols_read(symbols, elf, SHT_SYMTAB);
    if (symbols->count == 0)
        th_debuginfo_symbols_read(symbols, elf, SHT_DYNSYM);
    elf_end(elf);
    close(fd);
}

void th_debuginfo_symbols_free(struct th_symbols *symbols)
{
    th_free(symbols->items);
    th_free(symbols->names);
    *symbols = (struct th_symbols){0};
}

const struct th_symbol *th_debuginfo_symbols_find(const struct th_symbols *symbols,
                                                  uint64_t address)
{
    size_t low = 0, high = symbols->count;

    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (symbols->items[middle].address <= address)
            low = middle + 1;
        else
            high = middle;
    }
    return low > 0 && address - symbols->items[low - 1].address < symbols->items[low - 1].size
               ? &symbols->items[low - 1]
               : NULL;
}
