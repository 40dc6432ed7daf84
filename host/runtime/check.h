/*
 * The checker: catches what a library does that the NIF API forbids and a BEAM does not notice.
 *
 * While it is on (th_check_start()), the functions of the API report to it what they give out and
 * take back, and runtime/ each call that begins and ends. It finds: a result that is no term, is
 * nothing at all, or lives in another environment; memory, binaries, environments, locks and
 * references of resources that are given back twice, to the wrong function, or by who never had
 * them; and, at the end, what was never given back. Each finding is one line on stderr with the
 * function and its arguments, and is counted.
 *
 * While it is off it costs one predicted branch. Any thread.
 */
#ifndef TH_CHECK_H
#define TH_CHECK_H

#include "host/term/term.h"

#include <stdint.h>

struct th_call;

extern bool th_check_on; /* written by th_check_start() alone, before libraries are loaded */
void th_check_start(void);

/* Reports what libraries still own, by kind and by the call that got it. Returns how many findings
 * there were, all told. Once, after the libraries were unloaded. */
uint64_t th_check_end(void);

/* What a library can own. */
enum th_check_kind {
    TH_CHECK_MEMORY,      /* enif_alloc() */
    TH_CHECK_BINARY,      /* enif_alloc_binary(), until it is released or made a term */
    TH_CHECK_ENVIRONMENT, /* enif_alloc_env() */
    TH_CHECK_RESOURCE,    /* a reference of the library's own */
    TH_CHECK_LOCK,        /* mutexes, condition variables, read-write locks */
    TH_CHECK_IOQ,         /* queues and I/O vectors */
    TH_CHECK_THREAD,      /* enif_thread_create(), until it is joined */
    TH_CHECK_KINDS
};

/* The library got THING of KIND from FUNCTION, "enif_alloc". */
void th_check_got(enum th_check_kind kind, const void *thing, const char *function);

/* It gives THING back to FUNCTION. False, and a finding, if it does not own it: then nothing must
 * be done with it. */
bool th_check_gave(enum th_check_kind kind, const void *thing, const char *function);

/* A call has begun; it has returned ANSWER (TH_NONE with an exception in its environment, or with a
 * continuation, as SCHEDULED says). The answer to use instead: if ANSWER cannot be used,
 * `undefined`. */
void th_check_begin(const struct th_call *call);
th_term th_check_answer(const struct th_call *call, th_term answer, bool scheduled);

#endif
