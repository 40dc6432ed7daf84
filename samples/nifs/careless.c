/*
 * A NIF library with hidden errors, which samples/checking-a-plugin.md explains.
 */
#include <erl_nif.h>

#include <ctype.h>
#include <string.h>

static ErlNifResourceType *box;
static ERL_NIF_TERM last;

/* remember(Term) -> ok */
static ERL_NIF_TERM remember(ErlNifEnv *env, int argc, const ERL_NIF_TERM argv[])
{
    (void)argc;
    last = argv[0];
    return enif_make_atom(env, "ok");
}

/* recall() -> the Term remembered last */
static ERL_NIF_TERM recall(ErlNifEnv *env, int argc, const ERL_NIF_TERM argv[])
{
    (void)argc;
    (void)argv;
    return last ? last : enif_make_badarg(env);
}

/* upper(Binary) -> Binary with its letters in upper case */
static ERL_NIF_TERM upper(ErlNifEnv *env, int argc, const ERL_NIF_TERM argv[])
{
    ErlNifBinary bin;

    (void)argc;
    if (!enif_inspect_binary(env, argv[0], &bin))
        return enif_make_badarg(env);
    for (size_t i = 0; i < bin.size; i++)
        bin.data[i] = (unsigned char)toupper(bin.data[i]);
    return argv[0];
}

/* new(Binary) -> a box with a copy of the bytes */
static ERL_NIF_TERM new_box(ErlNifEnv *env, int argc, const ERL_NIF_TERM argv[])
{
    char *copy = enif_alloc(100);
    ErlNifBinary bin;
    void *object;

    (void)argc;
    if (!enif_inspect_binary(env, argv[0], &bin) || bin.size > 100)
        return enif_make_badarg(env);
    memcpy(copy, bin.data, bin.size);
    object = enif_alloc_resource(box, sizeof copy);
    memcpy(object, &copy, sizeof copy);
    return enif_make_resource(env, object);
}

static void destroy_box(ErlNifEnv *env, void *object)
{
    char *copy;

    (void)env;
    memcpy(&copy, object, sizeof copy);
    enif_free(copy);
}

static int load(ErlNifEnv *env, void **private_data, ERL_NIF_TERM info)
{
    (void)private_data;
    (void)info;
    box = enif_open_resource_type(env, NULL, "box", destroy_box, ERL_NIF_RT_CREATE, NULL);
    return box ? 0 : 1;
}

static ErlNifFunc functions[] = {
    {"remember", 1, remember, 0},
    {"recall", 0, recall, 0},
    {"upper", 1, upper, 0},
    {"new", 1, new_box, 0},
};

ERL_NIF_INIT(careless, functions, load, NULL, NULL, NULL)
