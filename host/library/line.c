/*
 * What is known of a library's lines is read when it is asked for the first time, and kept until it
 * is closed.
 */
#include "line.h"

#include "debug_file.h"
#include "debug_line.h"
#include "instance.h"

#include <pthread.h>
#include <stdlib.h>

struct symbol {
    uint64_t address, size;
    const char *name;
};

struct th_library_lines {
    struct th_debug_file own, separate;
    Dwarf *dwarf; /* of one of them, or NULL */
    struct th_debug_units units;
    struct symbol *symbols; /* ascending */
    size_t symbol_count, symbol_capacity;
    struct th_table found; /* address + 1 -> struct th_line, of what was asked */
};

/* Guards `lines` of all libraries and what it points to: libdw is not made for threads. Nothing is
 * taken under it. */
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

static const char *debug_folder = "/usr/lib/debug";

void th_library_set_debug_folder(const char *folder)
{
    debug_folder = folder;
}

/* --- Symbols --------------------------------------------------------------------------------- */

static Elf_Data *find_symbols(Elf *elf, GElf_Word type, GElf_Shdr *header)
{
    Elf_Scn *section = NULL;

    while ((section = elf_nextscn(elf, section)))
        if (gelf_getshdr(section, header) && header->sh_type == type && header->sh_size > 0)
            return elf_getdata(section, NULL);
    return NULL;
}

static void add_symbols(struct th_library_lines *lines, Elf *elf, GElf_Word type)
{
    GElf_Shdr header;
    Elf_Data *data = elf ? find_symbols(elf, type, &header) : NULL;
    size_t count = data ? data->d_size / sizeof(Elf64_Sym) : 0;
    GElf_Sym symbol;

    for (size_t i = 0; i < count && i < INT32_MAX && gelf_getsym(data, (int)i, &symbol); i++) {
        const char *name = elf_strptr(elf, header.sh_link, symbol.st_name);
        if (GELF_ST_TYPE(symbol.st_info) != STT_FUNC || symbol.st_shndx == SHN_UNDEF || !name ||
            !*name || symbol.st_size == 0)
            continue;
        TH_ARRAY_GROW(lines->symbols, lines->symbol_count, lines->symbol_capacity);
        lines->symbols[lines->symbol_count++] =
            (struct symbol){symbol.st_value, symbol.st_size, name};
    }
}

/* Of several with one address the first in the file comes last: names of one function do not change
 * places between two runs. */
static int compare_symbols(const void *a, const void *b)
{
    const struct symbol *first = a, *second = b;

    if (first->address != second->address)
        return first->address > second->address ? 1 : -1;
    return (first->name < second->name) - (first->name > second->name);
}

/* The whole table, if one of the files has it; else what the library exports. */
static void read_symbols(struct th_library_lines *lines)
{
    add_symbols(lines, lines->own.elf, SHT_SYMTAB);
    if (lines->symbol_count == 0)
        add_symbols(lines, lines->separate.elf, SHT_SYMTAB);
    if (lines->symbol_count == 0)
        add_symbols(lines, lines->own.elf, SHT_DYNSYM);
    if (lines->symbol_count > 0)
        qsort(lines->symbols, lines->symbol_count, sizeof *lines->symbols, compare_symbols);
}

static const struct symbol *find_symbol(const struct th_library_lines *lines, uint64_t address)
{
    size_t low = 0, high = lines->symbol_count;

    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (lines->symbols[middle].address <= address)
            low = middle + 1;
        else
            high = middle;
    }
    return low > 0 && address - lines->symbols[low - 1].address < lines->symbols[low - 1].size
               ? &lines->symbols[low - 1]
               : NULL;
}

/* --- One library ----------------------------------------------------------------------------- */

static struct th_library_lines *open_lines(const struct th_examination *facts)
{
    struct th_library_lines *lines = th_alloc_zero(sizeof *lines);

    th_debug_files_open(facts, debug_folder, &lines->own, &lines->separate);
    lines->dwarf = lines->own.dwarf ? lines->own.dwarf : lines->separate.dwarf;
    if (lines->dwarf)
        th_debug_units_read(&lines->units, lines->dwarf);
    read_symbols(lines);
    return lines;
}

void th_library_lines_free(struct th_library_lines *lines)
{
    struct th_slot *slot;
    size_t i = 0;

    if (!lines)
        return;
    while ((slot = th_table_next(&lines->found, &i)))
        th_free(slot->value);
    th_table_free(&lines->found);
    th_free(lines->symbols);
    th_debug_units_free(&lines->units);
    th_debug_file_close(&lines->own);
    th_debug_file_close(&lines->separate);
    th_free(lines);
}

static const struct th_line *find(struct th_library_lines *lines, uintptr_t offset)
{
    const struct symbol *symbol = find_symbol(lines, offset);
    struct th_line *line = th_alloc_zero(sizeof *line);

    line->offset = offset;
    if (symbol) {
        line->function = symbol->name;
        line->inside = offset - symbol->address;
    }
    if (lines->dwarf)
        th_debug_line_find(&lines->units, lines->dwarf, offset, &line->file, &line->line);
    th_table_set(&lines->found, offset + 1, line);
    return line;
}

bool th_library_line(const struct th_library *library, uintptr_t address, struct th_line *line)
{
    struct th_library_lines **lines =
        &((struct th_library *)library)->lines; /* what it remembers */
    uintptr_t offset = address - library->memory.base;
    const struct th_line *known;

    *line = (struct th_line){0};
    if (!th_library_executes(library, address, 1))
        return false;
    pthread_mutex_lock(&lock);
    if (!*lines)
        *lines = open_lines(&library->facts);
    known = th_table_get(&(*lines)->found, offset + 1);
    *line = known ? *known : *find(*lines, offset);
    pthread_mutex_unlock(&lock);
    return true;
}
