/* The NIF library `placeholder`: a function of a list, and counters that live outside of Erlang's
 * heaps. No C++ exception may leave a function that the host calls: the host is written in C. */
#include <erl_nif.h>

#include <atomic>
#include <new>

namespace
{

/* Functions run in several threads at once, so data that change are atomic or have a lock. */
struct Counter {
    std::atomic<long> value{0};
};

ErlNifResourceType *counter_type; /* written by load and upgrade only */

/* sum(Integers) -> Integer. A term is valid until the function returns; to keep one, copy it into
 * an environment of enif_alloc_env(). */
ERL_NIF_TERM sum(ErlNifEnv *env, int, const ERL_NIF_TERM argv[])
{
    ERL_NIF_TERM head, tail = argv[0];
    long number, total = 0;

    while (enif_get_list_cell(env, tail, &head, &tail))
        if (!enif_get_long(env, head, &number) || __builtin_add_overflow(total, number, &total))
            return enif_make_badarg(env); /* an exception: return its result at once */
    if (!enif_is_empty_list(env, tail))
        return enif_make_badarg(env);
    return enif_make_long(env, total);
}

/* new() -> Counter */
ERL_NIF_TERM new_counter(ErlNifEnv *env, int, const ERL_NIF_TERM[])
{
    void *memory = enif_alloc_resource(counter_type, sizeof(Counter));

    if (!memory)
        return enif_raise_exception(env, enif_make_atom(env, "enomem"));
    ERL_NIF_TERM term = enif_make_resource(env, new (memory) Counter);
    enif_release_resource(memory); /* the term holds the only reference from now on */
    return term;
}

/* add(Counter, Integer) -> the new value */
ERL_NIF_TERM add(ErlNifEnv *env, int, const ERL_NIF_TERM argv[])
{
    void *object;
    long number;

    if (!enif_get_resource(env, argv[0], counter_type, &object) ||
        !enif_get_long(env, argv[1], &number))
        return enif_make_badarg(env);
    long before = static_cast<Counter *>(object)->value.fetch_add(number);
    return enif_make_long(env, static_cast<long>(static_cast<unsigned long>(before) +
                                                 static_cast<unsigned long>(number)));
}

/* Runs when the last reference to a counter is gone. The host frees the memory itself. */
void counter_ends(ErlNifEnv *, void *object)
{
    static_cast<Counter *>(object)->~Counter();
}

/* Runs before the first call. The last argument is the second one of erlang:load_nif(), --load-info
 * in tracehost. */
int load(ErlNifEnv *env, void **, ERL_NIF_TERM)
{
    int flags = ERL_NIF_RT_CREATE | ERL_NIF_RT_TAKEOVER;

    counter_type = enif_open_resource_type(env, nullptr, "counter", counter_ends,
                                           static_cast<ErlNifResourceFlags>(flags), nullptr);
    return counter_type == nullptr; /* any value but 0: the library is refused */
}

/* Runs instead of load when this version replaces an older one, whose counters it takes over. If
 * Counter changes, add() must know both. */
int upgrade(ErlNifEnv *env, void **private_data, void **, ERL_NIF_TERM info)
{
    return load(env, private_data, info);
}

/* A function that may take longer than a millisecond, as one of a long list, runs in a thread for
 * such functions: on a scheduler it would stop all processes of that scheduler. */
ErlNifFunc functions[] = {
    {"sum", 1, sum, ERL_NIF_DIRTY_JOB_CPU_BOUND}, {"new", 0, new_counter, 0}, {"add", 2, add, 0}};

} // namespace

ERL_NIF_INIT(placeholder, functions, load, nullptr, upgrade, nullptr)
