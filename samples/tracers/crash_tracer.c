/*
 * Crashes, to test the host. The state selects the way, the place and the time:
 *
 *     -t crash_tracer=segv                          in the first trace callback
 *     -t crash_tracer,how=hang,in=enabled_call      in the first callback of that name
 *     -t crash_tracer,how=abort,after=3             in the fourth trace callback
 *     -t crash_tracer,how=fpe,in=unload             when the tracer is unloaded
 *
 * and in the environment CRASH_TRACER_LOAD=segv: when it is loaded, before there is a state. The
 * table below has the ways; `in` is any of the 18 callbacks, or unload. `after` counts calls of
 * that callback that return.
 */
#include <erl_tracer.h>

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

/* --- ways to crash, not sanitized: the host shall report them --- */

#define UNSANITIZED __attribute__((no_sanitize("undefined")))

UNSANITIZED static void segv(void)
{
    int *volatile nowhere = (int *)16;

    *nowhere = 0;
}

/* Reads a page of a file, beyond its end. */
static void bus(void)
{
    FILE *empty = tmpfile();
    volatile char *page;

    page = empty ? mmap(NULL, 4096, PROT_READ, MAP_SHARED, fileno(empty), 0) : MAP_FAILED;
    if (page != MAP_FAILED)
        (void)*page;
}

UNSANITIZED static void fpe(void)
{
    volatile int zero = 0;

    zero = getpid() / zero;
    raise(SIGFPE); /* there are machines on which the quotient is 0, for example arm64 */
}

static void ill(void)
{
#ifdef __aarch64__
    __asm__ volatile("udf #0"); /* __builtin_trap() is a breakpoint there */
#else
    __builtin_trap();
#endif
}

/* Grows the stack until there is none left; the work after the call prevents a tail call. */
__attribute__((noinline)) static int deeper(volatile char *above)
{
    volatile char frame[4096];

    frame[0] = *above;
    return *above ? 0 : deeper(frame) + frame[0];
}

static void stack(void)
{
    volatile char bottom = 0;

    deeper(&bottom);
}

/* Damages malloc()'s data before a block, so that free() aborts. */
static void heap(void)
{
    volatile char *volatile block = malloc(100);

    for (int i = -8; i < 0; i++)
        block[i] = 0x7f;
    free((char *)block);
}

static void hang(void)
{
    for (;;)
        pause();
}

static void spin(void)
{
    for (volatile int forever = 1; forever;)
        ;
}

/* Spins with all signals blocked. */
static void deaf(void)
{
    sigset_t all;

    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, NULL);
    spin();
}

static void leave(void)
{
    exit(0);
}

static const struct way {
    const char *name;
    void (*go)(void);
} ways[] = {
    {"segv", segv},   {"bus", bus},     {"fpe", fpe},   {"ill", ill},
    {"abort", abort}, {"stack", stack}, {"heap", heap}, {"hang", hang},
    {"spin", spin},   {"exit", leave},  {"deaf", deaf},
};

static void crash(const char *how)
{
    for (size_t i = 0; i < sizeof ways / sizeof ways[0]; i++)
        if (strcmp(ways[i].name, how) == 0)
            ways[i].go();
    fprintf(stderr, "crash_tracer: no way to crash is called '%s', or it did not work\n", how);
}

/* --- place and time of the crash --- */

static unsigned long came[TH_SLOTS]; /* calls of each callback; by one thread */
static char unload_how[16];          /* way of a state with in=unload */

/* Gets an atom or a binary as text. */
static int get_text(ErlNifEnv *env, ERL_NIF_TERM term, char *text, unsigned size)
{
    ErlNifBinary binary;

    if (enif_get_atom(env, term, text, size, ERL_NIF_LATIN1))
        return 1;
    if (!enif_inspect_binary(env, term, &binary) || binary.size >= size)
        return 0;
    memcpy(text, binary.data, binary.size);
    text[binary.size] = 0;
    return 1;
}

static int setting(ErlNifEnv *env, ERL_NIF_TERM state, const char *key, char *text, unsigned size)
{
    ERL_NIF_TERM value;

    return enif_get_map_value(env, state, enif_make_atom(env, key), &value) &&
           get_text(env, value, text, size);
}

static void arrive(ErlNifEnv *env, ERL_NIF_TERM state, enum th_tracer_slot slot)
{
    static const char *const names[] = {
#define ROW(name, arity, group) #name,
        TH_TRACER_SLOTS(ROW)
#undef ROW
    };
    char how[16], in[32] = "";
    unsigned long after = 0;
    ERL_NIF_TERM value;

    if (!get_text(env, state, how, sizeof how) && !setting(env, state, "how", how, sizeof how))
        return;
    setting(env, state, "in", in, sizeof in);
    if (strcmp(in, "unload") == 0)
        strcpy(unload_how, how);
    if (*in ? strcmp(in, names[slot]) != 0 : slot % 2 == 0)
        return;
    if (enif_get_map_value(env, state, enif_make_atom(env, "after"), &value))
        enif_get_ulong(env, value, &after);
    if (came[slot]++ == after)
        crash(how);
}

#define CALLBACKS(group, self)                        \
    TH_TRACER_ENABLED(group)                          \
    {                                                 \
        arrive(env, state, 2 * TH_GROUP_##group);     \
        return TH_TRACER_ATOM(env, trace);            \
    }                                                 \
    TH_TRACER_TRACE(group)                            \
    {                                                 \
        arrive(env, state, 2 * TH_GROUP_##group + 1); \
    }
TH_TRACER_GROUPS(CALLBACKS)

TH_TRACER_LOAD()
{
    const char *how = getenv("CRASH_TRACER_LOAD");

    if (how)
        crash(how);
    return 0;
}

TH_TRACER_UNLOAD()
{
    if (*unload_how)
        crash(unload_how);
}
