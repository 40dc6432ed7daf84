/*
 * A tracer with all callbacks, each of which returns the number of its slot as a small integer.
 * // By default it has an entry without the callback that $EVERY_SLOT_OMIT names, or with only that
 * of $EVERY_SLOT_ONLY and the generic ones. Compiled with -DPLAIN, it has symbols instead.
 */
#include <erl_tracer.h>

#ifdef PLAIN
#define LINKAGE TH_TRACER_EXPORT
#else
#define LINKAGE static
#endif

#define DEFINE(name, arity, group)                                                        \
    LINKAGE ERL_NIF_TERM name(ErlNifEnv *env, int argc, const ERL_NIF_TERM argv[]);       \
    LINKAGE ERL_NIF_TERM name(ErlNifEnv *env, int argc, const ERL_NIF_TERM argv[])        \
    {                                                                                     \
        (void)env, (void)argv;                                                            \
        return argc == arity ? (ERL_NIF_TERM)TH_SLOT_##name << 4 | 0xF : (ERL_NIF_TERM)0; \
    }
TH_TRACER_SLOTS(DEFINE)

#ifndef PLAIN
#define ROW(name, arity, group) {#name, arity, name, 0},
static const ErlNifFunc all[] = {TH_TRACER_SLOTS(ROW)};
static ErlNifFunc chosen[TH_SLOTS];

static int is_wanted(const char *name, size_t slot)
{
    const char *omitted = getenv("EVERY_SLOT_OMIT");
    const char *only = getenv("EVERY_SLOT_ONLY");

    if (omitted && strcmp(omitted, name) == 0)
        return 0;
    return !only || slot < 2 || strcmp(only, name) == 0;
}

TH_TRACER_EXPORT ErlNifEntry *nif_init(void);
TH_TRACER_EXPORT ErlNifEntry *nif_init(void)
{
    static ErlNifEntry entry = {
        .major = ERL_NIF_MAJOR_VERSION,
        .minor = ERL_NIF_MINOR_VERSION,
        .name = "every_slot",
        .funcs = chosen,
        .vm_variant = ERL_NIF_VM_VARIANT,
        .options = 1,
        .sizeof_ErlNifResourceTypeInit = sizeof(ErlNifResourceTypeInit),
        .min_erts = ERL_NIF_MIN_ERTS_VERSION,
    };

    entry.num_of_funcs = 0;
    for (size_t i = 0; i < TH_SLOTS; i++)
        if (is_wanted(all[i].name, i))
            chosen[entry.num_of_funcs++] = all[i];
    return &entry;
}
#endif
