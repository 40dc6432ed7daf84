/*
 * Declares what the files of nif_api.so share. The library calls each function of the NIF API at
 * its edges and writes each result as a line into the file $NIF_API_ANSWERS. A real BEAM and
 * tracehost load the same library, and the two files must be equal. Therefore it is compiled with
 * OTP's own header, and results are written by a printer of its own (answers.c), which masks
 * identifiers, as these may differ.
 */
#ifndef NIF_API_H
#define NIF_API_H

#include <erl_nif.h>
#include <stdbool.h>
#include <stddef.h>

/* nif_api.sh makes this from nif_functions.h: the number of OTP's functions, and a macro for each
 * of them that notes its call. */
#include "called.h"

#define COUNT(array) (sizeof(array) / sizeof *(array))

/* Starts the section NAME of the lines that follow. */
void topic(const char *name);

/* Write one result. Outputs that a failure must not change are written with the result. */
void say(ErlNifEnv *env, const char *name, ERL_NIF_TERM value);
void say_int(const char *name, long value);
void say_text(const char *name, const char *text); /* may be NULL */
void say_pair(ErlNifEnv *env, const char *name, long result, ERL_NIF_TERM output);

/* Writes a result that differs on purpose. NAME is in the table of tracehost(7). */
void say_meant(ErlNifEnv *env, const char *name, ERL_NIF_TERM value);

/* Like say_meant() for BEAMs of NIF 2.17 (OTP 26) and later, or for earlier ones; else like
 * say(). */
#define NEWER (ERL_NIF_MINOR_VERSION >= 17)
void say_meant_in_newer(ErlNifEnv *env, const char *name, ERL_NIF_TERM value);
void say_meant_in_older(ErlNifEnv *env, const char *name, ERL_NIF_TERM value);

/* True if the file for the results could be opened. */
bool open_answers(void);
void close_answers(void);

/* Makes the printer show PID, a pid of this node, as NAME. */
void name_pid(ERL_NIF_TERM pid, const char *name);

/* Create terms: a list from text, an atom, an integer, a binary. */
ERL_NIF_TERM text(ErlNifEnv *env, const char *bytes);
ERL_NIF_TERM atom(ErlNifEnv *env, const char *name);
ERL_NIF_TERM number(ErlNifEnv *env, long value);
ERL_NIF_TERM bytes(ErlNifEnv *env, const char *data, size_t size);

/* Returns a pid of this node that no process has ever had. */
ERL_NIF_TERM dead_pid(ErlNifEnv *env);

/* True for 0.0 and -0.0. */
bool is_zero(ErlNifEnv *env, ERL_NIF_TERM term);

/* Sets the options of NIF 2.17, in load(). */
void set_options(ErlNifEnv *env);
void say_unloaded_threads(void);

/* Several hundred terms, always the same: some of each kind, with the edges of each range. */
struct terms {
    ERL_NIF_TERM *all;
    size_t count;
    size_t plain; /* number of terms at the front; each later one contains one of these */
};
struct terms make_terms(ErlNifEnv *env);
void free_terms(struct terms *terms);

/* Resource types, which load() opens. */
extern ErlNifResourceType *plain_type;    /* only a destructor */
extern ErlNifResourceType *eventful_type; /* destructor, stop, down, dyncall */
int open_types(ErlNifEnv *env);
void say_what_ended(void);

/* Waits until another thread has set *FLAG, five seconds at most. False: it was not set. */
bool wait_for(const int *flag);
void sleep_ms(long milliseconds);

typedef ERL_NIF_TERM nif(ErlNifEnv *env, int argc, const ERL_NIF_TERM argv[]);

nif about_terms, makers, binaries, sub_binaries, exceptions, environments, order, hashes;
nif small_maps, large_maps, iterators, external, vectors, queues, newer;
nif scheduling, timeslices, slice, bad_schedules, dirty_cpu, dirty_io;
nif locks, conditions, thread_data, threads, sending_thread;
nif identifiers, sending, ports, unique, clocks, time_units;
nif system_info, variables, libraries, errors, printing, memory;
nif resources, let_go, destroyed, resource_terms, dynamic_calls, monitors, watch_self;
nif select_pipe, select_ready, select_again, select_cancel, select_stop, select_stopped;
nif select_wrong;
#endif
