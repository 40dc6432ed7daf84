/*
 * Declares what the files of scenarios_1.so and scenarios_2.so share: two versions of one library,
 * which a real BEAM and tracehost load, replace and unload. Each callback writes a line into the
 * file $JOURNAL.
 */
#ifndef SCENARIOS_H
#define SCENARIOS_H

#include <erl_nif.h>
#include <stdbool.h>
#include <stddef.h>

#define COUNT(array) (sizeof(array) / sizeof *(array))

/* Writes a line with the library's version. FORMAT is as for enif_snprintf(). Any thread. */
void note(const char *format, ...);

ERL_NIF_TERM atom(ErlNifEnv *env, const char *name);
int integer(ErlNifEnv *env, ERL_NIF_TERM term);

/* Opens the resource types listed in INFO, the argument of load(). Returns load()'s result. */
int open_types(ErlNifEnv *env, ERL_NIF_TERM info);

/* Frees the list of message_add(), in unload(). */
void free_message(void);

typedef ERL_NIF_TERM nif(ErlNifEnv *env, int argc, const ERL_NIF_TERM argv[]);

nif make, term, binary, release, release_in_thread, get, dynamic_call;
nif monitor, demonitor, same_monitor, frenzy;
nif send_to, message_add, message_send, message_clear, registered, registered_in_thread;
nif raise_term, badarg, badarg_first, chain, slices, arguments, stay, let_go;
#endif
