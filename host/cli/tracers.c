/* tracehost tracers: which tracers are found, and what is in one. */
#include "libraries.h"

#include "host/trace/trace.h"

static const char before[] = "Lists the libraries in the tracer path; or shows what is in one: its "
                             "callbacks and what fills each slot, its settings, its NIF version, "
                             "the functions it imports and the version that has them all.";

static const char after[] = "A library that is shown is opened: its constructors and its nif_init "
                            "run, its load does not.\n\n"
                            "Examples:\n"
                            "  tracehost tracers\n"
                            "  tracehost tracers count\n"
                            "  tracehost tracers ./my_tracer.so";

static void print_slots(const struct th_library *library)
{
    const struct th_slots *slots = th_library_slots(library);

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
}

/* NAME  words or kind (default)  help */
static void print_settings(const struct th_library *library)
{
    const struct th_tracer_setting *setting = th_library_settings(library);

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

static void print_tracer(const struct th_library *library)
{
    print_slots(library);
    print_settings(library);
}

int th_cli_command_tracers(int argc, char **argv)
{
    static const struct th_libraries_command command = {
        .kind = TH_SEARCH_TRACERS,
        .name = "tracers",
        .before = before,
        .after = after,
        .print = print_tracer,
        .check = th_library_check_tracer,
    };

    return th_cli_libraries_run(&command, argc, argv);
}
