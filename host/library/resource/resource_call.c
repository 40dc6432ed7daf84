/* Calling the callbacks of resources: `stop` and `dyncall` here, others where they become due. */
#include "resource_object.h"

void th_resource_begin(struct th_resource_running *running, struct th_resource *resource,
                       enum th_resource_call call)
{
    th_library_init_env(&running->env, running->callbacks.library);
    th_library_begin(&running->call, th_library_path(running->callbacks.library),
                     resource->type->titles[call]);
}

void th_resource_end(struct th_resource_running *running)
{
    th_library_end(&running->call);
    th_env_release(&running->env);
}

static void drop_library(const struct th_resource_callbacks *callbacks)
{
    if (callbacks->library)
        th_library_drop(callbacks->library);
}

bool th_resource_has_stop(void *object)
{
    struct th_resource_callbacks callbacks =
        th_resource_type_callbacks(th_resource_of(object)->type);
    bool has = callbacks.stop != NULL;

    drop_library(&callbacks);
    return has;
}

void th_resource_stop(void *object, ErlNifEvent event, bool direct)
{
    struct th_resource *resource = th_resource_of(object);
    struct th_resource_running running = {th_resource_type_callbacks(resource->type), {0}, {0}};

    if (running.callbacks.stop) {
        th_resource_begin(&running, resource, TH_RESOURCE_STOP);
        running.callbacks.stop(&running.env, object, event, direct);
        th_resource_end(&running);
    }
    drop_library(&running.callbacks);
}

static bool is_called(const struct th_resource_callbacks *callbacks, th_term module)
{
    return callbacks->dyncall && th_library_name(callbacks->library) == module;
}

/* The callback gets its caller's environment, which makes enif_self() work in it. */
static void dynamic_call(th_env *env, struct th_resource *resource,
                         const struct th_resource_callbacks *callbacks, void *data)
{
    struct th_library_frame call;

    th_library_begin(&call, th_library_path(callbacks->library),
                     resource->type->titles[TH_RESOURCE_DYNCALL]);
    callbacks->dyncall(env, resource->data, data);
    th_library_end(&call);
}

bool th_resource_dynamic_call(th_env *env, th_term module, th_term name, th_term term, void *data)
{
    struct th_resource *resource = th_resource_of_term(term);
    struct th_resource_callbacks callbacks;
    bool called;

    if (!resource || resource->type->name != name)
        return false;
    callbacks = th_resource_type_callbacks(resource->type);
    called = is_called(&callbacks, module);
    if (called)
        dynamic_call(env, resource, &callbacks, data);
    drop_library(&callbacks);
    return called;
}
