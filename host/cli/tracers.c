/* tracehost tracers: which tracers are found, and what is in one. */
#include "command.h"
#include "host/trace/trace.h"

#include <string.h>
#include <unistd.h>

struct tracers {
    const char **folders;
    size_t folder_count, folder_capacity;
    const char *name; /* NULL: list all */
};

enum { LINE_WIDTH = 79 };

static const struct argp_option options[] = {
    {NULL, 'L', "DIR", 0,
     "Look in DIR first, then in $TRACEHOST_PATH, then where tracehost is installed", 0},
    {0},
};

static error_t parse(int key, char *value, struct argp_state *state)
{
    struct tracers *tracers = state->input;

    switch (key) {
    case 'L':
        TH_ARRAY_GROW(tracers->folders, tracers->folder_count, tracers->folder_capacity);
        tracers->folders[tracers->folder_count++] = value;
        return 0;
    case ARGP_KEY_ARG:
        if (state->arg_num > 0)
            argp_error(state, "one NAME at a time, please");
        tracers->name = value;
        return 0;
    default:
        return ARGP_ERR_UNKNOWN;
    }
}

static const struct argp argp = {
    options,
    parse,
    "[NAME]",
    "Lists the libraries in the tracer path; or shows what is in one: its callbacks and what fills "
    "each slot, its NIF version, the functions it imports.\v"
    "A library that is shown is opened: its constructors and its nif_init run, its load does "
    "not.\n\n"
    "Examples:\n"
    "  tracehost tracers\n"
    "  tracehost tracers count\n"
    "  tracehost tracers ./my_tracer.so",
    NULL,
    NULL,
    NULL,
};

/* --- the list --- */

static void print_found(const struct th_found *found)
{
    struct th_examination e;
    bool usable = th_examine(found->path, &e) == TH_OK;
    const char *what = !usable                      ? "refused"
                       : e.form == TH_LIBRARY_PLAIN ? "plain symbols"
                                                    : "NIF library";

    printf("%-20s %-14s %-16s %s%s\n", found->name, what, th_search_origin_text(found->origin),
           found->path, found->shadowed ? " (shadowed by the one above)" : "");
    for (size_t i = 1; !usable && th_error_link(i); i++) /* the first is that it was refused */
        printf("    %s\n", th_error_link(i));
    th_error_clear();
    th_examination_free(&e);
}

static void print_list(const struct th_search *search)
{
    struct th_found_list list = {0};

    th_search_list(search, &list);
    for (size_t i = 0; i < list.count; i++)
        print_found(&list.items[i]);
    if (list.count == 0)
        printf("no libraries\n");
    printf("\nlooked in:\n");
    for (size_t i = 0; i < search->count; i++)
        printf("  %s (%s)%s\n", search->folders[i].path,
               th_search_origin_text(search->folders[i].origin),
               access(search->folders[i].path, F_OK) == 0 ? "" : ", which is not there");
    th_found_list_free(&list);
}

/* --- one --- */

static void print_slots(const struct th_library *library)
{
    const struct th_slots *slots = th_library_slots(library);

    printf("\nslot                          filled by\n");
    for (enum th_tracer_slot slot = 0; slot < TH_SLOTS; slot++) {
        char name[64];
        snprintf(name, sizeof name, "%s/%u", th_slot_name(slot), th_slot_arity(slot));
        if (slots->functions[slot])
            printf("%-28s  %s/%u\n", name, slots->filled_by[slot], th_slot_arity(slot));
        else
            printf("%-28s  nothing\n", name);
    }
}

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
    printf("\nfunctions   %zu\n", entry->function_count);
}

static bool is_of_nif_api(const char *name)
{
    return strncmp(name, "enif_", 5) == 0 || strcmp(name, "erl_errno_id") == 0;
}

static void print_imports(const struct th_examination *e)
{
    size_t column = LINE_WIDTH, count = 0;

    for (size_t i = 0; i < e->import_count; i++)
        count += is_of_nif_api(e->imports[i].name);
    printf("\nimports of the NIF API: %zu", count);
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

static int print_library(const struct th_search *search, const char *name)
{
    struct th_library *library;
    const struct th_names *remarks;
    int status = TH_OK;

    if (th_library_find(search, name, &library) != TH_OK)
        return th_command_fail("tracers");
    print_version(library);
    print_slots(library);
    print_imports(th_library_examination(library));
    remarks = th_library_remarks(library);
    for (size_t i = 0; i < remarks->count; i++)
        printf("%s  %s\n", i ? "" : "\nremarks\n", remarks->items[i]);
    if (th_library_check_tracer(library) != TH_OK)
        status = th_command_fail("tracers");
    th_library_release(library);
    return status;
}

int th_command_tracers(int argc, char **argv)
{
    struct tracers tracers = {0};
    struct th_search search;
    int status = TH_OK;

    th_command_parse(&argp, argc, argv, &tracers);
    th_search_init(&search, tracers.folders, tracers.folder_count);
    th_guard_install();
    if (tracers.name)
        status = print_library(&search, tracers.name);
    else
        print_list(&search);
    th_guard_end();
    th_search_free(&search);
    th_free(tracers.folders);
    return th_command_finish("tracers", status);
}
