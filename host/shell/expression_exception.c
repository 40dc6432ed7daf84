/*
 * Exceptions: raises them, and prints them as Erlang's shell does, except that a term is always on
 * one line and cut if it is long.
 */
#include "shell_internal.h"

#include "host/term/make.h"
#include "host/term/text.h"

#include <string.h>

const char *const th_shell_classes[] = {
    [TH_CLASS_ERROR] = "error", [TH_CLASS_EXIT] = "exit", [TH_CLASS_THROW] = "throw"};

/* --- Raising ---------------------------------------------------------------------------------- */

th_term th_shell_raise(struct th_evaluation *e, enum th_class class, th_term reason)
{
    e->exception = (struct th_exception){.class = class, .reason = reason};
    return TH_NONE;
}

th_term th_shell_raise_pair(struct th_evaluation *e, const char *tag, th_term value)
{
    return th_shell_raise(e, TH_CLASS_ERROR, th_make_tuple_of(&e->heap, th_atom(tag), value));
}

th_term th_shell_raise_from(struct th_evaluation *e, th_term reason, th_term module,
                            th_term function, const th_term arguments[], size_t count)
{
    th_shell_raise(e, TH_CLASS_ERROR, reason);
    e->exception.module = module;
    e->exception.function = function;
    e->exception.arguments = th_make_list(&e->heap, arguments, count);
    return TH_NONE;
}

th_term th_shell_raise_limit(struct th_evaluation *e, const char *note)
{
    th_shell_raise(e, TH_CLASS_ERROR, th_atom("system_limit"));
    th_shell_add_note(e, note);
    return TH_NONE;
}

th_term th_shell_raise_unbound(struct th_evaluation *e, const struct th_node *variable)
{
    th_shell_raise_pair(e, "unbound", variable->value);
    e->exception.unbound = th_text_scan_place(e->source->text, variable->at);
    return TH_NONE;
}

void th_shell_add_note(struct th_evaluation *e, const char *note)
{
    snprintf(e->exception.note, sizeof e->exception.note, "%s", note);
}

th_term th_shell_stack(struct th_evaluation *e)
{
    const struct th_exception *x = &e->exception;
    th_term frame;

    if (x->stack)
        return e->host->located(&e->heap, x->stack);
    if (!x->function)
        return TH_NIL;
    frame = th_make_tuple_of(&e->heap, x->module ? x->module : TH_AM(erlang), x->function,
                             x->arguments, TH_NIL);
    return th_make_list(&e->heap, &frame, 1);
}

/* --- Printing --------------------------------------------------------------------------------- */

static void expression_exception_add_term(struct th_buffer *out, th_term t)
{
    th_text_show_limited(out, t, TH_EXCEPTION_TEXT);
}

/* A function of erlang that needs no module is printed without it. */
static void expression_exception_add_function(const struct th_exception *x, struct th_buffer *out)
{
    if (x->module && (x->module != TH_AM(erlang) || x->function == TH_AM(send) ||
                      x->function == th_atom("make_fun"))) {
        th_text_show_atom(out, x->module);
        th_buffer_add_byte(out, ':');
    }
    th_text_show_atom(out, x->function);
}

static size_t argument_count(const struct th_exception *x)
{
    size_t count = 0;

    if (th_is_small(x->arguments))
        return (size_t)th_small_value(x->arguments);
    th_get_list_length(x->arguments, &count);
    return count;
}

static void add_arguments(const struct th_exception *x, struct th_buffer *out)
{
    const char *before = "(";

    for (th_term list = x->arguments; th_is_list(list); list = th_cell(list)[1]) {
        th_buffer_add_text(out, before);
        expression_exception_add_term(out, th_cell(list)[0]);
        before = ",";
    }
    th_buffer_add_text(out, *before == '(' ? "()" : ")");
}

/* Reasons that are an atom, or a pair of an atom and a term that is printed after the text. */
static const struct {
    const char *tag;
    bool pair;
    const char *text;
} reasons[] = {
    {"badarg", false, "bad argument"},
    {"badarg", true, "bad argument: "},
    {"badarith", false, "an error occurred when evaluating an arithmetic expression"},
    {"badmatch", true, "no match of right hand side value "},
    {"case_clause", true, "no case clause matching "},
    {"try_clause", true, "no try clause matching "},
    {"if_clause", false, "no true branch found when evaluating an if expression"},
    {"badfun", true, "bad function "},
    {"badmap", true, "bad map: "},
    {"badkey", true, "bad key: "},
    {"noproc", false, "no such process or port"},
    {"notalive", false, "the node cannot be part of a distributed system"},
    {"system_limit", false, "a system limit has been reached"},
    {"timeout_value", false, "bad receive timeout value"},
    {"bad_generator", true, "bad generator "},
    {"bad_filter", true, "bad filter "},
};

static bool is_pair(th_term t)
{
    return th_is_tuple(t) && th_tuple_arity(t) == 2 && th_is_atom(th_tuple_elements(t)[0]);
}

static bool add_unbound(th_term reason, struct th_buffer *out)
{
    if (!is_pair(reason) || th_tuple_elements(reason)[0] != th_atom("unbound") ||
        !th_is_atom(th_tuple_elements(reason)[1]))
        return false;
    th_buffer_printf(out, "variable '%s' is unbound",
                     th_atom_name(th_tuple_elements(reason)[1])->text);
    return true;
}

/* {badarity,{Fun,Arguments}} */
static bool add_arity(th_term reason, struct th_buffer *out)
{
    static const char *const numbers[] = {"no arguments", "one argument", "two arguments"};
    const th_term *parts = is_pair(reason) ? th_tuple_elements(reason) : NULL;
    th_term module, function;
    struct th_fun_parts fun;
    uint32_t arity;
    size_t count;

    if (!parts || parts[0] != th_atom("badarity") || !th_is_tuple(parts[1]) ||
        th_tuple_arity(parts[1]) != 2 ||
        !th_get_list_length(th_tuple_elements(parts[1])[1], &count))
        return false;
    parts = th_tuple_elements(parts[1]);
    if (th_get_export(parts[0], &module, &function, &arity)) {
        expression_exception_add_function(
            &(struct th_exception){.module = module, .function = function}, out);
        th_buffer_printf(out, "/%u called with ", arity);
    } else if (th_get_fun(parts[0], &fun)) {
        th_buffer_printf(out, "interpreted function with arity %u called with ", fun.arity);
    } else {
        return false;
    }
    if (count < sizeof numbers / sizeof numbers[0])
        th_buffer_add_text(out, numbers[count]);
    else
        th_buffer_printf(out, "%zu arguments", count);
    return true;
}

static void add_reason(th_term reason, struct th_buffer *out)
{
    bool pair = is_pair(reason);
    const char *tag = pair                 ? th_atom_name(th_tuple_elements(reason)[0])->text
                      : th_is_atom(reason) ? th_atom_name(reason)->text
                                           : "";

    for (size_t i = 0; i < sizeof reasons / sizeof reasons[0]; i++) {
        if (reasons[i].pair != pair || strcmp(reasons[i].tag, tag) != 0)
            continue;
        th_buffer_add_text(out, reasons[i].text);
        if (pair)
            expression_exception_add_term(out, th_tuple_elements(reason)[1]);
        return;
    }
    if (th_is_tuple(reason) && th_tuple_arity(reason) == 4 &&
        th_tuple_elements(reason)[0] == th_atom("shell_undef")) { /* with name, arity, arguments */
        th_buffer_add_text(out, "undefined shell command ");
        expression_exception_add_term(out, th_tuple_elements(reason)[1]);
        th_buffer_add_byte(out, '/');
        expression_exception_add_term(out, th_tuple_elements(reason)[2]);
    } else if (!add_unbound(reason, out) && !add_arity(reason, out)) {
        expression_exception_add_term(out, reason);
    }
}

/* Appends a reason that contains the function; then no line about the function follows. */
static bool add_of_function(const struct th_exception *x, struct th_buffer *out)
{
    if (!x->module || x->class != TH_CLASS_ERROR)
        return false;
    if (x->reason == th_atom("undef")) {
        th_buffer_add_text(out, "undefined function ");
        expression_exception_add_function(x, out);
        th_buffer_printf(out, "/%zu", argument_count(x));
        return true;
    }
    if (x->reason == th_atom("function_clause")) {
        th_buffer_add_text(out, "no function clause matching ");
        expression_exception_add_function(x, out);
        add_arguments(x, out);
        th_buffer_add_byte(out, ' '); /* in Erlang, file and line follow here */
        return true;
    }
    return false;
}

/* Appends the function or operator that raised the exception, with its arguments. */
static void add_origin(const struct th_exception *x, struct th_buffer *out)
{
    th_term first = x->arguments != TH_NIL ? th_cell(x->arguments)[0] : TH_NONE;
    const char *name = th_atom_name(x->function)->text;

    if (x->module) {
        th_buffer_add_text(out, "     in function  ");
        expression_exception_add_function(x, out);
        th_buffer_printf(out, "/%zu\n        called as ", argument_count(x));
        expression_exception_add_function(x, out);
        add_arguments(x, out);
    } else {
        th_buffer_printf(out, "     in operator  %s/%zu\n        called as ",
                         strcmp(name, "/") == 0 ? "'/'" : name, argument_count(x));
        if (argument_count(x) == 2) {
            expression_exception_add_term(out, first);
            th_buffer_printf(out, " %s ", name);
            expression_exception_add_term(out, th_cell(th_cell(x->arguments)[1])[0]);
        } else {
            th_buffer_printf(out, "%s ", name);
            expression_exception_add_term(out, first);
        }
    }
    th_buffer_add_byte(out, '\n');
}

void th_shell_print_exception(const struct th_evaluation *e, struct th_buffer *out)
{
    const struct th_exception *x = &e->exception;
    bool told;

    if (x->unbound.line > 0) {
        th_buffer_printf(out, "* %zu:%zu: ", x->unbound.line, x->unbound.column);
        add_unbound(x->reason, out);
        th_buffer_add_byte(out, '\n');
        return;
    }
    th_buffer_printf(out, "** exception %s: ", th_shell_classes[x->class]);
    if (x->construction)
        th_buffer_add_text(out, "construction of binary failed");
    told = x->construction || add_of_function(x, out);
    if (!told && x->class == TH_CLASS_ERROR)
        add_reason(x->reason, out);
    else if (!told)
        expression_exception_add_term(out, x->reason);
    th_buffer_add_byte(out, '\n');
    if (!told && x->function)
        add_origin(x, out);
    if (x->note[0])
        th_buffer_printf(out, "        *** %s\n", x->note);
}
