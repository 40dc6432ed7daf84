/* Finds and calls functions that are written in C, and the commands of the shell. */
#include "shell_internal.h"

#include <stdlib.h>
#include <string.h>

static const struct th_shell_module own_modules[] = {
    {"erlang", th_shell_functions_of_erlang},
    {"lists", th_shell_functions_of_lists},
    {"binary", th_shell_functions_of_binary},
    {"timer", th_shell_functions_of_timer},
    {NULL, NULL},
};

/* The function of MODULES that is called so, and its module; MODULE NULL: without one. */
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

static th_term forget(struct th_evaluation *e)
{
    th_shell_forget(e);
    return TH_AM(ok);
}

static void show_line(const struct th_evaluation *e, struct th_buffer *line)
{
    th_buffer_add_byte(line, '\n');
    if (e->out)
        fwrite(line->data, 1, line->size, e->out);
}

static int compare_names(const void *a, const void *b)
{
    return th_atom_compare(((const struct th_binding *)a)->name,
                           ((const struct th_binding *)b)->name);
}

static th_term show_bindings(struct th_evaluation *e)
{
    struct th_binding *sorted = th_alloc((e->count + 1) * sizeof *sorted);
    struct th_buffer line = {0};
    size_t count = 0;

    for (size_t i = e->scope; i < e->count; i++)
        if (th_shell_find_binding(e, e->bindings[i].name) == &e->bindings[i])
            sorted[count++] = e->bindings[i];
    qsort(sorted, count, sizeof *sorted, compare_names);
    for (size_t i = 0; i < count; i++) {
        line.size = 0;
        th_buffer_printf(&line, "%s = ", th_atom_name(sorted[i].name)->text);
        th_text_show(&line, sorted[i].value);
        show_line(e, &line);
    }
    th_buffer_free(&line);
    th_free(sorted);
    return TH_AM(ok);
}

static th_term flush(struct th_evaluation *e)
{
    struct th_buffer line = {0};

    while (th_shell_wait(e, 0))
        continue;
    while (e->mail) {
        line.size = 0;
        th_buffer_add_text(&line, "Shell got ");
        th_text_show(&line, e->mail->term);
        show_line(e, &line);
        th_shell_drop_mail(e, &e->mail);
    }
    th_buffer_free(&line);
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
} commands[] = {{"f", forget}, {"b", show_bindings}, {"flush", flush}, {"q", quit}, {"halt", quit}};

/* f(Variable) */
static bool forget_variable(struct th_evaluation *e, const struct th_node *call)
{
    struct th_binding *binding;

    if (call->count != 3 || call->parts[2]->kind != TH_NODE_VARIABLE ||
        call->parts[1]->value != th_atom("f"))
        return false;
    binding = th_shell_find_binding(e, call->parts[2]->value);
    if (binding) {
        size_t i = (size_t)(binding - e->bindings);
        memmove(binding, binding + 1, (--e->count - i) * sizeof *binding);
        e->older -= i < e->older;
    }
    return true;
}

static th_term call_command(struct th_evaluation *e, th_term name, const th_term arguments[],
                            size_t count)
{
    th_term result = TH_NONE;

    for (size_t i = 0; count == 0 && i < sizeof commands / sizeof commands[0]; i++)
        if (strcmp(commands[i].name, th_atom_name(name)->text) == 0)
            return commands[i].run(e);
    if (th_shell_call_own(e, TH_NONE, name, count, arguments, &result) != TH_CALLED_UNDEFINED)
        return e->stopped ? TH_NONE : result;
    result = th_make_list(&e->heap, arguments, count);
    return th_shell_raise(
        e, TH_CLASS_ERROR,
        th_make_tuple_of(&e->heap, th_atom("shell_undef"), name, th_small((int64_t)count), result));
}

th_term th_shell_evaluate_command(struct th_evaluation *e, const struct th_node *call)
{
    size_t first;
    th_term result;

    if (forget_variable(e, call))
        return TH_AM(ok);
    if (!th_shell_evaluate_all(e, call->parts + 2, call->count - 2, &first))
        return TH_NONE;
    result = call_command(e, call->parts[1]->value, e->stack + first, call->count - 2);
    e->stacked = first;
    return result;
}
