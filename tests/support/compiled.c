#include "compiled.h"

#include "assertions.h"

#include "host/base/base.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

bool compiled_by(const char *compiler)
{
    char *command = th_printf("command -v %s >/dev/null", compiler);
    bool there = system(command) == 0;

    th_free(command);
    return there;
}

static bool is_file(const char *source)
{
    const char *dot = strrchr(source, '.');

    return dot && (strcmp(dot, ".c") == 0 || strcmp(dot, ".cc") == 0);
}

/* Creates a file whose name is PATTERN and SUFFIX, with CONTENT. The caller frees the path. */
static char *make_file(const char *pattern, const char *suffix, const char *content)
{
    const char *folder = getenv("TMPDIR");
    char *path = th_printf("%s/%s%s", folder ? folder : "/tmp", pattern, suffix);
    int file = mkstemps(path, (int)strlen(suffix));

    assert_order(file, >=, 0);
    assert_int_equal(write(file, content, strlen(content)), strlen(content));
    close(file);
    return path;
}

char *compiled_file(const char *compiler, const char *flags, const char *source)
{
    char *text = is_file(source) ? NULL : make_file("tracehost-XXXXXX", ".c", source);
    char *path = make_file("tracehost-XXXXXX", ".so", "");
    char *command;

    if (!compiler)
        compiler = getenv("CC") ? getenv("CC") : "cc";
    command = th_printf("%s -shared -fPIC -Iplugin_api %s -o '%s' '%s'", compiler, flags, path,
                        text ? text : source);
    if (system(command) != 0)
        fail_msg("this failed: %s", command);
    if (text)
        unlink(text);
    th_free(text);
    th_free(command);
    return path;
}

struct th_library *compiled_open(const char *compiler, const char *flags, const char *source)
{
    char *path = compiled_file(compiler, flags, source);
    struct th_library *library;

    if (th_library_open(path, &library) != TH_OK)
        fail_msg("%s: %s", th_error_link(0), th_error_link(1) ? th_error_link(1) : "");
    unlink(path);
    th_free(path);
    return library;
}

void *compiled_function(const struct th_library *library, const char *name)
{
    const struct th_entry *entry = th_library_entry(library);
    const struct th_code_map *map = th_library_code_map(library);

    for (size_t i = 0; i < entry->function_count; i++)
        if (strcmp(entry->functions[i].name, name) == 0)
            return (void *)(uintptr_t)entry->functions[i].fptr;
    for (size_t i = 0; i < map->local_count; i++)
        if (strcmp(map->locals[i].name, name) == 0)
            return map->locals[i].code;
    return NULL;
}
