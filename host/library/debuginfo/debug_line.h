/*
 * From addresses to lines, by DWARF. Inner header of library/.
 *
 * Addresses are the file's. What is in the file is a claim: libdw bounds each step by the section
 * that it is in; how many steps there are, and how deep, is bounded here.
 */
#ifndef TH_DEBUG_LINE_H
#define TH_DEBUG_LINE_H

#include <elfutils/libdw.h>
#include <stddef.h>

/* Where the code of compilation units is. Start it as {0}. (The section that tells it, too,
 * .debug_aranges, is one that clang does not make.) */
struct th_debug_units {
    struct th_debug_unit {
        Dwarf_Addr start, end; /* END is outside */
        Dwarf_Off die;         /* the unit's */
    } * items;                 /* ascending by START */
    size_t count, capacity;
};
void th_debuginfo_units_read(struct th_debug_units *units, Dwarf *dwarf);
void th_debuginfo_units_free(struct th_debug_units *units);

/* The place of ADDRESS in the source of its function: false if it is not known. *FILE is DWARF's,
 * *LINE at least 1. */
bool th_debuginfo_line_find(const struct th_debug_units *units, Dwarf *dwarf, Dwarf_Addr address,
                            const char **file, unsigned *line);

#endif
