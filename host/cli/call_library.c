#include "call_library.h"

static const struct th_call_library *find(const struct th_call_libraries *libraries, th_term module)
{
    for (size_t i = 0; i < libraries->count; i++)
        if (libraries->items[i].module == module)
            return &libraries->items[i];
    return NULL;
}

static enum th_status refuse_second(const struct th_call_library *first, const char *path)
{
    return th_error_raise(TH_USAGE, "%s and %s are both module %s; one at a time, please",
                          th_library_path(first->library), path, th_atom_name(first->module)->text);
}

/* The names stand in reports, and the callees stay where they are, for as long as the library. */
static void name_functions(struct th_call_library *item)
{
    const struct th_entry *entry = th_library_entry(item->library);

    item->count = entry->function_count;
    item->callees = th_alloc((item->count + 1) * sizeof *item->callees);
    for (size_t i = 0; i < item->count; i++)
        item->callees[i] = (struct th_callee){
            .library = item->library,
            .function = &entry->functions[i],
            .name = th_printf("%s:%s/%u", th_atom_name(item->module)->text,
                              entry->functions[i].name, entry->functions[i].arity),
        };
}

enum th_status th_call_library_add(struct th_call_libraries *libraries,
                                   const struct th_search *search, const char *name, th_term info)
{
    struct th_call_library item = {0};
    const struct th_call_library *first;
    enum th_status status = th_library_find(search, name, &item.library);

    if (status != TH_OK)
        return status;
    item.module = th_library_name(item.library);
    first = find(libraries, item.module);
    if (first && first->library != item.library)
        status = refuse_second(first, th_library_path(item.library));
    else if (!first)
        status = th_library_load(item.library, NULL, info);
    if (first || status != TH_OK) { /* the same file once more is one user more, who goes at once */
        th_library_release(item.library);
        return status;
    }
    name_functions(&item);
    TH_ARRAY_GROW(libraries->items, libraries->count, libraries->capacity);
    libraries->items[libraries->count++] = item;
    return TH_OK;
}

void th_call_libraries_free(struct th_call_libraries *libraries)
{
    for (size_t i = 0; i < libraries->count; i++) {
        struct th_call_library *item = &libraries->items[i];
        th_library_release(item->library);
        for (size_t k = 0; k < item->count; k++)
            th_free((char *)item->callees[k].name);
        th_free(item->callees);
    }
    th_free(libraries->items);
    *libraries = (struct th_call_libraries){0};
}

const struct th_callee *th_call_library_function(const struct th_call_libraries *libraries,
                                                 th_term module, th_term function, size_t arity)
{
    const struct th_call_library *item = find(libraries, module);
    const ErlNifFunc *found;

    if (!item)
        return NULL;
    found = th_entry_function(th_library_entry(item->library), th_atom_name(function)->text,
                              (unsigned)arity);
    return found ? &item->callees[found - th_library_entry(item->library)->functions] : NULL;
}
