#include "succession.h"

#include "assertions.h"

#include "host/base/base.h"

#include <dlfcn.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

static char folder[256];

void succession_begin(void)
{
    const char *where = getenv("TMPDIR");

    snprintf(folder, sizeof folder, "%s/tracehost-test-XXXXXX", where ? where : "/tmp");
    assert_non_null(mkdtemp(folder));
}

static char *path_of(const char *name)
{
    return th_printf("%s/%s", folder, name);
}

void succession_end(void)
{
    char *path = path_of("successor.so");

    unlink(path);
    assert_int_equal(rmdir(folder), 0);
    th_free(path);
}

static void copy(const char *to)
{
    char *from = th_printf("%s/tests/tracers/successor.so", getenv("BUILD_DIR"));
    FILE *source = fopen(from, "rb");
    FILE *target = fopen(to, "wb");
    char bytes[65536];
    size_t got;

    assert_non_null(source);
    assert_non_null(target);
    while ((got = fread(bytes, 1, sizeof bytes, source)) > 0)
        assert_int_equal(fwrite(bytes, 1, got, target), got);
    fclose(source);
    assert_int_equal(fclose(target), 0);
    th_free(from);
}

static void introduce(const struct th_library *library, struct successor *self)
{
    Dl_info where;
    void *handle;

    assert_int_not_equal(dladdr((void *)(uintptr_t)th_library_slots(library)->functions[0], &where),
                         0);
    handle = dlopen(where.dli_fname, RTLD_NOW | RTLD_NOLOAD);
    assert_non_null(handle);
    *(struct successor **)dlsym(handle, "successor") = self;
    dlclose(handle);
}

struct th_library *succession_open(struct successor *self)
{
    char *path = path_of("successor.so");
    char *fresh = path_of("fresh.so");
    struct th_library *library;

    copy(fresh);
    assert_int_equal(rename(fresh, path), 0);
    if (th_library_open_replaceable(path, false, &library) != TH_OK)
        fail_msg("%s", th_error_link(0));
    introduce(library, self);
    th_free(fresh);
    th_free(path);
    return library;
}
