/*
 * The answer of an Erlang node to a library: which release loads the library, and why each release refuses it.
 *
 * A node loads the form with an entry alone, and resolves all functions that the library imports when it opens the file.
 */
#ifndef TH_NODE_LOADING_H
#define TH_NODE_LOADING_H

#include "name_list.h"

struct th_library;

/*
 * Appends the reasons for which nodes of all releases refuse LIBRARY, a sentence each: functions that this host alone exports
 * and that are not weak, and the callbacks that a tracer lacks. None in the plain form.
 * Source: erlang:load_nif/2; erlang:trace/3 raises badarg for a tracer that lacks a callback.
 */
void th_library_node_refusals(const struct th_library *library, struct th_names *reasons);

/* Returns the first OTP release that has the NIF version of LIBRARY's entry and the functions that LIBRARY imports, at least
 * 17; 0 in the plain form, which no node loads. */
int th_library_node_release(const struct th_library *library);

#endif
