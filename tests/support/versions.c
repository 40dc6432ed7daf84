#include "versions.h"

#include "host/base/base.h"
#include "host/library/library.h"
#include "host/term/term.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static const char text[] = "version_0000";

static void stop(const char *what)
{
    fprintf(stderr, "versions: %s\n", what);
    abort();
}

static char *read_file(const char *path, size_t *size)
{
    FILE *file = fopen(path, "rb");
    char *content;

    if (!file || fseek(file, 0, SEEK_END) != 0)
        stop(path);
    *size = (size_t)ftell(file);
    rewind(file);
    content = th_alloc(*size);
    if (fread(content, 1, *size, file) != *size)
        stop(path);
    fclose(file);
    return content;
}

/* Replaces each occurrence of the old name, with its final zero, in CONTENT. */
static void rename_module(char *content, size_t size, const char *name)
{
    char *end = content + size, *at = content;

    if (strlen(name) != strlen(text))
        stop(name);
    for (; (at = memmem(at, (size_t)(end - at), text, sizeof text)); at += sizeof text)
        memcpy(at, name, sizeof text - 1);
}

static char *write_file(const char *content, size_t size)
{
    char *path = th_printf("%s/version-XXXXXX", getenv("BUILD_DIR"));
    int descriptor = mkstemp(path);

    if (descriptor < 0 || write(descriptor, content, size) != (ssize_t)size)
        stop(path);
    close(descriptor);
    return path;
}

char *version_file(const char *name)
{
    char *original = th_printf("%s/tests/plugins/version.so", getenv("BUILD_DIR"));
    size_t size;
    char *content = read_file(original, &size);
    char *path;

    rename_module(content, size, name);
    path = write_file(content, size);
    th_free(content);
    th_free(original);
    return path;
}

struct th_instance *version_prepare(const char *name)
{
    char *path = version_file(name);
    struct th_library *library;

    if (th_library_open_copy(path, &library) != TH_OK)
        stop(th_error_link(0));
    remove(path);
    th_free(path);
    return th_code_prepare(library);
}

enum th_status version_load_info(const char *const names[], size_t count, const char *info)
{
    struct th_instance **prepared = th_alloc((count + 1) * sizeof(struct th_instance *));
    struct th_finish finish = {.prepared = prepared, .count = count};
    enum th_status status;
    th_env env;

    th_env_init(&env, TH_ENV_PLAIN);
    if (th_text_parse(&env, info, strlen(info), &finish.info) != TH_OK)
        stop(info);
    for (size_t i = 0; i < count; i++)
        prepared[i] = version_prepare(names[i]);
    status = th_code_finish(&finish);
    if (status == TH_OK && finish.rounds > 2)
        stop("a finish has waited more often than once, and for old code");
    for (size_t i = 0; status != TH_OK && i < count; i++)
        th_code_prepared_drop(prepared[i]);
    th_env_release(&env);
    th_free(prepared);
    return status;
}

enum th_status version_load(const char *const names[], size_t count, long number)
{
    char *info = th_printf("%ld", number);
    enum th_status status = version_load_info(names, count, info);

    th_free(info);
    return status;
}
