/* tracehost tracers, tracehost plugins: list the libraries that are found, or examine one. */
#include "subcommand.h"

#include "host/base/buffer.h"
#include "host/breakpoint/native/native.h"
#include "host/cli/options/usage.h"
#include "host/crash/crash.h"
#include "host/library/code_map.h"
#include "host/library/debuginfo/line.h"
#include "host/library/entry.h"
#include "host/library/examine.h"
#include "host/library/find.h"
#include "host/library/load.h"
#include "host/library/node_loading.h"
#include "host/term/atom.h"
#include "host/term/text.h"
#include "host/trace/named_tracer.h"

#include <string.h>
#include <unistd.h>

struct arguments {
    struct th_texts folders; /* of -L */
    const char *name;        /* NULL: list all */
};

enum { LINE_WIDTH = 79, MOST_NAMES = 3 };

/* --- A library -------------------------------------------------------------------------------- */

static bool is_of_nif_api(const char *name)
{
    return strncmp(name, "enif_", 5) == 0 || strcmp(name, "erl_errno_id") == 0;
}

static void print_imports(const struct th_examination *e)
{
    const struct th_import *newest = th_library_examination_newest(e);
    struct th_names names = {0};
    size_t column = LINE_WIDTH, count = 0;
    char *joined;

    for (size_t i = 0; i < e->import_count; i++)
        count += is_of_nif_api(e->imports[i].name);
    printf("\nimports of the NIF API: %zu", count);

    /* The version that has all imports, and the imports that require this version. */
    if (newest)
        printf(", all in NIF %d.%d", newest->since / 100, newest->since % 100);
    for (size_t i = 0; newest && newest->since > 200 && i < e->import_count; i++)
        if (e->imports[i].since == newest->since)
            th_library_names_add(&names, e->imports[i].name);
    joined = th_library_names_join(&names, MOST_NAMES);
    if (names.count > 0)
        printf(" (the newest: %s)", joined);
    th_free(joined);
    th_library_names_free(&names);

    for (size_t i = 0; i < e->import_count; i++) {
        const char *name = e->imports[i].name;
        if (!is_of_nif_api(name))
            continue;
        column += strlen(name) + 1;
        if (column > LINE_WIDTH)
            column = (size_t)printf("\n  %s", name) - 1;
        else
            printf(" %s", name);
    }
    putchar('\n');
}

/* --- Tracers ---------------------------------------------------------------------------------- */

/* Prints the slots and the settings: NAME words or kind (default) help */
static void print_tracer(const struct th_library *library)
{
    const struct th_slots *slots = th_library_slots(library);
    const struct th_tracer_setting *setting = th_library_settings(library);

    if (th_library_examination(library)->form == TH_LIBRARY_ENTRY)
        printf("functions   %zu\n", th_library_entry(library)->function_count);
    printf("\nslot                          filled by\n");
    for (enum th_tracer_slot slot = 0; slot < TH_SLOTS; slot++) {
        char name[64];
        snprintf(name, sizeof name, "%s/%u", th_library_slot_name(slot),
                 th_library_slot_arity(slot));
        if (slots->functions[slot])
            printf("%-28s  %s/%u\n", name, slots->filled_by[slot], th_library_slot_arity(slot));
        else
            printf("%-28s  nothing\n", name);
    }
    if (!setting)
        return;
    printf("\nsetting       may be\n");
    for (; setting->name; setting++) {
        char *values = th_trace_setting_values(setting);
        printf("%-12s  %s", setting->name, values);
        if (setting->otherwise)
            printf(" (default: %s)", setting->otherwise);
        printf("\n");
        if (setting->help)
            printf("              %s\n", setting->help);
        th_free(values);
    }
}

/* --- Plugins ---------------------------------------------------------------------------------- */

/* Returns the name of function NAME of LIBRARY, printed as the atom that it becomes. */
static char *libraries_name_of(const struct th_library *library, const char *name, unsigned arity)
{
    struct th_buffer text = {0};
    th_term atom = th_atom_utf8(name, strlen(name));

    if (atom == TH_NONE)
        atom = th_atom_latin1(name, strlen(name));
    th_text_show_atom(&text, th_library_name(library));
    th_buffer_add_byte(&text, ':');
    if (atom != TH_NONE)
        th_text_show_atom(&text, atom);
    else
        th_buffer_add_text(&text, name);
    th_buffer_printf(&text, "/%u", arity);
    return th_buffer_take_text(&text);
}

/* --- Reasons against local breakpoints -------------------------------------------------------- */

struct refusal {
    const char *why;
    struct th_names functions;
};

struct refusals {
    struct refusal *items; /* each reason once */
    size_t count, capacity;
};

/* --- Functions -------------------------------------------------------------------------------- */

/* Prints the function at CODE. FLAGS are the flags of its entry; NULL: the function has no entry,
 * as other modules cannot call it. */
static void libraries_print_function(const struct th_library *library, struct refusals *refusals,
                                     const char *plain, unsigned arity, const void *code,
                                     const unsigned *flags)
{
    char *name = libraries_name_of(library, plain, arity);
    const char *why = th_native_refusal(library, code);
    const char *kinds = flags ? (why ? "global" : "local, global") : why ? "none" : "local";
    size_t i = 0;
    struct th_buffer text = {0};
    struct th_line line;

    while (why && i < refusals->count && strcmp(refusals->items[i].why, why) != 0)
        i++;
    if (why && i == refusals->count) {
        TH_ARRAY_GROW(refusals->items, refusals->count, refusals->capacity);
        refusals->items[refusals->count++] = (struct refusal){.why = why};
    }
    if (why)
        th_library_names_add(&refusals->items[i].functions, name);
    th_buffer_printf(&text, "  %-40s  %-13s", name, kinds);
    if (flags && *flags == ERL_NIF_DIRTY_JOB_CPU_BOUND)
        th_buffer_add_text(&text, "  dirty, CPU bound");
    if (flags && *flags == ERL_NIF_DIRTY_JOB_IO_BOUND)
        th_buffer_add_text(&text, "  dirty, I/O bound");
    if (th_library_line(library, (uintptr_t)code, &line) && line.file)
        th_buffer_printf(&text, "  %s:%u", line.file, line.line);
    while (text.data[text.size - 1] == ' ')
        text.size--;
    puts(th_buffer_text(&text));
    th_buffer_free(&text);
    th_free(name);
}

static void libraries_print_functions(const struct th_library *library)
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
        libraries_print_function(library, &refusals, function->name, function->arity,
                                 (const void *)(uintptr_t)function->fptr, &function->flags);
    }
    if (map->local_count > 0)
        printf("\nlocal functions: %zu\n", map->local_count);
    for (size_t i = 0; i < map->local_count; i++) {
        const struct th_local *local = &map->locals[i];
        libraries_print_function(library, &refusals, local->name, local->arity, local->code, NULL);
    }
    for (size_t i = 0; i < refusals.count; i++) {
        struct refusal *refusal = &refusals.items[i];
        char *functions = refusal->functions.count == entry->function_count + map->local_count
                              ? th_strdup("all")
                              : th_library_names_join(&refusal->functions, MOST_NAMES);
        printf("%s  %s:\n    %s\n", i ? "" : "\nno local breakpoints\n", functions, refusal->why);
        th_free(functions);
        th_library_names_free(&refusal->functions);
    }
    th_free(refusals.items);
}

/* --- The commands ----------------------------------------------------------------------------- */

static int print_library(const char *command, const struct th_search *search, const char *name)
{
    struct th_library *library;
    const struct th_examination *e;
    const struct th_entry *entry;
    const struct th_names *remarks;
    struct th_names refusals = {0};
    int status = TH_OK;

    if (th_library_find(search, name, &library) != TH_OK)
        return th_cli_command_fail(command);
    e = th_library_examination(library);
    entry = th_library_entry(library);
    printf("module      %s\n", th_atom_name(th_library_name(library))->text);
    printf("path        %s\n", e->path);
    if (e->form == TH_LIBRARY_PLAIN)
        printf("form        plain symbols");
    else
        printf("form        NIF library, compiled for NIF %d.%d", entry->major, entry->minor);
    if (e->form != TH_LIBRARY_PLAIN && entry->oldest_runtime)
        printf(", at least %s", entry->oldest_runtime);
    putchar('\n');
    if (search->kind == TH_SEARCH_TRACERS)
        print_tracer(library);
    else
        libraries_print_functions(library);
    print_imports(e);
    remarks = th_library_remarks(library);
    for (size_t i = 0; i < remarks->count; i++)
        printf("%s  %s\n", i ? "" : "\nremarks\n", remarks->items[i]);
    th_library_node_refusals(library, &refusals);
    for (size_t i = 0; i < refusals.count; i++)
        printf("%s  %s\n", i ? "" : "\nErlang nodes\n", refusals.items[i]);
    th_library_names_free(&refusals);
    if (search->kind == TH_SEARCH_TRACERS && th_library_check_tracer(library) != TH_OK)
        status = th_cli_command_fail(command);
    th_library_release(library);
    return status;
}

static int libraries_run(enum th_search_kind kind, struct th_usage usage, int argc, char **argv)
{
    bool tracers = kind == TH_SEARCH_TRACERS;
    const struct th_argument rows[] = {
        {.value = "NAME",
         .type = tracers ? TH_ARGUMENT_TRACER : TH_ARGUMENT_LIBRARY,
         TH_INTO(struct arguments, name)},
        TH_OPTION(NULL, "DIR", FOLDER, INPUT, "Search DIR first, then $TRACEHOST_PATH",
                  .letter = 'L', .how = TH_ARGUMENT_REPEATS, TH_INTO(struct arguments, folders)),
        {0}};
    const struct th_argument_set sets[] = {{.items = rows}, {0}};
    struct arguments arguments = {0};
    struct th_found_list list = {0};
    struct th_search search;
    int status = TH_OK;

    usage.sets = sets;
    th_cli_command_parse(&usage, argc, argv, &arguments);
    th_library_search_init(&search, kind, arguments.folders.items, arguments.folders.count);
    th_crash_install();
    if (arguments.name) {
        status = print_library(argv[0], &search, arguments.name);
    } else {
        th_library_search_list(&search, &list);
        for (size_t i = 0; i < list.count; i++) {
            const struct th_found *found = &list.items[i];
            struct th_examination e;
            bool usable = th_library_examine(found->path, &e) == TH_OK;
            const char *what = !usable                      ? "refused"
                               : e.form == TH_LIBRARY_PLAIN ? "plain symbols"
                                                            : "NIF library";
            printf("%-20s %-14s %-16s %s%s\n", found->name, what,
                   th_library_search_origin_text(found->origin), found->path,
                   found->shadowed ? " (shadowed by the one above)" : "");
            for (size_t k = 1; !usable && th_error_link(k);
                 k++) /* link 0 only states the refusal */
                printf("    %s\n", th_error_link(k));
            th_error_clear();
            th_library_examination_free(&e);
        }
        if (list.count == 0)
            printf("no libraries\n");
        printf("\nlooked in:\n");
        for (size_t i = 0; i < search.count; i++)
            printf("  %s (%s)%s\n", search.folders[i].path,
                   th_library_search_origin_text(search.folders[i].origin),
                   access(search.folders[i].path, F_OK) == 0 ? "" : ", which does not exist");
        th_library_found_list_free(&list);
    }
    th_crash_end();
    th_library_search_free(&search);
    th_free(arguments.folders.items);
    return th_cli_command_finish(argv[0], status);
}

#define OPENED \
    "A library that is shown is opened: its constructors and its nif_init run, its load does not."

int th_cli_command_tracers(int argc, char **argv)
{
    static const struct th_usage usage = {
        .before = "Lists the tracers that are found, or shows one: callbacks, settings, imports.\n"
                  "NAME is looked up as NAME.so; a path contains a '/'.",
        .after = OPENED,
        .examples = "  tracehost tracers\n"
                    "  tracehost tracers count",
    };

    return libraries_run(TH_SEARCH_TRACERS, usage, argc, argv);
}

int th_cli_command_plugins(int argc, char **argv)
{
    static const struct th_usage usage = {
        .before = "Lists the NIF libraries that are found, or shows the functions of one.\n"
                  "NAME is looked up as NAME.so; a path contains a '/'.",
        .after = "A library is shown with the breakpoints that its functions can have, and with "
                 "its imports. Functions that are shown as Module:Function/Arity can be called "
                 "with `tracehost call`, and traced. Local functions can be traced. A global "
                 "breakpoint sees calls from other libraries; a local one also sees calls that the "
                 "library makes in C.\n\n" OPENED,
        .examples = "  tracehost plugins\n"
                    "  tracehost plugins fib",
    };

    /* If local breakpoints are not possible here, the reason is shown for each function. */
    if (th_native_begin() != TH_OK)
        th_error_clear();
    return libraries_run(TH_SEARCH_PLUGINS, usage, argc, argv);
}
