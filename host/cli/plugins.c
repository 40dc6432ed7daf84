/* tracehost plugins: which NIF libraries are found, and what is in one. */
#include "libraries.h"

#include "host/breakpoint/breakpoint.h"

static const char before[] =
    "Lists the libraries in the plugin path; or shows what is in one: its functions, what "
    "breakpoints they can have, which of them are for dirty schedulers, where they are in the "
    "source if there is debug information, its NIF version, the functions it imports and the "
    "version that has them all. What is shown as Module:Function/Arity can be called with "
    "`tracehost call`, and traced; local functions can be traced.";

static const char after[] = "A global breakpoint sees calls that come from outside, a local one "
                            "also those that the library makes in C.\n\n"
                            "A library that is shown is opened: its constructors and its nif_init "
                            "run, its load does not.\n\n"
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
        th_text_show_atom(out, atom);
    else
        th_buffer_add_text(out, name);
}

static char *name_of(const struct th_library *library, const char *name, unsigned arity)
{
    struct th_buffer text = {0};
    char *copy;

    th_text_show_atom(&text, th_library_name(library));
    th_buffer_add_text(&text, ":");
    add_name(&text, name);
    th_buffer_printf(&text, "/%u", arity);
    copy = th_strdup(th_buffer_text(&text));
    th_buffer_free(&text);
    return copy;
}

/* --- Why a function has no local breakpoints -------------------------------------------------- */

enum { MOST_NAMES = 3 };

struct refusal {
    const char *why;
    struct th_names functions;
};

struct refusals {
    struct refusal *items; /* each reason once */
    size_t count, capacity;
};

static void note_refusal(struct refusals *refusals, const char *why, const char *function)
{
    size_t i = 0;

    while (i < refusals->count && strcmp(refusals->items[i].why, why) != 0)
        i++;
    if (i == refusals->count) {
        TH_ARRAY_GROW(refusals->items, refusals->count, refusals->capacity);
        refusals->items[refusals->count++] = (struct refusal){.why = why};
    }
    th_library_names_add(&refusals->items[i].functions, function);
}

/* Of ALL functions. */
static void print_refusals(struct refusals *refusals, size_t all)
{
    for (size_t i = 0; i < refusals->count; i++) {
        struct refusal *refusal = &refusals->items[i];
        char *functions = refusal->functions.count == all
                              ? th_strdup("all")
                              : th_library_names_join(&refusal->functions, MOST_NAMES);
        printf("%s  %s:\n    %s\n", i ? "" : "\nno local breakpoints\n", functions, refusal->why);
        th_free(functions);
        th_library_names_free(&refusal->functions);
    }
    th_free(refusals->items);
}

/* --- The functions ---------------------------------------------------------------------------- */

/* One with CODE, which can have breakpoints of the kind WITHOUT if not local ones. */
static void print_function(const struct th_library *library, struct refusals *refusals, char *name,
                           const void *code, const char *with, const char *without,
                           const char *flags)
{
    const char *why = th_native_refusal(library, code);
    const char *kinds = why ? without : with;
    struct th_buffer text = {0};
    struct th_line line;

    if (why)
        note_refusal(refusals, why, name);
    th_buffer_printf(&text, "  %-40s  %-13s", name, kinds);
    if (*flags)
        th_buffer_printf(&text, "  %s", flags);
    if (th_library_line(library, (uintptr_t)code, &line) && line.file)
        th_buffer_printf(&text, "  %s:%u", line.file, line.line);
    while (text.data[text.size - 1] == ' ')
        text.size--;
    puts(th_buffer_text(&text));
    th_buffer_free(&text);
    th_free(name);
}

static void print_functions(const struct th_library *library)
{
    const struct th_entry *entry = th_library_entry(library);
    const struct th_code_map *map = th_library_code_map(library);
    struct refusals refusals = {0};

    printf("callbacks  %s%s%s%s\n", entry->load ? " load" : "", entry->upgrade ? " upgrade" : "",
           entry->unload ? " unload" : "",
           entry->load || entry->upgrade || entry->unload ? "" : " none");
    printf("\nfunctions: %zu\n", entry->function_count);
    for (size_t i = 0; i < entry->function_count; i++) {
        const ErlNifFunc *function = &entry->functions[i];
        print_function(library, &refusals, name_of(library, function->name, function->arity),
                       (const void *)(uintptr_t)function->fptr, "local, global", "global",
                       flags_text(function->flags));
    }
    if (map->local_count > 0)
        printf("\nlocal functions: %zu\n", map->local_count);
    for (size_t i = 0; i < map->local_count; i++) {
        const struct th_local *local = &map->locals[i];
        print_function(library, &refusals, name_of(library, local->name, local->arity), local->code,
                       "local", "none", "");
    }
    print_refusals(&refusals, entry->function_count + map->local_count);
}

int th_cli_command_plugins(int argc, char **argv)
{
    static const struct th_libraries_command command = {
        .kind = TH_SEARCH_PLUGINS,
        .name = "plugins",
        .before = before,
        .after = after,
        .print = print_functions,
    };

    /* Where there are no local breakpoints that is told of each function. */
    if (th_native_begin() != TH_OK)
        th_error_clear();
    return th_cli_libraries_run(&command, argc, argv);
}
