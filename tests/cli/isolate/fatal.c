/*
 * A tracer that ships, and dies at some records: of the file $FATAL_TRACERS/NAME.so, with NAME from the command line of the
 * compiler, each trace callback first looks at the record's time. $FATAL_EVERY: the tracer dies at about one of so many
 * times; $FATAL_SEED: at which; $FATAL_HOW: the number of the signal that it raises, or 0 for _exit(). If $FATAL_AFTER is set, the tracer
 * has the event before it dies.
 */
#include <erl_nif.h>

#include <dlfcn.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "time_of_death.h"

/* The trace callbacks. */
#define SLOTS(X)           \
    X(trace)               \
    X(trace_call)          \
    X(trace_send)          \
    X(trace_receive)       \
    X(trace_procs)         \
    X(trace_ports)         \
    X(trace_running_procs) \
    X(trace_running_ports) \
    X(trace_garbage_collection)

static unsigned long setting(const char *name)
{
    const char *value = getenv(name);

    return value ? strtoul(value, NULL, 10) : 0;
}

static void die_perhaps(void)
{
    static unsigned long every, seed, how;

    if (!every) {
        every = setting("FATAL_EVERY");
        seed = setting("FATAL_SEED");
        how = setting("FATAL_HOW");
    }
    if (!is_time_of_death(every, seed))
        return;
    if (how)
        raise((int)how);
    _exit(0);
}

#define WRAPPER(SLOT)                                                                     \
    static ERL_NIF_TERM (*shipped_##SLOT)(ErlNifEnv *, int, const ERL_NIF_TERM[]);        \
    static ERL_NIF_TERM fatal_##SLOT(ErlNifEnv *env, int argc, const ERL_NIF_TERM argv[]) \
    {                                                                                     \
        ERL_NIF_TERM result;                                                              \
        if (!getenv("FATAL_AFTER"))                                                       \
            die_perhaps();                                                                \
        result = shipped_##SLOT(env, argc, argv);                                         \
        if (getenv("FATAL_AFTER"))                                                        \
            die_perhaps();                                                                \
        return result;                                                                    \
    }
SLOTS(WRAPPER)

#define WRAP(SLOT)                               \
    if (strcmp(functions[i].name, #SLOT) == 0) { \
        shipped_##SLOT = functions[i].fptr;      \
        functions[i].fptr = fatal_##SLOT;        \
    }

ErlNifEntry *nif_init(void)
{
    static ErlNifFunc functions[32];
    static ErlNifEntry entry;
    ErlNifEntry *(*init)(void);
    char path[4096];
    void *library;

    snprintf(path, sizeof path, "%s/" NAME ".so", getenv("FATAL_TRACERS"));
    library = dlopen(path, RTLD_NOW);
    init = library ? (ErlNifEntry * (*)(void)) dlsym(library, "nif_init") : NULL;
    if (!init) {
        fprintf(stderr, "%s\n", dlerror());
        abort();
    }
    entry = *init();
    memcpy(functions, entry.funcs, (size_t)entry.num_of_funcs * sizeof functions[0]);
    for (int i = 0; i < entry.num_of_funcs; i++) {
        SLOTS(WRAP)
    }
    entry.funcs = functions;
    return &entry;
}
