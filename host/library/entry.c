#include "entry.h"

#include "host/term/term.h"

#include <string.h>

enum { MOST_FUNCTIONS = 65536, MOST_ARGUMENTS = 255 };

/* ErlNifFunc before 2.7. */
struct short_function {
    const char *name;
    unsigned arity;
    ERL_NIF_TERM (*fptr)(ErlNifEnv *env, int argc, const ERL_NIF_TERM argv[]);
};

static bool is_at_least(const struct th_entry *entry, int major, int minor)
{
    return entry->major > major || (entry->major == major && entry->minor >= minor);
}

/* --- Version --------------------------------------------------------------------------------- */

/* Of a later minor version min_erts still stands where it stood; of a major one nothing is known.
 */
static enum th_status refuse_newer(const ErlNifEntry *from)
{
    const char *runtime = from->major == ERL_NIF_MAJOR_VERSION ? from->min_erts : NULL;

    return th_error_raise(TH_REFUSED,
                          "it was compiled for NIF version %d.%d%s%s, this host has %d.%d; compile "
                          "it with an older erl_nif.h",
                          from->major, from->minor, runtime ? " of " : "", runtime ? runtime : "",
                          ERL_NIF_MAJOR_VERSION, ERL_NIF_MINOR_VERSION);
}

static enum th_status check_version(const ErlNifEntry *from)
{
    if (from->major < ERL_NIF_MIN_REQUIRED_MAJOR_VERSION_ON_LOAD || from->minor < 0)
        return th_error_raise(TH_REFUSED,
                              "it was compiled for NIF version %d.%d, older than 2.0; compile it "
                              "with a newer erl_nif.h",
                              from->major, from->minor);
    if (from->major > ERL_NIF_MAJOR_VERSION ||
        (from->major == ERL_NIF_MAJOR_VERSION && from->minor > ERL_NIF_MINOR_VERSION))
        return refuse_newer(from);
    if (from->major == 2 && from->minor == 5)
        return th_error_raise(TH_REFUSED, "it was compiled for NIF version 2.5, an experiment that "
                                          "no other version is compatible with");
    return TH_OK;
}

/* --- Functions ------------------------------------------------------------------------------- */

static void copy_functions(struct th_entry *entry, const void *functions, size_t count)
{
    const struct short_function *old = functions;
    const ErlNifFunc *present = functions;
    bool has_flags = is_at_least(entry, 2, 7);

    entry->functions = th_alloc(count * sizeof *entry->functions);
    entry->function_count = count;
    for (size_t i = 0; i < count; i++)
        entry->functions[i] =
            has_flags ? present[i] : (ErlNifFunc){old[i].name, old[i].arity, old[i].fptr, 0};
}

static enum th_status check_function(const struct th_entry *entry, size_t i)
{
    const ErlNifFunc *function = &entry->functions[i];

    if (!function->name || !*function->name || strlen(function->name) > TH_ATOM_BYTES)
        return th_error_raise(TH_REFUSED,
                              "function %zu of its entry has no name that an atom can "
                              "be",
                              i + 1);
    if (function->arity > MOST_ARGUMENTS)
        return th_error_raise(TH_REFUSED, "its function %s has %u arguments", function->name,
                              function->arity);
    if (!function->fptr)
        return th_error_raise(TH_REFUSED, "its function %s/%u has no code", function->name,
                              function->arity);
    if (function->flags != 0 && function->flags != ERL_NIF_DIRTY_JOB_CPU_BOUND &&
        function->flags != ERL_NIF_DIRTY_JOB_IO_BOUND)
        return th_error_raise(TH_REFUSED, "its function %s/%u has unknown flags (%u)",
                              function->name, function->arity, function->flags);
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
            status = th_error_raise(TH_REFUSED, "its entry has the function %s/%u twice",
                                    sorted[i]->name, sorted[i]->arity);
    th_free(sorted);
    return status;
}

static enum th_status read_functions(const ErlNifEntry *from, struct th_entry *entry)
{
    enum th_status status = TH_OK;

    if (from->num_of_funcs < 0 || from->num_of_funcs > MOST_FUNCTIONS ||
        (from->num_of_funcs > 0 && !from->funcs))
        return th_error_raise(TH_REFUSED, "its entry has %d functions%s", from->num_of_funcs,
                              from->funcs ? "" : " but no array of them");
    copy_functions(entry, from->funcs, (size_t)from->num_of_funcs);
    for (size_t i = 0; i < entry->function_count && !status; i++)
        status = check_function(entry, i);
    return status ? status : check_twins(entry);
}

/* --- The whole ------------------------------------------------------------------------------- */

static enum th_status read_entry(const ErlNifEntry *from, struct th_entry *entry)
{
    enum th_status status = check_version(from);

    if (status)
        return status;
    *entry = (struct th_entry){
        .major = from->major,
        .minor = from->minor,
        .name = from->name,
        .load = from->load,
        .upgrade = from->upgrade,
        .unload = from->unload,
    };
    if (is_at_least(entry, 2, 1) &&
        (!from->vm_variant || strcmp(from->vm_variant, ERL_NIF_VM_VARIANT) != 0))
        return th_error_raise(TH_REFUSED, "it was compiled for the VM variant \"%s\", not \"%s\"",
                              from->vm_variant ? from->vm_variant : "", ERL_NIF_VM_VARIANT);
    if (is_at_least(entry, 2, 7))
        entry->options = from->options;
    if (is_at_least(entry, 2, 12))
        entry->resource_init_size = from->sizeof_ErlNifResourceTypeInit;
    if (is_at_least(entry, 2, 14))
        entry->oldest_runtime = from->min_erts;
    if (!entry->name || !*entry->name || strlen(entry->name) > TH_ATOM_BYTES)
        return th_error_raise(TH_REFUSED, "its entry has no name that an atom can be");
    return read_functions(from, entry);
}

enum th_status th_entry_read(const ErlNifEntry *from, struct th_entry *entry)
{
    enum th_status status;

    *entry = (struct th_entry){0};
    status = read_entry(from, entry);
    if (status)
        th_entry_free(entry);
    return status;
}

void th_entry_free(struct th_entry *entry)
{
    th_free(entry->functions);
    *entry = (struct th_entry){0};
}

const ErlNifFunc *th_entry_function(const struct th_entry *entry, const char *name, unsigned arity)
{
    for (size_t i = 0; i < entry->function_count; i++) {
        const ErlNifFunc *function = &entry->functions[i];
        if (function->arity == arity && strcmp(function->name, name) == 0)
            return function;
    }
    return NULL;
}
