/* Tests save() and merge() of tracers: found in both forms, with terms that pass as external ones. */
#include "files.h"

#include "host/library/library.h"
#include "host/self/self.h"

#define BEGIN                                                               \
    "#include <erl_tracer.h>\n"                                             \
    "TH_TRACER_ENABLED(generic) { return TH_TRACER_ATOM(env, discard); }\n" \
    "TH_TRACER_TRACE(generic) {}\n"                                         \
    "TH_TRACER_LOAD() { static unsigned char sum = 1; *priv_data = &sum; return 0; }\n"
#define SHARES                                                                     \
    "static unsigned char *data(ErlNifEnv *env) { return enif_priv_data(env); }\n" \
    "TH_TRACER_SAVE()\n"                                                           \
    "{ return *data(env) == 9 ? 0 : enif_make_uint(env, *data(env)); }\n"          \
    "TH_TRACER_MERGE()\n"                                                          \
    "{ unsigned more; if (!enif_get_uint(env, saved, &more)) return 5;\n"          \
    "  *data(env) += (unsigned char)more; return 0; }\n"                           \
    "unsigned char th_tracer_past = 30;\n"
#define NIF                                                           \
    "static ErlNifFunc functions[] = {{\"enabled\", 3, enabled, 0}, " \
    "{\"trace\", 5, trace, 0}};\n"                                    \
    "ERL_NIF_INIT(m, functions, load, NULL, NULL, NULL)\n"

static struct th_library *made_from(const char *name, const char *source)
{
    struct th_library *library;

    compile(in_folder(name), "-shared -Wall -Wextra -Werror", source);
    if (th_library_open_copy(in_folder(name), &library) != TH_OK)
        fail_msg("%s", error_text());
    assert_int_equal(th_library_load(library, NULL, th_small(0)), TH_OK);
    return library;
}

static unsigned char *sum_of(struct th_library *library)
{
    return th_library_private_data(library);
}

static void merge_twice(struct th_library *library)
{
    struct th_buffer saved = {0};

    assert_true(th_library_can_merge(library));
    assert_int_equal(*th_library_past(library), 30);
    *sum_of(library) = 3;
    assert_int_equal(th_library_save(library, &saved), TH_OK);
    assert_int_equal(th_library_merge(library, saved.data, saved.size), TH_OK);
    assert_int_equal(th_library_merge(library, saved.data, saved.size), TH_OK);
    assert_int_equal(*sum_of(library), 9);
    assert_null(th_self.library_frame);

    saved.size = 0;
    assert_int_equal(th_library_save(library, &saved), TH_FAILED);
    assert_error_has("save() returned no term");
    assert_int_equal(saved.size, 0);
    assert_int_equal(th_library_merge(library, "\x83\x6a", 2), TH_FAILED);
    assert_error_has("merge() returned 5");
    assert_int_equal(th_library_merge(library, "\x83\x68\x05", 3), TH_MALFORMED);
    th_error_clear();
    th_buffer_free(&saved);
    th_library_release(library);
}

static void tracers_of_both_forms_save_and_merge(void **state)
{
    (void)state;
    merge_twice(made_from("plain.so", BEGIN SHARES));
    merge_twice(made_from("nif.so", BEGIN SHARES NIF));
}

static void a_tracer_without_them_cannot_merge(void **state)
{
    struct th_library *library = made_from("neither.so", BEGIN);

    (void)state;
    assert_false(th_library_can_merge(library));
    assert_null(th_library_past(library));
    th_library_release(library);
}

static void gathers(const char *name, const char *source, bool expected)
{
    struct th_library *library = made_from(name, source);

    assert_int_equal(th_library_gathers(library), expected);
    th_library_release(library);
}

static void tracers_that_gather(void **state)
{
    static const char saves[] = BEGIN "TH_TRACER_SAVE() { return 0; }\n"
                                      "TH_TRACER_MERGE() { return 0; }\n";
    static const char shares[] = BEGIN "#include <nif_module.h>\n"
                                       "TH_TRACER_SAVE() { return th_share_file(\"-\") < 0; }\n"
                                       "TH_TRACER_MERGE() { return 0; }\n";

    (void)state;
    gathers("neither.so", BEGIN, false);
    gathers("declared.so", BEGIN "const char th_tracer_gathers = 1;\n", true);
    gathers("past.so", BEGIN SHARES, true);
    gathers("saves.so", saves, true);
    gathers("shares.so", shares, false);
}

static void a_constant_past_is_refused(void **state)
{
    struct th_library *library;

    (void)state;
    compile(in_folder("constant.so"), "-shared",
            BEGIN "asm(\".globl th_tracer_past\\n.type th_tracer_past, @object\\n"
                  ".section .rodata\\nth_tracer_past: .byte 5\\n"
                  ".size th_tracer_past, 1\\n.text\");\n");
    assert_int_equal(th_library_open_copy(in_folder("constant.so"), &library), TH_REFUSED);
    assert_error_has("th_tracer_past cannot be written: declare it without const");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(tracers_of_both_forms_save_and_merge),
        cmocka_unit_test(a_tracer_without_them_cannot_merge),
        cmocka_unit_test(tracers_that_gather),
        cmocka_unit_test(a_constant_past_is_refused),
    };

    return cmocka_run_group_tests(tests, make_folder, remove_folder);
}
