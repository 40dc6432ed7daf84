/* Resources: the API's view of library/resource/resource.h. */
#include "nif.h"

#include "host/library/library.h"
#include "host/runtime/runtime.h"

/* Types belong to the library that is being loaded; MODULE was never used for anything. */
ErlNifResourceType *enif_open_resource_type(ErlNifEnv *env, const char *module_str,
                                            const char *name_str, void (*dtor)(ErlNifEnv *, void *),
                                            ErlNifResourceFlags flags, ErlNifResourceFlags *tried)
{
    ErlNifResourceTypeInit init = {.dtor = dtor, .members = 1};

    (void)module_str;
    return enif_init_resource_type(env, name_str, &init, flags, tried);
}

/* The three callbacks that there were when this function came. */
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

int enif_get_resource(ErlNifEnv *env, ERL_NIF_TERM term, ErlNifResourceType *type, void **objp)
{
    (void)env;
    return th_resource_get(term, type, objp) || th_check_misread(term, "enif_get_resource");
}
