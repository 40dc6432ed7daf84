#include "node_loading.h"

#include "library_internal.h"

#include "host/base/memory.h"

#include <string.h>

/* The NIF versions, as 100 * major + minor, that came with a major release of OTP. */
static const struct {
    int version, release;
} releases[] = {
    {206, 17}, {208, 18}, {211, 19}, {212, 20}, {214, 21},
    {215, 22}, {216, 24}, {217, 26}, {218, 29},
};

int th_library_node_release(const struct th_library *library)
{
    const struct th_examination *e = &library->facts;
    int version = 100 * library->entry.major + library->entry.minor;
    size_t i = 0;

    if (e->form == TH_LIBRARY_PLAIN)
        return 0;
    for (size_t import = 0; import < e->import_count; import++)
        if (!e->imports[import].weak && e->imports[import].since > version)
            version = e->imports[import].since;
    while (i + 1 < sizeof releases / sizeof *releases && releases[i].version < version)
        i++;
    return releases[i].release;
}

/* Returns whether IMPORT is a function of this host that no NIF version has. A BEAM exports erl_errno_id(), as a function of
 * the driver API. */
static bool is_of_host_alone(const struct th_import *import)
{
    static const char *const begins[] = {"th_", "tracehost_", "enif_"};

    for (size_t i = 0; i < sizeof begins / sizeof *begins; i++)
        if (strncmp(import->name, begins[i], strlen(begins[i])) == 0)
            return import->kind == TH_IMPORT_PROVIDED && !import->weak && import->since == 0;
    return false;
}

void th_library_node_refusals(const struct th_library *library, struct th_names *reasons)
{
    enum { MOST_NAMES = 8 };
    const struct th_examination *e = &library->facts;
    const struct th_slots *slots = &library->slots;
    struct th_names missing = {0};
    bool is_tracer = false;
    const char *lacks;

    if (e->form == TH_LIBRARY_PLAIN)
        return;
    for (size_t i = 0; i < e->import_count; i++)
        if (is_of_host_alone(&e->imports[i]))
            th_library_names_add(&missing, e->imports[i].name);
    if (missing.count > 0) {
        char *joined = th_library_names_join(&missing, MOST_NAMES);
        th_library_names_take(
            reasons,
            th_printf("a node cannot load the library: this host alone exports %s", joined));
        th_free(joined);
    }
    th_library_names_free(&missing);
    for (enum th_tracer_slot slot = 0; slot < TH_SLOTS; slot++)
        is_tracer |= th_library_slots_has_own(slots, slot);
    lacks = th_library_missing_callbacks(library);
    if (is_tracer && lacks)
        th_library_names_take(
            reasons,
            th_printf("a node does not trace with the library: the tracer lacks %s", lacks));
}
