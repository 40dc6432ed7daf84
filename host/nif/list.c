/* Lists. */
#include "nif.h"

#include "host/runtime/runtime.h"

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

/* Takes the arguments where enif_get_list_cell() has them, so that no register is moved for it. */
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

/* Is called last, so that no register is saved without it. */
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
