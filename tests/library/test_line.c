/* From addresses to lines: what compilers and linkers leave of them, and where. */
#include "files.h"

#include "host/library/instance.h"
#include "host/library/library.h"

#include <dlfcn.h>
#include <gelf.h>
#include <pthread.h>

static const char source[] =
    "#include <erl_nif.h>\n"
    "#include <stdint.h>\n"
    "uintptr_t place;\n"
    "static __attribute__((noinline, noclone)) void here(void)\n"
    "{\n"
    "    place = (uintptr_t)__builtin_return_address(0) - 1;\n"
    "}\n"
    "static inline __attribute__((always_inline)) void deeper(void)\n"
    "{\n"
    "    here();\n"
    "}\n"
    "static inline __attribute__((always_inline)) void deep(void)\n"
    "{\n"
    "    { deeper(); }\n"
    "}\n"
    "static __attribute__((noinline)) ERL_NIF_TERM plain(ErlNifEnv *env, int c, const ERL_NIF_TERM "
    "*v)\n"
    "{\n"
    "    here();\n" /* 18 */
    "    return (ERL_NIF_TERM)c + (env ? v[0] : 0) + place;\n"
    "}\n"
    "static __attribute__((noinline)) ERL_NIF_TERM inlined(ErlNifEnv *env, int c, const "
    "ERL_NIF_TERM *v)\n"
    "{\n"
    "    if (c > 0)\n"
    "        deep();\n" /* 24 */
    "    return (ERL_NIF_TERM)c + (env ? v[0] : 0) + place;\n"
    "}\n"
    "static ErlNifFunc functions[] = {{\"plain\", 1, plain, 0}, {\"inlined\", 1, inlined, 0}};\n"
    "ERL_NIF_INIT(lines, functions, NULL, NULL, NULL, NULL)\n";
/* A function begins with its brace, as the compilers see it. */
enum { PLAIN = 17, IN_PLAIN = 18, INLINED = 22, IN_INLINED = 24 };

/* clang knows no noclone, and says so. */
static void make(const char *compiler, const char *flags, const char *name)
{
    char *command =
        th_printf("cd '%s' && %s -I'%s/plugin_api' -Wno-unknown-attributes -Wno-attributes -fPIC "
                  "-shared -O2 %s -o %s.so lines.c",
                  folder, compiler, getenv("SOURCE_DIR") ? getenv("SOURCE_DIR") : ".", flags, name);

    write_file(in_folder("lines.c"), source, sizeof source - 1);
    if (system(command) != 0)
        fail_msg("this failed: %s", command);
    th_free(command);
}

/* A shell command in the folder. */
static void do_there(const char *what)
{
    char *command = th_printf("cd '%s' && %s", folder, what);

    if (system(command) != 0)
        fail_msg("this failed: %s", command);
    th_free(command);
}

static struct th_library *open_named(const char *name)
{
    char *path = th_printf("%s/%s.so", folder, name);
    struct th_library *library;

    if (th_library_open(path, &library) != TH_OK)
        fail_msg("%s", error_text());
    th_free(path);
    return library;
}

static uintptr_t function(const struct th_library *library, const char *name)
{
    return (uintptr_t)th_entry_function(th_library_entry(library), name, 1)->fptr;
}

/* Where the function NAME calls here(). */
static uintptr_t call_in(const struct th_library *library, const char *name)
{
    th_term argument = th_small(1);

    ((ERL_NIF_TERM(*)(ErlNifEnv *, int, const ERL_NIF_TERM[]))function(library, name))(NULL, 1,
                                                                                       &argument);
    return *(uintptr_t *)dlsym(library->handle, "place");
}

static struct th_line look(struct th_library *library, uintptr_t address)
{
    struct th_line line;

    assert_true(th_library_line(library, address, &line));
    assert_true(line.offset == address - library->memory.base);
    assert_true((line.file != NULL) == (line.line > 0));
    return line;
}

/* FUNCTION, "f", NULL: any; LINE 0: it has none. */
static void expect(struct th_library *library, uintptr_t address, const char *name, unsigned number)
{
    struct th_line line = look(library, address);

    if (name)
        assert_string_equal(line.function, name);
    assert_int_equal(line.line, number);
    if (number)
        assert_string_equal(line.file, "lines.c");
}

static void expect_all(struct th_library *library, bool names, bool lines)
{
    expect(library, function(library, "plain"), names ? "plain" : NULL, lines ? PLAIN : 0);
    expect(library, function(library, "inlined"), names ? "inlined" : NULL, lines ? INLINED : 0);
    expect(library, call_in(library, "plain"), names ? "plain" : NULL, lines ? IN_PLAIN : 0);
    expect(library, call_in(library, "inlined"), names ? "inlined" : NULL, lines ? IN_INLINED : 0);
}

static bool there(const char *program)
{
    char *command = th_printf("command -v %s >/dev/null", program);
    bool found = system(command) == 0;

    th_free(command);
    return found;
}

/* --- What compilers write -------------------------------------------------------------------- */

static void compiled_with(const char *compiler, const char *flags, bool lines)
{
    struct th_library *library;

    make(compiler, flags, "compiled");
    library = open_named("compiled");
    expect_all(library, true, lines);
    expect_all(library, true, lines); /* as it is known now */
    th_library_release(library);
    unlink(in_folder("compiled.so"));
}

static const char *const with_lines[] = {
    "-g",
    "-g1",
    "-gdwarf-4",
    "-gdwarf-5",
    "-gdwarf-4 -gz",
    "-g -O0",
    "-g3 -ffunction-sections -Wl,--gc-sections",
    "-g -fpatchable-function-entry=16,8",
    "-gsplit-dwarf -g1",
};

static void gcc_tells_lines(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof with_lines / sizeof with_lines[0]; i++)
        compiled_with("gcc", with_lines[i], true);
    compiled_with("gcc", "-g0", false);
}

static void clang_tells_lines(void **state)
{
    (void)state;
    if (!there("clang"))
        skip();
    for (size_t i = 0; i < sizeof with_lines / sizeof with_lines[0]; i++)
        compiled_with("clang", with_lines[i], true);
    compiled_with("clang", "-gline-tables-only", true);
    compiled_with("clang", "-g0", false);
}

/* Below the folder that it ran in, which is / here; and elsewhere. */
static void a_path_is_as_the_compiler_was_given_it(void **state)
{
    static const struct {
        const char *flags;
        unsigned from;
    } cases[] = {{"", 1}, {"-fdebug-prefix-map=/=/elsewhere/ -fdebug-prefix-map=/tmp=/tmp", 0}};
    const char *top = getenv("SOURCE_DIR") ? getenv("SOURCE_DIR") : ".";

    (void)state;
    for (size_t i = 0; i < 2; i++) {
        struct th_library *library;
        char *command = th_printf("cd '%s' && top=$PWD && cd / && gcc -g -shared -fPIC -O2 -w %s "
                                  "-I\"$top/plugin_api\" -o '%s' '%s'",
                                  top, cases[i].flags, in_folder("far.so"), in_folder("lines.c"));
        assert_int_equal(system(command), 0);
        library = open_named("far");
        assert_string_equal(look(library, function(library, "plain")).file,
                            in_folder("lines.c") + cases[i].from);
        th_library_release(library);
        th_free(command);
    }
}

/* --- What is stripped ------------------------------------------------------------------------ */

static void without_symbols_there_is_an_offset(void **state)
{
    struct th_library *library;
    struct th_line line;

    (void)state;
    make("gcc", "-g -s", "stripped");
    library = open_named("stripped");
    line = look(library, function(library, "plain"));
    assert_null(line.function);
    assert_null(line.file);
    assert_true(line.offset > 0);
    expect(library, (uintptr_t)dlsym(library->handle, "nif_init"), "nif_init", 0);
    th_library_release(library);
}

static void a_debug_link_is_followed(void **state)
{
    static const char *const places[] = {"d.debug", ".debug/d.debug"};

    (void)state;
    for (size_t i = 0; i < 2; i++) {
        struct th_library *library;
        make("gcc", "-g -Wl,--build-id=none", "d");
        do_there("mkdir -p .debug && objcopy --only-keep-debug d.so d.debug && "
                 "strip --strip-all d.so && objcopy --add-gnu-debuglink=d.debug d.so");
        if (i > 0)
            do_there("mv d.debug .debug/");
        library = open_named("d");
        expect_all(library, true, true);
        th_library_release(library);
        unlink(in_folder(places[i]));
        unlink(in_folder("d.so"));
    }
}

/* Another file of that name: its sum is not what the link says. */
static void a_debug_link_to_another_file_is_not_believed(void **state)
{
    struct th_library *library;

    (void)state;
    make("gcc", "-g -Wl,--build-id=none", "e");
    do_there("objcopy --only-keep-debug e.so e.debug && strip --strip-all e.so && "
             "objcopy --add-gnu-debuglink=e.debug e.so && echo more >>e.debug");
    library = open_named("e");
    expect_all(library, false, false);
    th_library_release(library);
}

static void a_build_id_is_looked_for(void **state)
{
    struct th_library *library;
    bool right;

    for (right = false;; right = true) {
        (void)state;
        make("gcc", "-g -Wl,--build-id=0xabcd0123", "b");
        do_there("mkdir -p debug/.build-id/ab && "
                 "objcopy --only-keep-debug b.so debug/.build-id/ab/cd0123.debug && "
                 "strip --strip-all b.so");
        if (!right) {
            make("gcc", "-g -Wl,--build-id=0xabcd0124", "other");
            do_there("cp other.so debug/.build-id/ab/cd0123.debug");
        }
        th_library_set_debug_folder(in_folder("debug"));
        library = open_named("b");
        expect_all(library, right, right);
        th_library_release(library);
        th_library_set_debug_folder("/usr/lib/debug");
        unlink(in_folder("b.so"));
        if (right)
            return;
    }
}

static void a_pipe_is_no_debug_file(void **state)
{
    struct th_library *library;

    (void)state;
    make("gcc", "-g -Wl,--build-id=none", "p");
    do_there("objcopy --only-keep-debug p.so p.debug && strip --strip-all p.so && "
             "objcopy --add-gnu-debuglink=p.debug p.so && rm p.debug && mkfifo p.debug");
    library = open_named("p");
    expect_all(library, false, false);
    th_library_release(library);
}

/* --- Which library --------------------------------------------------------------------------- */

/* Lines of the new file would be wrong for the old code. */
static void a_file_that_was_replaced_is_not_read(void **state)
{
    struct th_library *library;

    (void)state;
    make("gcc", "-g", "old");
    make("gcc", "-g", "new");
    library = open_named("old");
    do_there("mv new.so old.so");
    expect_all(library, false, false);
    assert_null(look(library, function(library, "plain")).function);
    th_library_release(library);
}

static void an_address_tells_its_library(void **state)
{
    struct th_library *library, *found;
    struct th_line line;

    (void)state;
    make("gcc", "-g", "at");
    library = open_named("at");
    found = th_library_at(function(library, "plain"));
    assert_ptr_equal(found, library);
    th_library_release(found);
    assert_null(th_library_at((uintptr_t)look)); /* of the program */
    assert_null(th_library_at((uintptr_t)dlsym(library->handle, "place")));
    assert_false(th_library_line(library, (uintptr_t)look, &line));
    assert_null(line.file);
    th_library_release(library);
    assert_null(th_library_at(0));
}

/* --- Damaged files --------------------------------------------------------------------------- */

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

/* A number now and then that is as large as can be, or that says that there is more to come. */
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

/* How many lines it tells. */
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
    assert_true(count > 3);
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
    assert_true(some > 0 && none > 0); /* it was damage, and not all of it was in the way */
    th_buffer_free(&good);
}

static void damaged_debug_information_does_no_harm(void **state)
{
    (void)state;
    damaged_as_made("gcc", "-gdwarf-4");
    damaged_as_made("gcc", "-gdwarf-5 -g3");
    if (there("clang"))
        damaged_as_made("clang", "-gdwarf-5");
}

/* --- Many threads ---------------------------------------------------------------------------- */

enum { THREADS = 4, ROUNDS = 200 };

static void *ask(void *context)
{
    struct th_library *library = context;
    uintptr_t start = function(library, "plain");
    uintptr_t wrong = 0;
    struct th_line line;

    for (uintptr_t i = 0; i < ROUNDS; i++) {
        wrong += !th_library_line(library, start, &line) || line.line != PLAIN;
        th_library_line(library, start + i % 16, &line);
    }
    return (void *)wrong;
}

static void threads_may_ask_at_once(void **state)
{
    struct th_library *library;
    pthread_t threads[THREADS];
    void *wrong;

    (void)state;
    make("gcc", "-g", "threads");
    library = open_named("threads");
    for (size_t i = 0; i < THREADS; i++)
        assert_int_equal(pthread_create(&threads[i], NULL, ask, library), 0);
    for (size_t i = 0; i < THREADS; i++) {
        pthread_join(threads[i], &wrong);
        assert_null(wrong);
    }
    th_library_release(library);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(gcc_tells_lines),
        cmocka_unit_test(clang_tells_lines),
        cmocka_unit_test(a_path_is_as_the_compiler_was_given_it),
        cmocka_unit_test(without_symbols_there_is_an_offset),
        cmocka_unit_test(a_debug_link_is_followed),
        cmocka_unit_test(a_debug_link_to_another_file_is_not_believed),
        cmocka_unit_test(a_build_id_is_looked_for),
        cmocka_unit_test(a_pipe_is_no_debug_file),
        cmocka_unit_test(a_file_that_was_replaced_is_not_read),
        cmocka_unit_test(an_address_tells_its_library),
        cmocka_unit_test(damaged_debug_information_does_no_harm),
        cmocka_unit_test(threads_may_ask_at_once),
    };

    return cmocka_run_group_tests(tests, make_folder, remove_folder);
}
