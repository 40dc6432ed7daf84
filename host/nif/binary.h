/* Who owns the bytes of an ErlNifBinary. Inner header of nif/. */
#ifndef TH_NIF_BINARY_H
#define TH_NIF_BINARY_H

#include "plugin_api/erl_nif.h"

#include <stdbool.h>

/* FUNCTION takes the caller's share of BIN, if that has one. False if the checker says that it must
 * not: then nothing is to be done. */
bool th_nif_binary_take(ErlNifBinary *bin, const char *function);

#endif
