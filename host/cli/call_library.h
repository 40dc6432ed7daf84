/* The libraries of `tracehost call`: loaded as modules, unloaded. */
#ifndef TH_CALL_LIBRARY_H
#define TH_CALL_LIBRARY_H

#include "host/runtime/runtime.h"

struct th_call_libraries {
    struct th_library **items;
    size_t count, capacity;
};

/* Finds NAME, opens and loads it with INFO. TH_USAGE if there is another library of its module. */
enum th_status th_call_library_add(struct th_call_libraries *libraries,
                                   const struct th_search *search, const char *name, th_term info);

/* Unloads all. Nothing of them may be running, no term of theirs be left. */
void th_call_libraries_free(struct th_call_libraries *libraries);

#endif
