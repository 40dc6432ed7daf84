/*
 * Functions implemented in C: those of erlang, lists, binary and timer that a session with a
 * library needs (types and parts of terms, exceptions, large terms, time). Also the commands of the
 * shell.
 */
#include "shell_internal.h"

#include "host/term/compare.h"
#include "host/term/make.h"
#include "host/term/map.h"
#include "host/term/number.h"
#include "host/term/text.h"

#include <stdlib.h>
#include <string.h>

typedef const struct th_shell_call call;

/* --- Types ------------------------------------------------------------------------------------ */

#define TEST(name, test)               \
    static th_term name(call *c)       \
    {                                  \
        th_term t = c->arguments[0];   \
        return th_shell_boolean(test); \
    }

static bool function_is_binary(th_term t)
{
    const unsigned char *data;
    size_t bytes;

    return th_get_bytes(t, &data, &bytes);
}

TEST(test_atom, th_is_atom(t))
TEST(test_binary, function_is_binary(t))
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

/* --- Exceptions and self ---------------------------------------------------------------------- */

/* error, exit and throw have the names of their classes. */
static th_term raise_class(call *c)
{
    enum th_class class = TH_CLASS_ERROR;

    while (strcmp(th_shell_classes[class], c->function->name) != 0)
        class ++;
    return th_shell_raise(c->e, class, c->arguments[0]);
}

static th_term function_self(call *c)
{
    return c->e->host->self(c->e->context);
}

static const struct th_shell_function functions_of_erlang[] = {
    {"abs", 1, true, false, absolute},
    {"bit_size", 1, true, false, bit_size},
    {"byte_size", 1, true, false, byte_size},
    {"ceil", 1, true, false, round_up},
    {"element", 2, true, false, element},
    {"error", 1, false, false, raise_class},
    {"exit", 1, false, false, raise_class},
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
    {"self", 0, true, false, function_self},
    {"throw", 1, false, false, raise_class},
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
static th_term function_duplicate(call *c)
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

static const struct th_shell_function functions_of_lists[] = {
    {"duplicate", 2, false, true, function_duplicate},
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

static const struct th_shell_function functions_of_binary[] = {
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

static const struct th_shell_function functions_of_timer[] = {
    {"sleep", 1, false, true, sleep_milliseconds},
    {0},
};

/* --- Finding and calling ---------------------------------------------------------------------- */

static const struct th_shell_module own_modules[] = {
    {"erlang", functions_of_erlang},
    {"lists", functions_of_lists},
    {"binary", functions_of_binary},
    {"timer", functions_of_timer},
    {NULL, NULL},
};

/* Finds a function in MODULES, and its module. MODULE NULL: a function that may be called without a
 * module. */
static bool find_function(const struct th_shell_module *modules, const char *module,
                          const char *name, size_t arity, struct th_shell_call *found)
{
    for (; modules && modules->name; modules++) {
        if (strcmp(modules->name, module ? module : "erlang") != 0)
            continue;
        for (const struct th_shell_function *f = modules->functions; f->name; f++)
            if (f->arity == arity && strcmp(f->name, name) == 0 && (module || !f->remote)) {
                found->module = modules->name;
                found->function = f;
                return true;
            }
    }
    return false;
}

bool th_shell_in_guards(const char *name, size_t arity)
{
    struct th_shell_call call;

    return find_function(own_modules, "erlang", name, arity, &call) && call.function->guard;
}

th_term th_shell_refuse(const struct th_shell_call *call, const char *note)
{
    th_shell_raise_from(call->e, TH_AM(badarg), th_atom(call->module),
                        th_atom(call->function->name), call->arguments, call->function->arity);
    th_shell_add_note(call->e, note);
    return TH_NONE;
}

enum th_called th_shell_call_own(struct th_evaluation *e, th_term module, th_term function,
                                 size_t count, const th_term arguments[], th_term *result)
{
    const char *owner = module ? th_atom_name(module)->text : NULL;
    const char *name = th_atom_name(function)->text;
    struct th_shell_call call = {.e = e, .arguments = arguments};

    if (!find_function(own_modules, owner, name, count, &call) &&
        !find_function(e->host->modules, owner, name, count, &call))
        return TH_CALLED_UNDEFINED;
    *result = call.function->run(&call);
    return *result == TH_NONE ? TH_CALLED_RAISED : TH_CALLED_RETURNED;
}

/* --- Commands of the shell -------------------------------------------------------------------- */

static int function_compare_names(const void *a, const void *b)
{
    return th_atom_compare(((const struct th_binding *)a)->name,
                           ((const struct th_binding *)b)->name);
}

static void show_line(const struct th_evaluation *e, const char *before, th_term t)
{
    struct th_buffer line = {0};

    th_buffer_add_text(&line, before);
    th_text_show(&line, t);
    th_buffer_add_byte(&line, '\n');
    if (e->out)
        fwrite(line.data, 1, line.size, e->out);
    th_buffer_free(&line);
}

static th_term show_bindings(struct th_evaluation *e)
{
    struct th_binding *sorted = th_alloc((e->count + 1) * sizeof *sorted);
    size_t count = 0;

    for (size_t i = e->scope; i < e->count; i++)
        if (th_shell_find_binding(e, e->bindings[i].name) == &e->bindings[i])
            sorted[count++] = e->bindings[i];
    qsort(sorted, count, sizeof *sorted, function_compare_names);
    for (size_t i = 0; i < count; i++) {
        char *before = th_printf("%s = ", th_atom_name(sorted[i].name)->text);
        show_line(e, before, sorted[i].value);
        th_free(before);
    }
    th_free(sorted);
    return TH_AM(ok);
}

static th_term function_flush(struct th_evaluation *e)
{
    while (th_shell_wait(e, 0))
        continue;
    while (e->mail) {
        show_line(e, "Shell got ", e->mail->term);
        th_shell_drop_mail(e, &e->mail);
    }
    return TH_AM(ok);
}

static th_term quit(struct th_evaluation *e)
{
    e->stopped = true;
    return TH_NONE;
}

static const struct {
    const char *name;
    th_term (*run)(struct th_evaluation *e);
} commands[] = {{"b", show_bindings}, {"flush", function_flush}, {"q", quit}, {"halt", quit}};

th_term th_shell_evaluate_command(struct th_evaluation *e, const struct th_node *call)
{
    const char *name = th_atom_name(call->parts[1]->value)->text;
    bool forgets = strcmp(name, "f") == 0;
    size_t count = call->count - 2, first;
    const th_term *arguments;
    th_term result = TH_NONE;
    enum th_called called;

    if (forgets && count == 1 && call->parts[2]->kind == TH_NODE_VARIABLE) { /* f(Variable) */
        struct th_binding *binding = th_shell_find_binding(e, call->parts[2]->value);
        size_t i = binding ? (size_t)(binding - e->bindings) : 0;
        if (binding) {
            memmove(binding, binding + 1, (--e->count - i) * sizeof *binding);
            e->older -= i < e->older;
        }
        return TH_AM(ok);
    }
    if (forgets && count == 0) {
        th_shell_forget(e);
        return TH_AM(ok);
    }
    for (size_t i = 0; count == 0 && i < sizeof commands / sizeof commands[0]; i++)
        if (strcmp(commands[i].name, name) == 0)
            return commands[i].run(e);
    if (!th_shell_evaluate_all(e, call->parts + 2, count, &first))
        return TH_NONE;
    arguments = e->stack + first;
    called = th_shell_call_own(e, TH_NONE, call->parts[1]->value, count, arguments, &result);
    if (called == TH_CALLED_UNDEFINED) {
        result = th_make_list(&e->heap, arguments, count);
        result = th_make_tuple_of(&e->heap, th_atom("shell_undef"), call->parts[1]->value,
                                  th_small((int64_t)count), result);
        result = th_shell_raise(e, TH_CLASS_ERROR, result);
    } else if (e->stopped) {
        result = TH_NONE;
    }
    e->stacked = first;
    return result;
}
