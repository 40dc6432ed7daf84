/* Functions of erlang, lists, binary and timer: types and parts of terms, exceptions, large terms
 * made easily, time. */
#include "shell_internal.h"

#include <string.h>

typedef const struct th_shell_call call;

/* --- Types ------------------------------------------------------------------------------------ */

#define TEST(name, test)               \
    static th_term name(call *c)       \
    {                                  \
        th_term t = c->arguments[0];   \
        return th_shell_boolean(test); \
    }

static bool is_binary(th_term t)
{
    const unsigned char *data;
    size_t bytes;

    return th_get_bytes(t, &data, &bytes);
}

TEST(test_atom, th_is_atom(t))
TEST(test_binary, is_binary(t))
TEST(test_bitstring, th_is_bitstring(t))
TEST(test_boolean, th_shell_is_boolean(t))
TEST(test_float, th_is_float(t))
TEST(test_function, th_is_fun(t))
TEST(test_integer, th_is_integer(t))
TEST(test_list, t == TH_NIL || th_is_list(t))
TEST(test_map, th_is_map(t))
TEST(test_number, th_is_integer(t) || th_is_float(t))
TEST(test_pid, th_is_pid(t))
TEST(test_port, th_is_port(t))
TEST(test_reference, th_is_ref(t))
TEST(test_tuple, th_is_tuple(t))

/* is_function(Term, Arity) */
static th_term test_arity(call *c)
{
    if (!th_is_integer(c->arguments[1]))
        return th_shell_refuse(c, "argument 2: not an integer");
    if (th_compare(c->arguments[1], th_small(0)) < 0)
        return th_shell_refuse(c, "argument 2: out of range");
    return th_shell_boolean(th_is_fun_of(c->arguments[0], c->arguments[1]));
}

/* --- Numbers ---------------------------------------------------------------------------------- */

static th_term number(call *c, th_term result)
{
    return result != TH_NONE ? result : th_shell_refuse(c, "argument 1: not a number");
}

static th_term absolute(call *c)
{
    return number(c, th_number_absolute(&c->e->heap, c->arguments[0]));
}

static th_term to_float(call *c)
{
    return number(c, th_number_float(&c->e->heap, c->arguments[0]));
}

static th_term round_up(call *c)
{
    return number(c, th_number_round(&c->e->heap, c->arguments[0], TH_ROUND_UP));
}

static th_term round_down(call *c)
{
    return number(c, th_number_round(&c->e->heap, c->arguments[0], TH_ROUND_DOWN));
}

static th_term round_nearest(call *c)
{
    return number(c, th_number_round(&c->e->heap, c->arguments[0], TH_ROUND_NEAREST));
}

static th_term truncate_number(call *c)
{
    return number(c, th_number_round(&c->e->heap, c->arguments[0], TH_ROUND_TOWARDS_ZERO));
}

/* --- Parts ------------------------------------------------------------------------------------ */

static th_term bit_size(call *c)
{
    const unsigned char *data;
    size_t bits;

    if (!th_get_bits(c->arguments[0], &data, &bits))
        return th_shell_refuse(c, "argument 1: not a bitstring");
    return th_small((int64_t)bits);
}

static th_term byte_size(call *c)
{
    th_term bits = bit_size(c);

    return bits == TH_NONE ? TH_NONE : th_small((th_small_value(bits) + 7) / 8);
}

static th_term element(call *c)
{
    th_term tuple = c->arguments[1];
    int64_t i;

    if (!th_is_tuple(tuple))
        return th_shell_refuse(c, "argument 2: not a tuple");
    if (!th_is_small(c->arguments[0]))
        return th_shell_refuse(c, "argument 1: not an integer");
    i = th_small_value(c->arguments[0]);
    if (i < 1 || (uint64_t)i > th_tuple_arity(tuple))
        return th_shell_refuse(c, "argument 1: out of range");
    return th_tuple_elements(tuple)[i - 1];
}

static th_term head(call *c)
{
    return th_is_list(c->arguments[0]) ? th_cell(c->arguments[0])[0]
                                       : th_shell_refuse(c, "argument 1: not a nonempty list");
}

static th_term tail(call *c)
{
    return th_is_list(c->arguments[0]) ? th_cell(c->arguments[0])[1]
                                       : th_shell_refuse(c, "argument 1: not a nonempty list");
}

static th_term length(call *c)
{
    size_t count;

    if (!th_get_list_length(c->arguments[0], &count))
        return th_shell_refuse(c, "argument 1: not a list");
    return th_small((int64_t)count);
}

static th_term map_size(call *c)
{
    if (th_is_map(c->arguments[0]))
        return th_small((int64_t)th_map_size(c->arguments[0]));
    th_shell_raise_pair(c->e, "badmap", c->arguments[0]);
    return TH_NONE;
}

static th_term map_get(call *c)
{
    th_term value;

    if (!th_is_map(c->arguments[1]))
        return th_shell_raise_pair(c->e, "badmap", c->arguments[1]);
    value = th_map_get(c->arguments[1], c->arguments[0]);
    return value != TH_NONE ? value : th_shell_raise_pair(c->e, "badkey", c->arguments[0]);
}

static th_term tuple_size(call *c)
{
    return th_is_tuple(c->arguments[0]) ? th_small((int64_t)th_tuple_arity(c->arguments[0]))
                                        : th_shell_refuse(c, "argument 1: not a tuple");
}

static th_term phash2(call *c)
{
    return th_small(th_phash2(c->arguments[0]) & 0x7FFFFFF);
}

static th_term make_ref(call *c)
{
    return th_make_new_reference(&c->e->heap);
}

/* --- Ends ------------------------------------------------------------------------------------- */

static th_term raise_error(call *c)
{
    return th_shell_raise(c->e, TH_CLASS_ERROR, c->arguments[0]);
}

static th_term raise_exit(call *c)
{
    return th_shell_raise(c->e, TH_CLASS_EXIT, c->arguments[0]);
}

static th_term raise_throw(call *c)
{
    return th_shell_raise(c->e, TH_CLASS_THROW, c->arguments[0]);
}

static th_term self(call *c)
{
    return c->e->host->self(c->e->context);
}

const struct th_shell_function th_shell_functions_of_erlang[] = {
    {"abs", 1, true, false, absolute},
    {"bit_size", 1, true, false, bit_size},
    {"byte_size", 1, true, false, byte_size},
    {"ceil", 1, true, false, round_up},
    {"element", 2, true, false, element},
    {"error", 1, false, false, raise_error},
    {"exit", 1, false, false, raise_exit},
    {"float", 1, true, false, to_float},
    {"floor", 1, true, false, round_down},
    {"hd", 1, true, false, head},
    {"is_atom", 1, true, false, test_atom},
    {"is_binary", 1, true, false, test_binary},
    {"is_bitstring", 1, true, false, test_bitstring},
    {"is_boolean", 1, true, false, test_boolean},
    {"is_float", 1, true, false, test_float},
    {"is_function", 1, true, false, test_function},
    {"is_function", 2, true, false, test_arity},
    {"is_integer", 1, true, false, test_integer},
    {"is_list", 1, true, false, test_list},
    {"is_map", 1, true, false, test_map},
    {"is_number", 1, true, false, test_number},
    {"is_pid", 1, true, false, test_pid},
    {"is_port", 1, true, false, test_port},
    {"is_reference", 1, true, false, test_reference},
    {"is_tuple", 1, true, false, test_tuple},
    {"length", 1, true, false, length},
    {"make_ref", 0, false, false, make_ref},
    {"map_get", 2, true, false, map_get},
    {"map_size", 1, true, false, map_size},
    {"phash2", 1, false, true, phash2},
    {"round", 1, true, false, round_nearest},
    {"self", 0, true, false, self},
    {"throw", 1, false, false, raise_throw},
    {"tl", 1, true, false, tail},
    {"trunc", 1, true, false, truncate_number},
    {"tuple_size", 1, true, false, tuple_size},
    {0},
};

/* --- Large terms ------------------------------------------------------------------------------ */

static th_term limit(call *c)
{
    return th_shell_raise(c->e, TH_CLASS_ERROR, th_atom("system_limit"));
}

/* lists:seq(From, To) */
static th_term sequence(call *c)
{
    th_term t = TH_NIL;
    int64_t from, to;

    if (!th_is_small(c->arguments[0]) || !th_is_small(c->arguments[1]))
        return th_shell_refuse(c, "both arguments are to be integers");
    from = th_small_value(c->arguments[0]);
    to = th_small_value(c->arguments[1]);
    if (to < from - 1)
        return th_shell_refuse(c, "argument 2: less than argument 1");
    if (to - from >= TH_EXPRESSION_ELEMENTS)
        return limit(c);
    for (; to >= from; to--)
        t = th_make_cons(&c->e->heap, th_small(to), t);
    return t;
}

/* lists:duplicate(Count, Term) */
static th_term duplicate(call *c)
{
    th_term t = TH_NIL;
    uint64_t count;

    if (!th_get_uint64(c->arguments[0], &count))
        return th_shell_refuse(c, "argument 1: not a non-negative integer");
    if (count > TH_EXPRESSION_ELEMENTS)
        return limit(c);
    for (; count > 0; count--)
        t = th_make_cons(&c->e->heap, c->arguments[1], t);
    return t;
}

const struct th_shell_function th_shell_functions_of_lists[] = {
    {"duplicate", 2, false, true, duplicate},
    {"seq", 2, false, true, sequence},
    {0},
};

/* binary:copy(Binary, Count) */
static th_term copy_binary(call *c)
{
    const unsigned char *data;
    size_t bytes;
    uint64_t count;
    struct th_binary *whole;
    th_term t;

    if (!th_get_bytes(c->arguments[0], &data, &bytes))
        return th_shell_refuse(c, "argument 1: not a binary");
    if (!th_get_uint64(c->arguments[1], &count))
        return th_shell_refuse(c, "argument 2: not a non-negative integer");
    if (bytes == 0 || count == 0)
        return th_make_binary(&c->e->heap, "", 0);
    if (count > TH_EXPRESSION_BITS / 8 / bytes)
        return limit(c);
    whole = th_binary_create(bytes * count);
    if (!whole)
        return limit(c);
    for (uint64_t i = 0; i < count; i++)
        memcpy(whole->data + i * bytes, data, bytes);
    t = th_make_shared_binary(&c->e->heap, whole, whole->data, 8 * bytes * count);
    th_binary_release(whole);
    return t;
}

const struct th_shell_function th_shell_functions_of_binary[] = {
    {"copy", 2, false, true, copy_binary},
    {0},
};

/* --- Time ------------------------------------------------------------------------------------- */

static th_term sleep_milliseconds(call *c)
{
    int64_t nanoseconds;

    if (!th_shell_get_time(c->e, c->arguments[0], &nanoseconds))
        return TH_NONE;
    return th_shell_sleep(c->e, nanoseconds) ? TH_AM(ok) : TH_NONE;
}

const struct th_shell_function th_shell_functions_of_timer[] = {
    {"sleep", 1, false, true, sleep_milliseconds},
    {0},
};
