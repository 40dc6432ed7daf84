/*
 * What is known of a library's lines is read when it is asked for the first time, and kept until it
 * is closed.
 */
#include "line.h"

#include "debug_file.h"
#include "debug_line.h"
#include "host/library/library_internal.h"
#include "symbols.h"

#include <pthread.h>
#include <stdlib.h>

struct th_library_lines {
    struct th_debug_file own, separate;
    Dwarf *dwarf; /* of one of them, or NULL */
    struct th_debug_units units;
    struct th_symbols symbols;
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

/* The whole table, if one of the files has it; else what the library exports. */
static void read_symbols(struct th_library_lines *lines)
{
    th_debuginfo_symbols_read(&lines->symbols, lines->own.elf, SHT_SYMTAB);
    if (lines->symbols.count == 0)
        th_debuginfo_symbols_read(&lines->symbols, lines->separate.elf, SHT_SYMTAB);
    if (lines->symbols.count == 0)
        th_debuginfo_symbols_read(&lines->symbols, lines->own.elf, SHT_DYNSYM);
}

/* --- One library ----------------------------------------------------------------------------- */

static struct th_library_lines *open_lines(const struct th_examination *facts)
{
    struct th_library_lines *lines = th_alloc_zero(sizeof *lines);

    th_debuginfo_files_open(facts, debug_folder, &lines->own, &lines->separate);
    lines->dwarf = lines->own.dwarf ? lines->own.dwarf : lines->separate.dwarf;
    if (lines->dwarf)
        th_debuginfo_units_read(&lines->units, lines->dwarf);
    read_symbols(lines);
    return lines;
}

void th_library_lines_free(struct th_library_lines *lines)
{
    struct th_slot *slot;
    size_t i = 0;

    if (!lines)
        return;
    while ((slot = th_hash_table_next(&lines->found, &i)))
        th_free(slot->value);
    th_hash_table_free(&lines->found);
    th_debuginfo_symbols_free(&lines->symbols);
    th_debuginfo_units_free(&lines->units);
    th_debuginfo_file_close(&lines->own);
    th_debuginfo_file_close(&lines->separate);
    th_free(lines);
}

static const struct th_line *find(struct th_library_lines *lines, uintptr_t offset)
{
    const struct th_symbol *symbol = th_debuginfo_symbols_find(&lines->symbols, offset);
    struct th_line *line = th_alloc_zero(sizeof *line);

    line->offset = offset;
    if (symbol) {
        line->function = symbol->name;
        line->inside = offset - symbol->address;
    }
    if (lines->dwarf)
        th_debuginfo_line_find(&lines->units, lines->dwarf, offset, &line->file, &line->line);
    th_hash_table_set(&lines->found, offset + 1, line);
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
    known = th_hash_table_get(&(*lines)->found, offset + 1);
    *line = known ? *known : *find(*lines, offset);
    pthread_mutex_unlock(&lock);
    return true;
}
