/*
 * Checks calls with one argument, a number that decreases by one with each call of a process:
 * unload() prints how many calls there were, and how many were lost or duplicated.
 * // The state, an atom or a small integer, names a session, which has an account for each process;
 * calls before the first and after the last one do not count.
 */
#include <erl_nif.h>

#include <stdio.h>

enum { ROOM = 1 << 14 };

static struct account {
    ERL_NIF_TERM state, tracee; /* both immediates; 0: free */
    long last;
} accounts[ROOM];

/* Guards all of these. */
static ErlNifMutex *lock;
static unsigned long calls, lost, doubled, used;

static int load(ErlNifEnv *env, void **private_data, ERL_NIF_TERM info)
{
    (void)env, (void)private_data, (void)info;
    lock = enif_mutex_create("numbered");
    return lock ? 0 : -1;
}

static void unload(ErlNifEnv *env, void *private_data)
{
    (void)env, (void)private_data;
    printf("numbered: %s in %s, %lu lost, %lu doubled\n", calls > 1000 ? "many calls" : "few calls",
           used > 8 ? "several accounts" : "few accounts", lost, doubled);
    fprintf(stderr, "numbered: %lu calls in %lu accounts\n", calls, used);
    fflush(stdout);
    enif_mutex_destroy(lock);
}

static struct account *account_of(ERL_NIF_TERM state, ERL_NIF_TERM tracee)
{
    unsigned i = (unsigned)((state * 31 + tracee) * 0x9E3779B97F4A7C15u >> 50);

    while (accounts[i].tracee && (accounts[i].tracee != tracee || accounts[i].state != state))
        i = (i + 1) % ROOM;
    return &accounts[i];
}

static void count(ERL_NIF_TERM state, ERL_NIF_TERM tracee, long number)
{
    struct account *account = account_of(state, tracee);

    calls++;
    if (!account->tracee) {
        *account = (struct account){state, tracee, number};
        used++;
    } else {
        lost += number < account->last - 1 ? (unsigned long)(account->last - 1 - number) : 0;
        doubled += number >= account->last;
    }
    account->last = number;
}

static ERL_NIF_TERM trace(ErlNifEnv *env, int argc, const ERL_NIF_TERM argv[])
{
    const ERL_NIF_TERM *function;
    ERL_NIF_TERM head, tail;
    int arity;
    long number;

    (void)argc;
    if (enif_get_tuple(env, argv[3], &arity, &function) && arity == 3 &&
        enif_get_list_cell(env, function[2], &head, &tail) && enif_get_long(env, head, &number)) {
        enif_mutex_lock(lock);
        count(argv[1], argv[2], number);
        enif_mutex_unlock(lock);
    }
    return enif_make_atom(env, "ok");
}

static ERL_NIF_TERM enabled(ErlNifEnv *env, int argc, const ERL_NIF_TERM argv[])
{
    (void)argc, (void)argv;
    return enif_make_atom(env, "trace");
}

static ErlNifFunc functions[] = {{"enabled", 3, enabled, 0}, {"trace", 5, trace, 0}};
ERL_NIF_INIT(numbered, functions, load, NULL, NULL, unload)
