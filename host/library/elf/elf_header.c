/* What kind of file it is: how files that are no library of this machine are told apart. */
#include "elf_file.h"

#include <string.h>

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

static bool is_text(const unsigned char *start, size_t size)
{
    for (size_t i = 0; i < size; i++)
        if (start[i] < ' ' && (start[i] == 0 || !strchr("\t\n\r\f", start[i])))
            return false;
    return true;
}

/* The file does not begin as ELF files do: says what it is instead. */
static enum th_status refuse_foreign(const unsigned char *start, size_t size)
{
    if (size == 0)
        return th_error_raise(TH_REFUSED, "it is empty");
    if (size >= 7 && memcmp(start, "!<arch>", 7) == 0)
        return th_error_raise(TH_REFUSED, "it is an archive of object files; link them with "
                                          "-shared");
    if (size >= 4 && memcmp(start, "FOR1", 4) == 0)
        return th_error_raise(TH_REFUSED, "it is compiled Erlang, not a shared object");
    if (is_text(start, size))
        return th_error_raise(TH_REFUSED, "it is text, not a shared object; if it is C, compile it "
                                          "with -fPIC -shared");
    return th_error_raise(TH_REFUSED, "it is no shared object (no ELF file)");
}

static enum th_status check_type(unsigned type)
{
    switch (type) {
    case ET_DYN:
        return TH_OK;
    case ET_REL:
        return th_error_raise(TH_REFUSED, "it is an object file; link it with -shared");
    case ET_EXEC:
        return th_error_raise(TH_REFUSED, "it is a program; link it with -shared");
    case ET_CORE:
        return th_error_raise(TH_REFUSED, "it is a core dump");
    default:
        return th_error_raise(TH_REFUSED, "it is no shared object (ELF type %u)", type);
    }
}

static enum th_status check_machine(unsigned machine)
{
    const char *name = machine_name(machine);

    if (machine == OWN_MACHINE)
        return TH_OK;
    if (name)
        return th_error_raise(TH_REFUSED, "it was compiled for %s, this host runs on %s", name,
                              machine_name(OWN_MACHINE));
    return th_error_raise(TH_REFUSED, "it was compiled for ELF machine %u, this host runs on %s",
                          machine, machine_name(OWN_MACHINE));
}

/* The section headers say nothing that is needed, but libelf believes their number, and a file that
 * ends before they do was cut short. */
static enum th_status check_sections(const Elf64_Ehdr *header, uint64_t size)
{
    uint64_t bytes = (uint64_t)header->e_shnum * header->e_shentsize;

    if (header->e_shoff == 0 && header->e_shnum == 0)
        return TH_OK;
    if (header->e_shentsize != sizeof(Elf64_Shdr) || header->e_shnum == 0)
        return th_error_raise(TH_REFUSED, "it is damaged: wrong section headers");
    if (header->e_shoff > size || bytes > size - header->e_shoff)
        return th_error_raise(
            TH_REFUSED, "it is cut short: it has %llu bytes, its section headers end at %llu",
            (unsigned long long)size, (unsigned long long)(header->e_shoff + bytes));
    return TH_OK;
}

enum th_status th_elf_check_header(const Elf64_Ehdr *header, size_t got, uint64_t size)
{
    const unsigned char *ident = header->e_ident;
    enum th_status status;

    if (got < SELFMAG || memcmp(ident, ELFMAG, SELFMAG) != 0)
        return refuse_foreign(ident, got);
    if (got < sizeof *header)
        return th_error_raise(TH_REFUSED, "it is cut short: it has %zu bytes", got);
    if (ident[EI_CLASS] != ELFCLASS64)
        return th_error_raise(TH_REFUSED, "it is a 32-bit library, this host has 64 bits");
    if (ident[EI_DATA] != (__BYTE_ORDER == __LITTLE_ENDIAN ? ELFDATA2LSB : ELFDATA2MSB))
        return th_error_raise(TH_REFUSED, "its byte order is not this machine's");
    if ((status = check_machine(header->e_machine)) || (status = check_type(header->e_type)))
        return status;
    if (ident[EI_VERSION] != EV_CURRENT || header->e_version != EV_CURRENT)
        return th_error_raise(TH_REFUSED, "its ELF version %u is unknown", header->e_version);
    if ((ident[EI_OSABI] != ELFOSABI_NONE && ident[EI_OSABI] != ELFOSABI_GNU) ||
        ident[EI_ABIVERSION] != 0)
        return th_error_raise(TH_REFUSED, "it was compiled for another system (ABI %u version %u)",
                              ident[EI_OSABI], ident[EI_ABIVERSION]);
    if (header->e_phentsize != sizeof(Elf64_Phdr) || header->e_phnum == 0)
        return th_error_raise(TH_REFUSED, "it is damaged: wrong program headers");
    return check_sections(header, size);
}
