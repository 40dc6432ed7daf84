/* Where the functions of libraries are: what compilers, linkers and strippers leave of the sections
 * that tell it, and what becomes of sections that lie. */
#include "files.h"

#include "host/library/library.h"

#include <dlfcn.h>
#include <elf.h>
#include <pthread.h>

/* Two local functions that are used, one of them by its address alone, and a third that is not, of
 * which there is nothing but the section; and entries without TH_FUNCTION. */
#define PLUGIN                                                                                 \
    "#include <nif_module.h>\n"                                                                \
    "TH_FUNCTION(second, 5)(ErlNifEnv *env, ERL_NIF_TERM a, ERL_NIF_TERM b, ERL_NIF_TERM c,\n" \
    "                       ERL_NIF_TERM d, ERL_NIF_TERM e)\n"                                 \
    "{ (void)env; (void)a; (void)b; (void)c; (void)d; return e; }\n"                           \
    "TH_FUNCTION(first, 0)(ErlNifEnv *env)\n"                                                  \
    "{ return second(env, 0, 0, 0, 0, enif_make_int(env, 3)); }\n"                             \
    "static ERL_NIF_TERM shown(ErlNifEnv *env, int argc, const ERL_NIF_TERM argv[])\n"         \
    "{ (void)argc; (void)argv; return first(env); }\n"                                         \
    "static ErlNifFunc functions[] = {{\"shown\", 0, shown, 0}};\n"                            \
    "ERL_NIF_INIT(m, functions, NULL, NULL, NULL, NULL)\n"

static struct th_library *open_library(const char *path)
{
    struct th_library *library;

    if (th_library_open(path, &library) != TH_OK)
        fail_msg("%s", error_text());
    return library;
}

static void run(const char *format, const char *path)
{
    char *command = th_printf(format, path);

    if (system(command) != 0)
        fail_msg("%s", command);
    th_free(command);
}

/* Compiles SOURCE with COMPILER and FLAGS, then runs THEN on it, if any; opens it. */
static struct th_library *made(const char *name, const char *compiler, const char *flags,
                               const char *source, const char *then)
{
    const char *path = in_folder(name);
    char *shared = th_printf("-shared -Wall -Wextra -Werror %s", flags);
    char *before = th_strdup(getenv("CC") ? getenv("CC") : "cc");

    setenv("CC", compiler ? compiler : before, 1);
    compile(path, shared, source);
    setenv("CC", before, 1);
    if (then)
        run(then, path);
    th_free(before);
    th_free(shared);
    return open_library(path);
}

static bool has_remark(const struct th_library *library, const char *part)
{
    for (size_t i = 0; i < th_library_remarks(library)->count; i++)
        if (strstr(th_library_remarks(library)->items[i], part))
            return true;
    return false;
}

/* Those that are about more than the name that all modules of these tests have. */
static size_t remark_count(const struct th_library *library)
{
    return th_library_remarks(library)->count - has_remark(library, "the module in it is called m");
}

static const struct th_local *find_local(const struct th_code_map *map, const char *name,
                                         unsigned arity)
{
    for (size_t i = 0; i < map->local_count; i++)
        if (map->locals[i].arity == arity && strcmp(map->locals[i].name, name) == 0)
            return &map->locals[i];
    return NULL;
}

/* NOPs before the label, the label aligned, and the map lists the first of them. */
static void assert_patchable(const struct th_library *library, const void *code)
{
#if defined(__x86_64__)
    uintptr_t label = (uintptr_t)code;

    assert_int_equal(label % 8, 0);
    assert_true(th_library_executes(library, label - 8, 16));
    assert_true(th_code_map_lists(th_library_code_map(library), label - 8));
    assert_false(th_code_map_lists(th_library_code_map(library), label));
#else
    (void)library;
    (void)code;
#endif
}

static void assert_complete(const struct th_library *library)
{
    const struct th_code_map *map = th_library_code_map(library);

    assert_int_equal(map->local_count, 2);
    assert_non_null(find_local(map, "first", 0));
    assert_non_null(find_local(map, "second", 5));
    assert_patchable(library, map->locals[0].code);
    assert_patchable(library, map->locals[1].code);
    assert_false(map->threads_started);
    assert_int_equal(remark_count(library), 0);
}

/* --- Compilers, linkers, strippers ------------------------------------------------------------ */

static const char *const compilers[] = {"gcc", "clang"};

static bool is_there(const char *program)
{
    char *command = th_printf("command -v '%s' >/dev/null", program);
    bool there = system(command) == 0;

    th_free(command);
    return there;
}

static void what_compilers_and_linkers_leave_is_found(void **state)
{
    static const char *const flags[] = {
        "-O0",
        "-O1",
        "-O2",
        "-O3",
        "-Os",
        "-O2 -flto",
        "-O2 -ffunction-sections -fdata-sections -Wl,--gc-sections",
        "-O2 -Wl,-z,relro,-z,now -Wl,-z,separate-code",
        "-O2 -Wl,-z,noseparate-code",
        "-O2 -Wl,-Bsymbolic -g3",
    };
    char name[32];
    int compiled = 0;

    (void)state;
    for (size_t c = 0; c < 2; c++) {
        for (size_t i = 0; is_there(compilers[c]) && i < sizeof flags / sizeof flags[0]; i++) {
            struct th_library *library;
            if (c == 1 && strstr(flags[i], "lto"))
                continue; /* needs a linker of its own */
            snprintf(name, sizeof name, "by_%s_%zu.so", compilers[c], i);
            library = made(name, compilers[c], flags[i], PLUGIN, NULL);
            assert_complete(library);
            th_library_release(library);
            compiled++;
        }
    }
    assert_true(compiled > 0);
}

static void symbols_are_not_needed(void **state)
{
    static const char *const strippers[] = {
        "strip '%s'",
        "strip --strip-unneeded '%s'",
        "objcopy --strip-all '%s'",
        "objcopy --strip-debug --add-section .note.mine=/dev/null '%s'",
    };
    char name[32];

    (void)state;
    for (size_t i = 0; i < sizeof strippers / sizeof strippers[0]; i++) {
        struct th_library *library;
        snprintf(name, sizeof name, "stripped_%zu.so", i);
        library = made(name, NULL, "-O2 -g", PLUGIN, strippers[i]);
        assert_complete(library);
        th_library_release(library);
    }
}

static void a_section_that_was_removed_is_absent(void **state)
{
    struct th_library *library;

    (void)state;
    library = made("no_locals.so", NULL, "-O2", PLUGIN, "objcopy -R tracehost_functions '%s'");
    assert_int_equal(th_library_code_map(library)->local_count, 0);
    assert_int_equal(th_library_code_map(library)->patchable_count, 2);
    assert_int_equal(remark_count(library), 0);
    th_library_release(library);
    library =
        made("no_entries.so", NULL, "-O2", PLUGIN, "objcopy -R __patchable_function_entries '%s'");
    assert_int_equal(th_library_code_map(library)->local_count, 2);
    assert_int_equal(th_library_code_map(library)->patchable_count, 0);
    assert_null(th_library_code_map(library)->patchable);
    assert_false(th_code_map_lists(th_library_code_map(library), 0));
    th_library_release(library);
}

static void plain_libraries_have_an_empty_map(void **state)
{
    struct th_library *library = open_library(built("every_slot"));

    (void)state;
    assert_int_equal(th_library_code_map(library)->local_count, 0);
    th_library_release(library);
}

/* --- Sections that lie ------------------------------------------------------------------------ */

/* Entries as TH_FUNCTION makes them, and wrong ones among them. */
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

static void wrong_functions_are_left_out(void **state)
{
    struct th_library *library = made("wrong.so", NULL, "-O0", WRONG_LOCALS, NULL);
    const struct th_code_map *map = th_library_code_map(library);

    (void)state;
    assert_non_null(find_local(map, "good", 0));
    assert_non_null(find_local(map, "good", 1));
    assert_non_null(find_local(map, "shown", 1));
    assert_non_null(find_local(map, "\xce\xb1", 5));
    assert_int_equal(map->local_count, 4);
    assert_true(has_remark(library, "10 of its functions are ignored"));
    assert_true(has_remark(library, "local functions of the same name, of which one can be traced "
                                    "(give them different names): good/0"));
    assert_true(has_remark(library, "local function shown/0 cannot be traced: its table has"));
    assert_int_equal(remark_count(library), 3);
    th_library_release(library);
}

static void wrong_addresses_are_left_out(void **state)
{
    struct th_library *library =
        made("addresses.so", NULL, "-O2",
             PLUGIN "static char data[16];\n"
                    "__asm__(\".section __patchable_function_entries,\\\"aw\\\"\\n\"\n"
                    "        \".quad 0, shown, data, 1, -1, shown + 0x40000000, shown\\n.text\");\n"
                    "void *use(void) { return data; }\n",
             NULL);
    const struct th_code_map *map = th_library_code_map(library);
    const void *shown = th_entry_function(th_library_entry(library), "shown", 0)->fptr;

    (void)state;
    assert_int_equal(map->patchable_count, 3);
    assert_true(th_code_map_lists(map, (uintptr_t)shown));
    for (size_t i = 1; i < map->patchable_count; i++)
        assert_true(map->patchable[i - 1] < map->patchable[i]);
    assert_true(has_remark(library, "4 of its addresses are not of its code"));
    assert_int_equal(remark_count(library), 1);
    th_library_release(library);
}

/* The file with its section header NAME changed by CHANGE, or its ELF header where NAME is NULL. */
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
    section->sh_size--; /* the last one's end */
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
        assert_true(has_remark(library, "stripped of the names of its sections"));
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

static void sections_that_lie_are_ignored(void **state)
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
        assert_true(has_remark(library, "its section tracehost_functions is damaged"));
        th_library_release(library);
        snprintf(name, sizeof name, "lying_too_%zu.so", i);
        library = changed(name, TH_SECTION_PATCHABLE, changes[i]);
        assert_int_equal(th_library_code_map(library)->local_count, 2);
        assert_int_equal(th_library_code_map(library)->patchable_count, 0);
        assert_true(has_remark(library, "its section __patchable_function_entries is damaged"));
        th_library_release(library);
    }
}

/* Another section is called so, too: then both are read, and what it has is no function. */
static void several_sections_of_a_name_are_read(void **state)
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

/* --- Who is there already --------------------------------------------------------------------- */

#define STARTS                                                                     \
    "#include <pthread.h>\n#include <unistd.h>\n#include <sys/prctl.h>\n"          \
    "static int over[2];\nstatic pthread_t thread;\n"                              \
    "static void *wait_there(void *unused)\n"                                      \
    "{ char end; prctl(PR_SET_NAME, \"a thread\"); return read(over[0], &end, 1) " \
    "< 0 ? unused : 0; }\n"                                                        \
    "__attribute__((constructor)) static void start(void)\n"                       \
    "{ if (pipe(over) == 0) pthread_create(&thread, 0, wait_there, 0); }\n"        \
    "__attribute__((destructor)) static void end(void)\n"                          \
    "{ close(over[1]); pthread_join(thread, 0); close(over[0]); }\n"

static void threads_of_constructors_are_seen(void **state)
{
    struct th_library *library;

    (void)state;
    for (int i = 0; i < 3; i++) {
        library = made("starts.so", NULL, "-O2 -pthread", PLUGIN STARTS, NULL);
        assert_true(th_library_code_map(library)->threads_started);
        th_library_release(library);
        library = made("starts_not.so", NULL, "-O2", PLUGIN, NULL);
        assert_false(th_library_code_map(library)->threads_started);
        th_library_release(library);
    }
}

static _Atomic bool others_stop;
static _Atomic unsigned long others_made;

static void *rest(void *unused)
{
    usleep(300);
    return unused;
}

/* A program's thread that goes on making threads; some of them live when a library was opened. */
static void *make_others(void *unused)
{
    while (!others_stop) {
        pthread_t threads[4];
        for (int i = 0; i < 4; i++)
            assert_int_equal(pthread_create(&threads[i], NULL, rest, NULL), 0);
        for (int i = 0; i < 4; i++)
            pthread_join(threads[i], NULL);
        others_made += 4;
    }
    return unused;
}

static void threads_of_others_are_not(void **state)
{
    struct th_library *library;
    pthread_t others;
    unsigned long before;

    (void)state;
    library = made("among_others.so", NULL, "-O2", PLUGIN, NULL);
    th_library_release(library);
    assert_int_equal(pthread_create(&others, NULL, make_others, NULL), 0);
    for (int i = 0; i < 100; i++) {
        before = others_made;
        while (others_made == before)
            usleep(50);
        library = open_library(in_folder("among_others.so"));
        assert_false(th_library_code_map(library)->threads_started);
        th_library_release(library);
    }
    others_stop = true;
    pthread_join(others, NULL);
}

static void a_library_that_was_there_before_may_be_running(void **state)
{
    struct th_library *library = made("before.so", NULL, "-O2", PLUGIN, NULL);
    void *handle;

    (void)state;
    th_library_release(library);
    handle = dlopen(in_folder("before.so"), RTLD_NOW | RTLD_LOCAL);
    assert_non_null(handle);
    library = open_library(in_folder("before.so"));
    assert_true(th_library_code_map(library)->threads_started);
    th_library_release(library);
    dlclose(handle);
}

/* --- Who watches ------------------------------------------------------------------------------ */

static size_t watched;
static size_t watched_entries;

static void watch(const struct th_library *library)
{
    watched++;
    watched_entries = th_library_code_map(library)->patchable_count;
}

static void opened_libraries_are_told_once(void **state)
{
    struct th_library *library, *again;

    (void)state;
    th_library_watch_opened(watch);
    library = made("watched.so", NULL, "-O2", PLUGIN, NULL);
    assert_int_equal(watched, 1);
    assert_int_equal(watched_entries, th_library_code_map(library)->patchable_count);
    again = open_library(in_folder("watched.so"));
    assert_ptr_equal(again, library);
    assert_int_equal(watched, 1);
    th_library_release(again);
    th_library_release(library);
    th_library_watch_opened(NULL);
    library = open_library(in_folder("watched.so"));
    assert_int_equal(watched, 1);
    th_library_release(library);
}

static void executable_memory_is_its_own(void **state)
{
    struct th_library *library = made("executes.so", NULL, "-O2", PLUGIN, NULL);
    uintptr_t code = (uintptr_t)th_entry_function(th_library_entry(library), "shown", 0)->fptr;

    (void)state;
    assert_true(th_library_executes(library, code, 1));
    assert_true(th_library_executes(library, code, 16));
    assert_false(th_library_executes(library, code, 0));
    assert_false(th_library_executes(library, code, 1 << 20));
    assert_false(th_library_executes(library, code, SIZE_MAX));
    assert_false(th_library_executes(library, (uintptr_t)th_library_entry(library), 1));
    assert_false(th_library_executes(library, (uintptr_t)open_library, 1));
    assert_false(th_library_executes(library, 0, 1));
    assert_false(th_library_executes(library, UINTPTR_MAX, 1));
    th_library_release(library);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_compilers_and_linkers_leave_is_found),
        cmocka_unit_test(symbols_are_not_needed),
        cmocka_unit_test(a_section_that_was_removed_is_absent),
        cmocka_unit_test(plain_libraries_have_an_empty_map),
        cmocka_unit_test(wrong_functions_are_left_out),
        cmocka_unit_test(wrong_addresses_are_left_out),
        cmocka_unit_test(files_without_section_names_have_a_remark),
        cmocka_unit_test(sections_that_lie_are_ignored),
        cmocka_unit_test(several_sections_of_a_name_are_read),
        cmocka_unit_test(threads_of_constructors_are_seen),
        cmocka_unit_test(threads_of_others_are_not),
        cmocka_unit_test(a_library_that_was_there_before_may_be_running),
        cmocka_unit_test(opened_libraries_are_told_once),
        cmocka_unit_test(executable_memory_is_its_own),
    };

    return cmocka_run_group_tests(tests, make_folder, remove_folder);
}
