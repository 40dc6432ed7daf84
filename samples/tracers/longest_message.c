/*
 * A tracer that keeps terms: at the end it prints the largest message and its sender.
 *
 * The terms of a callback end when it returns. To keep a term, copy it into an environment of your
 * own (enif_alloc_env(), enif_make_copy()), and free this environment when the copy is no longer
 * used. A pid of the tracee's node could be kept without a copy, but copying is right for every
 * term. `tracehost replay --check` finds terms kept without a copy, and environments that were not
 * freed.
 */
#include <erl_tracer.h>

#include <stdio.h>

static struct {
    ErlNifMutex *lock; /* protects the following: callbacks come from several threads */
    ErlNifEnv *env;    /* environment of the two terms; NULL: no message yet */
    ERL_NIF_TERM sender, message;
    size_t size;
} longest;

/* Returns the size of a message in the external term format, in bytes. */
static size_t size_of(ErlNifEnv *env, ERL_NIF_TERM message)
{
    ErlNifBinary bytes;
    size_t size;

    if (!enif_term_to_binary(env, message, &bytes))
        return 0;
    size = bytes.size;
    enif_release_binary(&bytes);
    return size;
}

TH_TRACER_LOAD()
{
    longest.lock = enif_mutex_create("longest");
    return longest.lock == NULL;
}

TH_TRACER_ENABLED(send)
{
    return TH_TRACER_ATOM(env, trace);
}

TH_TRACER_ENABLED(generic)
{
    return TH_TRACER_ATOM(env, discard);
}

TH_TRACER_TRACE(send)
{
    size_t size = size_of(env, term);

    enif_mutex_lock(longest.lock);
    if (size > longest.size) {
        if (longest.env)
            enif_clear_env(longest.env); /* ends the previous copies */
        else
            longest.env = enif_alloc_env();
        longest.sender = enif_make_copy(longest.env, tracee);
        longest.message = enif_make_copy(longest.env, term);
        longest.size = size;
    }
    enif_mutex_unlock(longest.lock);
}

TH_TRACER_TRACE(generic)
{
}

TH_TRACER_UNLOAD()
{
    if (longest.env) {
        enif_fprintf(stdout, "%T sent %T\n", longest.sender, longest.message);
        enif_free_env(longest.env);
    }
    enif_mutex_destroy(longest.lock);
}
