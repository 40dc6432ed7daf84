/*
 * The face of nif/: the functions of the NIF API, as shared objects import them.
 *
 * plugin_api/nif_functions.h has the contract of each; the host itself has no need to call them. A
 * function that a file here defines is exported by the program (host/exported.list.in), and by that
 * alone is implemented: a library that imports one which is not there is refused by its name
 * (library/).
 *
 * Where a shared object does what the API forbids, and it costs nothing to notice, the function
 * answers as for a failure. What cannot be noticed is undefined, as in a BEAM; trace/ tells whose
 * fault it was if the program dies of it.
 */
#ifndef TH_NIF_H
#define TH_NIF_H

#include "host/term/term.h"
#include "plugin_api/erl_nif.h"

/* For outputs, th_term * and ERL_NIF_TERM * are one type. */
_Static_assert(_Generic((ERL_NIF_TERM *)0, th_term * : 1, default : 0), "terms are the same word");

/* Raises REASON in ENV; what the function that raises returns. */
ERL_NIF_TERM th_nif_raise(ErlNifEnv *env, ERL_NIF_TERM reason);

#endif
