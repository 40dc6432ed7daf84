/* See hooked.h. */
#include "hooked.h"

#include <erl_tracer.h>

#include <stdlib.h>
#include <stdio.h>
#include <string.h>

__attribute__((visibility("default"))) hooked_variable hooked;

#define X(name, arity, group)                                                              \
    static ERL_NIF_TERM hooked_##name(ErlNifEnv *env, int argc, const ERL_NIF_TERM argv[]) \
    {                                                                                      \
        return hooked ? hooked(#name, env, argc, argv) : enif_make_atom(env, "ok");        \
    }
TH_TRACER_SLOTS(X)
#undef X

static const ErlNifFunc all[] = {
#define X(name, arity, group) {#name, arity, hooked_##name, 0},
    TH_TRACER_SLOTS(X)
#undef X
};

static ErlNifFunc chosen[TH_SLOTS];

static ErlNifEntry entry = {
    .major = ERL_NIF_MAJOR_VERSION,
    .minor = ERL_NIF_MINOR_VERSION,
    .name = "hooked",
    .funcs = chosen,
    .vm_variant = ERL_NIF_VM_VARIANT,
    .options = 1,
    .sizeof_ErlNifResourceTypeInit = sizeof(ErlNifResourceTypeInit),
    .min_erts = ERL_NIF_MIN_ERTS_VERSION,
};

__attribute__((visibility("default"))) ErlNifEntry *nif_init(void)
{
    const char *wanted = getenv(HOOKED_SLOTS);
    char name[64];

    entry.num_of_funcs = 0;
    for (int slot = 0; slot < TH_SLOTS; slot++) {
        snprintf(name, sizeof name, " %s ", all[slot].name);
        if (!wanted || strstr(wanted, name))
            chosen[entry.num_of_funcs++] = all[slot];
    }
    return &entry;
}
