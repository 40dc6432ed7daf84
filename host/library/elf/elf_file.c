#include "elf_file.h"

#include "host/base/buffer.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

/* Addresses of a shared object start near 0; a file with higher ones is no library. */
static const uint64_t HIGHEST_ADDRESS = (uint64_t)1 << 46;

/* Limit for the dynamic section: some dozens are usual, and one for each needed library. */
enum { MOST_ENTRIES = 4096 };

/* --- Segments -------------------------------------------------------------------------------- */

const struct th_elf_segment *th_elf_segment_of(const struct th_elf *elf, uint64_t address)
{
    size_t count =
        th_base_count_up_to(elf->segments, elf->segment_count, sizeof *elf->segments, address);
    const struct th_elf_segment *last = count > 0 ? &elf->segments[count - 1] : NULL;

    return last && address - last->address < last->memory_size ? last : NULL;
}

uint64_t th_elf_bytes_after(const struct th_elf *elf, uint64_t address)
{
    const struct th_elf_segment *segment = th_elf_segment_of(elf, address);
    uint64_t inside = segment ? address - segment->address : 0;

    return segment && inside < segment->file_size ? segment->file_size - inside : 0;
}

bool th_elf_maps(const struct th_elf *elf, uint64_t address, uint64_t size)
{
    const struct th_elf_segment *segment = th_elf_segment_of(elf, address);

    return segment && size <= segment->memory_size - (address - segment->address);
}

Elf_Data *th_elf_at(const struct th_elf *elf, uint64_t address, uint64_t size, Elf_Type type)
{
    const struct th_elf_segment *segment = th_elf_segment_of(elf, address);
    Elf_Data *data;

    if (size == 0 || size > th_elf_bytes_after(elf, address) || !segment->readable)
        return NULL;
    data = elf_getdata_rawchunk(elf->elf, (int64_t)(segment->offset + address - segment->address),
                                size, type);
    return data && data->d_size == size ? data : NULL;
}

enum th_status th_elf_refuse_damaged(const char *what)
{
    return th_error_raise(TH_REFUSED, "the file is damaged: invalid %s", what);
}

static enum th_status elf_file_add_segment(struct th_elf *elf, const GElf_Phdr *header)
{
    const struct th_elf_segment *last =
        elf->segment_count ? &elf->segments[elf->segment_count - 1] : NULL;
    uint64_t size = (uint64_t)elf->identity.st_size;
    uint64_t page = (uint64_t)sysconf(_SC_PAGESIZE);

    if (header->p_memsz == 0)
        return TH_OK;
    if (header->p_vaddr > HIGHEST_ADDRESS || header->p_memsz > HIGHEST_ADDRESS ||
        header->p_filesz > header->p_memsz || header->p_offset > HIGHEST_ADDRESS ||
        (header->p_vaddr - header->p_offset) % page != 0)
        return th_elf_refuse_damaged("segments");
    if (last && header->p_vaddr / page <= (last->address + last->memory_size - 1) / page)
        return th_elf_refuse_damaged("segments (they overlap)");
    if (header->p_offset + header->p_filesz > size)
        return th_error_raise(TH_REFUSED, "the file is truncated: %llu of at least %llu bytes",
                              (unsigned long long)size,
                              (unsigned long long)(header->p_offset + header->p_filesz));
    TH_ARRAY_GROW(elf->segments, elf->segment_count, elf->segment_capacity);
    elf->segments[elf->segment_count++] = (struct th_elf_segment){
        .address = header->p_vaddr,
        .memory_size = header->p_memsz,
        .offset = header->p_offset,
        .file_size = header->p_filesz,
        .readable = header->p_flags & PF_R,
        .writable = header->p_flags & PF_W,
        .executable = header->p_flags & PF_X,
    };
    return TH_OK;
}

static enum th_status read_dynamic(struct th_elf *elf, const GElf_Phdr *header)
{
    size_t all = header->p_filesz / sizeof(Elf64_Dyn);
    GElf_Dyn entry;

    elf->dynamic = th_elf_at(elf, header->p_vaddr, header->p_filesz, ELF_T_DYN);
    if (!elf->dynamic || all > INT32_MAX)
        return th_elf_refuse_damaged("dynamic section");
    while (gelf_getdyn(elf->dynamic, (int)elf->dynamic_count, &entry) && entry.d_tag != DT_NULL)
        elf->dynamic_count++;
    if (elf->dynamic_count == all || elf->dynamic_count > MOST_ENTRIES)
        return th_elf_refuse_damaged("dynamic section (too long)");
    for (size_t i = elf->dynamic_count; i < all; i++)
        if (gelf_getdyn(elf->dynamic, (int)i, &entry) && entry.d_tag != DT_NULL)
            return th_elf_refuse_damaged("dynamic section (entries follow its end)");
    return TH_OK;
}

/* Checks headers other than PT_LOAD, which must be read before: they refer to mapped memory. */
static enum th_status note_header(struct th_elf *elf, const GElf_Phdr *header)
{
    uint64_t page = (uint64_t)sysconf(_SC_PAGESIZE);
    uint64_t address = header->p_vaddr, size = header->p_memsz, whole;
    bool is_there = header->p_filesz == 0 || header->p_filesz <= th_elf_bytes_after(elf, address);

    switch (header->p_type) {
    case PT_DYNAMIC:
        return elf->dynamic ? th_elf_refuse_damaged("dynamic section (there are two)")
                            : read_dynamic(elf, header);
    case PT_TLS:
        elf->thread_storage = true;
        return header->p_filesz <= size && size <= HIGHEST_ADDRESS && is_there
                   ? TH_OK
                   : th_elf_refuse_damaged("thread-local storage");
    case PT_GNU_STACK:
        elf->executable_stack = header->p_flags & PF_X;
        return TH_OK;
    case PT_GNU_RELRO:
        /* The loader protects whole pages, from the first on to the last full one. */
        whole = (address + size) / page * page;
        return size == 0 || (size <= HIGHEST_ADDRESS && th_elf_maps(elf, address, 1) &&
                             (whole <= address || th_elf_maps(elf, address, whole - address)))
                   ? TH_OK
                   : th_elf_refuse_damaged("read-only data");
    case PT_NOTE:
    case PT_GNU_PROPERTY:
        return is_there ? TH_OK : th_elf_refuse_damaged("notes");
    default:
        return TH_OK;
    }
}

static enum th_status read_segments(struct th_elf *elf)
{
    enum th_status status = TH_OK;
    size_t count;
    GElf_Phdr header;

    if (elf_getphdrnum(elf->elf, &count) != 0)
        return th_elf_refuse_damaged("program headers");
    elf->executable_stack = true; /* the loader's default without PT_GNU_STACK */
    for (size_t i = 0; i < 2 * count && !status; i++) {
        if (!gelf_getphdr(elf->elf, (int)(i % count), &header))
            return th_elf_refuse_damaged("program headers");
        if ((i < count) == (header.p_type == PT_LOAD))
            status = i < count ? elf_file_add_segment(elf, &header) : note_header(elf, &header);
    }
    if (status)
        return status;
    if (elf->segment_count == 0)
        return th_elf_refuse_damaged("program headers (no segment to load)");
    if (!elf->dynamic)
        return th_error_raise(TH_REFUSED, "the file has no dynamic section; link it with -shared");
    return TH_OK;
}

/* --- The dynamic section --------------------------------------------------------------------- */

bool th_elf_dynamic(const struct th_elf *elf, int64_t tag, uint64_t *value)
{
    GElf_Dyn entry;

    for (size_t i = elf->dynamic_count; i-- > 0;) {
        if (gelf_getdyn(elf->dynamic, (int)i, &entry) && entry.d_tag == tag) {
            *value = entry.d_un.d_val;
            return true;
        }
    }
    return false;
}

uint64_t th_elf_flags(const struct th_elf *elf, int64_t tag)
{
    uint64_t value = 0;

    th_elf_dynamic(elf, tag, &value);
    return value;
}

/* --- The header: refuses files that are no library of this machine ---------------------------- */

#if defined(__x86_64__)
enum { OWN_MACHINE = EM_X86_64 };
#elif defined(__aarch64__)
enum { OWN_MACHINE = EM_AARCH64 };
#else
#error "library/: which ELF machine is this?"
#endif

static const char *machine_name(unsigned machine)
{
    switch (machine) {
    case EM_X86_64:
        return "x86-64";
    case EM_386:
        return "32-bit x86";
    case EM_AARCH64:
        return "AArch64";
    case EM_ARM:
        return "32-bit ARM";
    case EM_RISCV:
        return "RISC-V";
    case EM_PPC64:
        return "POWER";
    case EM_S390:
        return "S/390";
    default:
        return NULL;
    }
}

/* Refuses a file that begins with START, which is not the magic number of ELF. */
static enum th_status refuse_foreign(const unsigned char *start, size_t size)
{
    size_t text = 0;

    if (size == 0)
        return th_error_raise(TH_REFUSED, "the file is empty");
    if (size >= 7 && memcmp(start, "!<arch>", 7) == 0)
        return th_error_raise(TH_REFUSED,
                              "the file is an archive of object files; link them with -shared");
    if (size >= 4 && memcmp(start, "FOR1", 4) == 0)
        return th_error_raise(TH_REFUSED, "the file is compiled Erlang code, not a shared object");
    while (text < size && (start[text] >= ' ' || (start[text] && strchr("\t\n\r\f", start[text]))))
        text++;
    if (text == size)
        return th_error_raise(
            TH_REFUSED, "the file is text, not a shared object; compile C code with -fPIC -shared");
    return th_error_raise(TH_REFUSED, "the file is not a shared object (not an ELF file)");
}

/* Checks that the first GOT bytes of a file of SIZE bytes are the header of a library for this
 * machine. */
static enum th_status check_header(const Elf64_Ehdr *header, size_t got, uint64_t size)
{
    const unsigned char *ident = header->e_ident;
    uint64_t sections = (uint64_t)header->e_shnum * header->e_shentsize; /* bytes */
    const char *machine = machine_name(header->e_machine);

    if (got < SELFMAG || memcmp(ident, ELFMAG, SELFMAG) != 0)
        return refuse_foreign(ident, got);
    if (got < sizeof *header)
        return th_error_raise(TH_REFUSED,
                              "the file is truncated: %zu bytes are no whole ELF header", got);
    if (ident[EI_CLASS] != ELFCLASS64)
        return th_error_raise(TH_REFUSED,
                              "the file is a 32-bit library; this host loads 64-bit libraries");
    if (ident[EI_DATA] != (__BYTE_ORDER == __LITTLE_ENDIAN ? ELFDATA2LSB : ELFDATA2MSB))
        return th_error_raise(TH_REFUSED, "the file has another byte order than this machine");
    if (header->e_machine != OWN_MACHINE && machine)
        return th_error_raise(TH_REFUSED, "the file was compiled for %s; this host runs on %s",
                              machine, machine_name(OWN_MACHINE));
    if (header->e_machine != OWN_MACHINE)
        return th_error_raise(TH_REFUSED,
                              "the file was compiled for ELF machine %u; this host runs on %s",
                              header->e_machine, machine_name(OWN_MACHINE));
    switch (header->e_type) {
    case ET_DYN:
        break;
    case ET_REL:
        return th_error_raise(TH_REFUSED, "the file is an object file; link it with -shared");
    case ET_EXEC:
        return th_error_raise(TH_REFUSED, "the file is a program; link it with -shared");
    case ET_CORE:
        return th_error_raise(TH_REFUSED, "the file is a core dump");
    default:
        return th_error_raise(TH_REFUSED, "the file is not a shared object (ELF type %u)",
                              header->e_type);
    }
    if (ident[EI_VERSION] != EV_CURRENT || header->e_version != EV_CURRENT)
        return th_error_raise(TH_REFUSED, "the file has the unknown ELF version %u",
                              header->e_version);
    if ((ident[EI_OSABI] != ELFOSABI_NONE && ident[EI_OSABI] != ELFOSABI_GNU) ||
        ident[EI_ABIVERSION] != 0)
        return th_error_raise(TH_REFUSED,
                              "the file was compiled for another system (ABI %u version %u)",
                              ident[EI_OSABI], ident[EI_ABIVERSION]);
    if (header->e_phentsize != sizeof(Elf64_Phdr) || header->e_phnum == 0)
        return th_elf_refuse_damaged("program headers");
    /* The section headers are not needed, but libelf trusts their number, and a file that ends
     * before they do was cut short. */
    if (header->e_shoff == 0 && header->e_shnum == 0)
        return TH_OK;
    if (header->e_shentsize != sizeof(Elf64_Shdr) || header->e_shnum == 0)
        return th_elf_refuse_damaged("section headers");
    if (header->e_shoff > size || sections > size - header->e_shoff)
        return th_error_raise(
            TH_REFUSED,
            "the file is truncated: %llu bytes, but its section headers end at byte %llu",
            (unsigned long long)size, (unsigned long long)(header->e_shoff + sections));
    return TH_OK;
}

/* --- Opening --------------------------------------------------------------------------------- */

enum th_status th_elf_open_file(const char *path, int *fd, struct stat *identity)
{
    Elf64_Ehdr header = {0};
    ssize_t got;

    /* O_NONBLOCK: a pipe of that name must not hang the host. */
    *fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    if (*fd < 0 || fstat(*fd, identity) != 0)
        return th_error_raise(TH_REFUSED, "cannot read the file: %s", strerror(errno));
    if (S_ISDIR(identity->st_mode))
        return th_error_raise(
            TH_REFUSED,
            "the path is a folder; add the folder with -L and give the library's name alone");
    if (!S_ISREG(identity->st_mode))
        return th_error_raise(TH_REFUSED, "the path is not a regular file");
    got = pread(*fd, &header, sizeof header, 0);
    if (got < 0)
        return th_error_raise(TH_REFUSED, "cannot read the file: %s", strerror(errno));
    return check_header(&header, (size_t)got, (uint64_t)identity->st_size);
}

enum th_status th_elf_open(struct th_elf *elf, const char *path)
{
    enum th_status status;

    *elf = (struct th_elf){.fd = -1};
    status = th_elf_open_file(path, &elf->fd, &elf->identity);
    if (!status) {
        elf_version(EV_CURRENT);
        elf->elf = elf_begin(elf->fd, ELF_C_READ, NULL);
        if (!elf->elf || elf_kind(elf->elf) != ELF_K_ELF)
            status = th_error_raise(TH_REFUSED, "the file is damaged: %s", elf_errmsg(-1));
    }
    if (!status)
        status = read_segments(elf);
    if (!status)
        status = th_elf_read_symbols(elf);
    if (!status)
        status = th_elf_check_tables(elf);
    if (status)
        th_elf_close(elf);
    return status;
}

void th_elf_close(struct th_elf *elf)
{
    if (elf->elf)
        elf_end(elf->elf);
    if (elf->fd >= 0)
        close(elf->fd);
    th_free(elf->segments);
    th_free(elf->referred);
    *elf = (struct th_elf){.fd = -1, .identity = elf->identity};
}
