/*
 * A module of which tests make many versions and, with other names, many modules: the text
 * "version_0000" in the file may be replaced by another of the same length
 * (tests/support/versions.h). The load info is the version, an integer, or {Integer, [{Module,
 * Atom}]} with the step that a module refuses: `load`, `check`, `upgrade` or `back`.
 */
#include <erl_nif.h>
#include <nif_module.h>

#include <string.h>

/* The private data, passed from version to version. */
struct data {
    long upgrades; /* upgrades so far */
};

/* Volatile, so that comparisons with it read the text in the file. */
static const char *volatile name = "version_0000";
static long version;
static struct {
    int load, check, upgrade, back;
} refused;
static int was_loaded;
static ErlNifResourceType *type;

/* --- Loading ---------------------------------------------------------------------------------- */

static void refuse(const char *what)
{
    refused.load |= strcmp(what, "load") == 0;
    refused.check |= strcmp(what, "check") == 0;
    refused.upgrade |= strcmp(what, "upgrade") == 0;
    refused.back |= strcmp(what, "back") == 0;
}

static void read_info(ErlNifEnv *env, ERL_NIF_TERM info)
{
    const ERL_NIF_TERM *parts, *one;
    ERL_NIF_TERM list, head;
    char module[16], what[16];
    int arity;

    if (enif_get_long(env, info, &version) || !enif_get_tuple(env, info, &arity, &parts))
        return;
    enif_get_long(env, parts[0], &version);
    list = parts[1];
    while (enif_get_list_cell(env, list, &head, &list))
        if (enif_get_tuple(env, head, &arity, &one) &&
            enif_get_atom(env, one[0], module, sizeof module, ERL_NIF_LATIN1) &&
            strcmp(module, name) == 0 &&
            enif_get_atom(env, one[1], what, sizeof what, ERL_NIF_LATIN1))
            refuse(what);
}

/* A resource that outlives its code keeps the library; see make_resource/0. */
static void destroy(ErlNifEnv *env, void *resource)
{
    (void)env;
    *(long *)resource = 0;
}

static int open_type(ErlNifEnv *env)
{
    type = enif_open_resource_type(env, NULL, "resource", destroy,
                                   ERL_NIF_RT_CREATE | ERL_NIF_RT_TAKEOVER, NULL);
    return type ? 0 : -1;
}

static int load(ErlNifEnv *env, void **private_data, ERL_NIF_TERM info)
{
    struct data *data;

    read_info(env, info);
    if (refused.load || open_type(env) != 0)
        return 1;
    data = enif_alloc(sizeof *data);
    data->upgrades = 0;
    *private_data = data;
    was_loaded = 1;
    return 0;
}

static int upgrade(ErlNifEnv *env, void **private_data, void **old_private_data, ERL_NIF_TERM info)
{
    struct data *data = *old_private_data;
    int back = was_loaded;

    if (!back)
        read_info(env, info);
    if ((back ? refused.back : refused.upgrade) || open_type(env) != 0)
        return 2;
    data->upgrades += back ? -1 : 1;
    *private_data = data;
    *old_private_data = NULL;
    was_loaded = 1;
    return 0;
}

__attribute__((visibility("default"))) int th_upgrade_check(ErlNifEnv *env, void *old_private_data,
                                                            ERL_NIF_TERM info)
{
    (void)old_private_data;
    read_info(env, info);
    return refused.check ? 3 : 0;
}

static void unload(ErlNifEnv *env, void *private_data)
{
    (void)env;
    enif_free(private_data); /* NULL: the next version took it */
}

/* --- Functions -------------------------------------------------------------------------------- */

#define NIF(NAME)                                                               \
    TH_NIF(NAME)                                                                \
    (ErlNifEnv * env __attribute__((unused)), int argc __attribute__((unused)), \
     const ERL_NIF_TERM argv[] __attribute__((unused)))

TH_FUNCTION(local_number, 0)(ErlNifEnv *env)
{
    return enif_make_long(env, version);
}

NIF(number)
{
    return enif_make_long(env, version);
}

/* Like number/0, for callers that must not count as callers of number/0. */
NIF(number_aside)
{
    return enif_make_long(env, version);
}

/* Makes a local call. */
NIF(number_inside)
{
    return local_number(env);
}

NIF(upgrades)
{
    return enif_make_long(env, ((struct data *)enif_priv_data(env))->upgrades);
}

/* number_of(Module): calls number/0 of Module externally. */
NIF(number_of)
{
    return th_call(env, argv[0], enif_make_atom(env, "number"), 0, NULL);
}

/* ask_all(Modules, N): calls number/0 of each module, N times, and returns the sum. */
NIF(ask_all)
{
    ERL_NIF_TERM number = enif_make_atom(env, "number"), list, head, said;
    long times = 0, sum = 0, one;

    enif_get_long(env, argv[1], &times);
    for (; times > 0; times--)
        for (list = argv[0]; enif_get_list_cell(env, list, &head, &list); sum += one) {
            said = th_call(env, head, number, 0, NULL);
            if (!said || !enif_get_long(env, said, &one))
                return 0;
        }
    return enif_make_long(env, sum);
}

/* Counts the modules of a list that have number/0; others are skipped. */
NIF(ask_who_is_there)
{
    ERL_NIF_TERM number = enif_make_atom(env, "number"), list = argv[0], head, class, reason;
    long there = 0;

    while (enif_get_list_cell(env, list, &head, &list)) {
        if (th_call(env, head, number, 0, NULL)) {
            there++;
            continue;
        }
        th_catch(env, &class, &reason, NULL);
        if (!enif_is_identical(reason, enif_make_atom(env, "undef")))
            return enif_raise_exception(env, reason);
    }
    return enif_make_long(env, there);
}

/* Returns {told, Version, Thread}, where Thread identifies this thread. */
static ERL_NIF_TERM make_told(ErlNifEnv *env)
{
    return enif_make_tuple3(env, enif_make_atom(env, "told"), enif_make_long(env, version),
                            enif_make_uint64(env, (ErlNifUInt64)enif_thread_self()));
}

/* tell(To): sends make_told() to a pid or a registered name. */
NIF(tell)
{
    ErlNifPid to;

    if (enif_get_local_pid(env, argv[0], &to) || enif_whereis_pid(env, argv[0], &to))
        enif_send(env, &to, NULL, make_told(env));
    return argv[0];
}

/* Exits with make_told() as the reason. */
NIF(leave)
{
    return th_exit(env, make_told(env));
}

static ERL_NIF_TERM had_message(ErlNifEnv *env, int argc, const ERL_NIF_TERM argv[])
{
    (void)argc;
    return enif_make_tuple2(env, argv[0], enif_make_long(env, version));
}

/* load_others(Paths, Info): loads libraries, possibly with its own module, and continues in this
 * version's code. Returns {Result, Version}. */
NIF(load_others)
{
    return th_load_code(env, argv[0], argv[1], 0, had_message, 0, NULL);
}

/* Waits for a message in this version's code. Returns {Message, Version}. */
NIF(wait_here)
{
    return th_await(env, had_message, TH_INFINITY, 0, NULL);
}

/* read_here(File): waits for the content of File likewise. */
NIF(read_here)
{
    return th_file_read_file(env, argv[0], had_message, 0, NULL);
}

static ERL_NIF_TERM came_back(ErlNifEnv *env, int argc, const ERL_NIF_TERM argv[])
{
    (void)argc;
    return enif_make_tuple2(env, argv[0], enif_make_long(env, version));
}

/* wait_for(Module): calls Module:wait_here(). Returns {Result, Version}. */
NIF(wait_for)
{
    return th_call_then(env, argv[0], enif_make_atom(env, "wait_here"), 0, NULL, came_back, 0, 0,
                        NULL);
}

/* serve(Module): tail calls Module:serve(Module) for ever, always in the current version. */
NIF(serve)
{
    ERL_NIF_TERM module = argv[0];

    return th_tail_call(env, module, enif_make_atom(env, "serve"), 1, &module);
}

NIF(make_resource)
{
    long *resource = enif_alloc_resource(type, sizeof *resource);
    ERL_NIF_TERM term;

    *resource = version;
    term = enif_make_resource(env, resource);
    enif_release_resource(resource);
    return term;
}

NIF(read_resource)
{
    void *resource;

    return enif_get_resource(env, argv[0], type, &resource) ? enif_make_long(env, *(long *)resource)
                                                            : enif_make_badarg(env);
}

static ErlNifFunc functions[] = {
    {"number", 0, number, 0},
    {"number_aside", 0, number_aside, 0},
    {"number_inside", 0, number_inside, 0},
    {"upgrades", 0, upgrades, 0},
    {"number_of", 1, number_of, 0},
    {"ask_all", 2, ask_all, 0},
    {"ask_who_is_there", 1, ask_who_is_there, 0},
    {"tell", 1, tell, 0},
    {"leave", 0, leave, 0},
    {"wait_here", 0, wait_here, 0},
    {"read_here", 1, read_here, 0},
    {"wait_for", 1, wait_for, 0},
    {"load_others", 2, load_others, 0},
    {"serve", 1, serve, 0},
    {"make_resource", 0, make_resource, 0},
    {"read_resource", 1, read_resource, 0},
};

ERL_NIF_INIT(version_0000, functions, load, NULL, upgrade, unload)
