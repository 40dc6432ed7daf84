/* References, unique integers, hashes. */
#include "nif.h"

#include "host/runtime/runtime.h"

#include <stdatomic.h>

enum { PHASH2_BITS = 27 };

ERL_NIF_TERM enif_make_ref(ErlNifEnv *env)
{
    return th_make_new_reference(env);
}

/*
 * One counter for all. It serves every mix of properties: each number comes once, and later ones
 * are larger whatever thread asks (relaxed: the counter's own order is the order of its values, and
 * happens-before is respected by it). Those that need not be positive begin at the least small
 * integer, so that a tracer that forgot to say so is found out, as in a BEAM.
 */
ERL_NIF_TERM enif_make_unique_integer(ErlNifEnv *env, ErlNifUniqueInteger properties)
{
    static _Atomic int64_t count;
    int64_t next = 1 + atomic_fetch_add_explicit(&count, 1, memory_order_relaxed);

    (void)env;
    return th_small(properties & ERL_NIF_UNIQUE_POSITIVE ? next : TH_SMALL_MIN + next);
}

ErlNifUInt64 enif_hash(ErlNifHash type, ERL_NIF_TERM term, ErlNifUInt64 salt)
{
    term = th_check_read(term, "enif_hash");
    switch (type) {
    case ERL_NIF_INTERNAL_HASH: /* 32 bits, and so is the salt */
        return (uint32_t)th_internal_hash(term, (uint32_t)salt);
    case ERL_NIF_PHASH2: /* erlang:phash2/1; it takes no salt */
        return th_phash2(term) & (((uint32_t)1 << PHASH2_BITS) - 1);
    default:
        return 0;
    }
}
