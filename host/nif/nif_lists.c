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
    if (!th_get_list_length_inline(term, &length))
        return th_check_misread(term, "enif_get_list_length");
    *len = (unsigned)length;
    return 1;
}

/* The slow ways are called last, so that the usual one saves no register. */
static __attribute__((cold, noinline)) th_term make_cell_slowly(ErlNifEnv *env, th_term car,
                                                                th_term cdr)
{
    th_term cell = th_make_cons(env, car, cdr);

    th_check_parts(th_cell(cell), 2, 1, "enif_make_list_cell");
    return cell;
}

ERL_NIF_TERM enif_make_list_cell(ErlNifEnv *env, ERL_NIF_TERM car, ERL_NIF_TERM cdr)
{
    if (th_check_on() || !th_env_has(env, 2))
        return make_cell_slowly(env, car, cdr);
    return th_make_cons(env, car, cdr);
}

/* Makes a list of CNT elements, at least one, that are next in ARGS. */
static inline th_term make_list_of_args(ErlNifEnv *env, unsigned cnt, va_list args)
{
    th_term *cells = th_env_take(env, 2 * (size_t)cnt);

    for (size_t i = 0; i < cnt; i++) {
        cells[2 * i] = va_arg(args, ERL_NIF_TERM);
        cells[2 * i + 1] = th_listed(&cells[2 * i + 2]);
    }
    cells[2 * (size_t)cnt - 1] = TH_NIL;
    return th_listed(cells);
}

static __attribute__((cold, noinline)) th_term make_args_slowly(ErlNifEnv *env, unsigned cnt,
                                                                va_list args)
{
    th_term list = make_list_of_args(env, cnt, args);

    th_check_parts(th_cell(list), cnt, 2, "enif_make_list");
    return list;
}

ERL_NIF_TERM enif_make_list(ErlNifEnv *env, unsigned cnt, ...)
{
    th_term list;
    va_list args;

    if (cnt == 0)
        return TH_NIL;
    va_start(args, cnt);
    if (th_check_on() || !th_env_has(env, 2 * (size_t)cnt))
        list = make_args_slowly(env, cnt, args);
    else
        list = make_list_of_args(env, cnt, args);
    va_end(args);
    return list;
}

static __attribute__((cold, noinline)) th_term
make_list_slowly(ErlNifEnv *env, const ERL_NIF_TERM arr[], unsigned cnt)
{
    th_term list = th_make_list(env, arr, cnt);

    th_check_parts(th_cell(list), cnt, 2, "enif_make_list_from_array");
    return list;
}

ERL_NIF_TERM enif_make_list_from_array(ErlNifEnv *env, const ERL_NIF_TERM arr[], unsigned cnt)
{
    if (th_check_on() || !th_env_has(env, 2 * (size_t)cnt))
        return make_list_slowly(env, arr, cnt);
    return th_make_list(env, arr, cnt);
}

static __attribute__((cold, noinline)) int reverse_slowly(ErlNifEnv *env, th_term term,
                                                          th_term *list)
{
    th_term reversed = TH_NIL, rest = term;

    for (; th_is_list(rest); rest = th_cell(rest)[1])
        reversed = th_make_cons(env, th_cell(rest)[0], reversed);
    if (rest != TH_NIL)
        return th_check_misread(term, "enif_make_reverse_list");
    *list = reversed;
    return 1;
}

int enif_make_reverse_list(ErlNifEnv *env, ERL_NIF_TERM term, ERL_NIF_TERM *list)
{
    th_term *cell = env->top;
    th_term reversed = TH_NIL, rest = term;

    for (; th_is_list(rest) && env->limit - cell >= 2; rest = th_cell(rest)[1], cell += 2) {
        cell[0] = th_cell(rest)[0];
        cell[1] = reversed;
        reversed = th_listed(cell);
    }
    if (rest != TH_NIL)
        return reverse_slowly(env, term, list);
    env->top = cell;
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

/* Called last, so that the usual way saves no register. */
static __attribute__((cold, noinline)) th_term look_at_elements(th_term tuple, const char *function)
{
    th_check_parts(th_term_box(tuple) + 1, th_tuple_arity(tuple), 1, function);
    return tuple;
}

/* Takes the words of a tuple of CNT elements, and sets its header: so the caller needs neither ENV nor
 * CNT after this call, and saves no register. */
static __attribute__((cold, noinline)) th_term *take_tuple(ErlNifEnv *env, unsigned cnt)
{
    th_term *elements;

    th_make_tuple_space(env, cnt, &elements);
    return elements - 1;
}

ERL_NIF_TERM enif_make_tuple(ErlNifEnv *env, unsigned cnt, ...)
{
    th_term *words = env->top;
    va_list args;

    if (th_env_has(env, (size_t)cnt + 1)) {
        env->top = words + cnt + 1;
        words[0] = th_header(TH_TUPLE, cnt);
    } else {
        words = take_tuple(env, cnt);
        cnt = (unsigned)th_header_words(words[0]);
    }
    va_start(args, cnt);
    for (th_term *word = words + 1, *end = word + cnt; word != end; word++)
        *word = va_arg(args, ERL_NIF_TERM);
    va_end(args);
    return th_check_on() ? look_at_elements(th_boxed(words), "enif_make_tuple") : th_boxed(words);
}

static __attribute__((cold, noinline)) th_term
make_tuple_slowly(ErlNifEnv *env, const ERL_NIF_TERM arr[], unsigned cnt)
{
    th_term tuple = th_make_tuple(env, arr, cnt);

    return look_at_elements(tuple, "enif_make_tuple_from_array");
}

ERL_NIF_TERM enif_make_tuple_from_array(ErlNifEnv *env, const ERL_NIF_TERM arr[], unsigned cnt)
{
    th_term *elements;
    th_term tuple;

    if (th_check_on() || !th_env_has(env, (size_t)cnt + 1))
        return make_tuple_slowly(env, arr, cnt);
    tuple = th_make_tuple_space(env, cnt, &elements);
#pragma GCC unroll 4 /* word by word: a wider load would wait for the stores of a caller */
    for (size_t i = 0; i < cnt; i++)
        elements[i] = arr[i];
    return tuple;
}
