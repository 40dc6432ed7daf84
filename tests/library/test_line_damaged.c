/* Tests source lines of libraries whose debug information is damaged. */
#include "lines.h"

#include <gelf.h>

enum { MOST_SECTIONS = 16, DAMAGED = 400, MOST_WRONG = 12 };

struct extent {
    size_t offset, size;
};

static size_t find_debug_sections(const struct th_buffer *content, struct extent found[])
{
    Elf *elf = elf_memory((char *)content->data, content->size);
    Elf_Scn *section = NULL;
    size_t names, count = 0;
    GElf_Shdr header;

    assert_int_equal(elf_getshdrstrndx(elf, &names), 0);
    while ((section = elf_nextscn(elf, section)) && gelf_getshdr(section, &header))
        if (strncmp(elf_strptr(elf, names, header.sh_name), ".debug_", 7) == 0 &&
            header.sh_size > 0 && count < MOST_SECTIONS)
            found[count++] = (struct extent){header.sh_offset, header.sh_size};
    elf_end(elf);
    return count;
}

static uint32_t next_random(uint32_t *state)
{
    *state = *state * 1664525u + 1013904223u;
    return *state >> 8;
}

/* Overwrites random bytes; some with extreme values, or with ones that announce more bytes. */
static void damage(struct th_buffer *content, const struct extent sections[], size_t count,
                   uint32_t *state)
{
    static const unsigned char odd[] = {0, 0x7f, 0x80, 0xff};

    for (uint32_t wrong = 1 + next_random(state) % MOST_WRONG; wrong > 0; wrong--) {
        const struct extent *section = &sections[next_random(state) % count];
        size_t at = section->offset + next_random(state) % section->size;
        uint32_t value = next_random(state);
        content->data[at] = value & 0x100 ? odd[value % sizeof odd] : (unsigned char)value;
    }
}

/* Counts the addresses for which a line is found. */
static size_t ask_everywhere(const char *name)
{
    struct th_library *library = open_named(name);
    uintptr_t start = function(library, "plain") - 64;
    size_t told = 0;
    struct th_line line;

    for (uintptr_t address = start; address < start + 256; address += 3)
        if (th_library_line(library, address, &line) && line.file && ++told)
            assert_true(strlen(line.file) < PATH_MAX && line.line > 0);
    th_library_release(library);
    return told;
}

static void damaged_as_made(const char *compiler, const char *flags)
{
    struct extent sections[MOST_SECTIONS];
    struct th_buffer good = {0};
    size_t count, most, some = 0, none = 0;
    uint32_t state = 1;

    make(compiler, flags, "good");
    read_file(in_folder("good.so"), &good);
    count = find_debug_sections(&good, sections);
    assert_order(count, >, 3);
    most = ask_everywhere("good");
    for (size_t i = 0; i < DAMAGED; i++) {
        struct th_buffer bad = {0};
        size_t told;
        th_buffer_add(&bad, good.data, good.size);
        damage(&bad, sections, count, &state);
        write_file(in_folder("bad.so"), bad.data, bad.size);
        th_buffer_free(&bad);
        told = ask_everywhere("bad");
        some += told > 0;
        none += told < most;
        unlink(in_folder("bad.so"));
    }
    assert_true(some > 0 && none > 0); /* some damage mattered, and some did not */
    th_buffer_free(&good);
}

static void damaged_debug_information_causes_no_crash(void **state)
{
    (void)state;
    damaged_as_made("gcc", "-gdwarf-4");
    damaged_as_made("gcc", "-gdwarf-5 -g3");
    if (there("clang"))
        damaged_as_made("clang", "-gdwarf-5");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(damaged_debug_information_causes_no_crash),
    };

    return cmocka_run_group_tests(tests, make_folder, remove_folder);
}
