/* The libraries that `tracehost call` and `run` begin with. */
#ifndef TH_CALL_LIBRARY_H
#define TH_CALL_LIBRARY_H

#include "host/runtime/runtime.h"

/* Finds NAME, opens and loads it with INFO; COPY: opens a private copy, so that new code may take
 * its place, whatever is done to the file. TH_USAGE if there is another library of its module.
 * th_code_end() unloads it. */
enum th_status th_cli_call_library_add(const struct th_search *search, const char *name,
                                       th_term info, bool copy);

#endif
