/* tracehost plugins: which NIF libraries are found, and what is in one. */
#include "libraries.h"

static const char help[] =
    "Lists the libraries in the plugin path; or shows what is in one: its functions, which of them "
    "are for dirty schedulers, its NIF version, the functions it imports and the version that has "
    "them all. What is shown as Module:Function/Arity can be called with `tracehost call`.\v"
    "A library that is shown is opened: its constructors and its nif_init run, its load does "
    "not.\n\n"
    "Examples:\n"
    "  tracehost plugins\n"
    "  tracehost plugins -L priv my_nif\n"
    "  tracehost plugins ./priv/my_nif.so";

static const char *flags_text(unsigned flags)
{
    switch (flags) {
    case ERL_NIF_DIRTY_JOB_CPU_BOUND:
        return "dirty, CPU bound";
    case ERL_NIF_DIRTY_JOB_IO_BOUND:
        return "dirty, I/O bound";
    default:
        return "";
    }
}

/* NAME as the atom that it becomes. */
static void add_name(struct th_buffer *out, const char *name)
{
    th_term atom = th_atom_utf8(name, strlen(name));

    if (atom == TH_NONE)
        atom = th_atom_latin1(name, strlen(name));
    if (atom != TH_NONE)
        th_text_print_atom(out, atom);
    else
        th_buffer_add_text(out, name);
}

static void print_function(const struct th_library *library, const ErlNifFunc *function)
{
    const char *flags = flags_text(function->flags);
    struct th_buffer text = {0};

    th_text_print_atom(&text, th_library_name(library));
    th_buffer_add_text(&text, ":");
    add_name(&text, function->name);
    th_buffer_printf(&text, "/%u", function->arity);
    th_buffer_text(&text);
    if (*flags)
        printf("  %-40s  %s\n", (char *)text.data, flags);
    else
        printf("  %s\n", (char *)text.data);
    th_buffer_free(&text);
}

static void print_functions(const struct th_library *library)
{
    const struct th_entry *entry = th_library_entry(library);

    printf("callbacks  %s%s%s%s\n", entry->load ? " load" : "", entry->upgrade ? " upgrade" : "",
           entry->unload ? " unload" : "",
           entry->load || entry->upgrade || entry->unload ? "" : " none");
    printf("\nfunctions: %zu\n", entry->function_count);
    for (size_t i = 0; i < entry->function_count; i++)
        print_function(library, &entry->functions[i]);
}

int th_command_plugins(int argc, char **argv)
{
    static const struct th_libraries_command command = {
        .kind = TH_SEARCH_PLUGINS,
        .name = "plugins",
        .help = help,
        .print = print_functions,
    };

    return th_libraries_run(&command, argc, argv);
}
