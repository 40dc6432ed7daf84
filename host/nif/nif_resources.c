/* Resources, and file descriptors that the poll thread watches. */
#include "nif.h"

#include "host/check/check.h"
#include "host/library/resource/resource.h"
#include "host/runtime/poll/select.h"

/* --- Resources -------------------------------------------------------------------------------- */

/* The API's view of library/resource/resource.h. */

/* Types belong to the library being loaded; MODULE was never used. */
ErlNifResourceType *enif_open_resource_type(ErlNifEnv *env, const char *module_str,
                                            const char *name_str, void (*dtor)(ErlNifEnv *, void *),
                                            ErlNifResourceFlags flags, ErlNifResourceFlags *tried)
{
    ErlNifResourceTypeInit init = {.dtor = dtor, .members = 1};

    (void)module_str;
    return enif_init_resource_type(env, name_str, &init, flags, tried);
}

/* Passes 3 members: the callbacks that existed when this function was introduced. */
ErlNifResourceType *enif_open_resource_type_x(ErlNifEnv *env, const char *name_str,
                                              const ErlNifResourceTypeInit *init,
                                              ErlNifResourceFlags flags, ErlNifResourceFlags *tried)
{
    return env->library ? th_resource_type_open(env->library, name_str, init, 3, flags, tried)
                        : NULL;
}

ErlNifResourceType *enif_init_resource_type(ErlNifEnv *env, const char *name_str,
                                            const ErlNifResourceTypeInit *init,
                                            ErlNifResourceFlags flags, ErlNifResourceFlags *tried)
{
    return env->library
               ? th_resource_type_open(env->library, name_str, init, init->members, flags, tried)
               : NULL;
}

void *enif_alloc_resource(ErlNifResourceType *type, size_t size)
{
    void *obj = th_resource_alloc(type, size);

    if (obj)
        th_check_got(TH_CHECK_RESOURCE, obj, size, th_resource_type_name(obj),
                     "enif_alloc_resource");
    return obj;
}

void enif_keep_resource(void *obj)
{
    th_resource_keep(obj);
    th_check_got(TH_CHECK_RESOURCE, obj, th_resource_size(obj), th_resource_type_name(obj),
                 "enif_keep_resource");
}

void enif_release_resource(void *obj)
{
    if (th_check_gave(TH_CHECK_RESOURCE, obj, "enif_release_resource"))
        th_resource_release(obj);
}

size_t enif_sizeof_resource(void *obj)
{
    return th_resource_size(obj);
}

ERL_NIF_TERM enif_make_resource(ErlNifEnv *env, void *obj)
{
    return th_resource_make(env, obj);
}

ERL_NIF_TERM enif_make_resource_binary(ErlNifEnv *env, void *obj, const void *data, size_t size)
{
    return th_resource_make_binary(env, obj, data, size);
}

/* Called last, so that the usual way saves no register. Binaries of a resource come here, too. */
static __attribute__((noinline)) int get_resource_slowly(th_term term, ErlNifResourceType *type,
                                                         void **objp)
{
    return th_resource_get(term, type, objp) || th_check_misread(term, "enif_get_resource");
}

int enif_get_resource(ErlNifEnv *env, ERL_NIF_TERM term, ErlNifResourceType *type, void **objp)
{
    struct th_resource *resource = th_resource_of_term(term);

    (void)env;
    if (__builtin_expect(!resource || resource->type != type, 0))
        return get_resource_slowly(term, type, objp);
    *objp = resource->data;
    return 1;
}

/* --- File descriptors ------------------------------------------------------------------------- */

/* enif_select_read() and similar are macros. */

int enif_select(ErlNifEnv *env, ErlNifEvent e, enum ErlNifSelectFlags flags, void *obj,
                const ErlNifPid *pid, ERL_NIF_TERM ref)
{
    return enif_select_x(env, e, flags, obj, pid, ref, NULL);
}

int enif_select_x(ErlNifEnv *env, ErlNifEvent e, enum ErlNifSelectFlags flags, void *obj,
                  const ErlNifPid *pid, ERL_NIF_TERM msg, ErlNifEnv *msg_env)
{
    bool custom = flags & ERL_NIF_SELECT_CUSTOM_MSG;
    th_term sent = msg_env ? th_check_term(msg_env, msg, "enif_select_x") : msg;
    struct th_select_message to = {
        .pid = pid   ? pid->pid
               : env ? env->self
                     : TH_NONE,
        .ref = custom ? TH_NONE : sent,
        .message = custom ? sent : TH_NONE,
    };
    int result = th_poll_select(e, flags, obj, &to);

    if (result >= 0 && msg_env)
        th_nif_env_sent(msg_env, "enif_select_x");
    return result;
}
