/* Helpers for the tests of library/ that create files. */
#ifndef FILES_H
#define FILES_H

#include "host/base/base.h"
#include "tests/support/assertions.h"

#include <errno.h>
#include <fcntl.h>
#include <ftw.h>
#include <limits.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <stddef.h>

/* No test uses all functions. */
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wunused-function"

static char folder[PATH_MAX]; /* of this test's process */

static int make_folder(void **state)
{
    const char *where = getenv("TMPDIR");

    (void)state;
    snprintf(folder, sizeof folder, "%s/tracehost-test-XXXXXX", where ? where : "/tmp");
    return mkdtemp(folder) ? 0 : -1;
}

static int remove_one(const char *path, const struct stat *st, int type, struct FTW *place)
{
    (void)st, (void)type, (void)place;
    return remove(path);
}

static int remove_folder(void **state)
{
    (void)state;
    return nftw(folder, remove_one, 8, FTW_DEPTH | FTW_PHYS);
}

/* Returns the path of NAME in the folder, valid for the next three calls. */
static const char *in_folder(const char *name)
{
    static char paths[4][PATH_MAX + 256];
    static unsigned next;
    char *path = paths[next++ % 4];

    snprintf(path, sizeof paths[0], "%s/%s", folder, name);
    return path;
}

/* Returns the path of a shared object from tests/tracers. */
static const char *built(const char *name)
{
    static char path[PATH_MAX];
    const char *build = getenv("BUILD_DIR");

    snprintf(path, sizeof path, "%s/tests/tracers/%s.so", build ? build : "build/release", name);
    return path;
}

static void write_file(const char *path, const void *bytes, size_t size)
{
    FILE *file = fopen(path, "wb");

    assert_non_null(file);
    assert_int_equal(fwrite(bytes, 1, size, file), size);
    assert_int_equal(fclose(file), 0);
}

static void read_file(const char *path, struct th_buffer *content)
{
    FILE *file = fopen(path, "rb");
    size_t got;

    assert_non_null(file);
    do {
        got = fread(th_buffer_reserve(content, 65536), 1, 65536, file);
        content->size += got;
    } while (got > 0);
    fclose(file);
}

static void copy_file(const char *from, const char *to)
{
    struct th_buffer content = {0};

    read_file(from, &content);
    write_file(to, content.data, content.size);
    th_buffer_free(&content);
}

/* Compiles the C text SOURCE to PATH with $CC and FLAGS. */
static void compile(const char *path, const char *flags, const char *source)
{
    const char *compiler = getenv("CC");
    char *c = th_printf("%s.c", path);
    char *command = th_printf("%s -fPIC -Iplugin_api -o '%s' '%s' %s", compiler ? compiler : "cc",
                              path, c, flags);

    write_file(c, source, strlen(source));
    assert_int_equal(system(command), 0);
    unlink(c);
    th_free(command);
    th_free(c);
}

/* Returns the whole error chain, one link a line. */
static const char *error_text(void)
{
    static char text[TH_ERROR_LINKS * TH_ERROR_TEXT];

    text[0] = 0;
    for (size_t i = 0; th_error_link(i); i++) {
        strcat(text, th_error_link(i));
        strcat(text, "\n");
    }
    return text;
}

#pragma GCC diagnostic pop

#define assert_error_has(part)                                             \
    do {                                                                   \
        if (!strstr(error_text(), (part)))                                 \
            fail_msg("no \"%s\" in the error:\n%s", (part), error_text()); \
    } while (0)

#endif
