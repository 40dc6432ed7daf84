/* Helpers for the tests of the code map: libraries that are compiled and opened. */
#ifndef MADE_H
#define MADE_H

#include "files.h"

#include "host/library/library.h"

/* No test uses all functions. */
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wunused-function"

/* A library with two local functions and a table. */
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

/* Compiles SOURCE with COMPILER and FLAGS, runs the command THEN on the library unless it is NULL,
 * and opens the library. */
static struct th_library *made(const char *name, const char *compiler, const char *flags,
                               const char *source, const char *then)
{
    const char *path = in_folder(name);
    char *shared = th_printf("-shared -I. -Wall -Wextra -Werror %s", flags);
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

/* Counts all remarks but that about the module name, which all modules of these tests share. */
static size_t remark_count(const struct th_library *library)
{
    return th_library_remarks(library)->count - has_remark(library, "its module is called m");
}

static const struct th_local *find_local(const struct th_code_map *map, const char *name,
                                         unsigned arity)
{
    for (size_t i = 0; i < map->local_count; i++)
        if (map->locals[i].arity == arity && strcmp(map->locals[i].name, name) == 0)
            return &map->locals[i];
    return NULL;
}

#pragma GCC diagnostic pop

#endif
