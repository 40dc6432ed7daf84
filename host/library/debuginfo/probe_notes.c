/*
 * Reads notes of <sys/sdt.h>: three addresses (of the NOP, of .stapsdt.base when it was linked, of
 * the semaphore), then provider, name and arguments, each with a final 0. If .stapsdt.base was
 * moved since (by prelink), the other two addresses have moved by the same distance.
 */
#include "probe_notes.h"

#include "host/base/buffer.h"

#include <errno.h>
#include <fcntl.h>
#include <gelf.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { STAPSDT = 3 /* the type of the notes */ };

/* --- One note -------------------------------------------------------------------------------- */

struct reader {
    Elf *elf;
    uint64_t base; /* address of .stapsdt.base; 0: none */
    struct th_probe_notes *notes;
};

/* Reads the text at *PLACE, and moves *PLACE behind it; NULL: the text has no end. */
static const char *probe_notes_take_text(const char **place, const char *end)
{
    const char *text = *place;
    const char *zero = memchr(text, 0, (size_t)(end - text));

    if (!zero)
        return NULL;
    *place = zero + 1;
    return text;
}

/* Reads three addresses in the file's class and byte order. False: there are fewer bytes. */
static bool take_addresses(Elf *elf, const char **place, const char *end, uint64_t addresses[3])
{
    bool is_wide = gelf_getclass(elf) == ELFCLASS64;
    size_t size = is_wide ? 8 : 4;
    char bytes[24];
    Elf_Data from = {.d_buf = (void *)*place, .d_type = ELF_T_ADDR, .d_version = EV_CURRENT};
    Elf_Data to = {.d_buf = bytes, .d_type = ELF_T_ADDR, .d_version = EV_CURRENT};
    const char *ident = elf_getident(elf, NULL);

    if ((size_t)(end - *place) < 3 * size)
        return false;
    from.d_size = to.d_size = 3 * size;
    if (!gelf_xlatetom(elf, &to, &from, (unsigned char)ident[EI_DATA]))
        return false;
    for (int i = 0; i < 3; i++) {
        uint32_t narrow;

        memcpy(&narrow, bytes + i * size, sizeof narrow);
        addresses[i] = narrow;
        if (is_wide)
            memcpy(&addresses[i], bytes + i * size, sizeof addresses[i]);
    }
    *place += 3 * size;
    return true;
}

static void probe_notes_add(struct reader *reader, const char *place, const char *end)
{
    struct th_probe_notes *notes = reader->notes;
    const char *provider, *name, *arguments;
    uint64_t addresses[3], moved;

    if (!take_addresses(reader->elf, &place, end, addresses) ||
        !(provider = probe_notes_take_text(&place, end)) ||
        !(name = probe_notes_take_text(&place, end)) ||
        !(arguments = probe_notes_take_text(&place, end))) {
        notes->damaged++;
        return;
    }
    moved = reader->base ? reader->base - addresses[1] : 0;
    TH_ARRAY_GROW(notes->notes, notes->count, notes->capacity);
    notes->notes[notes->count++] = (struct th_probe_note){
        .provider = th_strdup(provider),
        .name = th_strdup(name),
        .arguments = th_strdup(arguments),
        .location = addresses[0] + moved,
        .semaphore = addresses[2] ? addresses[2] + moved : 0,
    };
}

/* --- A file ---------------------------------------------------------------------------------- */

static bool is_called(Elf *elf, Elf_Scn *section, size_t names, const char *name, GElf_Shdr *header)
{
    const char *its =
        gelf_getshdr(section, header) ? elf_strptr(elf, names, header->sh_name) : NULL;

    return its && strcmp(its, name) == 0;
}

static int probe_notes_compare(const void *a, const void *b)
{
    const struct th_probe_note *x = a, *y = b;
    int order = strcmp(x->provider, y->provider);

    if (order == 0)
        order = strcmp(x->name, y->name);
    return order ? order : (x->location > y->location) - (x->location < y->location);
}

static enum th_status read_elf(struct th_probe_notes *notes, Elf *elf)
{
    struct reader reader = {elf, 0, notes};
    size_t names, offset, name_at, content_at;
    Elf_Scn *section = NULL;
    GElf_Shdr header;
    GElf_Nhdr note;

    if (!elf || elf_kind(elf) != ELF_K_ELF)
        return th_error_raise(TH_MALFORMED, "the file is not an ELF file");
    if (elf_getshdrstrndx(elf, &names) != 0)
        return TH_OK;
    while ((section = elf_nextscn(elf, section)))
        if (is_called(elf, section, names, ".stapsdt.base", &header))
            reader.base = header.sh_addr;
    while ((section = elf_nextscn(elf, section))) {
        Elf_Data *data = is_called(elf, section, names, ".note.stapsdt", &header)
                             ? elf_getdata(section, NULL)
                             : NULL;
        offset = 0;
        while (data && (offset = gelf_getnote(data, offset, &note, &name_at, &content_at)) > 0) {
            const char *bytes = data->d_buf;
            if (note.n_type == STAPSDT && note.n_namesz == sizeof "stapsdt" &&
                memcmp(bytes + name_at, "stapsdt", sizeof "stapsdt") == 0)
                probe_notes_add(&reader, bytes + content_at, bytes + content_at + note.n_descsz);
        }
    }
    if (notes->count > 1)
        qsort(notes->notes, notes->count, sizeof *notes->notes, probe_notes_compare);
    return TH_OK;
}

enum th_status th_debuginfo_probe_notes_read(struct th_probe_notes *notes, const char *path)
{
    enum th_status status;
    Elf *elf;
    int fd = open(path, O_RDONLY | O_CLOEXEC);

    *notes = (struct th_probe_notes){0};
    if (fd < 0)
        return th_error_raise(TH_FAILED, "cannot open the file: %s", strerror(errno));
    elf_version(EV_CURRENT);
    elf = elf_begin(fd, ELF_C_READ, NULL);
    status = read_elf(notes, elf);
    elf_end(elf);
    close(fd);
    return status;
}

enum th_status th_debuginfo_probe_notes_parse(struct th_probe_notes *notes, const void *bytes,
                                              size_t size)
{
    char *copy = th_alloc(size + 1);
    enum th_status status;
    Elf *elf;

    *notes = (struct th_probe_notes){0};
    memcpy(copy, bytes, size);
    elf_version(EV_CURRENT);
    elf = elf_memory(copy, size);
    status = read_elf(notes, elf);
    elf_end(elf);
    th_free(copy);
    return status;
}

void th_debuginfo_probe_notes_free(struct th_probe_notes *notes)
{
    for (size_t i = 0; i < notes->count; i++) {
        th_free(notes->notes[i].provider);
        th_free(notes->notes[i].name);
        th_free(notes->notes[i].arguments);
    }
    th_free(notes->notes);
    *notes = (struct th_probe_notes){0};
}

/* --- Arguments ------------------------------------------------------------------------------- */

/* Old notes have "%rdi", without a size. */
bool th_debuginfo_probe_next_argument(const char **text, int *size, const char **where,
                                      size_t *length)
{
    const char *at;

    *text += strspn(*text, " ");
    if (!**text)
        return false;
    *length = strcspn(*text, " ");
    *where = *text;
    *size = 0;
    at = memchr(*text, '@', *length);
    if (at) {
        *size = (int)strtol(*text, NULL, 10);
        *length -= (size_t)(at + 1 - *where);
        *where = at + 1;
    }
    *text = *where + *length;
    return true;
}
