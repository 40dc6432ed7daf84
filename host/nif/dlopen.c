/* Shared objects that libraries open themselves. */
#include "nif.h"

#include "host/base/base.h"

#include <dlfcn.h>

typedef void error_handler(void *argument, const char *message);

/* The loader's message, once; the handler may use the loader itself. */
static void tell(error_handler *handler, void *argument)
{
    const char *message = dlerror();

    if (handler)
        handler(argument, message ? message : "the loader does not say why");
}

/* The suffix is added whatever the name ends in, as in a BEAM on a system that calls its libraries
 * NAME.so. */
void *enif_dlopen(const char *lib, void (*err_handler)(void *, const char *), void *err_arg)
{
    char *path;
    void *handle;

    if (!lib) {
        if (err_handler)
            err_handler(err_arg, "no library was named");
        return NULL;
    }
    path = th_printf("%s.so", lib);
    handle = dlopen(path, RTLD_NOW | RTLD_LOCAL);
    if (!handle)
        tell(err_handler, err_arg);
    th_free(path);
    return handle;
}

void *enif_dlsym(void *handle, const char *symbol, void (*err_handler)(void *, const char *),
                 void *err_arg)
{
    void *address;

    dlerror(); /* what went wrong before is of no interest */
    address = dlsym(handle, symbol);
    if (!address)
        tell(err_handler, err_arg);
    return address;
}
