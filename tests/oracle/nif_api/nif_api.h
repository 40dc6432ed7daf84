/*
 * What the files of nif_api.so share.
 *
 * The library asks every function of the NIF API at its edges and writes down what it answers, a
 * line an answer, into the file $NIF_API_ANSWERS. A real BEAM and tracehost load the same library,
 * and the two files must be equal; so it is compiled with OTP's own header, and answers are
 * written by a printer of its own (answers.c), which masks what may differ: identifiers.
 */
#ifndef NIF_API_H
#define NIF_API_H

#include <erl_nif.h>
#include <stdbool.h>
#include <stddef.h>

/* Made by nif_api.sh from nif_functions.h: how many functions OTP has, and a macro
 * for each of them that notes that it was called. */
#include "called.h"

#define COUNT(array) (sizeof(array) / sizeof *(array))

/* What the lines that follow are about. */
void topic(const char *name);

/* One answer. Outputs that a failure must leave alone are told with the result. */
void say(ErlNifEnv *env, const char *name, ERL_NIF_TERM value);
void say_int(const char *name, long value);
void say_text(const char *name, const char *text); /* NULL too */
void say_pair(ErlNifEnv *env, const char *name, long result, ERL_NIF_TERM output);

/* An answer that is meant to differ. NAME stands in the table in plugin_api/README.md. */
void say_meant(ErlNifEnv *env, const char *name, ERL_NIF_TERM value);

/* The same, if the BEAM is of NIF 2.17 (OTP 26) or later, or before; else an answer. */
#define NEWER (ERL_NIF_MINOR_VERSION >= 17)
void say_meant_in_newer(ErlNifEnv *env, const char *name, ERL_NIF_TERM value);
void say_meant_in_older(ErlNifEnv *env, const char *name, ERL_NIF_TERM value);

/* True: the answers go to a file that could be opened. */
bool open_answers(void);
void close_answers(void);

/* A pid of this node, printed as NAME from now on. */
void name_pid(ERL_NIF_TERM pid, const char *name);

/* Text as a list, an atom; VALUE as an integer. */
ERL_NIF_TERM text(ErlNifEnv *env, const char *bytes);
ERL_NIF_TERM atom(ErlNifEnv *env, const char *name);
ERL_NIF_TERM number(ErlNifEnv *env, long value);
ERL_NIF_TERM bytes(ErlNifEnv *env, const char *data, size_t size);

/* A pid of this node that has never been. */
ERL_NIF_TERM dead_pid(ErlNifEnv *env);

/* 0.0 or -0.0. */
bool is_zero(ErlNifEnv *env, ERL_NIF_TERM term);

/* Sets the options of NIF 2.17, in load(). */
void set_options(ErlNifEnv *env);
void say_unloaded_threads(void);

/* A few of each kind, with the edges of each range; several hundred terms, always the same. */
struct terms {
    ERL_NIF_TERM *all;
    size_t count;
    size_t plain; /* so many are at the front, the others hold one of these */
};
struct terms make_terms(ErlNifEnv *env);
void free_terms(struct terms *terms);

/* Resource types, opened in load(). */
extern ErlNifResourceType *plain_type;    /* only a destructor */
extern ErlNifResourceType *eventful_type; /* destructor, stop, down, dynamic call */
int open_types(ErlNifEnv *env);
void say_what_ended(void);

/* Waits until *FLAG is set by another thread, five seconds at most; false: it was not. */
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
