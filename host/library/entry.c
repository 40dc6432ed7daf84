#include "entry.h"

#include "library_internal.h"

#include "host/base/memory.h"
#include "host/term/atom.h"

#include <string.h>

enum { MOST_FUNCTIONS = 65536, MOST_ARGUMENTS = 255 };

/* The layout of ErlNifFunc before 2.7. */
struct short_function {
    const char *name;
    unsigned arity;
    ERL_NIF_TERM (*fptr)(ErlNifEnv *env, int argc, const ERL_NIF_TERM argv[]);
};

/* An entry that is read, and the memory that it may lie in. */
struct reading {
    const ErlNifEntry *from;
    struct th_memory memory; /* of the process */
    struct th_entry *entry;
};

static bool is_at_least(const ErlNifEntry *from, int major, int minor)
{
    return from->major > major || (from->major == major && from->minor >= minor);
}

/* --- Pointers -----------------------------------------------------------------------------------
 *
 * Each pointer is looked up in the memory of the process before it is followed: an entry need not
 * lie in its library, it may be on the heap (as in libraries in Rust) or be another library's. */

static enum th_status check_text(const struct reading *reading, const char *name, const char *text)
{
    return th_library_memory_check_text(&reading->memory, name, text);
}

static enum th_status check_code(const struct reading *reading, const char *name, uintptr_t address)
{
    return address == 0 || reading->memory.count == 0 ||
                   th_library_memory_after(&reading->memory, address, TH_MEMORY_EXECUTABLE) > 0
               ? TH_OK
               : th_error_raise(TH_REFUSED,
                                "the pointer to %s is %p, which is not the address of code", name,
                                (const void *)address);
}

/* --- Version --------------------------------------------------------------------------------- */

static enum th_status check_version(const struct reading *reading)
{
    const ErlNifEntry *from = reading->from;
    bool is_newer_major, is_newer;
    const char *variant, *runtime;
    size_t size;

    if (th_library_memory_check(&reading->memory, "the entry", from, offsetof(ErlNifEntry, name)))
        return th_error_status();
    is_newer_major = from->major > ERL_NIF_MAJOR_VERSION;
    is_newer = is_newer_major ||
               (from->major == ERL_NIF_MAJOR_VERSION && from->minor > ERL_NIF_MINOR_VERSION);
    if (from->major < ERL_NIF_MIN_REQUIRED_MAJOR_VERSION_ON_LOAD || from->minor < 0)
        return th_error_raise(TH_REFUSED,
                              "the library was compiled for NIF version %d.%d, older than 2.0; "
                              "compile it with a newer erl_nif.h",
                              from->major, from->minor);
    size = !is_at_least(from, 2, 1)    ? offsetof(ErlNifEntry, vm_variant)
           : !is_at_least(from, 2, 7)  ? offsetof(ErlNifEntry, options)
           : !is_at_least(from, 2, 12) ? offsetof(ErlNifEntry, sizeof_ErlNifResourceTypeInit)
           : !is_at_least(from, 2, 14) ? offsetof(ErlNifEntry, min_erts)
                                       : sizeof *from;
    if (th_library_memory_check(&reading->memory, "the entry", from, size))
        return th_error_status();
    if (is_newer) {
        /* A later minor version has min_erts at the same place; the layout of a later major one is
         * unknown. */
        runtime = is_newer_major ? NULL : from->min_erts;
        if (check_text(reading, "min_erts", runtime))
            return th_error_status();
        return th_error_raise(TH_REFUSED,
                              "the library was compiled for NIF version %d.%d%s%s; this host "
                              "provides %d.%d: compile it with an older erl_nif.h",
                              from->major, from->minor, runtime ? " of " : "",
                              runtime ? runtime : "", ERL_NIF_MAJOR_VERSION, ERL_NIF_MINOR_VERSION);
    }
    if (from->major == 2 && from->minor == 5)
        return th_error_raise(TH_REFUSED,
                              "the library was compiled for NIF version 2.5, which is compatible "
                              "with no other version; compile it with a newer erl_nif.h");
    variant = is_at_least(from, 2, 1) ? from->vm_variant : ERL_NIF_VM_VARIANT;
    if (check_text(reading, "vm_variant", variant))
        return th_error_status();
    if (!variant || strcmp(variant, ERL_NIF_VM_VARIANT) != 0)
        return th_error_raise(TH_REFUSED,
                              "the library was compiled for the VM variant '%s', not '%s'",
                              variant ? variant : "", ERL_NIF_VM_VARIANT);
    return TH_OK;
}

/* --- Functions ------------------------------------------------------------------------------- */

static enum th_status check_function(const struct reading *reading, size_t i)
{
    const ErlNifFunc *function = &reading->entry->functions[i];

    if (check_text(reading, "the function's name", function->name))
        return th_error_context("function %zu of the entry is damaged", i + 1);
    if (!function->name || !*function->name || strlen(function->name) > TH_ATOM_BYTES)
        return th_error_raise(
            TH_REFUSED,
            "function %zu of the entry has no name, or one that is too long for an atom", i + 1);
    if (function->arity > MOST_ARGUMENTS)
        return th_error_raise(TH_REFUSED, "the arity of function %s must be at most %d, not %u",
                              function->name, MOST_ARGUMENTS, function->arity);
    if (!function->fptr)
        return th_error_raise(TH_REFUSED, "function %s/%u has no code: the pointer to it is NULL",
                              function->name, function->arity);
    if (check_code(reading, "the function", (uintptr_t)function->fptr))
        return th_error_context("function %s/%u is damaged", function->name, function->arity);
    if (function->flags != 0 && function->flags != ERL_NIF_DIRTY_JOB_CPU_BOUND &&
        function->flags != ERL_NIF_DIRTY_JOB_IO_BOUND)
        return th_error_raise(TH_REFUSED, "function %s/%u has unknown flags (%u)", function->name,
                              function->arity, function->flags);
    return TH_OK;
}

static int compare_functions(const void *a, const void *b)
{
    const ErlNifFunc *first = *(const ErlNifFunc *const *)a;
    const ErlNifFunc *second = *(const ErlNifFunc *const *)b;
    int order = strcmp(first->name, second->name);

    return order ? order : (first->arity > second->arity) - (first->arity < second->arity);
}

static enum th_status check_twins(const struct th_entry *entry)
{
    size_t count = entry->function_count;
    const ErlNifFunc **sorted = th_alloc(count * sizeof(*sorted));
    enum th_status status = TH_OK;

    for (size_t i = 0; i < count; i++)
        sorted[i] = &entry->functions[i];
    qsort(sorted, count, sizeof(*sorted), compare_functions);
    for (size_t i = 1; i < count && !status; i++)
        if (compare_functions(&sorted[i - 1], &sorted[i]) == 0)
            status = th_error_raise(TH_REFUSED, "the entry has function %s/%u twice",
                                    sorted[i]->name, sorted[i]->arity);
    th_free(sorted);
    return status;
}

/* --- The whole entry ------------------------------------------------------------------------- */

static enum th_status read_functions(const struct reading *reading)
{
    const ErlNifEntry *from = reading->from;
    struct th_entry *entry = reading->entry;
    const void *functions = from->funcs;
    const struct short_function *old = functions;
    const ErlNifFunc *present = functions;
    bool has_flags = is_at_least(from, 2, 7);
    size_t count = (size_t)from->num_of_funcs;
    enum th_status status = TH_OK;

    if (from->num_of_funcs < 0 || from->num_of_funcs > MOST_FUNCTIONS)
        return th_error_raise(TH_REFUSED,
                              "the number of functions of the entry must be from 0 to %d, not %d",
                              MOST_FUNCTIONS, from->num_of_funcs);
    if (from->num_of_funcs > 0 && !functions)
        return th_error_raise(TH_REFUSED, "the entry has %d functions, but no array of functions",
                              from->num_of_funcs);
    if (count > 0 && th_library_memory_check(&reading->memory, "the array of functions", functions,
                                             count * (has_flags ? sizeof *present : sizeof *old)))
        return th_error_status();
    entry->functions = th_alloc(count * sizeof *entry->functions);
    entry->function_count = count;
    for (size_t i = 0; i < count; i++)
        entry->functions[i] =
            has_flags ? present[i] : (ErlNifFunc){old[i].name, old[i].arity, old[i].fptr, 0};
    for (size_t i = 0; i < count && !status; i++)
        status = check_function(reading, i);
    return status ? status : check_twins(entry);
}

static enum th_status entry_read_entry(const struct reading *reading)
{
    const ErlNifEntry *from = reading->from;
    struct th_entry *entry = reading->entry;

    if (check_version(reading))
        return th_error_status();
    *entry = (struct th_entry){
        .major = from->major,
        .minor = from->minor,
        .name = from->name,
        .load = from->load,
        .upgrade = from->upgrade,
        .unload = from->unload,
        .options = is_at_least(from, 2, 7) ? from->options : 0,
        .resource_init_size = is_at_least(from, 2, 12) ? from->sizeof_ErlNifResourceTypeInit : 0,
        .oldest_runtime = is_at_least(from, 2, 14) ? from->min_erts : NULL,
    };
    if (check_text(reading, "min_erts", entry->oldest_runtime) ||
        check_text(reading, "the module's name", entry->name) ||
        check_code(reading, "load()", (uintptr_t)entry->load) ||
        check_code(reading, "upgrade()", (uintptr_t)entry->upgrade) ||
        check_code(reading, "unload()", (uintptr_t)entry->unload))
        return th_error_status();
    if (!entry->name || !*entry->name || strlen(entry->name) > TH_ATOM_BYTES)
        return th_error_raise(TH_REFUSED,
                              "the entry has no module name, or one that is too long for an atom");
    return read_functions(reading);
}

enum th_status th_library_entry_read(const ErlNifEntry *from, struct th_entry *entry)
{
    struct reading reading = {.from = from, .entry = entry};
    enum th_status status;

    *entry = (struct th_entry){0};
    th_library_memory_of_process(&reading.memory);
    status = entry_read_entry(&reading);
    th_library_memory_free(&reading.memory);
    if (status)
        th_library_entry_free(entry);
    return status;
}

void th_library_entry_free(struct th_entry *entry)
{
    th_free(entry->functions);
    *entry = (struct th_entry){0};
}

const ErlNifFunc *th_library_entry_function(const struct th_entry *entry, const char *name,
                                            unsigned arity)
{
    for (size_t i = 0; i < entry->function_count; i++) {
        const ErlNifFunc *function = &entry->functions[i];
        if (function->arity == arity && strcmp(function->name, name) == 0)
            return function;
    }
    return NULL;
}

static const struct {
    const char *name;
    unsigned arity;
} table[TH_SLOTS] = {
#define SLOT(name, arity, group) {#name, arity},
    TH_TRACER_SLOTS(SLOT)
#undef SLOT
};

const char *th_library_slot_name(enum th_tracer_slot slot)
{
    return table[slot].name;
}

unsigned th_library_slot_arity(enum th_tracer_slot slot)
{
    return table[slot].arity;
}

bool th_library_slots_has_own(const struct th_slots *slots, enum th_tracer_slot slot)
{
    return slots->filled_by[slot] == table[slot].name;
}

void th_library_slots_fill(struct th_slots *slots, const struct th_entry *entry)
{
    *slots = (struct th_slots){0};
    for (size_t i = 0; i < TH_SLOTS; i++) {
        const ErlNifFunc *function =
            th_library_entry_function(entry, table[i].name, table[i].arity);
        /* The two generic slots come first, in the order of each pair of slots. */
        slots->functions[i] = function ? function->fptr : slots->functions[i % 2];
        slots->filled_by[i] = function ? table[i].name : slots->filled_by[i % 2];
    }
}

/* --- Functions that are never called ---------------------------------------------------------- */

void th_library_slots_remarks(const struct th_entry *entry, struct th_names *remarks)
{
    for (size_t i = 0; i < entry->function_count; i++) {
        const char *name = entry->functions[i].name;
        unsigned arity = entry->functions[i].arity;
        size_t slot = 0;
        while (slot < TH_SLOTS && strcmp(table[slot].name, name) != 0)
            slot++;
        if (slot < TH_SLOTS && table[slot].arity != arity)
            th_library_names_take(remarks,
                                  th_printf("%s/%u is never called: the callback is %s/%u", name,
                                            arity, table[slot].name, table[slot].arity));
        if (slot == TH_SLOTS && ((arity == 3 && strncmp(name, "enabled_", 8) == 0) ||
                                 (arity == 5 && strncmp(name, "trace_", 6) == 0)))
            th_library_names_take(
                remarks,
                th_printf("%s/%u is never called: there is no such callback", name, arity));
    }
}

static enum th_status check_setting(const struct th_memory *memory,
                                    const struct th_tracer_setting *setting)
{
    if (th_library_memory_check_text(memory, "the setting's name", setting->name) ||
        th_library_memory_check_text(memory, "the setting's words", setting->words) ||
        th_library_memory_check_text(memory, "the setting's otherwise", setting->otherwise) ||
        th_library_memory_check_text(memory, "the setting's help", setting->help))
        return th_error_status();
    if (!*setting->name || strlen(setting->name) > TH_ATOM_BYTES)
        return th_error_raise(TH_REFUSED, "the name is empty, or too long for an atom");
    if (setting->type < 0 || setting->type > TH_SETTING_TIME)
        return th_error_raise(TH_REFUSED, "the type must be from 0 to %d, not %d", TH_SETTING_TIME,
                              setting->type);
    if (setting->type == TH_SETTING_WORD &&
        (!setting->words || !setting->words[strspn(setting->words, " ")]))
        return th_error_raise(TH_REFUSED, "the type is TH_SETTING_WORD, but there are no words");
    return TH_OK;
}

enum th_status th_library_promise_read(const char *promise, bool *promised)
{
    struct th_memory memory = {0};
    enum th_status status;

    th_library_memory_of_process(&memory);
    status = th_library_memory_check(&memory, "th_tracer_functions_only", promise, sizeof *promise);
    *promised = status == TH_OK && *promise != 0;
    th_library_memory_free(&memory);
    return status;
}

enum th_status th_library_declared_check(const struct th_tracer_setting *settings, size_t size)
{
    size_t count = size / sizeof *settings, i = 0;
    struct th_memory memory = {0};
    enum th_status status;

    th_library_memory_of_process(&memory);
    status = th_library_memory_check(&memory, "the table", settings, size);
    for (; !status && i < count && settings[i].name; i++)
        if (check_setting(&memory, &settings[i]))
            status = th_error_context("row %zu of th_tracer_settings is damaged", i + 1);
    if (!status && i == count)
        status = th_error_raise(
            TH_REFUSED, "th_tracer_settings has no end: none of its %zu rows is {0}", count);
    th_library_memory_free(&memory);
    return status;
}
