/* The inner header of embed/: structures with sizes, the program's host, streams. */
#ifndef TH_EMBED_HOST_H
#define TH_EMBED_HOST_H

#include "host/base/memory.h"
#include "host/control/argument.h"
#include "host/trace/event.h"
#include "plugin_api/tracehost.h"

#include <jansson.h>
#include <pthread.h>
#include <stdatomic.h>

struct th_session;
struct th_search;

/* --- Structures of tracehost.h ---------------------------------------------------------------- */

/* The caller sets the size of each structure: a program may have been compiled with an older or a
 * newer header. */

/*
 * Copies GIVEN, a struct NAME, to KNOWN, of which SIZE bytes are known. Missing members become 0,
 * all members if GIVEN is NULL.
 * Errors: TH_USAGE if the size of GIVEN is not set, or if a byte behind SIZE is not 0.
 */
enum th_status th_embed_sized_take(void *known, size_t size, const void *given, const char *name);

/* Checks that RESULT is a struct NAME with a size. Errors: TH_USAGE. */
enum th_status th_embed_sized_check(const void *result, const char *name);

/* Copies KNOWN, a structure of SIZE bytes, to RESULT, as far as RESULT's own size allows. RESULT's
 * first member, its size, stays; members of RESULT behind SIZE become 0.
 * Order: after th_embed_sized_check() of RESULT. */
void th_embed_sized_give(void *result, const void *known, size_t size);

/* Checks and fills RESULT, and returns the status for the program. */
enum tracehost_status th_embed_sized_answer(void *result, const void *known, size_t size,
                                            const char *name);

/* Begins a call that needs memory, after its arguments were checked: makes the host a library
 * (th_memory_last()), and sets th_memory_refused to false, except in a nested call.
 * Errors: TH_FAILED if memory is short. */
enum th_status th_embed_enter(void);

/* Checks that BYTES, or the memory for copies of TERM, can be allocated now. Errors: TH_FAILED. */
enum th_status th_embed_find_room(size_t bytes);
enum th_status th_embed_find_copy(ERL_NIF_TERM term);

/* Ends a call in which memory was refused since th_embed_enter(): raises TH_FAILED, with the first
 * link of STATUS's chain above it, and clears the mark. */
enum th_status th_embed_refused(enum th_status status);

static inline enum tracehost_status th_embed_answer(enum th_status status)
{
    if (__builtin_expect(th_memory_refused, 0) && status != TH_OK && status != TH_END)
        status = th_embed_refused(status);
    return (enum tracehost_status)status;
}

/* Raises TH_USAGE, "there is no WHAT", for a missing argument. Checks are chained with `?:`: the
 * next check runs if the status is TH_OK, which is 0. */
enum th_status th_embed_missing(const char *what);

static inline enum th_status th_embed_need(bool given, const char *what)
{
    return given ? TH_OK : th_embed_missing(what);
}

_Static_assert(TH_OK == 0, "the first status that is not TH_OK ends a chain of checks");

/* --- The host --------------------------------------------------------------------------------- */

struct tracehost_host {
    struct th_tracing *tracing;
    struct th_texts folders;  /* of the setup, and added ones; Owner: the host */
    tracehost_replay *replay; /* begun and not ended; NULL: none */
    pthread_mutex_t loading;  /* guards `folders`; held while a library is loaded */
    /* Processes and functions begun and not ended. Relaxed: a program ends them before it stops the
     * host. */
    atomic_size_t live;
    bool guard;
    bool recorded_callers; /* of the setup, as is `frames` */
    uint32_t frames;
    struct th_control_host *control;   /* NULL: no control socket and no watched files */
    tracehost_live_process *processes; /* begun and not ended */
    pthread_mutex_t processes_lock;    /* guards `processes` */
};

/* Checks that HOST is the running host. Errors: TH_USAGE. */
enum th_status th_embed_check(const tracehost_host *host);

/* As th_embed_check(), with TH_USAGE also in a callback, and in a function of the program that the
 * host has called. */
enum th_status th_embed_check_outside(const tracehost_host *host);

/* Finds SESSION, which must be alive, in the running HOST. Errors: TH_USAGE. */
enum th_status th_embed_session(const tracehost_host *host, tracehost_session session,
                                struct th_session **found);

/* Returns the processes of HOST as JSON, for the command `processes`. */
json_t *th_embed_processes(tracehost_host *host);

/* Checks FLAGS, enum tracehost_flag. Errors: TH_USAGE for an unknown bit. */
enum th_status th_embed_check_flags(uint32_t flags);

/* Converts FLAGS, which were checked, to enum th_flag. */
uint32_t th_embed_flags(uint32_t flags);

/* Parses TEXT, "M:F/A". Errors: TH_USAGE. */
enum th_status th_embed_read_function(const char *text, struct th_mfa *function);

/* Fills SEARCH with the folders of tracers.
 * Owner: the caller frees SEARCH with th_library_search_free().
 * Thread: with `loading` held. */
void th_embed_search(const tracehost_host *host, struct th_search *search);

/* --- Tracers in the program: embed_callbacks.c ------------------------------------------------ */

struct th_own_tracer;

/* Copies GIVEN to a tracer for a session, *OWN, which the session frees. Errors: TH_USAGE. */
enum th_status th_embed_callbacks_take(const struct tracehost_callbacks *given,
                                       struct th_own_tracer **own);

/* --- Recorded streams ------------------------------------------------------------------------- */

struct tracehost_stream {
    struct th_reader *reader;
    struct th_event event;   /* the latest event that tracehost_stream_next() read */
    struct th_event *latest; /* the latest event, of `event` or of a replay; NULL: none */
    /* Atomic, relaxed: no other data depends on the flag. See tracehost_stream_stop(). */
    volatile int stop;
    char *name;
    bool replayed; /* a replay has begun and not ended */
};

static inline bool th_embed_stream_stopped(const tracehost_stream *stream)
{
    return __atomic_load_n(&stream->stop, __ATOMIC_RELAXED);
}

/* Fills RECORD, which was checked, from EVENT. */
void th_embed_record_give(struct tracehost_record *record, struct th_event *event);

#endif
