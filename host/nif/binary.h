/* Who owns the bytes of an ErlNifBinary. Inner header of nif/. */
#ifndef TH_NIF_BINARY_H
#define TH_NIF_BINARY_H

#include "plugin_api/erl_nif.h"

#include <stdbool.h>

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

#endif
