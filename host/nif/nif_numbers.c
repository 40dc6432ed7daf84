/* Numbers. */

#include "host/check/check.h"
#include "host/term/make.h"
#include "plugin_api/erl_nif.h"

#include <limits.h>
#include <math.h>

int enif_get_int(ErlNifEnv *env, ERL_NIF_TERM term, int *ip)
{
    int64_t value = th_small_value(term);

    (void)env;
    if (!th_is_small(term) || value < INT_MIN || value > INT_MAX)
        return th_check_misread_boxed(term, "enif_get_int");
    *ip = (int)value;
    return 1;
}

int enif_get_uint(ErlNifEnv *env, ERL_NIF_TERM term, unsigned *ip)
{
    int64_t value = th_small_value(term);

    (void)env;
    if (!th_is_small(term) || value < 0 || value > UINT_MAX)
        return th_check_misread_boxed(term, "enif_get_uint");
    *ip = (unsigned)value;
    return 1;
}

/* Called last, so that the usual way saves no register. */
static __attribute__((cold, noinline)) int misread_number(ErlNifEnv *env, th_term term,
                                                          const char *function)
{
    (void)env;
    return th_check_misread_boxed(term, function);
}

int enif_get_long(ErlNifEnv *env, ERL_NIF_TERM term, long *ip)
{
    int64_t value;

    if (!th_get_int64_inline(term, &value))
        return misread_number(env, term, "enif_get_int64");
    *ip = value;
    return 1;
}

int enif_get_ulong(ErlNifEnv *env, ERL_NIF_TERM term, unsigned long *ip)
{
    uint64_t value;

    if (!th_get_uint64_inline(term, &value))
        return misread_number(env, term, "enif_get_uint64");
    *ip = value;
    return 1;
}

int enif_get_double(ErlNifEnv *env, ERL_NIF_TERM term, double *dp)
{
    (void)env;
    if (__builtin_expect(!th_is_float(term), 0))
        return th_check_misread_boxed(term, "enif_get_double");
    *dp = th_float_value(term);
    return 1;
}

ERL_NIF_TERM enif_make_int(ErlNifEnv *env, int i)
{
    (void)env;
    return th_small(i);
}

ERL_NIF_TERM enif_make_uint(ErlNifEnv *env, unsigned i)
{
    (void)env;
    return th_small(i);
}

ERL_NIF_TERM enif_make_long(ErlNifEnv *env, long i)
{
    return th_term_fits_small(i) ? th_small(i) : th_make_big_int64_inline(env, i);
}

ERL_NIF_TERM enif_make_ulong(ErlNifEnv *env, unsigned long i)
{
    return th_make_uint64(env, i);
}

ERL_NIF_TERM enif_make_double(ErlNifEnv *env, double d)
{
    return isfinite(d) ? th_make_float(env, d) : enif_make_badarg(env);
}

/* Libraries import the `long` functions, as the header renames these four. A BEAM does not export
 * these functions, but the API has them. */
#undef enif_get_int64
#undef enif_get_uint64
#undef enif_make_int64
#undef enif_make_uint64

ERL_NAPI_EXPORT int enif_get_int64(ErlNifEnv *env, ERL_NIF_TERM term, ErlNifSInt64 *ip)
    __attribute__((alias("enif_get_long")));
ERL_NAPI_EXPORT int enif_get_uint64(ErlNifEnv *env, ERL_NIF_TERM term, ErlNifUInt64 *ip)
    __attribute__((alias("enif_get_ulong")));
ERL_NAPI_EXPORT ERL_NIF_TERM enif_make_int64(ErlNifEnv *env, ErlNifSInt64 i)
    __attribute__((alias("enif_make_long")));
ERL_NAPI_EXPORT ERL_NIF_TERM enif_make_uint64(ErlNifEnv *env, ErlNifUInt64 i)
    __attribute__((alias("enif_make_ulong")));
