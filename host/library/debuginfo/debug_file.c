#include "debug_file.h"

#include "line.h"

#include "host/library/library_internal.h"

#include <dwarf.h>
#include <elfutils/libdwelf.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zlib.h>

/* More is not read. The debug information of a library of 5 MB is some 50 MB. */
static const off_t MOST_BYTES = 1 << 30;

/* --- One file -------------------------------------------------------------------------------- */

/* Only if there is a table of lines; a file that was stripped may have sections like .eh_frame. */
static Dwarf *read_dwarf(Elf *elf)
{
    Dwarf *dwarf = dwarf_begin_elf(elf, DWARF_C_READ, NULL);
    Dwarf_CU *unit = NULL;

    if (dwarf && dwarf_get_units(dwarf, NULL, &unit, NULL, NULL, NULL, NULL) == 0)
        return dwarf;
    dwarf_end(dwarf);
    return NULL;
}

/* The whole content is in memory after it, and FD may be closed. */
static bool read_content(int fd, struct th_debug_file *file)
{
    elf_version(EV_CURRENT);
    file->elf = elf_begin(fd, ELF_C_READ, NULL);
    if (!file->elf || elf_kind(file->elf) != ELF_K_ELF || elf_cntl(file->elf, ELF_C_FDREAD) != 0) {
        th_debuginfo_file_close(file);
        return false;
    }
    file->dwarf = read_dwarf(file->elf);
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

/* --- Which one belongs to the library -------------------------------------------------------- */

struct build_id {
    const unsigned char *bytes; /* in the file's content */
    size_t size;                /* 0: it has none */
};

static struct build_id build_id_of_notes(Elf_Data *notes)
{
    size_t position = 0;
    size_t name, content;
    GElf_Nhdr header;

    while (notes && (position = gelf_getnote(notes, position, &header, &name, &content)) > 0)
        if (header.n_type == NT_GNU_BUILD_ID && header.n_namesz == sizeof "GNU" &&
            memcmp((const char *)notes->d_buf + name, "GNU", sizeof "GNU") == 0)
            return (struct build_id){(const unsigned char *)notes->d_buf + content,
                                     header.n_descsz};
    return (struct build_id){0};
}

static struct build_id build_id_of(Elf *elf)
{
    struct build_id found = {0};
    Elf_Scn *section = NULL;
    GElf_Shdr header;

    while (found.size == 0 && (section = elf_nextscn(elf, section)))
        if (gelf_getshdr(section, &header) && header.sh_type == SHT_NOTE)
            found = build_id_of_notes(elf_getdata(section, NULL));
    return found;
}

/* By their build-ids, where both have one. */
static bool belong_together(Elf *library, Elf *debug, const GElf_Word *crc, uint32_t found)
{
    struct build_id wanted = build_id_of(library);
    struct build_id there = build_id_of(debug);

    if (wanted.size > 0 && there.size > 0)
        return wanted.size == there.size && memcmp(wanted.bytes, there.bytes, wanted.size) == 0;
    return crc && *crc == found;
}

static bool sum_up(int fd, off_t size, uint32_t *sum)
{
    unsigned char block[1 << 14];
    ssize_t got = 0;

    *sum = 0;
    for (off_t at = 0; at < size; at += got) {
        got = pread(fd, block, sizeof block, at);
        if (got <= 0)
            return false;
        *sum = (uint32_t)crc32(*sum, block, (unsigned)got);
    }
    return true;
}

/* CRC: that of the debug link; NULL: the build-id must tell. */
static bool try(Elf *library, const char *path, const GElf_Word *crc, struct th_debug_file *file)
{
    struct stat status;
    uint32_t sum = 0;
    int fd = open_file(path, &status);
    bool good;

    if (fd < 0)
        return false;
    good = (!crc || sum_up(fd, status.st_size, &sum)) && read_content(fd, file);
    close(fd);
    if (good && belong_together(library, file->elf, crc, sum) && file->dwarf)
        return true;
    th_debuginfo_file_close(file);
    return false;
}

/* --- Where they are looked for --------------------------------------------------------------- */

static bool find_by_build_id(Elf *library, const char *folder, struct th_debug_file *file)
{
    enum { LONGEST = 64 };
    struct build_id id = build_id_of(library);
    struct th_buffer path = {0};
    bool found;

    if (id.size < 2 || id.size > LONGEST)
        return false;
    th_buffer_printf(&path, "%s/.build-id/%02x/", folder, id.bytes[0]);
    for (size_t i = 1; i < id.size; i++)
        th_buffer_printf(&path, "%02x", id.bytes[i]);
    th_buffer_add_text(&path, ".debug");
    found = try(library, th_buffer_text(&path), NULL, file);
    th_buffer_free(&path);
    return found;
}

static bool find_by_link(Elf *library, const char *path, const char *folder,
                         struct th_debug_file *file)
{
    GElf_Word crc;
    const char *name = dwelf_elf_gnu_debuglink(library, &crc);
    const char *slash = strrchr(path, '/');
    char *full = slash ? th_printf("%.*s", (int)(slash - path), path) : th_strdup(".");
    const char *below = full[0] == '/' ? full : "";
    char *places[] = {
        th_printf("%s/%s", full, name ? name : ""),
        th_printf("%s/.debug/%s", full, name ? name : ""),
        th_printf("%s%s/%s", folder, below, name ? name : ""),
    };
    bool found = false;

    for (size_t i = 0; i < sizeof places / sizeof places[0]; i++) {
        found =
            found || (name && *name && !strchr(name, '/') && try(library, places[i], &crc, file));
        th_free(places[i]);
    }
    th_free(full);
    return found;
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
    if (good && !own->dwarf && !find_by_build_id(own->elf, folder, separate))
        find_by_link(own->elf, facts->path, folder, separate);
}

static Elf_Data *find_section(Elf *elf, GElf_Word type, GElf_Shdr *header)
{
    Elf_Scn *section = NULL;

    while ((section = elf_nextscn(elf, section)))
        if (gelf_getshdr(section, header) && header->sh_type == type && header->sh_size > 0)
            return elf_getdata(section, NULL);
    return NULL;
}

/* The strings that section LINK is, ended by a zero in any case; 0 of them if it is no such. */
static size_t copy_names(struct th_symbols *symbols, Elf *elf, GElf_Word link)
{
    Elf_Scn *section = elf_getscn(elf, link);
    GElf_Shdr header;
    Elf_Data *data = section && gelf_getshdr(section, &header) && header.sh_type == SHT_STRTAB
                         ? elf_getdata(section, NULL)
                         : NULL;

    if (!data || !data->d_buf || data->d_size == 0)
        return 0;
    th_free(symbols->names);
    symbols->names = th_alloc(data->d_size + 1);
    memcpy(symbols->names, data->d_buf, data->d_size);
    symbols->names[data->d_size] = '\0';
    return data->d_size;
}

/* Of several with one address the first in the file comes last: names of one function do not change
 * places between two runs. */
static int compare(const void *a, const void *b)
{
    const struct th_symbol *first = a, *second = b;

    if (first->address != second->address)
        return first->address > second->address ? 1 : -1;
    return (first->name < second->name) - (first->name > second->name);
}

void th_debuginfo_symbols_read(struct th_symbols *symbols, Elf *elf, GElf_Word type)
{
    GElf_Shdr header;
    Elf_Data *data = elf ? find_section(elf, type, &header) : NULL;
    size_t count = data ? data->d_size / sizeof(Elf64_Sym) : 0;
    size_t named = count > 0 ? copy_names(symbols, elf, header.sh_link) : 0;
    GElf_Sym symbol;

    for (size_t i = 0; i < count && i < INT32_MAX && gelf_getsym(data, (int)i, &symbol); i++) {
        if (GELF_ST_TYPE(symbol.st_info) != STT_FUNC || symbol.st_shndx == SHN_UNDEF ||
            symbol.st_size == 0 || symbol.st_name >= named || !symbols->names[symbol.st_name])
            continue;
        TH_ARRAY_GROW(symbols->items, symbols->count, symbols->capacity);
        symbols->items[symbols->count++] =
            (struct th_symbol){symbol.st_value, symbol.st_size, &symbols->names[symbol.st_name]};
    }
    if (symbols->count > 0)
        qsort(symbols->items, symbols->count, sizeof *symbols->items, compare);
}

void th_library_symbols(const struct th_library *library, struct th_symbols *symbols)
{
    int fd = th_debuginfo_own_open(&library->facts);
    Elf *elf = NULL;

    if (fd < 0)
        return;
    elf_version(EV_CURRENT);
    elf = elf_begin(fd, ELF_C_READ, NULL); /* only the sections that are asked for */
    th_debuginfo_symbols_read(symbols, elf, SHT_SYMTAB);
    if (symbols->count == 0)
        th_debuginfo_symbols_read(symbols, elf, SHT_DYNSYM);
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
    size_t low = 0, high = symbols->count;

    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (symbols->items[middle].address <= address)
            low = middle + 1;
        else
            high = middle;
    }
    return low > 0 && address - symbols->items[low - 1].address < symbols->items[low - 1].size
               ? &symbols->items[low - 1]
               : NULL;
}
