/* Declarations for the files of this plugin; bank.c describes the whole. */
#ifndef BANK_H
#define BANK_H

#include <nif_module.h>

#include <stdatomic.h>
#include <stdbool.h>

#ifndef BANK_VERSION
#define BANK_VERSION 1 /* samples/careful_bank has another one */
#endif

static inline ERL_NIF_TERM atom(ErlNifEnv *env, const char *name)
{
    return enif_make_atom(env, name);
}

static inline bool is_atom(ErlNifEnv *env, ERL_NIF_TERM term, const char *name)
{
    return enif_is_identical(term, atom(env, name));
}

static inline ERL_NIF_TERM pair(ErlNifEnv *env, const char *tag, ERL_NIF_TERM term)
{
    return enif_make_tuple2(env, atom(env, tag), term);
}

/* The answer if the host has no processes for libraries. */
static inline ERL_NIF_TERM not_supported(ErlNifEnv *env)
{
    return pair(env, "error", atom(env, "not_supported"));
}

/* Returns the elements of a tuple with SIZE elements; NULL if TERM is none. */
static inline const ERL_NIF_TERM *elements_of(ErlNifEnv *env, ERL_NIF_TERM term, int size)
{
    const ERL_NIF_TERM *elements;
    int count;

    return enif_get_tuple(env, term, &count, &elements) && count == size ? elements : NULL;
}

/* Returns the value of {TAG, Value}; 0 if TERM is another term. */
static inline ERL_NIF_TERM tagged(ErlNifEnv *env, ERL_NIF_TERM term, const char *tag)
{
    const ERL_NIF_TERM *elements = elements_of(env, term, 2);

    return elements && is_atom(env, elements[0], tag) ? elements[1] : 0;
}

/* --- Requests: {Request, From, Reference}, answered by {Reference, Reply} --------------------- */

enum { PATIENCE = 500 }; /* timeout of an answer in milliseconds */

/* Sends a request to the process NAME, as the last act of a function, which returns the answer. A
 * reply is {ok, Value}, {throw, Reason}, which is thrown, or {error, Reason}. Raises {not_open,
 * NAME} if there is no such process, {silent, NAME} if it does not answer. */
ERL_NIF_TERM ask(ErlNifEnv *env, ERL_NIF_TERM name, ERL_NIF_TERM request);

/* Sends MESSAGE to the process NAME; false if there is none. */
bool send_to(ErlNifEnv *env, ERL_NIF_TERM name, ERL_NIF_TERM message);
/* Sends {REFERENCE, REPLY} to FROM, a pid. */
void reply(ErlNifEnv *env, ERL_NIF_TERM from, ERL_NIF_TERM reference, ERL_NIF_TERM reply);

/* --- Books: private data, passed from version to version -------------------------------------- */

struct books {
    long version;           /* version of the code that took them over last */
    _Atomic long users;     /* loaded versions. Release; acquire by the last one */
    _Atomic long transfers; /* completed transfers. Relaxed: a number by itself */
};

struct books *books_of(ErlNifEnv *env);

/* Notes that this code replaces another: its first call makes the processes upgrade. */
void expect_old_processes(void);

/* --- The processes, as functions of the library ----------------------------------------------- */

ERL_NIF_TERM run(ErlNifEnv *env, int argc, const ERL_NIF_TERM argv[]); /* the bank */
/* Accounts: the same, with their state. Processes come to new code by external calls of this
 * function and of account/3, when they get the message `upgrade`. */
ERL_NIF_TERM run_with(ErlNifEnv *env, int argc, const ERL_NIF_TERM argv[]);
/* Bank, Name, Balance. After a message it calls itself: a call that can be traced, as in Erlang,
 * whatever the compiler does. */
__attribute__((noinline)) ERL_NIF_TERM account(ErlNifEnv *env, int argc, const ERL_NIF_TERM argv[]);

/* --- Functions of several requests ------------------------------------------------------------ */

ERL_NIF_TERM transfer(ErlNifEnv *env, int argc, const ERL_NIF_TERM argv[]); /* From, To, Amount */
ERL_NIF_TERM audit(ErlNifEnv *env, int argc, const ERL_NIF_TERM argv[]);

#if BANK_VERSION > 1 /* samples/careful_bank */
ERL_NIF_TERM checked_transfer(ErlNifEnv *env, int argc, const ERL_NIF_TERM argv[]);
ERL_NIF_TERM transfers(ErlNifEnv *env, int argc, const ERL_NIF_TERM argv[]);
#define transfer checked_transfer
#endif

#endif
