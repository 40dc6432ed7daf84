/* Selects, in its first event and for the pid that is its state, a regular file, which is ready at
 * once, and a pipe, which is never ready. */
#include <erl_tracer.h>

#include <fcntl.h>
#include <stdio.h>
#include <unistd.h>

struct selected {
    int file, pipe[2];
};

static ErlNifResourceType *type;
static struct selected *selected; /* NULL before the first event; the library has no reference */

static void stop(ErlNifEnv *env, void *object, ErlNifEvent event, int is_direct_call)
{
    (void)env, (void)object, (void)event;
    fprintf(stderr, "stop, %s\n", is_direct_call ? "direct" : "later");
}

static void destroy(ErlNifEnv *env, void *object)
{
    const struct selected *it = object;

    (void)env;
    close(it->file);
    close(it->pipe[0]);
    close(it->pipe[1]);
    fprintf(stderr, "gone\n");
}

static int load(ErlNifEnv *env, void **private_data, ERL_NIF_TERM info)
{
    ErlNifResourceTypeInit init = {.dtor = destroy, .stop = stop, .members = 2};

    (void)private_data, (void)info;
    type = enif_init_resource_type(env, "selected", &init, ERL_NIF_RT_CREATE, NULL);
    return type ? 0 : -1;
}

static void unload(ErlNifEnv *env, void *private_data)
{
    (void)env, (void)private_data;
    fprintf(stderr, "unload\n");
}

static ERL_NIF_TERM enabled(ErlNifEnv *env, int argc, const ERL_NIF_TERM argv[])
{
    (void)argc, (void)argv;
    return enif_make_atom(env, "trace");
}

static ERL_NIF_TERM trace(ErlNifEnv *env, int argc, const ERL_NIF_TERM argv[])
{
    ErlNifPid receiver;

    (void)argc;
    if (selected || !enif_get_local_pid(env, argv[1], &receiver))
        return enif_make_atom(env, "ok");
    selected = enif_alloc_resource(type, sizeof *selected);
    selected->file = open("/proc/self/exe", O_RDONLY);
    if (pipe(selected->pipe) != 0)
        return enif_make_badarg(env);
    enif_select_read(env, selected->file, selected, &receiver, enif_make_atom(env, "readable"),
                     NULL);
    enif_select_read(env, selected->pipe[0], selected, &receiver, enif_make_atom(env, "never"),
                     NULL);
    enif_release_resource(selected);
    return enif_make_atom(env, "ok");
}

static ErlNifFunc functions[] = {{"enabled", 3, enabled, 0}, {"trace", 5, trace, 0}};
ERL_NIF_INIT(selecting, functions, load, NULL, NULL, unload)
