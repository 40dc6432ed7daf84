/*
 * Finds lines. The debug information of a library is read at the first question and kept until the
 * library is closed.
 */
#include "line.h"

#include "debug_file.h"

#include "host/base/buffer.h"
#include "host/base/hash.h"
#include "host/library/library_internal.h"

#include <dwarf.h>
#include <limits.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

/* Lines by address, from DWARF. Addresses are the file's. The content of the file is a claim: libdw
 * keeps each step inside its section; the number and the depth of steps are limited here. */

enum {
    MOST_UNITS = 1 << 20,   /* ranges of units */
    MOST_ENTRIES = 1 << 20, /* entries of a unit's tree that are visited for one address */
    DEEPEST = 64            /* nesting of namespaces, functions, blocks and inlined functions */
};

/* The ranges of compilation units' code. (.debug_aranges has them, too, but clang does not make
 * this section.) */
struct units {
    struct unit {
        Dwarf_Addr start, end; /* END is exclusive */
        Dwarf_Off die;         /* the unit's */
    } * items;                 /* ascending by START */
    size_t count, capacity;
};

/* --- Units ----------------------------------------------------------------------------------- */

static int compare_units(const void *a, const void *b)
{
    const struct unit *first = a, *second = b;

    return first->start != second->start ? (first->start > second->start ? 1 : -1)
                                         : (first->die > second->die) - (first->die < second->die);
}

static void read_units(struct units *units, Dwarf *dwarf)
{
    Dwarf_Addr base, start, end;
    Dwarf_CU *unit = NULL;
    ptrdiff_t next;
    Dwarf_Die die;

    for (size_t i = 0;
         i < MOST_UNITS && dwarf_get_units(dwarf, unit, &unit, NULL, NULL, &die, NULL) == 0; i++) {
        if (dwarf_tag(&die) != DW_TAG_compile_unit && dwarf_tag(&die) != DW_TAG_skeleton_unit)
            continue;
        next = 0;
        while (units->count < MOST_UNITS &&
               (next = dwarf_ranges(&die, next, &base, &start, &end)) > 0) {
            if (start >= end)
                continue;
            TH_ARRAY_GROW(units->items, units->count, units->capacity);
            units->items[units->count++] = (struct unit){start, end, dwarf_dieoffset(&die)};
        }
    }
    if (units->count > 0)
        qsort(units->items, units->count, sizeof *units->items, compare_units);
}

/* --- Inlined functions ----------------------------------------------------------------------- */

static bool line_is_code(int tag)
{
    return tag == DW_TAG_subprogram || tag == DW_TAG_inlined_subroutine ||
           tag == DW_TAG_lexical_block;
}

/*
 * Goes down from UNIT to the first inlined function that has ADDRESS, the outermost: *FOUND. An
 * entry without code, such as a namespace, may have to be left again.
 */
static bool find_inlined(const Dwarf_Die *unit, Dwarf_Addr address, Dwarf_Die *found)
{
    Dwarf_Die at[DEEPEST]; /* the path of visited entries, the outermost first */
    size_t depth = 1;
    int more;

    at[0] = *unit;
    more = dwarf_child(&at[0], &at[1]);
    for (size_t i = 0; i < MOST_ENTRIES && depth > 0; i++) {
        int tag = more == 0 ? dwarf_tag(&at[depth]) : DW_TAG_invalid;
        bool inside = line_is_code(tag) && dwarf_haspc(&at[depth], address) > 0;
        if (inside && tag == DW_TAG_inlined_subroutine) {
            *found = at[depth];
            return true;
        }
        if (more != 0) { /* back to the parent */
            depth--;
            if (depth > 0 && line_is_code(dwarf_tag(&at[depth])))
                return false; /* the parent was the entry with ADDRESS */
        } else if ((inside || tag == DW_TAG_namespace || tag == DW_TAG_module ||
                    tag == DW_TAG_class_type || tag == DW_TAG_structure_type) &&
                   depth + 1 < DEEPEST && dwarf_child(&at[depth], &at[depth + 1]) == 0) {
            depth++;
            continue;
        }
        if (depth > 0)
            more = dwarf_siblingof(&at[depth], &at[depth]);
    }
    return false;
}

static bool line_number_of(Dwarf_Die *die, unsigned name, Dwarf_Word *number)
{
    Dwarf_Attribute attribute;

    return dwarf_attr(die, name, &attribute) && dwarf_formudata(&attribute, number) == 0;
}

/* --- Lines ----------------------------------------------------------------------------------- */

/* Finds the first of the rows that begin at ADDRESS; NULL: none. For a function this is its head,
 * although its first instruction may be of another line as well. */
static Dwarf_Line *first_row(Dwarf_Die *unit, Dwarf_Addr address)
{
    size_t low = 0, count, high;
    Dwarf_Addr start = 0;
    Dwarf_Lines *lines;
    Dwarf_Line *first = NULL;
    bool outside, begins;

    if (dwarf_getsrclines(unit, &lines, &count) != 0)
        return NULL;
    for (high = count; low < high;) {
        size_t middle = low + (high - low) / 2;
        if (dwarf_lineaddr(dwarf_onesrcline(lines, middle), &start) == 0 && start < address)
            low = middle + 1;
        else
            high = middle;
    }
    /* Rows that end the code before may come first: by a mark, or because no statement begins there. */
    for (; low < count; low++) {
        Dwarf_Line *row = dwarf_onesrcline(lines, low);
        if (dwarf_lineaddr(row, &start) != 0 || start != address)
            break;
        if (dwarf_lineendsequence(row, &outside) != 0 || outside ||
            dwarf_linebeginstatement(row, &begins) != 0)
            continue;
        if (begins)
            return row;
        first = first ? first : row;
    }
    return first;
}

static bool find_row(Dwarf_Die *unit, Dwarf_Addr address, const char **file, unsigned *line)
{
    Dwarf_Line *first = first_row(unit, address);
    Dwarf_Line *row = first ? first : dwarf_getsrc_die(unit, address);
    bool outside = true;
    int number;

    if (!row || dwarf_lineendsequence(row, &outside) != 0 || outside ||
        dwarf_lineno(row, &number) != 0 || number <= 0)
        return false;
    *file = dwarf_linesrc(row, NULL, NULL);
    *line = (unsigned)number;
    return *file != NULL;
}

/* Finds the line of the outermost call that is inlined at ADDRESS. The tree of UNIT may be in a
 * file of its own (-gsplit-dwarf), if this still exists. */
static bool find_outermost(Dwarf_Die *unit, Dwarf_Addr address, const char **file, unsigned *line)
{
    Dwarf_Die tree = *unit, split, inlined;
    Dwarf_Word which, number;
    Dwarf_Files *files;
    size_t count;

    if (dwarf_tag(unit) == DW_TAG_skeleton_unit || !dwarf_haschildren(unit))
        if (dwarf_cu_info(unit->cu, NULL, NULL, NULL, &split, NULL, NULL, NULL) == 0 &&
            dwarf_tag(&split) == DW_TAG_compile_unit)
            tree = split;
    if (!find_inlined(&tree, address, &inlined) ||
        !line_number_of(&inlined, DW_AT_call_file, &which) ||
        !line_number_of(&inlined, DW_AT_call_line, &number) || number == 0 || number > INT_MAX ||
        dwarf_getsrcfiles(&tree, &files, &count) != 0 || which >= count)
        return false;
    *file = dwarf_filesrc(files, which, NULL, NULL);
    *line = (unsigned)number;
    return *file != NULL;
}

/* Makes *FILE the path that the compiler was given, unless it was absolute and elsewhere: libdw has
 * put the compiler's folder in front. */
static void cut_folder(Dwarf_Die *unit, const char **file)
{
    Dwarf_Attribute attribute;
    const char *folder = dwarf_formstring(dwarf_attr(unit, DW_AT_comp_dir, &attribute));
    size_t length = folder ? strlen(folder) : 0;

    if (length > 0 && folder[length - 1] == '/')
        length--;
    if (folder && strncmp(*file, folder, length) == 0 && (*file)[length] == '/')
        *file += length + 1;
    while ((*file)[0] == '.' && (*file)[1] == '/')
        *file += 2;
}

/* Fills files and lines of LINE, as far as those of ADDRESS are known. Files are DWARF's texts. */
static void line_find_line(const struct units *units, Dwarf *dwarf, Dwarf_Addr address,
                           struct th_line *line)
{
    size_t count = th_base_count_up_to(units->items, units->count, sizeof *units->items, address);
    Dwarf_Die unit;

    if (count == 0 || address >= units->items[count - 1].end ||
        !dwarf_offdie(dwarf, units->items[count - 1].die, &unit))
        return;
    if (find_row(&unit, address, &line->code_file, &line->code_line))
        cut_folder(&unit, &line->code_file);
    if (find_outermost(&unit, address, &line->file, &line->line)) {
        cut_folder(&unit, &line->file);
    } else {
        line->file = line->code_file;
        line->line = line->code_line;
    }
}

struct th_library_lines {
    struct th_debug_file own, separate;
    Dwarf *dwarf; /* of OWN or SEPARATE; NULL: none */
    struct units units;
    struct th_symbols symbols;
    struct th_table found; /* address + 1 -> struct th_line, former answers */
};

/* Guards `lines` of all libraries and their contents, as libdw is not thread-safe. No other lock is
 * taken under it. */
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

static const char *debug_folder = "/usr/lib/debug";

void th_library_set_debug_folder(const char *folder)
{
    debug_folder = folder;
}

/* --- One library ----------------------------------------------------------------------------- */

static struct th_library_lines *open_lines(const struct th_examination *facts)
{
    struct th_library_lines *lines = th_alloc_zero(sizeof *lines);

    th_debuginfo_files_open(facts, debug_folder, &lines->own, &lines->separate);
    lines->dwarf = lines->own.dwarf ? lines->own.dwarf : lines->separate.dwarf;
    if (lines->dwarf)
        read_units(&lines->units, lines->dwarf);
    /* The whole table, if one of the files has it; else the library's exports. */
    th_debuginfo_symbols_read(&lines->symbols, lines->own.elf, SHT_SYMTAB, STT_FUNC);
    if (lines->symbols.count == 0)
        th_debuginfo_symbols_read(&lines->symbols, lines->separate.elf, SHT_SYMTAB, STT_FUNC);
    if (lines->symbols.count == 0)
        th_debuginfo_symbols_read(&lines->symbols, lines->own.elf, SHT_DYNSYM, STT_FUNC);
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
    th_free(lines->units.items);
    th_debuginfo_file_close(&lines->own);
    th_debuginfo_file_close(&lines->separate);
    th_free(lines);
}

bool th_library_line(const struct th_library *library, uintptr_t address, struct th_line *line)
{
    struct th_library_lines **place = &((struct th_library *)library)->lines; /* a cache */
    uintptr_t offset = address - library->memory.base, nops = 0;              /* bytes */
    const struct th_symbol *symbol;
    struct th_library_lines *lines;
    struct th_line *known;

    *line = (struct th_line){0};
    if (!th_library_executes(library, address, 1))
        return false;
    pthread_mutex_lock(&lock);
    if (!*place)
        *place = open_lines(&library->facts);
    lines = *place;
    known = th_hash_table_get(&lines->found, offset + 1);
    if (!known) {
        known = th_alloc_zero(sizeof *known);
        known->offset = offset;
        symbol = th_debuginfo_symbols_find(&lines->symbols, offset);
        if (symbol) {
            known->function = symbol->name;
            known->inside = offset - symbol->address;
            if (known->inside == 0)
                nops = th_library_unwound_start(address) - address;
        }
        if (lines->dwarf)
            line_find_line(&lines->units, lines->dwarf, offset + nops, known);
        th_hash_table_set(&lines->found, offset + 1, known);
    }
    *line = *known;
    pthread_mutex_unlock(&lock);
    return true;
}
