/* Fuzzes the examination of libraries: any bytes get a result, and all that is then read of the
 * library's memory for the code map is inside of that memory. */
#include "host/base/base.h"
#include "host/library/elf/elf_file.h"
#include "host/library/library_internal.h"
#include "host/term/term.h"

#include <sanitizer/asan_interface.h>
#include <sys/mman.h>
#include <unistd.h>

enum { MOST_MEMORY = 1 << 20 };

/* --- The memory of a loaded library ----------------------------------------------------------- */

/* A library's memory; the gaps between segments are poisoned. */
struct image {
    struct th_memory memory;
    uint8_t *bytes;
    size_t size;
};

static bool load(struct image *image, const struct th_elf *elf)
{
    const struct th_elf_segment *last = &elf->segments[elf->segment_count - 1];

    *image = (struct image){.size = last->address + last->memory_size};
    if (image->size > MOST_MEMORY)
        return false;
    image->bytes = th_alloc_zero(image->size);
    image->memory.base = (uintptr_t)image->bytes;
    ASAN_POISON_MEMORY_REGION(image->bytes, image->size);
    for (size_t i = 0; i < elf->segment_count; i++) {
        const struct th_elf_segment *segment = &elf->segments[i];
        uint8_t *start = image->bytes + segment->address;
        ASAN_UNPOISON_MEMORY_REGION(start, segment->memory_size);
        if (pread(elf->fd, start, segment->file_size, (off_t)segment->offset) < 0)
            th_bug("no segment");
        if (!segment->readable)
            ASAN_POISON_MEMORY_REGION(start, segment->memory_size);
        TH_ARRAY_GROW(image->memory.parts, image->memory.count, image->memory.capacity);
        image->memory.parts[image->memory.count++] = (struct th_memory_part){
            .start = (uintptr_t)start,
            .size = segment->memory_size,
            .rights = (segment->readable ? TH_MEMORY_READABLE : 0) |
                      (segment->executable ? TH_MEMORY_EXECUTABLE : 0),
        };
    }
    return true;
}

/* Relocates words that may be addresses in the file. */
static void relocate(const struct image *image, const struct th_extents *extents)
{
    for (size_t i = 0; i < extents->count; i++) {
        uint8_t *word = image->bytes + extents->items[i].address;
        for (uint64_t at = 0; at < extents->items[i].size; at += 8, word += 8) {
            uint64_t value;
            memcpy(&value, word, 8);
            if (value >= 8 && value < 2 * image->size)
                value += image->memory.base;
            memcpy(word, &value, 8);
        }
    }
}

static void unload(struct image *image)
{
    ASAN_UNPOISON_MEMORY_REGION(image->bytes, image->size);
    th_free(image->bytes);
    th_library_memory_free(&image->memory);
}

/* --- The code map ----------------------------------------------------------------------------- */

static void check(const struct th_code_map *map, const struct th_memory *memory)
{
    for (size_t i = 0; i < map->patchable_count; i++)
        if (!th_library_memory_after(memory, map->patchable[i], TH_MEMORY_EXECUTABLE) ||
            !th_library_code_map_lists(map, map->patchable[i]) ||
            (i > 0 && map->patchable[i] <= map->patchable[i - 1]))
            th_bug("no code, or not in order");
    for (size_t i = 0; i < map->local_count; i++) {
        const struct th_local *local = &map->locals[i];
        if (th_atom_utf8(local->name, strlen(local->name)) == TH_NONE || local->arity > 5 ||
            !th_library_memory_after(memory, (uintptr_t)local->code, TH_MEMORY_EXECUTABLE))
            th_bug("no function");
    }
}

static void read_code_map(const char *path, const struct th_examination *e)
{
    struct th_code_map map = {0};
    struct th_names remarks = {0};
    struct image image;
    struct th_elf elf;

    if (th_elf_open(&elf, path) != TH_OK)
        th_bug("it was opened before");
    if (load(&image, &elf)) {
        relocate(&image, &e->patchable);
        relocate(&image, &e->locals);
        th_library_code_map_read(&map, &image.memory, e, &remarks);
        check(&map, &image.memory);
        th_library_code_map_free(&map);
        th_library_names_free(&remarks);
        unload(&image);
    }
    th_elf_close(&elf);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size);
int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
    struct th_examination e;
    struct th_names remarks = {0};
    char path[64];
    int file = memfd_create("library", MFD_CLOEXEC);

    if (file < 0 || write(file, bytes, size) != (ssize_t)size)
        th_bug("no memory for a file of %zu bytes", size);
    snprintf(path, sizeof path, "/proc/self/fd/%d", file);
    th_library_examine(path, &e);
    th_library_examination_remarks(&e, &remarks);
    if (e.patchable.count > 0 || e.locals.count > 0)
        read_code_map(path, &e);
    th_library_names_free(&remarks);
    th_library_examination_free(&e);
    close(file);
    return 0;
}
