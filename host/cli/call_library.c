#include "call_library.h"

enum th_status th_call_library_add(struct th_call_libraries *libraries,
                                   const struct th_search *search, const char *name, th_term info)
{
    struct th_library *library;
    enum th_status status = th_library_find(search, name, &library);
    bool again;

    if (status != TH_OK)
        return status;
    again = th_module_find(th_library_name(library)) == library;
    if (!again)
        status = th_module_check(library);
    if (!again && status == TH_OK)
        status = th_library_load(library, NULL, info);
    if (again || status != TH_OK) { /* the same file once more is one user more, who goes at once */
        th_library_release(library);
        return status;
    }
    th_module_add(library);
    TH_ARRAY_GROW(libraries->items, libraries->count, libraries->capacity);
    libraries->items[libraries->count++] = library;
    return TH_OK;
}

void th_call_libraries_free(struct th_call_libraries *libraries)
{
    for (size_t i = 0; i < libraries->count; i++) {
        th_module_remove(libraries->items[i]);
        th_library_release(libraries->items[i]);
    }
    th_free(libraries->items);
    *libraries = (struct th_call_libraries){0};
}
