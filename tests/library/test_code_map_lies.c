/* Tests wrong sections of the code map, and files without a section table. */
#include "made.h"

#include <elf.h>

/* Entries as TH_FUNCTION defines them, with wrong ones among them. */
#define WRONG_LOCALS                                                                        \
    "#include <nif_module.h>\n"                                                             \
    "#define LOCAL(entry, ...) static const struct th_local_function entry __attribute__((" \
    " used, section(\"tracehost_functions\"), aligned(8))) = {__VA_ARGS__}\n"               \
    "static ERL_NIF_TERM code(ErlNifEnv *env) { (void)env; return 0; }\n"                   \
    "#define CODE (void (*)(void))code\n"                                                   \
    "static char open_end[8192] = \"x\";\n"                                                 \
    "LOCAL(good, \"good\", CODE, 0);\n"                                                     \
    "LOCAL(nameless, 0, CODE, 0);\n"                                                        \
    "LOCAL(empty, \"\", CODE, 0);\n"                                                        \
    "LOCAL(astray, (const char *)64, CODE, 0);\n"                                           \
    "LOCAL(latin1, \"\\xe9\", CODE, 0);\n"                                                  \
    "LOCAL(longest, open_end, CODE, 1);\n"                                                  \
    "LOCAL(many, \"many\", CODE, 6);\n"                                                     \
    "LOCAL(huge, \"huge\", CODE, 0x100000001);\n"                                           \
    "LOCAL(codeless, \"codeless\", 0, 0);\n"                                                \
    "LOCAL(data, \"data\", (void (*)(void))open_end, 0);\n"                                 \
    "LOCAL(far, \"far\", (void (*)(void))((char *)code + 0x40000000), 0);\n"                \
    "LOCAL(unicode, \"\\xce\\xb1\", CODE, 5);\n"                                            \
    "LOCAL(twin, \"good\", CODE, 0);\n"                                                     \
    "LOCAL(brother, \"good\", CODE, 1);\n"                                                  \
    "LOCAL(shadow, \"shown\", CODE, 0);\n"                                                  \
    "LOCAL(overload, \"shown\", CODE, 1);\n"                                                \
    "__attribute__((constructor)) static void fill(void)\n"                                 \
    "{ for (unsigned i = 0; i < sizeof open_end; i++) open_end[i] = 'x'; }\n"               \
    "static ERL_NIF_TERM shown(ErlNifEnv *env, int argc, const ERL_NIF_TERM argv[])\n"      \
    "{ (void)argc; (void)argv; return code(env); }\n"                                       \
    "static ErlNifFunc functions[] = {{\"shown\", 0, shown, 0}};\n"                         \
    "ERL_NIF_INIT(m, functions, NULL, NULL, NULL, NULL)\n"

static void invalid_local_functions_are_ignored_with_a_remark(void **state)
{
    struct th_library *library = made("wrong.so", NULL, "-O0", WRONG_LOCALS, NULL);
    const struct th_code_map *map = th_library_code_map(library);

    (void)state;
    assert_non_null(find_local(map, "good", 0));
    assert_non_null(find_local(map, "good", 1));
    assert_non_null(find_local(map, "shown", 1));
    assert_non_null(find_local(map, "\xce\xb1", 5));
    assert_int_equal(map->local_count, 4);
    assert_true(has_remark(library, "10 functions are ignored"));
    assert_true(has_remark(library, "of local functions with the same name, only one can be traced "
                                    "(give them different names): good/0"));
    assert_true(has_remark(library, "local function shown/0 cannot be traced: the entry has"));
    assert_int_equal(remark_count(library), 3);
    th_library_release(library);
}

static void addresses_outside_the_code_are_ignored_with_a_remark(void **state)
{
    struct th_library *library =
        made("addresses.so", NULL, "-O2",
             PLUGIN "static char data[16];\n"
                    "__asm__(\".section __patchable_function_entries,\\\"aw\\\"\\n\"\n"
                    "        \".quad 0, shown, data, 1, -1, shown + 0x40000000, shown\\n.text\");\n"
                    "void *use(void) { return data; }\n",
             NULL);
    const struct th_code_map *map = th_library_code_map(library);
    const void *shown = th_library_entry_function(th_library_entry(library), "shown", 0)->fptr;

    (void)state;
    assert_int_equal(map->patchable_count, 3);
    assert_true(th_library_code_map_lists(map, (uintptr_t)shown));
    for (size_t i = 1; i < map->patchable_count; i++)
        assert_order(map->patchable[i - 1], <, map->patchable[i]);
    assert_true(
        has_remark(library, "4 addresses, which are not in the library's code, are ignored"));
    assert_int_equal(remark_count(library), 1);
    th_library_release(library);
}

/* Opens a copy of FILE after CHANGE of its section header NAME (NULL: of its ELF header). */
static struct th_library *changed(const char *file, const char *name,
                                  void (*change)(Elf64_Ehdr *file, Elf64_Shdr *section))
{
    const char *path = in_folder(file);
    struct th_buffer content = {0};
    Elf64_Ehdr *header;
    Elf64_Shdr *sections;
    const char *names;

    compile(path, "-shared -O2", PLUGIN);
    read_file(path, &content);
    header = (Elf64_Ehdr *)content.data;
    sections = (Elf64_Shdr *)(content.data + header->e_shoff);
    names = (const char *)content.data + sections[header->e_shstrndx].sh_offset;
    for (unsigned i = 0; i < header->e_shnum; i++)
        if (!name || strcmp(names + sections[i].sh_name, name) == 0) {
            change(header, &sections[i]);
            break;
        }
    write_file(path, content.data, content.size);
    th_buffer_free(&content);
    return open_library(path);
}

static void strip_headers(Elf64_Ehdr *file, Elf64_Shdr *section)
{
    (void)section;
    file->e_shoff = file->e_shnum = file->e_shstrndx = file->e_shentsize = 0;
}

static void lose_names(Elf64_Ehdr *file, Elf64_Shdr *section)
{
    (void)section;
    file->e_shstrndx = SHN_XINDEX;
}

static void make_names_astray(Elf64_Ehdr *file, Elf64_Shdr *section)
{
    (void)file;
    section->sh_offset = UINT64_MAX - 8;
}

static void make_names_endless(Elf64_Ehdr *file, Elf64_Shdr *section)
{
    (void)file;
    section->sh_size--; /* cuts the last entry */
}

static void files_without_section_names_have_a_remark(void **state)
{
    static const struct {
        const char *section;
        void (*change)(Elf64_Ehdr *file, Elf64_Shdr *section);
    } changes[] = {
        {NULL, strip_headers},
        {NULL, lose_names},
        {".shstrtab", make_names_astray},
        {".shstrtab", make_names_endless},
    };
    char name[32];

    (void)state;
    for (size_t i = 0; i < sizeof changes / sizeof changes[0]; i++) {
        struct th_library *library;
        snprintf(name, sizeof name, "nameless_%zu.so", i);
        library = changed(name, changes[i].section, changes[i].change);
        assert_int_equal(th_library_code_map(library)->local_count, 0);
        assert_int_equal(th_library_code_map(library)->patchable_count, 0);
        assert_int_equal(remark_count(library), 1);
        assert_true(has_remark(library, "the names of its sections were stripped"));
        th_library_release(library);
    }
}

static void make_odd(Elf64_Ehdr *file, Elf64_Shdr *section)
{
    (void)file;
    section->sh_size--;
}

static void make_endless(Elf64_Ehdr *file, Elf64_Shdr *section)
{
    (void)file;
    section->sh_size = UINT64_MAX / 24 * 24;
}

static void make_astray(Elf64_Ehdr *file, Elf64_Shdr *section)
{
    (void)file;
    section->sh_addr = (uint64_t)1 << 45;
}

static void make_crooked(Elf64_Ehdr *file, Elf64_Shdr *section)
{
    (void)file;
    section->sh_addr++;
}

static void make_unmapped(Elf64_Ehdr *file, Elf64_Shdr *section)
{
    (void)file;
    section->sh_flags &= ~(uint64_t)SHF_ALLOC;
}

static void make_empty(Elf64_Ehdr *file, Elf64_Shdr *section)
{
    (void)file;
    section->sh_type = SHT_NOBITS;
}

static void damaged_sections_are_ignored_with_a_remark(void **state)
{
    static void (*const changes[])(Elf64_Ehdr *, Elf64_Shdr *) = {
        make_odd, make_endless, make_astray, make_crooked, make_unmapped, make_empty,
    };
    char name[32];

    (void)state;
    for (size_t i = 0; i < sizeof changes / sizeof changes[0]; i++) {
        struct th_library *library;
        snprintf(name, sizeof name, "lying_%zu.so", i);
        library = changed(name, TH_SECTION_LOCALS, changes[i]);
        assert_int_equal(th_library_code_map(library)->local_count, 0);
        assert_int_equal(remark_count(library), 1);
        assert_true(has_remark(library, "section tracehost_functions is damaged"));
        th_library_release(library);
        snprintf(name, sizeof name, "lying_too_%zu.so", i);
        library = changed(name, TH_SECTION_PATCHABLE, changes[i]);
        assert_int_equal(th_library_code_map(library)->local_count, 2);
        assert_int_equal(th_library_code_map(library)->patchable_count, 0);
        assert_true(has_remark(library, "section __patchable_function_entries is damaged"));
        th_library_release(library);
    }
}

/* objcopy gives a second section the name of the first; the second section lists third/0. */
static void all_sections_with_the_same_name_are_read(void **state)
{
    struct th_library *library =
        made("several.so", NULL, "-O2",
             PLUGIN "static void *others[] __attribute__((used, section(\"spare\"))) = {\n"
                    "    (char *)\"third\", (void *)shown, 0};\n",
             "objcopy --rename-section spare=tracehost_functions '%s'");
    const struct th_code_map *map = th_library_code_map(library);

    (void)state;
    assert_int_equal(map->local_count, 3);
    assert_non_null(find_local(map, "first", 0));
    assert_non_null(find_local(map, "second", 5));
    assert_non_null(find_local(map, "third", 0));
    th_library_release(library);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(invalid_local_functions_are_ignored_with_a_remark),
        cmocka_unit_test(addresses_outside_the_code_are_ignored_with_a_remark),
        cmocka_unit_test(files_without_section_names_have_a_remark),
        cmocka_unit_test(damaged_sections_are_ignored_with_a_remark),
        cmocka_unit_test(all_sections_with_the_same_name_are_read),
    };

    return cmocka_run_group_tests(tests, make_folder, remove_folder);
}
