#include "mapped_memory.h"

#include "host/base/base.h"

#include <dlfcn.h>
#include <errno.h>
#include <inttypes.h>
#include <link.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct question {
    const struct link_map *library;
    struct th_memory *memory;
};

/* Two libraries can have one base only if they have nothing mapped. (The loader calls it under its
 * lock, of which the thread sanitizer does not know, of libraries that others close as well.) */
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

/* A mapping of a file that goes on without one (.data and .bss) is one part. */
static void add_mapping(struct th_memory *memory, struct th_memory_part mapping)
{
    struct th_memory_part *last = memory->count > 0 ? &memory->parts[memory->count - 1] : NULL;

    if (last && last->start + last->size == mapping.start && last->rights == mapping.rights) {
        last->size += mapping.size;
        return;
    }
    TH_ARRAY_GROW(memory->parts, memory->count, memory->capacity);
    memory->parts[memory->count++] = mapping;
}

#define NO_MAPPINGS "cannot list what memory is mapped"

void th_library_memory_of_process(struct th_memory *memory)
{
    FILE *maps = fopen("/proc/self/maps", "re");
    char *line = NULL;
    size_t size = 0;

    if (!maps) {
        th_give_up_if_lacking(NO_MAPPINGS);
        return;
    }
    errno = 0;
    while (getline(&line, &size, maps) > 0) {
        uintptr_t start, end;
        char r, w, x;
        if (sscanf(line, "%" SCNxPTR "-%" SCNxPTR " %c%c%c", &start, &end, &r, &w, &x) != 5)
            continue;
        add_mapping(memory, (struct th_memory_part){
                                .start = start,
                                .size = end - start,
                                .rights = (r == 'r' ? TH_MEMORY_READABLE : 0) |
                                          (x == 'x' ? TH_MEMORY_EXECUTABLE : 0) |
                                          (w == 'w' ? TH_MEMORY_WRITABLE : 0),
                            });
    }
    th_give_up_if_lacking(NO_MAPPINGS);
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
               : th_error_raise(TH_REFUSED,
                                "its %s would be at %p, which is no memory of this "
                                "process that can be read",
                                name, address);
}

enum th_status th_library_memory_check_text(const struct th_memory *memory, const char *name,
                                            const char *text)
{
    size_t most = text ? readable_at(memory, text) : 0;

    return !text || strnlen(text, most) < most
               ? TH_OK
               : th_library_memory_check(memory, name, text, SIZE_MAX);
}
