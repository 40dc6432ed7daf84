/* Types of terms, their order and hashes; references and unique integers. */

#include "host/check/check.h"
#include "host/term/atom.h"
#include "host/term/compare.h"
#include "host/term/make.h"
#include "plugin_api/erl_nif.h"

#include <stdatomic.h>

/* --- Types and order of terms ----------------------------------------------------------------- */

int enif_is_ref(ErlNifEnv *env, ERL_NIF_TERM term)
{
    (void)env;
    return th_is_ref(term);
}

int enif_is_fun(ErlNifEnv *env, ERL_NIF_TERM term)
{
    (void)env;
    return th_is_fun(term);
}

int enif_is_number(ErlNifEnv *env, ERL_NIF_TERM term)
{
    (void)env;
    return th_is_integer(term) || th_is_float(term);
}

/* The slow ways are called last, so that the usual one saves no register. */
static __attribute__((noinline)) int is_identical_slowly(ERL_NIF_TERM lhs, ERL_NIF_TERM rhs)
{
    lhs = th_check_read(lhs, "enif_is_identical");
    rhs = th_check_read(rhs, "enif_is_identical");
    return th_identical(lhs, rhs);
}

int enif_is_identical(ERL_NIF_TERM lhs, ERL_NIF_TERM rhs)
{
    if (lhs == rhs)
        return 1;
    return th_is_immediate(lhs & rhs) ? 0 : is_identical_slowly(lhs, rhs);
}

static __attribute__((cold, noinline)) int check_and_compare(ERL_NIF_TERM lhs, ERL_NIF_TERM rhs)
{
    lhs = th_check_read(lhs, "enif_compare");
    rhs = th_check_read(rhs, "enif_compare");
    return th_compare(lhs, rhs);
}

int enif_compare(ERL_NIF_TERM lhs, ERL_NIF_TERM rhs)
{
    if (lhs == rhs)
        return 0;
    if (th_is_atom(lhs) && th_is_atom(rhs))
        return th_atom_compare(lhs, rhs);
    return th_check_on() ? check_and_compare(lhs, rhs) : th_compare(lhs, rhs);
}

ErlNifTermType enif_term_type(ErlNifEnv *env, ERL_NIF_TERM term)
{
    static const unsigned char boxed[16] = {
        [TH_TUPLE >> 2] = ERL_NIF_TERM_TYPE_TUPLE,
        [TH_POS_BIG >> 2] = ERL_NIF_TERM_TYPE_INTEGER,
        [TH_NEG_BIG >> 2] = ERL_NIF_TERM_TYPE_INTEGER,
        [TH_REF >> 2] = ERL_NIF_TERM_TYPE_REFERENCE,
        [TH_FUN >> 2] = ERL_NIF_TERM_TYPE_FUN,
        [TH_FLOAT >> 2] = ERL_NIF_TERM_TYPE_FLOAT,
        [TH_EXPORT >> 2] = ERL_NIF_TERM_TYPE_FUN,
        [TH_SHARED_BINARY >> 2] = ERL_NIF_TERM_TYPE_BITSTRING,
        [TH_HEAP_BINARY >> 2] = ERL_NIF_TERM_TYPE_BITSTRING,
        [TH_SUB_BINARY >> 2] = ERL_NIF_TERM_TYPE_BITSTRING,
        [TH_EXTERNAL_PID >> 2] = ERL_NIF_TERM_TYPE_PID,
        [TH_EXTERNAL_PORT >> 2] = ERL_NIF_TERM_TYPE_PORT,
        [TH_MAP >> 2] = ERL_NIF_TERM_TYPE_MAP,
    };

    (void)env;
    if (th_is_boxed(term))
        return (ErlNifTermType)boxed[th_term_subtag(term) >> 2];
    if (th_is_list(term) || term == TH_NIL)
        return ERL_NIF_TERM_TYPE_LIST;
    if (th_is_small(term))
        return ERL_NIF_TERM_TYPE_INTEGER;
    if (th_is_local_pid(term))
        return ERL_NIF_TERM_TYPE_PID;
    return th_is_local_port(term) ? ERL_NIF_TERM_TYPE_PORT : ERL_NIF_TERM_TYPE_ATOM;
}

size_t enif_term_size(ERL_NIF_TERM term)
{
    return th_term_words(th_check_read(term, "enif_term_size")) * sizeof(th_term);
}

/* --- References, unique integers, hashes ------------------------------------------------------ */

enum { PHASH2_BITS = 27 };

ERL_NIF_TERM enif_make_ref(ErlNifEnv *env)
{
    return th_make_new_reference(env);
}

/*
 * One counter serves every mix of properties: each number occurs once, and later numbers are larger
 * in any thread. Relaxed: the order of values is the counter's own modification order, which
 * respects happens-before. Numbers that need not be positive begin at the smallest small integer,
 * as in a BEAM: so a missing ERL_NIF_UNIQUE_POSITIVE is noticed.
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
    case ERL_NIF_INTERNAL_HASH: /* result and salt have 32 bits */
        return (uint32_t)th_internal_hash(term, (uint32_t)salt);
    case ERL_NIF_PHASH2: /* erlang:phash2/1, without a salt */
        return th_phash2(term) & (((uint32_t)1 << PHASH2_BITS) - 1);
    default:
        return 0;
    }
}
