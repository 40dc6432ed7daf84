#include "libraries.h"

#include "host/crash/crash.h"
#include "host/trace/trace.h"

#include <string.h>
#include <unistd.h>

struct arguments {
    struct th_texts folders; /* of -L */
    const char *name;        /* NULL: list all */
};

enum { LINE_WIDTH = 79, MOST_NEWEST = 3 };

/* --- The list --- */

static void print_found(const struct th_found *found)
{
    struct th_examination e;
    bool usable = th_library_examine(found->path, &e) == TH_OK;
    const char *what = !usable                      ? "refused"
                       : e.form == TH_LIBRARY_PLAIN ? "plain symbols"
                                                    : "NIF library";

    printf("%-20s %-14s %-16s %s%s\n", found->name, what,
           th_library_search_origin_text(found->origin), found->path,
           found->shadowed ? " (shadowed by the one above)" : "");
    for (size_t i = 1; !usable && th_error_link(i); i++) /* the first is that it was refused */
        printf("    %s\n", th_error_link(i));
    th_error_clear();
    th_library_examination_free(&e);
}

static void print_list(const struct th_search *search)
{
    struct th_found_list list = {0};

    th_library_search_list(search, &list);
    for (size_t i = 0; i < list.count; i++)
        print_found(&list.items[i]);
    if (list.count == 0)
        printf("no libraries\n");
    printf("\nlooked in:\n");
    for (size_t i = 0; i < search->count; i++)
        printf("  %s (%s)%s\n", search->folders[i].path,
               th_library_search_origin_text(search->folders[i].origin),
               access(search->folders[i].path, F_OK) == 0 ? "" : ", which is not there");
    th_library_found_list_free(&list);
}

/* --- One --- */

static void print_version(const struct th_library *library)
{
    const struct th_examination *e = th_library_examination(library);
    const struct th_entry *entry = th_library_entry(library);

    printf("module      %s\n", th_atom_name(th_library_name(library))->text);
    printf("path        %s\n", e->path);
    if (e->form == TH_LIBRARY_PLAIN) {
        printf("form        plain symbols\n");
        return;
    }
    printf("form        NIF library, compiled for NIF %d.%d", entry->major, entry->minor);
    if (entry->oldest_runtime)
        printf(", at least %s", entry->oldest_runtime);
    putchar('\n');
}

static bool is_of_nif_api(const char *name)
{
    return strncmp(name, "enif_", 5) == 0 || strcmp(name, "erl_errno_id") == 0;
}

/* The version that has all of them, and which need it. */
static void print_newest(const struct th_examination *e)
{
    const struct th_import *newest = th_library_examination_newest(e);
    struct th_names names = {0};
    char *joined;

    if (!newest)
        return;
    printf(", all in NIF %d.%d", newest->since / 100, newest->since % 100);
    for (size_t i = 0; newest->since > 200 && i < e->import_count; i++)
        if (e->imports[i].since == newest->since)
            th_library_names_add(&names, e->imports[i].name);
    joined = th_library_names_join(&names, MOST_NEWEST);
    if (names.count > 0)
        printf(" (the newest: %s)", joined);
    th_free(joined);
    th_library_names_free(&names);
}

static void print_imports(const struct th_examination *e)
{
    size_t column = LINE_WIDTH, count = 0;

    for (size_t i = 0; i < e->import_count; i++)
        count += is_of_nif_api(e->imports[i].name);
    printf("\nimports of the NIF API: %zu", count);
    print_newest(e);
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

static int print_library(const struct th_libraries_command *command, const struct th_search *search,
                         const char *name)
{
    struct th_library *library;
    const struct th_names *remarks;
    int status = TH_OK;

    if (th_library_find(search, name, &library) != TH_OK)
        return th_cli_command_fail(command->name);
    print_version(library);
    command->print(library);
    print_imports(th_library_examination(library));
    remarks = th_library_remarks(library);
    for (size_t i = 0; i < remarks->count; i++)
        printf("%s  %s\n", i ? "" : "\nremarks\n", remarks->items[i]);
    if (command->check && command->check(library) != TH_OK)
        status = th_cli_command_fail(command->name);
    th_library_release(library);
    return status;
}

int th_cli_libraries_run(const struct th_libraries_command *command, int argc, char **argv)
{
    bool tracers = command->kind == TH_SEARCH_TRACERS;
    const struct th_argument rows[] = {
        {.value = "NAME",
         .type = tracers ? TH_ARGUMENT_TRACER : TH_ARGUMENT_LIBRARY,
         TH_INTO(struct arguments, name)},
        TH_OPTION(NULL, "DIR", FOLDER, 0,
                  "Look in DIR first, then in $TRACEHOST_PATH, then where tracehost is installed",
                  .letter = 'L', .how = TH_ARGUMENT_REPEATS, TH_INTO(struct arguments, folders)),
        {0}};
    const struct th_argument_set sets[] = {{.items = rows}, {0}};
    const struct th_usage usage = {
        .sets = sets, .before = command->before, .after = command->after};
    struct arguments arguments = {0};
    struct th_search search;
    int status = TH_OK;

    th_cli_command_parse(&usage, argc, argv, &arguments);
    th_library_search_init(&search, command->kind, arguments.folders.items,
                           arguments.folders.count);
    th_crash_install();
    if (arguments.name)
        status = print_library(command, &search, arguments.name);
    else
        print_list(&search);
    th_crash_end();
    th_library_search_free(&search);
    th_free(arguments.folders.items);
    return th_cli_command_finish(command->name, status);
}
