/* Helpers for the tests of private copies: a module with a counter, inspection of copies. */
#ifndef COPIED_H
#define COPIED_H

#include "made.h"

#include <dirent.h>

/* No test uses all functions. */
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wunused-function"

/* number/0 returns NUMBER, and one more in each call. */
#define NUMBERED                                                                                \
    "#include <erl_nif.h>\n"                                                                    \
    "static ERL_NIF_TERM number(ErlNifEnv *env, int argc, const ERL_NIF_TERM *argv)\n"          \
    "{ static int count = NUMBER; (void)argc, (void)argv; return enif_make_int(env, count++); " \
    "}\n"                                                                                       \
    "static ErlNifFunc functions[] = {{\"number\", 0, number, 0}};\n"                           \
    "ERL_NIF_INIT(m, functions, NULL, NULL, NULL, NULL)\n"

static void make_number(const char *name, int number)
{
    char *flags = th_printf("-shared -g -DNUMBER=%d", number);

    compile(in_folder("made.so"), flags, NUMBERED);
    assert_int_equal(rename(in_folder("made.so"), in_folder(name)), 0);
    th_free(flags);
}

static struct th_library *open_private(const char *path)
{
    struct th_library *library;

    if (th_library_open_copy(path, &library) != TH_OK)
        fail_msg("%s", error_text());
    return library;
}

static int number_of(struct th_library *library)
{
    th_env *env = th_env_create(TH_ENV_CALLBACK);
    const ErlNifFunc *function = th_library_entry_function(th_library_entry(library), "number", 0);
    int number;

    assert_non_null(function);
    assert_true(enif_get_int(env, function->fptr(env, 0, NULL), &number));
    th_env_free(env);
    return number;
}

static void refuse(const char *path, enum th_status status, const char *reason)
{
    struct th_library *library;

    assert_enum_equal(th_status, th_library_open_copy(path, &library), status);
    assert_error_has(reason);
    assert_error_has(path);
}

/* Returns the folder of the copy that LIBRARY was opened from; the caller frees the path. */
static char *folder_of(const struct th_library *library)
{
    const char *file = th_library_file(library);

    return th_printf("%.*s", (int)(strrchr(file, '/') - file), file);
}

static size_t files_in(const char *path)
{
    DIR *all = opendir(path);
    size_t count = 0;
    struct dirent *entry;

    assert_non_null(all);
    while ((entry = readdir(all)))
        count += entry->d_name[0] != '.';
    closedir(all);
    return count;
}

static bool is_mapped(const char *path)
{
    struct th_buffer maps = {0};
    bool found;

    read_file("/proc/self/maps", &maps);
    found = strstr(th_buffer_text(&maps), path);
    th_buffer_free(&maps);
    return found;
}

#pragma GCC diagnostic pop

#endif
