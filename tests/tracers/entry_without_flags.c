/*
 * A library as NIF version 2.4 (OTP R16) made them: functions of three words, an entry that ends
 * with vm_variant. Self-contained, so that no newer header gets in.
 */
#include <stddef.h>

typedef unsigned long term;
typedef term callback(void *env, int argc, const term argv[]);

struct function {
    const char *name;
    unsigned arity;
    callback *code;
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
    const char *vm_variant;
};

static term enabled(void *env, int argc, const term argv[])
{
    (void)env, (void)argc, (void)argv;
    return 3 << 4 | 0xF;
}

static term trace(void *env, int argc, const term argv[])
{
    (void)env, (void)argc, (void)argv;
    return 5 << 4 | 0xF;
}

struct entry *nif_init(void);
struct entry *nif_init(void)
{
    static struct function functions[] = {{"enabled", 3, enabled}, {"trace", 5, trace}};
    static struct entry entry = {
        .major = 2,
        .minor = 4,
        .name = "entry_without_flags",
        .count = 2,
        .functions = functions,
        .vm_variant = "beam.vanilla",
    };

    return &entry;
}
