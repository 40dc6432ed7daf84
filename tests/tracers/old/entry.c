/*
 * A library as the erl_nif.h of NIF version 2.MINOR built it, for each change of the structures:
 * functions have no flags before 2.7; the entry ends with `unload` in 2.0, with vm_variant before
 * 2.7, with `options` before 2.12, with a size before 2.14. Includes no header that could be newer.
 */
#include <stddef.h>

typedef unsigned long term;

extern term enif_make_int(void *env, int i);
extern int enif_get_int(void *env, term t, int *i);
extern term enif_make_badarg(void *env);
extern void *enif_priv_data(void *env);

struct function {
    const char *name;
    unsigned arity;
    term (*code)(void *env, int argc, const term argv[]);
#if MINOR >= 7
    unsigned flags;
#endif
};

struct entry {
    int major, minor;
    const char *name;
    int count;
    struct function *functions;
    int (*load)(void *env, void **private_data, term info);
    int (*reload)(void *env, void **private_data, term info);
    int (*upgrade)(void *env, void **private_data, void **old_private_data, term info);
    void (*unload)(void *env, void *private_data);
#if MINOR >= 1
    const char *vm_variant;
#endif
#if MINOR >= 7
    unsigned options;
#endif
#if MINOR >= 12
    size_t size_of_resource_type_init;
#endif
};

#if MINOR < 7
_Static_assert(sizeof(struct function) == 24, "as it was");
#endif

static int loaded_with;

static int load(void *env, void **private_data, term info)
{
    *private_data = &loaded_with;
    return !enif_get_int(env, info, &loaded_with);
}

static term add(void *env, int argc, const term argv[])
{
    int a, b;

    if (argc != 2 || !enif_get_int(env, argv[0], &a) || !enif_get_int(env, argv[1], &b))
        return enif_make_badarg(env);
    return enif_make_int(env, a + b);
}

static term info(void *env, int argc, const term argv[])
{
    (void)argc, (void)argv;
    return enif_make_int(env, *(int *)enif_priv_data(env));
}

static term enabled(void *env, int argc, const term argv[])
{
    (void)argc, (void)argv;
    return enif_make_int(env, 3);
}

static term trace(void *env, int argc, const term argv[])
{
    (void)argc, (void)argv;
    return enif_make_int(env, 5);
}

struct entry *nif_init(void);
struct entry *nif_init(void)
{
    static struct function functions[] = {
        {.name = "add", .arity = 2, .code = add},
        {.name = "info", .arity = 0, .code = info},
        {.name = "enabled", .arity = 3, .code = enabled},
        {.name = "trace", .arity = 5, .code = trace},
    };
    static struct entry entry = {
        .major = 2,
        .minor = MINOR,
        .name = "old_entry",
        .count = sizeof functions / sizeof functions[0],
        .functions = functions,
        .load = load,
#if MINOR >= 1
        .vm_variant = "beam.vanilla",
#endif
#if MINOR >= 7
        .options = 1,
#endif
#if MINOR >= 12
        .size_of_resource_type_init = 24,
#endif
    };

#if MINOR >= 7
    functions[0].flags = 1; /* a dirty job */
#endif
    return &entry;
}
