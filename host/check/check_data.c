/*
 * Variables of a library that change while a callback runs that must have no side effect.
 *
 * The writable memory of the library is copied before the callback and compared after it, word by
 * word. A word that changes for the second time, to another value, is a finding. Words that change
 * between two callbacks are not looked at.
 */
#include "check_internal.h"

#include "host/base/hash.h"
#include "host/base/memory.h"
#include "host/library/code_map.h"
#include "host/library/debuginfo/line.h"

#include <elf.h>
#include <link.h>
#include <string.h>

enum { MOST_BYTES = 1 << 20 /* of all variables: a larger library is not examined */, RANGES = 8 };

struct range {
    uintptr_t begin, end;
};

/* Used by one thread at a time. */
static const struct th_library *examined; /* NULL: none */
static struct range ranges[RANGES];
static size_t range_count;
static uintptr_t *copy;
static struct th_table changed; /* address of a word that has changed -> the address */

static void add_range(uintptr_t begin, uintptr_t end)
{
    begin = (begin + sizeof(uintptr_t) - 1) & -sizeof(uintptr_t);
    end &= -sizeof(uintptr_t);
    if (begin < end && range_count < RANGES)
        ranges[range_count++] = (struct range){begin, end};
}

/* Finds the writable memory of the library at the address *BASE, without that which the loader has
 * protected after the relocations. */
static int find_ranges(struct dl_phdr_info *info, size_t size, void *base)
{
    struct range protected = {0};

    (void)size;
    if (info->dlpi_addr != *(uintptr_t *)base)
        return 0;
    for (int i = 0; i < info->dlpi_phnum; i++)
        if (info->dlpi_phdr[i].p_type == PT_GNU_RELRO)
    protected =
        (struct range){info->dlpi_addr + info->dlpi_phdr[i].p_vaddr,
                       info->dlpi_addr + info->dlpi_phdr[i].p_vaddr + info->dlpi_phdr[i].p_memsz};
    for (int i = 0; i < info->dlpi_phnum; i++) {
        const ElfW(Phdr) *segment = &info->dlpi_phdr[i];
        uintptr_t begin = info->dlpi_addr + segment->p_vaddr, end = begin + segment->p_memsz;
        if (segment->p_type != PT_LOAD || !(segment->p_flags & PF_W))
            continue;
        if (protected.begin < end && begin < protected.end) {
            add_range(begin, protected.begin);
            begin = protected.end;
        }
        add_range(begin, end);
    }
    return 1;
}

static void examine_data(const struct th_library *library)
{
    uintptr_t base = th_library_base(library);
    size_t bytes = 0;

    th_check_data_end();
    examined = library;
    dl_iterate_phdr(find_ranges, &base);
    for (size_t i = 0; i < range_count; i++)
        bytes += ranges[i].end - ranges[i].begin;
    if (bytes > MOST_BYTES)
        range_count = 0;
    else
        copy = th_alloc(bytes + 1);
}

/* A library of the address sanitizer has memory between its variables that must not be read. */
__attribute__((no_sanitize("address", "thread"))) static uintptr_t word_at(uintptr_t address)
{
    return *(const volatile uintptr_t *)address;
}

void th_check_data_note(const struct th_library *library)
{
    size_t word = 0;

    if (library != examined)
        examine_data(library);
    for (size_t i = 0; i < range_count; i++)
        for (uintptr_t at = ranges[i].begin; at < ranges[i].end; at += sizeof at)
            copy[word++] = word_at(at);
}

bool th_check_is_counter(const char *variable)
{
    static const char *const counters[] = {"__gcov", "__prof", "__llvm", "__san"};

    for (size_t i = 0; i < sizeof counters / sizeof counters[0]; i++)
        if (strncmp(variable, counters[i], strlen(counters[i])) == 0)
            return true;
    return false;
}

/* Reports that the word at ADDRESS has changed, unless it is a counter of the compiler's. */
static void report_change(uintptr_t address)
{
    struct th_symbols symbols = {0};
    const struct th_symbol *symbol;

    th_library_symbols(examined, STT_OBJECT, &symbols);
    symbol = th_debuginfo_symbols_find(&symbols, address - th_library_base(examined));
    if (!symbol || !th_check_is_counter(symbol->name))
        th_check_found_now(TH_RULE_EFFECT, "writes", "changes the variable %s%s%s",
                           symbol ? "'" : "", symbol ? symbol->name : "of an unknown name",
                           symbol ? "'" : "");
    th_debuginfo_symbols_free(&symbols);
}

void th_check_data_compare(void)
{
    size_t word = 0;

    for (size_t i = 0; i < range_count; i++)
        for (uintptr_t at = ranges[i].begin; at < ranges[i].end; at += sizeof at)
            if (word_at(at) != copy[word++] && th_hash_table_set(&changed, at, (void *)at))
                report_change(at);
}

void th_check_data_end(void)
{
    th_hash_table_free(&changed);
    th_free(copy);
    copy = NULL;
    range_count = 0;
    examined = NULL;
}
