/* Memory, shared objects, environment variables, and the system. */

#include "host/base/memory.h"
#include "host/check/check.h"
#include "host/library/resource/resource.h"
#include "host/runtime/runtime.h"
#include "plugin_api/nif_module.h"

#include <dlfcn.h>

/* --- Shared objects that libraries open themselves -------------------------------------------- */

typedef void error_handler(void *argument, const char *message);

/* Reads the loader's message first: the handler may use the loader itself. */
static void tell_loader_error(error_handler *handler, void *argument)
{
    const char *message = dlerror();

    if (handler)
        handler(argument, message ? message : "the loader does not say why");
}

/* The suffix is always added, as in a BEAM on a system with libraries named NAME.so. */
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
        tell_loader_error(err_handler, err_arg);
    th_free(path);
    return handle;
}

void *enif_dlsym(void *handle, const char *symbol, void (*err_handler)(void *, const char *),
                 void *err_arg)
{
    void *address;

    dlerror(); /* drops earlier errors */
    address = dlsym(handle, symbol);
    if (!address)
        tell_loader_error(err_handler, err_arg);
    return address;
}

/* --- Memory of libraries ---------------------------------------------------------------------- */

/* Plain malloc(): this memory is not counted as the host's, and an allocation may fail. */

void *enif_alloc(size_t size)
{
    void *memory = th_check_allows() ? malloc(size ? size : 1) : NULL;

    th_check_got(TH_CHECK_MEMORY, memory, size, NULL, "enif_alloc");
    return memory;
}

void *enif_realloc(void *ptr, size_t size)
{
    void *memory;

    if (!th_check_allows() || (ptr && !th_check_gave(TH_CHECK_MEMORY, ptr, "enif_realloc")))
        return NULL;
    memory = realloc(ptr, size ? size : 1);
    th_check_got(TH_CHECK_MEMORY, memory ? memory : ptr, size, NULL, "enif_realloc");
    return memory;
}

void enif_free(void *ptr)
{
    if (!th_check_on())
        free(ptr);
    else if (ptr && th_check_gave(TH_CHECK_MEMORY, ptr, "enif_free"))
        th_check_free(ptr);
}

/* --- System information ----------------------------------------------------------------------- */

int th_host_version(void)
{
    return TH_MODULE_VERSION;
}

/*
 * The versions are those of the OTP release with the same NIF version: libraries draw conclusions
 * from them.
 */
static inline void fill_system_info(ErlNifSysInfo *info)
{
    static char erts_version[] = "17.0";
    static char otp_release[] = "29";

    *info = (ErlNifSysInfo){
        .driver_major_version = 3,
        .driver_minor_version = 3,
        .erts_version = erts_version,
        .otp_release = otp_release,
        .thread_support = 1,
        .smp_support = 1,
        .async_threads = 1,
        .scheduler_threads = (int)th_runtime_threads().schedulers,
        .nif_major_version = ERL_NIF_MAJOR_VERSION,
        .nif_minor_version = ERL_NIF_MINOR_VERSION,
        .dirty_scheduler_support = 1,
    };
}

/* Called last, so that the usual way saves no register. */
static __attribute__((cold, noinline)) void fill_first_bytes(ErlNifSysInfo *sip, size_t si_size)
{
    ErlNifSysInfo info;

    fill_system_info(&info);
    memcpy(sip, &info, si_size);
}

void enif_system_info(ErlNifSysInfo *sip, size_t si_size)
{
    if (si_size < sizeof *sip)
        fill_first_bytes(sip, si_size);
    else
        fill_system_info(sip);
}

/* --- Environment variables -------------------------------------------------------------------- */

int enif_getenv(const char *key, char *value, size_t *value_size)
{
    const char *text = getenv(key);
    size_t length = text ? strlen(text) : 0;

    if (!text)
        return -1;
    if (length >= *value_size) {
        *value_size = length + 1;
        return 1;
    }
    memcpy(value, text, length + 1);
    *value_size = length;
    return 0;
}

/* --- erl_errno_id() --------------------------------------------------------------------------- */

/* The driver API's names of errno values, which NIF libraries use as well: the C names in lower
 * case. A BEAM has no name for a few recent ones and returns "unknown"; here they have names of the
 * same form. */

char *erl_errno_id(int error)
{
    return (char *)th_base_errno_name(error); /* the caller must not write to the text */
}

/* --- Calls between libraries, through a resource ---------------------------------------------- */

int enif_dynamic_resource_call(ErlNifEnv *env, ERL_NIF_TERM mod, ERL_NIF_TERM name,
                               ERL_NIF_TERM rsrc, void *call_data)
{
    return th_resource_dynamic_call(env, mod, name, rsrc, call_data) ? 0 : 1;
}
