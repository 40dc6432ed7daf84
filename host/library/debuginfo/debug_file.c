#include "debug_file.h"

#include "line.h"

#include "host/base/buffer.h"
#include "host/library/library_internal.h"

#include <dwarf.h>
#include <elfutils/libdwelf.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zlib.h>

/* A larger file is not read. The debug information of a library of 5 MB takes some 50 MB. */
static const off_t MOST_BYTES = 1 << 30;

/* --- One file -------------------------------------------------------------------------------- */

/* Reads the whole content into memory; FD may be closed then. */
static bool read_content(int fd, struct th_debug_file *file)
{
    Dwarf_CU *unit = NULL;

    elf_version(EV_CURRENT);
    file->elf = elf_begin(fd, ELF_C_READ, NULL);
    if (!file->elf || elf_kind(file->elf) != ELF_K_ELF || elf_cntl(file->elf, ELF_C_FDREAD) != 0) {
        th_debuginfo_file_close(file);
        return false;
    }
    /* Only with a table of lines; a file that was stripped may have sections like .eh_frame. */
    file->dwarf = dwarf_begin_elf(file->elf, DWARF_C_READ, NULL);
    if (!file->dwarf || dwarf_get_units(file->dwarf, NULL, &unit, NULL, NULL, NULL, NULL) != 0) {
        dwarf_end(file->dwarf);
        file->dwarf = NULL;
    }
    return true;
}

void th_debuginfo_file_close(struct th_debug_file *file)
{
    dwarf_end(file->dwarf);
    elf_end(file->elf);
    *file = (struct th_debug_file){0};
}

/* O_NONBLOCK: a pipe of that name must not hang the host. */
static int open_file(const char *path, struct stat *found)
{
    int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);

    if (fd < 0)
        return -1;
    if (fstat(fd, found) == 0 && S_ISREG(found->st_mode) && found->st_size <= MOST_BYTES)
        return fd;
    close(fd);
    return -1;
}

/* --- The file that belongs to the library ---------------------------------------------------- */

struct build_id {
    const unsigned char *bytes; /* in the file's content */
    size_t size;                /* in bytes; 0: none */
};

static struct build_id build_id_of(Elf *elf)
{
    size_t position, name, content;
    Elf_Scn *section = NULL;
    GElf_Shdr header;
    GElf_Nhdr note;
    Elf_Data *notes;

    while ((section = elf_nextscn(elf, section))) {
        if (!gelf_getshdr(section, &header) || header.sh_type != SHT_NOTE)
            continue;
        notes = elf_getdata(section, NULL);
        position = 0;
        while (notes && (position = gelf_getnote(notes, position, &note, &name, &content)) > 0) {
            const unsigned char *bytes = notes->d_buf;
            if (note.n_type == NT_GNU_BUILD_ID && note.n_namesz == sizeof "GNU" &&
                note.n_descsz > 0 && memcmp(bytes + name, "GNU", sizeof "GNU") == 0)
                return (struct build_id){bytes + content, note.n_descsz};
        }
    }
    return (struct build_id){0};
}

/* Opens PATH if it belongs to LIBRARY: by its build-id or, if one has none, by the CRC of the debug
 * link (NULL: none). */
static bool try(Elf *library, const char *path, const GElf_Word *crc, struct th_debug_file *file)
{
    unsigned char block[1 << 14];
    struct build_id wanted, there;
    struct stat status;
    uint32_t sum = 0;
    int fd = open_file(path, &status);
    bool good = fd >= 0;
    ssize_t got = 0;

    for (off_t at = 0; good && crc && at < status.st_size; at += got) {
        got = pread(fd, block, sizeof block, at);
        good = got > 0;
        if (good)
            sum = (uint32_t)crc32(sum, block, (unsigned)got);
    }
    good = good && read_content(fd, file);
    if (fd >= 0)
        close(fd);
    if (!good)
        return false;
    /* Compares the build-ids if both files have one. */
    wanted = build_id_of(library);
    there = build_id_of(file->elf);
    if (wanted.size > 0 && there.size > 0)
        good = wanted.size == there.size && memcmp(wanted.bytes, there.bytes, wanted.size) == 0;
    else
        good = crc && *crc == sum;
    if (good && file->dwarf)
        return true;
    th_debuginfo_file_close(file);
    return false;
}

/* --- The search ------------------------------------------------------------------------------ */

static void find_separate(Elf *library, const char *path, const char *folder,
                          struct th_debug_file *file)
{
    enum { LONGEST = 64 };
    struct build_id id = build_id_of(library);
    struct th_buffer by_id = {0};
    bool found = false;
    GElf_Word crc;
    const char *name = dwelf_elf_gnu_debuglink(library, &crc);
    const char *slash = strrchr(path, '/');
    char *beside;

    if (id.size >= 2 && id.size <= LONGEST) {
        th_buffer_printf(&by_id, "%s/.build-id/%02x/", folder, id.bytes[0]);
        for (size_t i = 1; i < id.size; i++)
            th_buffer_printf(&by_id, "%02x", id.bytes[i]);
        th_buffer_add_text(&by_id, ".debug");
        found = try(library, th_buffer_text(&by_id), NULL, file);
        th_buffer_free(&by_id);
    }
    if (found || !name || !*name || strchr(name, '/'))
        return;
    beside = slash ? th_printf("%.*s", (int)(slash - path), path) : th_strdup(".");
    for (int i = 0; i < 3 && !found; i++) {
        char *place = i == 0   ? th_printf("%s/%s", beside, name)
                      : i == 1 ? th_printf("%s/.debug/%s", beside, name)
                               : th_printf("%s%s/%s", folder, beside[0] == '/' ? beside : "", name);
        found = try(library, place, &crc, file);
        th_free(place);
    }
    th_free(beside);
}

int th_debuginfo_own_open(const struct th_examination *facts)
{
    struct stat status;
    int fd = open_file(facts->copy ? facts->copy : facts->path, &status);

    if (fd < 0 || facts->copy || th_library_examination_is_of(facts, &status))
        return fd;
    close(fd);
    return -1;
}

void th_debuginfo_files_open(const struct th_examination *facts, const char *folder,
                             struct th_debug_file *own, struct th_debug_file *separate)
{
    int fd = th_debuginfo_own_open(facts);
    bool good = fd >= 0 && read_content(fd, own);

    if (fd >= 0)
        close(fd);
    if (good && !own->dwarf)
        find_separate(own->elf, facts->path, folder, separate);
}

/* Orders by address; of equal ones the first in the file comes last, so that the name of a function
 * is the same in each run. */
static int debug_file_compare(const void *a, const void *b)
{
    const struct th_symbol *first = a, *second = b;

    if (first->address != second->address)
        return first->address > second->address ? 1 : -1;
    return (first->name < second->name) - (first->name > second->name);
}

void th_debuginfo_symbols_read(struct th_symbols *symbols, Elf *elf, GElf_Word type, int kind)
{
    Elf_Scn *section = NULL, *names;
    Elf_Data *data = NULL, *strings = NULL;
    GElf_Shdr header, names_header;
    size_t count, named;
    GElf_Sym symbol;

    while (elf && !data && (section = elf_nextscn(elf, section)))
        if (gelf_getshdr(section, &header) && header.sh_type == type && header.sh_size > 0)
            data = elf_getdata(section, NULL);
    if (!data)
        return;
    /* The strings, with a zero added; none if the named section is no string table. */
    names = elf_getscn(elf, header.sh_link);
    if (names && gelf_getshdr(names, &names_header) && names_header.sh_type == SHT_STRTAB)
        strings = elf_getdata(names, NULL);
    named = strings && strings->d_buf ? strings->d_size : 0;
    if (named > 0) {
        th_free(symbols->names);
        symbols->names = th_alloc(named + 1);
        memcpy(symbols->names, strings->d_buf, named);
        symbols->names[named] = '\0';
    }
    count = data->d_size / sizeof(Elf64_Sym);
    for (size_t i = 0; i < count && i < INT32_MAX && gelf_getsym(data, (int)i, &symbol); i++) {
        if (GELF_ST_TYPE(symbol.st_info) != kind || symbol.st_shndx == SHN_UNDEF ||
            symbol.st_size == 0 || symbol.st_name >= named || !symbols->names[symbol.st_name])
            continue;
        TH_ARRAY_GROW(symbols->items, symbols->count, symbols->capacity);
        symbols->items[symbols->count++] =
            (struct th_symbol){symbol.st_value, symbol.st_size, &symbols->names[symbol.st_name]};
    }
    if (symbols->count > 0)
        qsort(symbols->items, symbols->count, sizeof *symbols->items, debug_file_compare);
}

void th_library_symbols(const struct th_library *library, int kind, struct th_symbols *symbols)
{
    int fd = th_debuginfo_own_open(&library->facts);
    Elf *elf = NULL;

    if (fd < 0)
        return;
    elf_version(EV_CURRENT);
    elf = elf_begin(fd, ELF_C_READ, NULL); /* reads only the requested sections */
    th_debuginfo_symbols_read(symbols, elf, SHT_SYMTAB, kind);
    if (symbols->count == 0)
        th_debuginfo_symbols_read(symbols, elf, SHT_DYNSYM, kind);
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
    size_t count =
        th_base_count_up_to(symbols->items, symbols->count, sizeof *symbols->items, address);
    const struct th_symbol *last = count > 0 ? &symbols->items[count - 1] : NULL;

    return last && address - last->address < last->size ? last : NULL;
}
