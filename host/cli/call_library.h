/* The libraries of `tracehost call`: loaded, found by module, unloaded. */
#ifndef TH_CALL_LIBRARY_H
#define TH_CALL_LIBRARY_H

#include "host/runtime/runtime.h"

struct th_call_library {
    struct th_library *library;
    th_term module;
    struct th_callee *callees; /* one for each function of its entry */
    size_t count;
};

struct th_call_libraries {
    struct th_call_library *items;
    size_t count, capacity;
};

/* Finds NAME, opens and loads it with INFO. TH_USAGE if there is another library of its module. */
enum th_status th_call_library_add(struct th_call_libraries *libraries,
                                   const struct th_search *search, const char *name, th_term info);

/* Unloads all. Nothing of them may be running, no term of theirs be left. */
void th_call_libraries_free(struct th_call_libraries *libraries);

/* The function, NULL if no library has it. Any thread. */
const struct th_callee *th_call_library_function(const struct th_call_libraries *libraries,
                                                 th_term module, th_term function, size_t arity);

#endif
