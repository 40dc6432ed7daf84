/*
 * A tracer that keeps terms: it prints the largest message that was sent, and who sent it, at the
 * end.
 *
 * The terms of a callback are gone when it returns. To keep one, copy it into an environment of
 * your own (enif_alloc_env(), enif_make_copy()), which you free when the copy is needed no more. A
 * pid of the tracee's node could be kept as it is, but a copy is right for every term. `tracehost
 * replay --check` finds what was kept without a copy, and what was not freed.
 */
#include <erl_tracer.h>

#include <stdio.h>

static struct {
    ErlNifMutex *lock; /* guards what follows: callbacks come from several threads */
    ErlNifEnv *env;    /* of the two terms; NULL: nothing was sent */
    ERL_NIF_TERM sender, message;
    size_t size;
} longest;

/* How large a message is: as large as it would be on the wire. */
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
            enif_clear_env(longest.env); /* the copies of before */
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
