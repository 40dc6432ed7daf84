/*
 * A library that replaces another one and counts the calls of its functions.
 *
 *     COUNTED_LIBRARY  path of the other library
 *     COUNTED_OUTPUT   the file to which unload writes a line for each function:
 *                      `COUNT MODULE:FUNCTION/ARITY`
 *
 * The table of functions is wrapped, so only external calls are counted. Calls in C, and functions
 * that enif_schedule_nif() schedules, are not.
 */
#include <erl_nif.h>

#include <dlfcn.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>

typedef ERL_NIF_TERM nif(ErlNifEnv *env, int argc, const ERL_NIF_TERM argv[]);

#define SLOTS(X) \
    X(0) X(1) X(2) X(3) X(4) X(5) X(6) X(7) X(8) X(9) X(10) X(11) X(12) X(13) X(14) X(15)
#define COUNT_SLOT(n) +1

enum { SLOT_COUNT = SLOTS(COUNT_SLOT) };

static ErlNifEntry entry;                /* the other library's entry, with FUNCTIONS */
static ErlNifFunc functions[SLOT_COUNT]; /* the other library's functions, with code from here */
static nif *code[SLOT_COUNT];            /* the other library's code */
static atomic_ullong counts[SLOT_COUNT]; /* of all threads; read when no calls run */
static void (*unload_other)(ErlNifEnv *env, void *data);

#define DEFINE_SLOT(n)                                                                \
    static ERL_NIF_TERM slot_##n(ErlNifEnv *env, int argc, const ERL_NIF_TERM argv[]) \
    {                                                                                 \
        atomic_fetch_add_explicit(&counts[n], 1, memory_order_relaxed);               \
        return code[n](env, argc, argv);                                              \
    }
SLOTS(DEFINE_SLOT)

#define SLOT_NAME(n) slot_##n,
static nif *const slots[SLOT_COUNT] = {SLOTS(SLOT_NAME)};

static void unload(ErlNifEnv *env, void *data)
{
    const char *path = getenv("COUNTED_OUTPUT");
    FILE *file = fopen(path ? path : "/dev/stderr", "w");

    if (unload_other)
        unload_other(env, data);
    for (int i = 0; i < entry.num_of_funcs && file; i++)
        fprintf(file, "%llu %s:%s/%u\n", (unsigned long long)counts[i], entry.name,
                functions[i].name, functions[i].arity);
    if (!file || fclose(file) != 0)
        perror("counted: cannot write the counts");
}

ERL_NAPI_EXPORT ErlNifEntry *nif_init(void)
{
    const char *path = getenv("COUNTED_LIBRARY");
    void *other = dlopen(path ? path : "", RTLD_NOW | RTLD_LOCAL);
    ErlNifEntry *(*init)(void) = other ? (ErlNifEntry * (*)(void)) dlsym(other, "nif_init") : NULL;

    if (!init || (entry = *init()).num_of_funcs > SLOT_COUNT) {
        fprintf(stderr, "counted: %s: %s\n", path ? path : "no COUNTED_LIBRARY",
                init ? "too many functions" : dlerror());
        return NULL;
    }
    for (int i = 0; i < entry.num_of_funcs; i++) {
        functions[i] = entry.funcs[i];
        code[i] = functions[i].fptr;
        functions[i].fptr = slots[i];
    }
    entry.funcs = functions;
    unload_other = entry.unload;
    entry.unload = unload;
    return &entry;
}
