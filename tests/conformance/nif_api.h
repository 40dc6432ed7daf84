/*
 * Declares what the files of nif_api.so share. The library calls each function of the NIF API at
 * its edges and writes each result as a line into the file $NIF_API_LINES (README.md describes the
 * lines). Each host must write the same lines. Therefore the library is compiled with OTP's own
 * header, and results are written by a printer of its own (lines.c), which masks identifiers, as
 * these may differ.
 */
#ifndef NIF_API_H
#define NIF_API_H

#include <erl_nif.h>
#include <stdbool.h>
#include <stddef.h>

#define COUNT(array) (sizeof(array) / sizeof *(array))

/*
 * Write one check: a line of function, number and name, then the result. NAME is "enif_x: TEXT",
 * or TEXT alone for one more check of the function of the line before. Outputs that a failure must
 * not change are written with the result.
 */
void say(ErlNifEnv *env, const char *name, ERL_NIF_TERM value);
void say_int(const char *name, long value);
void say_text(const char *name, const char *text); /* may be NULL */
void say_pair(ErlNifEnv *env, const char *name, long result, ERL_NIF_TERM output);

/* Writes a check whose result differs between hosts. The file differences lists its results. */
void say_differing(ErlNifEnv *env, const char *name, ERL_NIF_TERM value);

/* Marks the lines that follow as of NIF 2.MINOR and later. 0 ends this. */
void say_since(unsigned minor);

/*
 * Write one check of several results: a row, which begins as NAME of say() and has the results that
 * put_*() add. put_output() adds OUTPUT, or '-' for a failure that left UNTOUCHED.
 */
void begin_row(const char *name, ...) __attribute__((format(printf, 1, 2)));
void put_int(long value);
void put_term(ErlNifEnv *env, ERL_NIF_TERM term);
void put_text(const char *text);
void put_output(ErlNifEnv *env, long result, ERL_NIF_TERM output, ERL_NIF_TERM untouched);
void end_row(void);

/* Ends a row of very many results: the line has their number and their hash. The results are in the
 * file $NIF_API_DETAILS, if there is one. */
void end_row_as_hash(void);

/* True if the file for the lines could be opened. */
bool open_lines(void);
void close_lines(void);

/* Writes a line for each function that no check has named. */
void say_missing_functions(void);

/* Returns the function NAME of the host, or NULL: for functions that the header may not declare. */
void *find_function(const char *name);

/* True if the host has NIF 2.17. */
bool has_utf8(void);

/* Makes the printer show PID, a pid of this node, as NAME. */
void name_pid(ERL_NIF_TERM pid, const char *name);

/* Create terms: a list from text, an atom, an integer, a binary. */
ERL_NIF_TERM text(ErlNifEnv *env, const char *bytes);
ERL_NIF_TERM atom(ErlNifEnv *env, const char *name);
ERL_NIF_TERM number(ErlNifEnv *env, long value);
ERL_NIF_TERM bytes(ErlNifEnv *env, const char *data, size_t size);

/* Returns a pid of this node that no process has ever had. */
ERL_NIF_TERM dead_pid(ErlNifEnv *env);

/* Sets the options of NIF 2.17, in load(). */
void set_options(ErlNifEnv *env);
void say_unloaded_threads(void);

/* Several hundred terms, always the same: some of each kind, with the edges of each range. */
enum { KINDS = 8 };
struct terms {
    ERL_NIF_TERM *all;
    size_t count;
    size_t plain; /* number of terms at the front; each later one contains one of these */
    struct {
        const char *name;
        size_t first, end; /* of the plain terms */
    } kinds[KINDS];
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
nif raise_term, scheduling, timeslices, slice, bad_schedules, dirty_cpu, dirty_io;
nif locks, conditions, thread_data, threads, sending_thread;
nif identifiers, named, sending, ports, port_closed, port_output, unique, clocks, time_units;
nif system_info, variables, libraries, errors, printing, memory;
nif resources, let_go, destroyed, resource_terms, dynamic_calls, monitors, watch_self;
nif select_pipe, select_ready, select_again, select_cancel, select_stop, select_stopped;
nif select_wrong, check;
#endif
