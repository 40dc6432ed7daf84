#include "loaded.h"

#include "assertions.h"

#include "host/base/base.h"

#include <dlfcn.h>
#include <stddef.h>
#include <stdlib.h>

struct th_library *loaded_open(const char *file)
{
    char *path = th_printf("%s/%s", getenv("BUILD_DIR"), file);
    struct th_library *library = NULL;

    if (th_library_open(path, &library) != TH_OK)
        fail_msg("%s", th_error_link(0));
    th_free(path);
    return library;
}

struct th_library *loaded_plugin(const char *file, th_term info)
{
    struct th_library *library = loaded_open(file);

    if (th_library_load(library, NULL, info) != TH_OK)
        fail_msg("%s", th_error_link(0));
    return library;
}

void *loaded_variable(const char *file, const char *name)
{
    char *path = th_printf("%s/%s", getenv("BUILD_DIR"), file);
    void *handle = dlopen(path, RTLD_NOW | RTLD_NOLOAD);
    void *variable;

    assert_non_null(handle);
    variable = dlsym(handle, name);
    assert_non_null(variable);
    dlclose(handle);
    th_free(path);
    return variable;
}

hooked_function *loaded_hook(hooked_function *hook)
{
    hooked_variable *variable = loaded_variable("tests/tracers/hooked.so", "hooked");
    hooked_function *old = *variable;

    if (old != hook)
        *variable = hook;
    return old;
}
