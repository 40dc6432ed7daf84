/*
 * Reads the sections of the code map from memory, after the loader has relocated them and
 * constructors may have changed them.
 */
#include "code_map.h"

#include "library_internal.h"

#include "host/base/buffer.h"
#include "host/term/atom.h"
#include "host/term/utf8.h"
#include "plugin_api/nif_module.h"

#include <dlfcn.h>
#include <errno.h>
#include <inttypes.h>
#include <link.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/mman.h>
#include <unwind.h>

enum { MOST_PARAMETERS = 5 };

/* Returns the bytes of EXTENT if they are readable memory of the library; else NULL: the file may
 * have been replaced since it was examined. */
static const void *content_of(const struct th_memory *memory, const struct th_extent *extent)
{
    uintptr_t address = memory->base + extent->address;

    return th_library_memory_after(memory, address, TH_MEMORY_READABLE) >= extent->size
               ? (const void *)address
               : NULL;
}

static bool code_map_is_code(const struct th_memory *memory, uintptr_t address)
{
    return th_library_memory_after(memory, address, TH_MEMORY_EXECUTABLE) > 0;
}

/* --- Entries with room for a breakpoint ------------------------------------------------------ */

static int compare_addresses(const void *a, const void *b)
{
    uintptr_t first = *(const uintptr_t *)a;
    uintptr_t second = *(const uintptr_t *)b;

    return (first > second) - (first < second);
}

/* Reads the entries. For a removed function linkers leave 0, which they do not relocate. */
static void read_patchable(struct th_code_map *map, const struct th_memory *memory,
                           const struct th_extents *extents, struct th_names *remarks)
{
    size_t wrong = 0, kept = 0;

    for (size_t i = 0; i < extents->count; i++) {
        const uintptr_t *addresses = content_of(memory, &extents->items[i]);
        size_t count = addresses ? extents->items[i].size / sizeof *addresses : 0;
        for (size_t k = 0; k < count; k++) {
            if (addresses[k] == 0)
                continue;
            if (!code_map_is_code(memory, addresses[k])) {
                wrong++;
                continue;
            }
            TH_ARRAY_GROW(map->patchable, map->patchable_count, map->patchable_capacity);
            map->patchable[map->patchable_count++] = addresses[k];
        }
    }
    if (map->patchable_count > 0)
        qsort(map->patchable, map->patchable_count, sizeof *map->patchable, compare_addresses);
    for (size_t i = 0; i < map->patchable_count; i++)
        if (i == 0 || map->patchable[i] != map->patchable[kept - 1])
            map->patchable[kept++] = map->patchable[i];
    map->patchable_count = kept;
    if (wrong > 0)
        th_library_names_take(remarks, th_printf("section %s is damaged: %zu addresses, which are "
                                                 "not in the library's code, are ignored",
                                                 TH_SECTION_PATCHABLE, wrong));
}

/* --- Functions that only the library calls --------------------------------------------------- */

/* True if NAME is readable and can become an atom. */
static bool is_name(const struct th_memory *memory, const char *name)
{
    size_t most = th_library_memory_after(memory, (uintptr_t)name, TH_MEMORY_READABLE);
    size_t length, characters;

    if (most > TH_ATOM_BYTES + 1)
        most = TH_ATOM_BYTES + 1;
    length = most > 0 ? strnlen(name, most) : 0;
    return length > 0 && length < most && th_utf8_count(name, length, &characters) &&
           characters <= TH_ATOM_CHARACTERS;
}

static void add_locals(struct th_code_map *map, const struct th_memory *memory,
                       const struct th_local_function *locals, size_t count,
                       struct th_names *remarks)
{
    size_t wrong = 0;
    const char *first = NULL;

    for (size_t i = 0; i < count; i++) {
        const char *fault = NULL;
        if (!is_name(memory, locals[i].name))
            fault = "has a name that is not an atom's";
        else if (locals[i].arity > MOST_PARAMETERS)
            fault = "has more than five parameters";
        else if (!code_map_is_code(memory, (uintptr_t)locals[i].code))
            fault = "has no code in the library";
        if (fault) {
            first = wrong++ ? first : fault;
            continue;
        }
        TH_ARRAY_GROW(map->locals, map->local_count, map->local_capacity);
        map->locals[map->local_count++] = (struct th_local){
            locals[i].name, (unsigned)locals[i].arity, (void *)(uintptr_t)locals[i].code};
    }
    if (wrong > 0)
        th_library_names_take(
            remarks, th_printf("section %s is damaged: %zu functions are ignored, the first %s",
                               TH_SECTION_LOCALS, wrong, first));
}

/* 0 if name and arity are equal. */
static int code_map_compare_names(const struct th_local *first, const struct th_local *second)
{
    int order = strcmp(first->name, second->name);

    return order ? order : (first->arity > second->arity) - (first->arity < second->arity);
}

/* Orders by name, arity and place, so that the first of equal ones comes first. */
static int compare_locals(const void *a, const void *b)
{
    const struct th_local *first = *(const struct th_local *const *)a;
    const struct th_local *second = *(const struct th_local *const *)b;
    int order = code_map_compare_names(first, second);

    return order ? order : (first > second) - (first < second);
}

/* Removes the functions without code. */
static void drop_empty(struct th_code_map *map)
{
    size_t kept = 0;

    for (size_t i = 0; i < map->local_count; i++)
        if (map->locals[i].code)
            map->locals[kept++] = map->locals[i];
    map->local_count = kept;
}

static void drop_twins(struct th_code_map *map, struct th_names *remarks)
{
    size_t count = map->local_count;
    size_t twins = 0;
    struct th_local **sorted, *first = NULL;

    if (count == 0)
        return;
    sorted = th_alloc(count * sizeof(*sorted));
    for (size_t i = 0; i < count; i++)
        sorted[i] = &map->locals[i];
    qsort(sorted, count, sizeof(*sorted), compare_locals);
    for (size_t i = 1; i < count; i++) {
        if (code_map_compare_names(sorted[i - 1], sorted[i]) != 0)
            continue;
        first = twins++ ? first : sorted[i];
        sorted[i]->code = NULL;
    }
    if (twins > 0)
        th_library_names_take(remarks,
                              th_printf("of local functions with the same name, only one can be "
                                        "traced (give them different names): %s/%u%s",
                                        first->name, first->arity, twins > 1 ? " and others" : ""));
    th_free(sorted);
    drop_empty(map);
}

void th_library_code_map_yield(struct th_code_map *map, const struct th_entry *entry,
                               struct th_names *remarks)
{
    for (size_t i = 0; i < map->local_count; i++) {
        struct th_local *local = &map->locals[i];
        if (!th_library_entry_function(entry, local->name, local->arity))
            continue;
        th_library_names_take(
            remarks,
            th_printf(
                "the local function %s/%u cannot be traced: the entry has a function of that name",
                local->name, local->arity));
        local->code = NULL;
    }
    drop_empty(map);
}

/* --- The whole map --------------------------------------------------------------------------- */

void th_library_code_map_read(struct th_code_map *map, const struct th_memory *memory,
                              const struct th_examination *facts, struct th_names *remarks)
{
    read_patchable(map, memory, &facts->patchable, remarks);
    for (size_t i = 0; i < facts->locals.count; i++) {
        const struct th_extent *extent = &facts->locals.items[i];
        const struct th_local_function *locals = content_of(memory, extent);
        if (locals)
            add_locals(map, memory, locals, extent->size / sizeof *locals, remarks);
    }
    drop_twins(map, remarks);
}

void th_library_code_map_free(struct th_code_map *map)
{
    th_free(map->locals);
    th_free(map->patchable);
    *map = (struct th_code_map){0};
}

bool th_library_code_map_lists(const struct th_code_map *map, uintptr_t first_nop)
{
    return map->patchable_count > 0 && bsearch(&first_nop, map->patchable, map->patchable_count,
                                               sizeof *map->patchable, compare_addresses);
}

/* --- The map of an open library -------------------------------------------------------------- */

static void (*watcher)(const struct th_library *library); /* set while there is one thread */

/* Serialises calls of `watcher`, which calls no library. */
static pthread_mutex_t watching = PTHREAD_MUTEX_INITIALIZER;

void th_library_watch_opened(void (*opened)(const struct th_library *library))
{
    watcher = opened;
}

void th_library_map(struct th_library *library, bool threads_started)
{
    th_library_memory_of(&library->memory, library->handle);
    th_library_code_map_read(&library->code, &library->memory, &library->facts, &library->remarks);
    library->code.threads_started = threads_started;
    if (!watcher)
        return;
    pthread_mutex_lock(&watching);
    watcher(library);
    pthread_mutex_unlock(&watching);
}

const struct th_code_map *th_library_code_map(const struct th_library *library)
{
    return &library->code;
}

bool th_library_executes(const struct th_library *library, uintptr_t address, size_t size)
{
    return size > 0 &&
           th_library_memory_after(&library->memory, address, TH_MEMORY_EXECUTABLE) >= size;
}

int th_library_protection(const struct th_library *library, uintptr_t address, size_t size)
{
    const struct th_memory_part *part = th_library_memory_part_at(&library->memory, address);

    if (!part || part->size - (address - part->start) < size ||
        !(part->rights & TH_MEMORY_EXECUTABLE))
        return 0;
    return PROT_EXEC | (part->rights & TH_MEMORY_READABLE ? PROT_READ : 0) |
           (part->rights & TH_MEMORY_WRITABLE ? PROT_WRITE : 0) |
           (part->rights & TH_MEMORY_GUARDED ? TH_PROT_BTI : 0);
}

uintptr_t th_library_unwound_start(uintptr_t code)
{
    enum { MOST_NOPS = 64, STEP = 4 /* bytes */ };

    for (uintptr_t at = code; at <= code + MOST_NOPS; at += STEP) {
        /* The argument is a return address, one byte after the call. */
        uintptr_t start = (uintptr_t)_Unwind_FindEnclosingFunction((void *)(at + 1));
        if (start)
            return start == at ? start : code;
    }
    return code;
}

uintptr_t th_library_base(const struct th_library *library)
{
    return library->memory.base;
}

void th_library_code_range(const struct th_library *library, uintptr_t *begin, uintptr_t *end)
{
    const struct th_memory *memory = &library->memory;

    *begin = *end = 0;
    for (size_t i = 0; i < memory->count; i++) {
        const struct th_memory_part *part = &memory->parts[i];
        if (!(part->rights & TH_MEMORY_EXECUTABLE) || part->size == 0)
            continue;
        if (*end == 0 || part->start < *begin)
            *begin = part->start;
        if (part->start + part->size > *end)
            *end = part->start + part->size;
    }
}

#ifdef __aarch64__

/* The loader's own rule: the processor and the kernel have BTI, and the note of the file says that
 * all of its code has. */
static bool note_has_bti(const uint32_t *note, size_t size)
{
    enum { HAS_BTI = 1 << 17 /* of AT_HWCAP2 */, HEADER = 4 };
    const uint32_t *property = note + HEADER;

    if (!(getauxval(AT_HWCAP2) & HAS_BTI) || size < HEADER * sizeof *note ||
        note[2] != NT_GNU_PROPERTY_TYPE_0 || note[1] > size - HEADER * sizeof *note)
        return false;
    for (size_t left = note[1], step; left >= 12; left -= step, property += step / 4) {
        step = 8 + ((size_t)property[1] + 7) / 8 * 8;
        if (property[0] == GNU_PROPERTY_AARCH64_FEATURE_1_AND)
            return property[2] & GNU_PROPERTY_AARCH64_FEATURE_1_BTI;
        if (step > left)
            break;
    }
    return false;
}

static void mark_guarded(struct th_memory *memory, const struct dl_phdr_info *info)
{
    for (size_t i = 0; i < info->dlpi_phnum; i++) {
        const ElfW(Phdr) *header = &info->dlpi_phdr[i];
        uintptr_t note = info->dlpi_addr + header->p_vaddr;
        if (header->p_type == PT_GNU_PROPERTY && note % 8 == 0 &&
            th_library_memory_after(memory, note, TH_MEMORY_READABLE) >= header->p_memsz &&
            note_has_bti((const uint32_t *)note, header->p_memsz))
            for (size_t k = 0; k < memory->count; k++)
                if (memory->parts[k].rights & TH_MEMORY_EXECUTABLE)
                    memory->parts[k].rights |= TH_MEMORY_GUARDED;
    }
}

#else

static void mark_guarded(struct th_memory *memory, const struct dl_phdr_info *info)
{
    (void)memory;
    (void)info;
}

#endif

struct question {
    const struct link_map *library;
    struct th_memory *memory;
};

/* Two libraries have the same base only if nothing of them is mapped. (The loader calls this under
 * its lock, unknown to the thread sanitizer, also for libraries that other threads close.) */
__attribute__((no_sanitize("thread"))) static int add_parts(struct dl_phdr_info *info, size_t size,
                                                            void *context)
{
    const struct question *question = context;
    struct th_memory *memory = question->memory;

    (void)size;
    if (info->dlpi_addr != question->library->l_addr ||
        info->dlpi_name != question->library->l_name)
        return 0;
    memory->base = info->dlpi_addr;
    for (size_t i = 0; i < info->dlpi_phnum; i++) {
        const ElfW(Phdr) *header = &info->dlpi_phdr[i];
        if (header->p_type != PT_LOAD)
            continue;
        TH_ARRAY_GROW(memory->parts, memory->count, memory->capacity);
        memory->parts[memory->count++] = (struct th_memory_part){
            .start = info->dlpi_addr + header->p_vaddr,
            .size = header->p_memsz,
            .rights = (header->p_flags & PF_R ? TH_MEMORY_READABLE : 0) |
                      (header->p_flags & PF_X ? TH_MEMORY_EXECUTABLE : 0) |
                      (header->p_flags & PF_W ? TH_MEMORY_WRITABLE : 0),
        };
    }
    mark_guarded(memory, info);
    return 1;
}

void th_library_memory_of(struct th_memory *memory, void *handle)
{
    struct link_map *library;
    struct question question = {.memory = memory};

    if (dlinfo(handle, RTLD_DI_LINKMAP, &library) != 0)
        return;
    question.library = library;
    dl_iterate_phdr(add_parts, &question);
}

void th_library_memory_of_process(struct th_memory *memory)
{
    static const char give_up[] = "cannot list the mapped memory";
    FILE *maps = fopen("/proc/self/maps", "re");
    struct th_memory_part *last = NULL;
    char *line = NULL;
    size_t size = 0;

    if (!maps) {
        th_give_up_if_lacking(give_up);
        return;
    }
    errno = 0;
    while (getline(&line, &size, maps) > 0) {
        uintptr_t start, end;
        unsigned rights;
        char r, w, x;
        if (sscanf(line, "%" SCNxPTR "-%" SCNxPTR " %c%c%c", &start, &end, &r, &w, &x) != 5)
            continue;
        rights = (r == 'r' ? TH_MEMORY_READABLE : 0) | (x == 'x' ? TH_MEMORY_EXECUTABLE : 0) |
                 (w == 'w' ? TH_MEMORY_WRITABLE : 0) |
                 (strstr(line, "[heap]") ? TH_MEMORY_HEAP : 0) |
                 (strstr(line, "[stack]") ? TH_MEMORY_STACK : 0);
        /* A mapping of a file and the anonymous one behind (.data and .bss) are one part. */
        if (last && last->start + last->size == start && last->rights == rights) {
            last->size += end - start;
            continue;
        }
        TH_ARRAY_GROW(memory->parts, memory->count, memory->capacity);
        last = &memory->parts[memory->count++];
        *last = (struct th_memory_part){start, end - start, rights};
    }
    th_give_up_if_lacking(give_up);
    free(line);
    fclose(maps);
}

void th_library_memory_free(struct th_memory *memory)
{
    th_free(memory->parts);
    *memory = (struct th_memory){0};
}

const struct th_memory_part *th_library_memory_part_at(const struct th_memory *memory,
                                                       uintptr_t address)
{
    for (size_t i = 0; i < memory->count; i++) {
        const struct th_memory_part *part = &memory->parts[i];
        if (address >= part->start && address - part->start < part->size)
            return part;
    }
    return NULL;
}

size_t th_library_memory_after(const struct th_memory *memory, uintptr_t address, unsigned rights)
{
    const struct th_memory_part *part = th_library_memory_part_at(memory, address);

    return part && (part->rights & rights) == rights ? part->size - (address - part->start) : 0;
}

static size_t readable_at(const struct th_memory *memory, const void *address)
{
    return memory->count > 0
               ? th_library_memory_after(memory, (uintptr_t)address, TH_MEMORY_READABLE)
               : SIZE_MAX;
}

enum th_status th_library_memory_check(const struct th_memory *memory, const char *name,
                                       const void *address, size_t size)
{
    return readable_at(memory, address) >= size
               ? TH_OK
               : th_error_raise(
                     TH_REFUSED,
                     "the pointer to %s is %p, which is not the address of readable memory", name,
                     address);
}

enum th_status th_library_memory_check_text(const struct th_memory *memory, const char *name,
                                            const char *text)
{
    size_t most = text ? readable_at(memory, text) : 0;

    return !text || strnlen(text, most) < most
               ? TH_OK
               : th_library_memory_check(memory, name, text, SIZE_MAX);
}
