/* Lists and tuples. */
#include "host/check/check.h"
#include "host/term/make.h"
#include "plugin_api/erl_nif.h"

/* --- Lists ------------------------------------------------------------------------------------ */

int enif_is_list(ErlNifEnv *env, ERL_NIF_TERM term)
{
    (void)env;
    return th_is_list(term) || term == TH_NIL;
}

int enif_is_empty_list(ErlNifEnv *env, ERL_NIF_TERM term)
{
    (void)env;
    return term == TH_NIL;
}

/* Has the parameters of enif_get_list_cell(), so that the call moves no register. */
static __attribute__((cold, noinline)) int misread_cell(ErlNifEnv *env, ERL_NIF_TERM term)
{
    (void)env;
    return th_check_misread(term, "enif_get_list_cell");
}

int enif_get_list_cell(ErlNifEnv *env, ERL_NIF_TERM term, ERL_NIF_TERM *head, ERL_NIF_TERM *tail)
{
    if (!th_is_list(term))
        return 0;
    *head = th_cell(term)[0];
    *tail = th_cell(term)[1];
    if (__builtin_expect(*head == TH_ENV_GONE, 0))
        return misread_cell(env, term);
    return 1;
}

int enif_get_list_length(ErlNifEnv *env, ERL_NIF_TERM term, unsigned *len)
{
    size_t length;

    (void)env;
    if (!th_get_list_length(term, &length))
        return th_check_misread(term, "enif_get_list_length");
    *len = (unsigned)length;
    return 1;
}

/* Called last, so that the common path saves no register. */
static __attribute__((cold, noinline)) th_term look_at_cell(th_term cell)
{
    th_check_parts(th_cell(cell), 2, 1, "enif_make_list_cell");
    return cell;
}

ERL_NIF_TERM enif_make_list_cell(ErlNifEnv *env, ERL_NIF_TERM car, ERL_NIF_TERM cdr)
{
    th_term cell = th_make_cons(env, car, cdr);

    return th_check_on() ? look_at_cell(cell) : cell;
}

ERL_NIF_TERM enif_make_list(ErlNifEnv *env, unsigned cnt, ...)
{
    th_term *cells = th_env_take(env, 2 * (size_t)cnt);
    va_list args;

    if (cnt == 0)
        return TH_NIL;
    va_start(args, cnt);
    for (size_t i = 0; i < cnt; i++) {
        cells[2 * i] = va_arg(args, ERL_NIF_TERM);
        cells[2 * i + 1] = th_listed(&cells[2 * i + 2]);
    }
    va_end(args);
    cells[2 * (size_t)cnt - 1] = TH_NIL;
    th_check_parts(cells, cnt, 2, "enif_make_list");
    return th_listed(cells);
}

ERL_NIF_TERM enif_make_list_from_array(ErlNifEnv *env, const ERL_NIF_TERM arr[], unsigned cnt)
{
    th_term list = th_make_list(env, arr, cnt);

    th_check_parts(th_cell(list), cnt, 2, "enif_make_list_from_array");
    return list;
}

int enif_make_reverse_list(ErlNifEnv *env, ERL_NIF_TERM term, ERL_NIF_TERM *list)
{
    th_term reversed = TH_NIL;
    size_t length;

    if (!th_get_list_length(term, &length))
        return th_check_misread(term, "enif_make_reverse_list");
    for (; th_is_list(term); term = th_cell(term)[1])
        reversed = th_make_cons(env, th_cell(term)[0], reversed);
    *list = reversed;
    return 1;
}

/* --- Tuples ----------------------------------------------------------------------------------- */

int enif_is_tuple(ErlNifEnv *env, ERL_NIF_TERM term)
{
    (void)env;
    return th_is_tuple(term);
}

/* th_is_tuple() in two steps, so that the compiler lays out both branches as rare. */
int enif_get_tuple(ErlNifEnv *env, ERL_NIF_TERM tpl, int *arity, const ERL_NIF_TERM **array)
{
    (void)env;
    if (__builtin_expect(!th_is_boxed(tpl), 0))
        return 0;
    if (__builtin_expect(th_term_subtag(tpl) != TH_TUPLE, 0))
        return th_check_misread_boxed(tpl, "enif_get_tuple");
    *arity = (int)th_tuple_arity(tpl);
    *array = th_tuple_elements(tpl);
    return 1;
}

/* Called last, so that the common path saves no register. */
static __attribute__((cold, noinline)) th_term look_at_elements(th_term tuple, const char *function)
{
    th_check_parts(th_term_box(tuple) + 1, th_tuple_arity(tuple), 1, function);
    return tuple;
}

ERL_NIF_TERM enif_make_tuple(ErlNifEnv *env, unsigned cnt, ...)
{
    th_term *elements;
    th_term tuple = th_make_tuple_space(env, cnt, &elements);
    va_list args;

    va_start(args, cnt);
    for (unsigned i = 0; i < cnt; i++)
        elements[i] = va_arg(args, ERL_NIF_TERM);
    va_end(args);
    return th_check_on() ? look_at_elements(tuple, "enif_make_tuple") : tuple;
}

ERL_NIF_TERM enif_make_tuple_from_array(ErlNifEnv *env, const ERL_NIF_TERM arr[], unsigned cnt)
{
    th_term tuple = th_make_tuple(env, arr, cnt);

    return th_check_on() ? look_at_elements(tuple, "enif_make_tuple_from_array") : tuple;
}
