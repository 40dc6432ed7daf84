/*
 * Shows the first calls of each function, then disarms the function, so that its further calls cost
 * nothing. The state is the number of calls to show, 1 if it is no such number.
 *
 *     tracehost replay -t first_calls=2 -p _:_/_ STREAM
 *
 * An Erlang node cannot disarm; there the tracer counts all calls.
 */
#include <erl_tracer.h>
#include <nif_module.h>

struct seen {
    ERL_NIF_TERM module, function;
    unsigned arity;
    unsigned long calls; /* 0: the slot is free */
};

/* A hash table by function; the number of slots is a power of 2, and half of them stay free. */
static struct {
    ErlNifMutex *lock; /* callbacks may run in several threads at once */
    struct seen *places;
    size_t size, used;
} table;

static struct seen *place_of(struct seen *places, size_t size, const struct seen *key)
{
    size_t hash = (key->module * 31 + key->function) * 31 + key->arity;

    for (size_t i = hash ^ hash >> 9;; i++) {
        struct seen *place = &places[i & (size - 1)];
        if (place->calls == 0 || (place->module == key->module &&
                                  place->function == key->function && place->arity == key->arity))
            return place;
    }
}

static int grow(void)
{
    size_t size = table.size ? 2 * table.size : 64;
    struct seen *places = enif_alloc(size * sizeof *places);

    if (!places)
        return 0;
    for (size_t i = 0; i < size; i++)
        places[i].calls = 0;
    for (size_t i = 0; i < table.size; i++)
        if (table.places[i].calls)
            *place_of(places, size, &table.places[i]) = table.places[i];
    enif_free(table.places);
    table.places = places;
    table.size = size;
    return 1;
}

/* Returns the number of calls of the function, this one included; 0 if there is no memory. */
static unsigned long count(const struct seen *function)
{
    unsigned long calls = 0;
    struct seen *place;

    enif_mutex_lock(table.lock);
    if (2 * table.used < table.size || grow()) {
        place = place_of(table.places, table.size, function);
        table.used += place->calls == 0;
        calls = place->calls + 1;
        *place = *function;
        place->calls = calls;
    }
    enif_mutex_unlock(table.lock);
    return calls;
}

static int function_of(ErlNifEnv *env, ERL_NIF_TERM call, struct seen *function)
{
    const ERL_NIF_TERM *mfa;
    int size;

    if (!enif_get_tuple(env, call, &size, &mfa) || size != 3)
        return 0;
    function->module = mfa[0];
    function->function = mfa[1];
    return enif_get_list_length(env, mfa[2], &function->arity) ||
           enif_get_uint(env, mfa[2], &function->arity);
}

TH_TRACER_ENABLED(generic)
{
    return tag == TH_TRACER_ATOM(env, trace_status) ? TH_TRACER_ATOM(env, trace)
                                                    : TH_TRACER_ATOM(env, discard);
}

TH_TRACER_TRACE(generic)
{
}

TH_TRACER_ENABLED(call)
{
    return TH_TRACER_ATOM(env, trace);
}

/* Disarming takes effect after a moment, in which more calls may come. */
TH_TRACER_TRACE(call)
{
    struct seen function;
    unsigned long wanted, calls;

    if (tag != TH_TRACER_ATOM(env, call) || !function_of(env, term, &function))
        return;
    if (!enif_get_ulong(env, state, &wanted) || wanted == 0)
        wanted = 1;
    calls = count(&function);
    if (calls <= wanted)
        enif_fprintf(stdout, "%T calls %T:%T/%u\n", tracee, function.module, function.function,
                     function.arity);
    if (calls >= wanted && TH_HAS(th_disarm))
        th_disarm(env);
}

TH_TRACER_LOAD()
{
    table.lock = enif_mutex_create((char *)"first_calls");
    return table.lock ? 0 : 1;
}

TH_TRACER_UNLOAD()
{
    enif_mutex_destroy(table.lock);
    enif_free(table.places);
}

static ErlNifFunc callbacks[] = {
    {"enabled", 3, enabled, 0},
    {"trace", 5, trace, 0},
    {"enabled_call", 3, enabled_call, 0},
    {"trace_call", 5, trace_call, 0},
};

ERL_NIF_INIT(first_calls, callbacks, load, NULL, NULL, unload)
