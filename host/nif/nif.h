/*
 * The face of nif/: the functions of the NIF API that shared objects import.
 *
 * plugin_api/erl_nif.h has the contract of each function; the host does not call them. The program
 * exports each function that is defined here (host/exported.list.in); no other registration is
 * needed. A library that imports another function is refused, with the function's name (library/).
 *
 * If a shared object does something that the API forbids, and detection costs nothing, the function
 * fails. Other misuse is undefined behaviour, as in a BEAM; crash/ names the library if the program
 * crashes from it.
 */
#ifndef TH_NIF_H
#define TH_NIF_H

#include "host/term/word.h"
#include "plugin_api/erl_nif.h"

#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>

/* th_term * and ERL_NIF_TERM * must be the same type for outputs. */
_Static_assert(_Generic((ERL_NIF_TERM *)0, th_term * : 1, default : 0), "terms are the same word");

/* Clears ENV, an environment of enif_alloc_env(), after FUNCTION has sent the message in ENV. While
 * the checker is on, each term that is made in ENV before enif_clear_env() is a finding. */
void th_nif_env_sent(ErlNifEnv *env, const char *function);

/* Raises REASON in ENV. Returns the value that the raising function must return. */
ERL_NIF_TERM th_nif_raise(ErlNifEnv *env, ERL_NIF_TERM reason);

/* --- Binaries (nif_binaries.c) ---------------------------------------------------------------- */

enum th_nif_binary_taker {
    TH_NIF_REALLOC_BINARY,
    TH_NIF_RELEASE_BINARY,
    TH_NIF_MAKE_BINARY,
    TH_NIF_IOQ_ENQ_BINARY
};

/* Sets the first 32 bytes of BIN, the whole structure in NIF 2.0 to 2.10. REF_BIN is the caller's
 * reference, or NULL. */
void th_nif_binary_set(ErlNifBinary *bin, size_t size, unsigned char *data, void *ref_bin);

/* Records for the checker that the function TAKER takes over the library's reference in BIN, if BIN
 * has one. Returns false, with a finding, if the library has given the reference back already: then
 * the caller must leave BIN and the reference as they are. True if the checker is off. */
bool th_nif_binary_take(ErlNifBinary *bin, enum th_nif_binary_taker taker);

/* --- Locks and threads (nif_locks.c) ---------------------------------------------------------- */

/* The name follows the lock, in the same memory. */
struct ErlDrvMutex_ {
    pthread_mutex_t lock;
    char name[];
};

/* Allocates an object of SIZE bytes, followed by a copy of NAME (NULL: "unknown", as in a BEAM).
 * Returns NULL if memory is short. */
void *th_nif_named_create(size_t size, const char *name);

#endif
