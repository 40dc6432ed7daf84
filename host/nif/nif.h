/*
 * The face of nif/: the functions of the NIF API, as shared objects import them.
 *
 * plugin_api/erl_nif.h has the contract of each; the host itself has no need to call them. A
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

#include "host/term/word.h"
#include "plugin_api/erl_nif.h"

#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>

/* For outputs, th_term * and ERL_NIF_TERM * are one type. */
_Static_assert(_Generic((ERL_NIF_TERM *)0, th_term * : 1, default : 0), "terms are the same word");

/* FUNCTION has taken a message of ENV, of enif_alloc_env(), whose terms end with that. */
void th_nif_env_sent(ErlNifEnv *env, const char *function);

/* Raises REASON in ENV; what the function that raises returns. */
ERL_NIF_TERM th_nif_raise(ErlNifEnv *env, ERL_NIF_TERM reason);

/* --- Binaries (nif_binaries.c) ---------------------------------------------------------------- */

enum th_nif_binary_taker {
    TH_NIF_REALLOC_BINARY,
    TH_NIF_RELEASE_BINARY,
    TH_NIF_MAKE_BINARY,
    TH_NIF_IOQ_ENQ_BINARY
};

/* Sets the first 32 bytes of BIN, all that libraries of NIF 2.0 to 2.10 have of it. REF_BIN is the
 * caller's share, or NULL. */
void th_nif_binary_set(ErlNifBinary *bin, size_t size, unsigned char *data, void *ref_bin);

/* The function TAKER takes the caller's share of BIN, if that has one. False if the checker says
 * that it must not: then nothing is to be done. */
bool th_nif_binary_take(ErlNifBinary *bin, enum th_nif_binary_taker taker);

/* --- Locks and threads (nif_locks.c) ---------------------------------------------------------- */

/* A lock's name lies behind it, in the same memory. */
struct ErlDrvMutex_ {
    pthread_mutex_t lock;
    char name[];
};

/* Memory for a thing of SIZE bytes and, behind it, a copy of NAME; NULL if
 * there is none. What has no name is called "unknown", as in a BEAM. */
void *th_nif_named_create(size_t size, const char *name);

#endif
