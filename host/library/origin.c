#include "examine.h"
#include "private_copy.h"

#include "host/base/buffer.h"

#include <dlfcn.h>
#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* --- $ORIGIN --------------------------------------------------------------------------------- */

/* Returns the length of $ORIGIN or ${ORIGIN} at the start of TEXT, 0 if TEXT starts otherwise. */
static size_t origin_at(const char *text)
{
    static const char name[] = "ORIGIN";
    size_t length = sizeof name - 1;

    if (strncmp(text, "${ORIGIN}", length + 3) == 0)
        return length + 3;
    if (text[0] != '$' || strncmp(text + 1, name, length) != 0)
        return 0;
    text += 1 + length;
    return *text == 0 || *text == '/' || *text == ':' ? 1 + length : 0;
}

static bool has_origin(const char *text)
{
    for (; text && *text; text++)
        if (origin_at(text) > 0)
            return true;
    return false;
}

static char *spell_out(const char *text, const char *folder)
{
    struct th_buffer spelt = {0};
    char *result;

    while (*text) {
        size_t length = origin_at(text);
        if (length > 0)
            th_buffer_add_text(&spelt, folder);
        else
            th_buffer_add(&spelt, text, length = 1);
        text += length;
    }
    result = th_strdup(th_buffer_text(&spelt));
    th_buffer_free(&spelt);
    return result;
}

/* --- The carrier ----------------------------------------------------------------------------- */

/* A library in the loader's view: one segment, which is the whole file. */
struct carrier {
    Elf64_Ehdr header;
    Elf64_Phdr segments[3];
    Elf64_Sym symbols[1]; /* symbol 0, which is none */
    uint32_t hash[4];     /* a table of one empty chain */
    Elf64_Dyn dynamic[];  /* the strings follow */
};

struct dynamic {
    Elf64_Dyn *items;
    size_t count, capacity;
};

static void origin_add_entry(struct dynamic *dynamic, Elf64_Sxword tag, uint64_t value)
{
    TH_ARRAY_GROW(dynamic->items, dynamic->count, dynamic->capacity);
    dynamic->items[dynamic->count++] = (Elf64_Dyn){.d_tag = tag, .d_un.d_val = value};
}

static uint64_t origin_add_string(struct th_buffer *strings, const char *text)
{
    uint64_t offset = strings->size;

    th_buffer_add(strings, text, strlen(text) + 1);
    return offset;
}

/* Makes the carrier's content, for the machine of the library whose header is LIKE. */
static void make_carrier(const struct th_examination *facts, const char *places,
                         const Elf64_Ehdr *like, struct th_buffer *file)
{
    struct carrier carrier = {.header = *like, .hash = {1, 1, 0, 0}};
    uint64_t at = offsetof(struct carrier, dynamic), length, start, size;
    struct dynamic dynamic = {0};
    struct th_buffer strings = {0};

    origin_add_string(&strings, "");
    origin_add_entry(&dynamic, facts->inherited_places ? DT_RPATH : DT_RUNPATH,
                     origin_add_string(&strings, places));
    for (size_t i = 0; i < facts->needed.count; i++)
        origin_add_entry(&dynamic, DT_NEEDED, origin_add_string(&strings, facts->needed.items[i]));
    origin_add_entry(&dynamic, DT_SYMTAB, offsetof(struct carrier, symbols));
    origin_add_entry(&dynamic, DT_SYMENT, sizeof(Elf64_Sym));
    origin_add_entry(&dynamic, DT_HASH, offsetof(struct carrier, hash));
    origin_add_entry(&dynamic, DT_STRSZ, strings.size);
    length = (dynamic.count + 2) * sizeof(Elf64_Dyn);
    start = sizeof carrier + length;
    size = start + strings.size;
    origin_add_entry(&dynamic, DT_STRTAB, start);
    origin_add_entry(&dynamic, DT_NULL, 0);

    carrier.header.e_type = ET_DYN;
    carrier.header.e_entry = carrier.header.e_shoff = 0;
    carrier.header.e_shnum = carrier.header.e_shstrndx = carrier.header.e_shentsize = 0;
    carrier.header.e_phoff = offsetof(struct carrier, segments);
    carrier.header.e_phnum = 3;
    /* Writable, as the loader relocates the dynamic section. */
    carrier.segments[0] = (Elf64_Phdr){.p_type = PT_LOAD,
                                       .p_flags = PF_R | PF_W,
                                       .p_filesz = size,
                                       .p_memsz = size,
                                       .p_align = (uint64_t)sysconf(_SC_PAGESIZE)};
    carrier.segments[1] = (Elf64_Phdr){.p_type = PT_DYNAMIC,
                                       .p_flags = PF_R | PF_W,
                                       .p_offset = at,
                                       .p_vaddr = at,
                                       .p_paddr = at,
                                       .p_filesz = length,
                                       .p_memsz = length,
                                       .p_align = sizeof(uint64_t)};
    carrier.segments[2] =
        (Elf64_Phdr){.p_type = PT_GNU_STACK, .p_flags = PF_R | PF_W, .p_align = sizeof(uint64_t)};
    th_buffer_add(file, &carrier, sizeof carrier);
    th_buffer_add(file, dynamic.items, dynamic.count * sizeof *dynamic.items);
    th_buffer_add(file, strings.data, strings.size);
    th_buffer_free(&strings);
    th_free(dynamic.items);
}

/* --- Opening --------------------------------------------------------------------------------- */

char *th_library_origin_file(const struct th_examination *facts)
{
    return th_printf("%s.needs", facts->copy);
}

/* Makes and opens the carrier of a library whose $ORIGIN is FOLDER. */
static enum th_status open_carrier(const struct th_examination *facts, const char *folder,
                                   void **handle)
{
    char *places = spell_out(facts->places, folder), *path = th_library_origin_file(facts);
    int fd = open(facts->copy, O_RDONLY | O_CLOEXEC);
    struct th_buffer file = {0};
    enum th_status status;
    Elf64_Ehdr like;

    if (fd < 0 || pread(fd, &like, sizeof like, 0) != (ssize_t)sizeof like) {
        status = th_error_raise(TH_FAILED, "cannot read the private copy %s", facts->copy);
    } else {
        make_carrier(facts, places, &like, &file);
        status = th_library_copy_write(path, file.data, file.size);
    }
    if (fd >= 0)
        close(fd);
    th_buffer_free(&file);
    if (!status && !(*handle = dlopen(path, RTLD_NOW | RTLD_LOCAL)))
        status = th_error_raise(
            TH_REFUSED,
            "the loader reports: %s; the library needs this file and searches for it in %s",
            dlerror(), places);
    if (status)
        th_library_copy_remove(path);
    th_free(path);
    th_free(places);
    return status;
}

enum th_status th_library_origin_open(const struct th_examination *facts, void **handle)
{
    const char *slash = strrchr(facts->path, '/');
    enum th_status status;
    char *below, *folder;

    *handle = NULL;
    for (size_t i = 0; i < facts->needed.count; i++)
        if (has_origin(facts->needed.items[i]))
            return th_error_raise(TH_REFUSED,
                                  "the library needs %s, which its private copy would search for "
                                  "beside the copy; link it with -rpath '$ORIGIN' instead",
                                  facts->needed.items[i]);
    if (facts->needed.count == 0 || !has_origin(facts->places))
        return TH_OK;
    /* The folder in the loader's form. */
    below = slash ? th_printf("%.*s", (int)(slash - facts->path + 1), facts->path) : th_strdup(".");
    folder = realpath(below, NULL);
    th_free(below);
    if (!folder)
        return th_error_raise(
            TH_REFUSED,
            "the library searches its own folder ($ORIGIN), which does not exist any more");
    /* The loader would split such a path, or replace a part of it. */
    if (strpbrk(folder, ":$"))
        status = th_error_raise(
            TH_REFUSED,
            "the library searches its own folder ($ORIGIN), whose name must not contain '%c': %s",
            *strpbrk(folder, ":$"), folder);
    else
        status = open_carrier(facts, folder, handle);
    free(folder);
    return status;
}
