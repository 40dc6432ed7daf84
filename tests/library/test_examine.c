/* Tests the examination of libraries as data: findings in valid libraries, refusals. */
#include "files.h"

#include "host/library/library.h"
#include "plugin_api/nif_functions.h"
#include "tests/support/skipping.h"

#include <elf.h>

/* A plugin without functions. */
#define PLUGIN "#include <erl_nif.h>\nERL_NIF_INIT(m, NULL, NULL, NULL, NULL, NULL)\n"

static void examine(const char *path, struct th_examination *e)
{
    if (th_library_examine(path, e) != TH_OK)
        fail_msg("%s", error_text());
}

static void refuse(const char *path, const char *reason)
{
    struct th_examination e;

    assert_int_equal(th_library_examine(path, &e), TH_REFUSED);
    assert_error_has(reason);
    assert_error_has(path);
    th_library_examination_free(&e);
}

/* --- Findings --------------------------------------------------------------------------------- */

static const struct th_import *find_import(const struct th_examination *e, const char *name)
{
    for (size_t i = 0; i < e->import_count; i++)
        if (strcmp(e->imports[i].name, name) == 0)
            return &e->imports[i];
    return NULL;
}

static void a_library_with_an_entry_is_recognized(void **state)
{
    struct th_examination e;
    const struct th_import *strcat_import;

    (void)state;
    examine(built("lifecycle"), &e);
    assert_int_equal(e.form, TH_LIBRARY_ENTRY);
    assert_string_equal(e.init, "nif_init");
    assert_false(e.load); /* the function is static */
    assert_null(e.leaves);
    assert_true(th_library_examination_is_current(&e));
    assert_int_equal(find_import(&e, "enif_priv_data")->kind, TH_IMPORT_PROVIDED);
    strcat_import = find_import(&e, "strcat");
    if (!strcat_import)
        strcat_import = find_import(&e, "__strcat_chk"); /* compiled with -D_FORTIFY_SOURCE */
    assert_non_null(strcat_import);
    assert_int_equal(strcat_import->kind, TH_IMPORT_PROVIDED);
    th_library_examination_free(&e);
}

static void the_symbol_nif_init_may_begin_with_an_underscore(void **state)
{
    const char *path = in_folder("underscore.so");
    struct th_examination e;

    (void)state;
    compile(path, "-shared -Wl,--no-as-needed", "void *_nif_init(void) { return 0; }");
    examine(path, &e);
    assert_int_equal(e.form, TH_LIBRARY_ENTRY);
    assert_string_equal(e.init, "_nif_init");
    assert_true(th_library_names_contain(&e.needed, "libc.so.6"));
    th_library_examination_free(&e);
}

static void plain_callbacks_and_doubtful_names_are_recognized(void **state)
{
    const char *path = in_folder("plain.so");
    struct th_examination e;

    (void)state;
    compile(path, "-shared",
            "void enabled(void) {} void trace(void) {} void trace_call(void) {}\n"
            "int load(void) { return 0; } static void hidden(void) {} void *p = hidden;\n"
            "void enabled_spawn(void) {} void trace_recieve(void) {} void trace_line(void) {}\n"
            "int trace_send; __attribute__((visibility(\"hidden\"))) void trace_procs(void) {}");
    examine(path, &e);
    assert_int_equal(e.form, TH_LIBRARY_PLAIN);
    assert_null(e.init);
    for (enum th_tracer_slot i = 0; i < TH_SLOTS; i++)
        assert_int_equal(e.plain[i],
                         i == TH_SLOT_enabled || i == TH_SLOT_trace || i == TH_SLOT_trace_call);
    assert_true(e.load);
    assert_false(e.upgrade);
    assert_int_equal(e.doubtful.count, 2);
    assert_true(th_library_names_contain(&e.doubtful, "enabled_spawn"));
    assert_true(th_library_names_contain(&e.doubtful, "trace_recieve"));
    th_library_examination_free(&e);
}

static void callbacks_of_a_dependency_are_ignored(void **state)
{
    const char *below = in_folder("libbelow.so");
    const char *above = in_folder("above.so");
    char *flags = th_printf("-shared '%s'", below);

    (void)state;
    compile(below, "-shared", "void enabled(void) {} void trace(void) {}");
    compile(above, flags, "void enabled(void); void *p = enabled;");
    refuse(above, "neither a plugin nor a tracer");
    th_free(flags);
}

static bool has_remark(const struct th_examination *e, const char *part)
{
    struct th_names remarks = {0};
    bool has = false;

    th_library_examination_remarks(e, &remarks);
    for (size_t i = 0; i < remarks.count; i++)
        has |= strstr(remarks.items[i], part) != NULL;
    th_library_names_free(&remarks);
    return has;
}

static void unusual_link_options_and_symbols_get_remarks(void **state)
{
    const char *path = in_folder("remarkable.so");
    struct th_examination e;

    (void)state;
    compile(path, "-shared -Wl,-z,nodelete -Wl,-z,execstack",
            PLUGIN "__thread int early __attribute__((tls_model(\"initial-exec\"))) = 1;\n"
                   "__asm__(\".type single, @gnu_unique_object\\n.globl single\\n.data\\n\"\n"
                   "        \"single: .long 0\\n.size single, 4\\n.text\");\n"
                   "int hsearch(int x) { return x; }\n"
                   "int use(void) { return hsearch(early); }\n");
    examine(path, &e);
    assert_string_equal(e.unique, "single");
    assert_true(e.no_delete);
    assert_true(e.static_tls);
    assert_true(e.executable_stack);
    assert_int_equal(e.overridden.count, 1);
    assert_true(th_library_names_contain(&e.overridden, "hsearch"));
    assert_true(has_remark(&e, "single is a unique symbol"));
    assert_true(has_remark(&e, "-z nodelete"));
    assert_true(has_remark(&e, "static memory"));
    assert_true(has_remark(&e, "executable"));
    assert_true(has_remark(&e, "hsearch is replaced"));
    th_library_examination_free(&e);
}

static void symbols_bound_with_bsymbolic_are_not_overridden(void **state)
{
    const char *path = in_folder("symbolic.so");
    struct th_examination e;

    (void)state;
    compile(path, "-shared -Wl,-Bsymbolic",
            PLUGIN "int hsearch(int x) { return x; } void *p = hsearch;");
    examine(path, &e);
    assert_int_equal(e.overridden.count, 0);
    assert_false(has_remark(&e, ""));
    th_library_examination_free(&e);
}

static void an_examination_is_outdated_after_the_file_changes(void **state)
{
    const char *path = in_folder("changing.so");
    struct th_examination e;

    (void)state;
    copy_file(built("lifecycle"), path);
    examine(path, &e);
    assert_true(th_library_examination_is_current(&e));
    unlink(path);
    assert_false(th_library_examination_is_current(&e));
    copy_file(built("old_entry_4"), path);
    assert_false(th_library_examination_is_current(&e));
    th_library_examination_free(&e);
}

/* --- Imports --------------------------------------------------------------------------------- */

static void imports_of_unknown_api_functions_are_refused_by_name(void **state)
{
    const char *path = in_folder("imports.so");

    (void)state;
    compile(path, "-shared", PLUGIN "void enif_frobnicate(void); void *p = enif_frobnicate;");
    refuse(path, "the library needs enif_frobnicate, which is in no NIF API up to 2.18");
    compile(path, "-shared", PLUGIN "void erl_drv_mutex_lock(void); void *p = erl_drv_mutex_lock;");
    refuse(path, "the library needs erl_drv_mutex_lock, which is of the driver API");
    compile(path, "-shared",
            PLUGIN "void enif_a(void), enif_b(void); void *p[] = {enif_a, enif_b};");
    refuse(path, "the library needs enif_a and enif_b, which");
}

static void imports_of_nif_module_functions_are_classified(void **state)
{
    const char *path = in_folder("module.so");
    struct th_examination e;

    (void)state;
    compile(path, "-shared", PLUGIN "void th_of_the_future(void); void *p = th_of_the_future;");
    refuse(path,
           "the library needs th_of_the_future, which is not in nif_module.h of this version");
    compile(path, "-shared",
            PLUGIN
            "__attribute__((weak)) void th_of_the_future(void); void *p = th_of_the_future;");
    examine(path, &e);
    assert_int_equal(find_import(&e, "th_of_the_future")->kind, TH_IMPORT_MODULE);
    th_library_examination_free(&e);
    compile(path, "-shared", PLUGIN "#include <nif_module.h>\nvoid *p = th_disarm;");
    examine(path, &e);
    assert_int_equal(find_import(&e, "th_disarm")->kind, TH_IMPORT_PROVIDED);
    assert_true(find_import(&e, "th_disarm")->weak);
    th_library_examination_free(&e);
}

static void a_dependency_may_provide_functions_that_begin_with_th(void **state)
{
    const char *other = in_folder("libtheora_of_sorts.so"), *path = in_folder("video.so");
    struct th_examination e;
    char *flags = th_printf("-shared -Wl,--no-as-needed -L%s -ltheora_of_sorts", in_folder(""));

    (void)state;
    compile(other, "-shared -Wl,-soname,libtheora_of_sorts.so", "void th_decode(void) {}");
    compile(path, flags, PLUGIN "void th_decode(void); void *p = th_decode;");
    examine(path, &e); /* only the loader looks there */
    assert_true(th_library_names_contain(&e.needed, "libtheora_of_sorts.so"));
    th_library_examination_free(&e);
    th_free(flags);
}

static void weak_imports_may_be_missing(void **state)
{
    const char *path = in_folder("weak.so");
    struct th_examination e;

    (void)state;
    compile(path, "-shared",
            PLUGIN "__attribute__((weak)) void enif_frobnicate(void); void *p = enif_frobnicate;");
    examine(path, &e);
    assert_true(find_import(&e, "enif_frobnicate")->weak);
    assert_int_equal(find_import(&e, "enif_frobnicate")->kind, TH_IMPORT_UNKNOWN);
    th_library_examination_free(&e);
}

/* erl_nif.h defines macros with the names of the host functions. */
static void host_functions_that_are_also_macros_are_known(void **state)
{
    const char *path = in_folder("macros.so");
    struct th_examination e;

    (void)state;
    compile(path, "-shared",
            "void *nif_init(void) { return 0; }\n"
            "__attribute__((weak)) void enif_get_int64(void), enif_make_uint64(void);\n"
            "void *p[] = {enif_get_int64, enif_make_uint64};");
    examine(path, &e);
    assert_int_not_equal(find_import(&e, "enif_get_int64")->kind, TH_IMPORT_UNKNOWN);
    assert_int_not_equal(find_import(&e, "enif_make_uint64")->kind, TH_IMPORT_UNKNOWN);
    th_library_examination_free(&e);
}

/* This program exports some functions of the API; one that it lacks is known as well. */
static void an_import_that_the_host_lacks_is_refused_by_name(void **state)
{
#define NAME(group, type, name, parameters, since) #name,
    static const char *const names[] = {TH_NIF_FUNCTIONS(NAME) TH_NIF_COMPANIONS(NAME)};
#undef NAME
    const char *path = in_folder("unimplemented.so");
    const char *missing = NULL;
    char *source, *reason;

    (void)state;
    for (size_t i = 0; i < sizeof names / sizeof names[0] && !missing; i++)
        if (!th_library_program_symbol(names[i]))
            missing = names[i];
    if (!missing)
        skip_because("the host has every function of the NIF API");
    source = th_printf("void *nif_init(void) { return 0; } void %s(void); void *p = %s;", missing,
                       missing);
    reason = th_printf("the library needs %s, which is not provided by this version of the host",
                       missing);
    compile(path, "-shared", source);
    refuse(path, reason);
    th_free(source);
    th_free(reason);
}

/* --- Not a library ---------------------------------------------------------------------------- */

static void files_that_are_no_libraries_are_refused_with_the_reason(void **state)
{
    (void)state;
    write_file(in_folder("empty.so"), "", 0);
    refuse(in_folder("empty.so"), "the file is empty");
    write_file(in_folder("text.so"), "#include <erl_nif.h>\n", 21);
    refuse(in_folder("text.so"), "the file is text");
    write_file(in_folder("zeros.so"), (char[64]){0}, 64);
    refuse(in_folder("zeros.so"), "the file is not a shared object (not an ELF file)");
    write_file(in_folder("archive.so"), "!<arch>\n\0", 9);
    refuse(in_folder("archive.so"), "archive of object files");
    write_file(in_folder("beam.so"), "FOR1\0\0\0\0BEAM", 12);
    refuse(in_folder("beam.so"), "compiled Erlang");
    write_file(in_folder("noise.so"), "\1\2\3\4\5", 5);
    refuse(in_folder("noise.so"), "not a shared object");
    assert_int_equal(mkdir(in_folder("dir.so"), 0777), 0);
    refuse(in_folder("dir.so"), "the path is a folder");
    assert_int_equal(mkfifo(in_folder("pipe.so"), 0666), 0);
    refuse(in_folder("pipe.so"), "not a regular file");
    refuse(in_folder("nowhere.so"), "No such file");
    assert_int_equal(symlink("loop.so", in_folder("loop.so")), 0);
    refuse(in_folder("loop.so"), "cannot read the file");
}

static void unreadable_files_are_refused(void **state)
{
    const char *path = in_folder("locked.so");

    (void)state;
    write_file(path, "x", 1);
    assert_int_equal(chmod(path, 0), 0);
    if (access(path, R_OK) == 0)
        skip_because("root may read every file");
    refuse(path, "Permission denied");
}

static void wrongly_linked_files_are_refused_with_the_reason(void **state)
{
    (void)state;
    compile(in_folder("object.so"), "-c", PLUGIN);
    refuse(in_folder("object.so"), "the file is an object file; link it with -shared");
    compile(in_folder("program.so"), "-no-pie -fno-pie", "int main(void) { return 0; }");
    refuse(in_folder("program.so"), "the file is a program; link it with -shared");
    compile(in_folder("pie.so"), "-pie", "int main(void) { return 0; }");
    refuse(in_folder("pie.so"), "the file is a program; link it with -shared");
    compile(in_folder("noopen.so"), "-shared -Wl,-z,nodlopen", PLUGIN);
    refuse(in_folder("noopen.so"), "-z nodlopen");
    compile(in_folder("static.so"), "-shared -DSTATIC_ERLANG_NIF", PLUGIN);
    refuse(in_folder("static.so"), "the library exports m_nif_init() instead of nif_init()");
    compile(in_folder("other.so"), "-shared", "int x;");
    refuse(in_folder("other.so"), "neither a plugin nor a tracer");
}

/* --- Damage ---------------------------------------------------------------------------------- */

/* A name that is shown must not be able to control a terminal. */
static void symbols_with_control_characters_are_refused(void **state)
{
    struct th_buffer content = {0};
    unsigned char *name;

    (void)state;
    read_file(built("lifecycle"), &content);
    name = memmem(content.data, content.size, "enif_priv_data", 14);
    assert_non_null(name);
    name[2] = 27;
    write_file(in_folder("escape.so"), content.data, content.size);
    refuse(in_folder("escape.so"), "damaged: invalid symbols");
    th_buffer_free(&content);
}

/* Refuses the library with SIZE bytes at OFFSET of its ELF header replaced. */
static void refuse_header(size_t offset, uint64_t value, size_t size, const char *reason)
{
    struct th_buffer content = {0};

    read_file(built("lifecycle"), &content);
    memcpy(content.data + offset, &value, size);
    write_file(in_folder("header.so"), content.data, content.size);
    refuse(in_folder("header.so"), reason);
    th_buffer_free(&content);
}

#define REFUSE_HEADER(field, value, reason) \
    refuse_header(offsetof(Elf64_Ehdr, field), (value), sizeof((Elf64_Ehdr){0}.field), (reason))

static void invalid_elf_headers_are_refused_with_the_reason(void **state)
{
    (void)state;
    refuse_header(EI_CLASS, ELFCLASS32, 1, "32-bit library");
    refuse_header(EI_DATA, ELFDATA2MSB, 1, "byte order");
    refuse_header(EI_OSABI, ELFOSABI_FREEBSD, 1, "another system");
    refuse_header(EI_ABIVERSION, 9, 1, "another system");
    refuse_header(EI_VERSION, 7, 1, "ELF version");
    REFUSE_HEADER(e_machine, EM_S390, "the file was compiled for S/390");
    REFUSE_HEADER(e_machine, 12345, "ELF machine 12345");
    REFUSE_HEADER(e_type, ET_CORE, "core dump");
    REFUSE_HEADER(e_type, 77, "ELF type 77");
    REFUSE_HEADER(e_phnum, 0, "invalid program headers");
    REFUSE_HEADER(e_phentsize, 1, "invalid program headers");
    REFUSE_HEADER(e_phoff, (uint64_t)1 << 60, "damaged");
    REFUSE_HEADER(e_shnum, 0, "invalid section headers");
    REFUSE_HEADER(e_shoff, (uint64_t)1 << 60, "truncated");
}

static void a_file_truncated_anywhere_is_refused(void **state)
{
    const char *path = in_folder("cut.so");
    struct stat st;

    (void)state;
    copy_file(built("lifecycle"), path);
    assert_int_equal(stat(path, &st), 0);
    for (off_t size = st.st_size - 1; size > 0; size -= size < 4096 ? 61 : 997) {
        assert_int_equal(truncate(path, size), 0);
        refuse(path, size < 4 ? "" : "truncated");
    }
}

/* Overwrites each word of the file's start, which has all tables, in turn. Both results are right,
 * accepted or refused. */
static void an_overwritten_word_does_not_crash_the_examination(void **state)
{
    static const uint64_t poisons[] = {0, 1, UINT64_MAX, (uint64_t)1 << 63, 0x7FFFFFFF};
    const char *path = in_folder("spoilt.so");
    size_t refused = 0;
    size_t tried = 0;
    int file;

    (void)state;
    copy_file(built("lifecycle"), path);
    file = open(path, O_RDWR);
    assert_order(file, >=, 0);
    for (off_t at = 0; at < 4096; at += 8) {
        uint64_t kept;
        assert_int_equal(pread(file, &kept, 8, at), 8);
        for (size_t i = 0; i < sizeof poisons / sizeof poisons[0]; i++, tried++) {
            struct th_examination e;
            assert_int_equal(pwrite(file, &poisons[i], 8, at), 8);
            refused += th_library_examine(path, &e) != TH_OK;
            th_library_examination_free(&e);
        }
        assert_int_equal(pwrite(file, &kept, 8, at), 8);
    }
    close(file);
    assert_order(refused, >, tried / 10);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_library_with_an_entry_is_recognized),
        cmocka_unit_test(the_symbol_nif_init_may_begin_with_an_underscore),
        cmocka_unit_test(plain_callbacks_and_doubtful_names_are_recognized),
        cmocka_unit_test(callbacks_of_a_dependency_are_ignored),
        cmocka_unit_test(unusual_link_options_and_symbols_get_remarks),
        cmocka_unit_test(symbols_bound_with_bsymbolic_are_not_overridden),
        cmocka_unit_test(an_examination_is_outdated_after_the_file_changes),
        cmocka_unit_test(imports_of_unknown_api_functions_are_refused_by_name),
        cmocka_unit_test(imports_of_nif_module_functions_are_classified),
        cmocka_unit_test(a_dependency_may_provide_functions_that_begin_with_th),
        cmocka_unit_test(weak_imports_may_be_missing),
        cmocka_unit_test(host_functions_that_are_also_macros_are_known),
        cmocka_unit_test(an_import_that_the_host_lacks_is_refused_by_name),
        cmocka_unit_test(files_that_are_no_libraries_are_refused_with_the_reason),
        cmocka_unit_test(unreadable_files_are_refused),
        cmocka_unit_test(wrongly_linked_files_are_refused_with_the_reason),
        cmocka_unit_test(invalid_elf_headers_are_refused_with_the_reason),
        cmocka_unit_test(symbols_with_control_characters_are_refused),
        cmocka_unit_test(a_file_truncated_anywhere_is_refused),
        cmocka_unit_test(an_overwritten_word_does_not_crash_the_examination),
    };

    return cmocka_run_group_tests(tests, make_folder, remove_folder);
}
