/* Helpers for the tests of source lines: a library with known lines, and assertions. */
#ifndef LINES_H
#define LINES_H

#include "files.h"

#include "host/library/library_internal.h"
#include "host/library/library.h"

#include <dlfcn.h>

/* No test uses all functions. */
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wunused-function"

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
/* For compilers, a function starts at the line of its brace. */
enum { PLAIN = 17, IN_PLAIN = 18, INLINED = 22, IN_INLINED = 24 };

/* Compiles lines.c. The attribute noclone is unknown to clang, which would warn. */
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

/* Runs a shell command in the folder. */
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
    return (uintptr_t)th_library_entry_function(th_library_entry(library), name, 1)->fptr;
}

/* Returns the address in the function NAME at which here() was called. */
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
    assert_int_equal(line.offset, address - library->memory.base);
    assert_int_equal((line.file != NULL), (line.line > 0));
    return line;
}

/* Asserts the line at ADDRESS. NAME is the function; NULL: not compared. NUMBER is the line; 0: the
 * address must have none. */
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

#pragma GCC diagnostic pop

#endif
