/* The inner header of embed/: structures with sizes, the host that a program has, streams. */
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

/* Whoever makes one gives it a size: programs may have been compiled with an older header than
 * ours, or with a newer one. */

/*
 * Copies what was GIVEN, a struct NAME, into KNOWN, of which SIZE bytes are known; what is missing
 * becomes 0, all of it if GIVEN is NULL. TH_USAGE if its size is not set, or if it has more than is
 * known and that is not 0.
 */
enum th_status th_embed_sized_take(void *known, size_t size, const void *given, const char *name);

/* TH_USAGE unless RESULT is a struct NAME that can be filled. */
enum th_status th_embed_sized_check(const void *result, const char *name);

/* Fills RESULT, which was checked, from KNOWN, of SIZE bytes, as far as it goes; its size stays. */
void th_embed_sized_give(void *result, const void *known, size_t size);

/* Checks and fills RESULT, and answers the program. */
enum tracehost_status th_embed_sized_answer(void *result, const void *known, size_t size,
                                            const char *name);

/* Begins a call that needs memory, whose arguments were checked. TH_FAILED if there is too little.
 */
enum th_status th_embed_enter(void);

/* TH_FAILED unless there are so many bytes at this moment. The same for what is kept, and made, of
 * a term that the program gives. */
enum th_status th_embed_find_room(size_t bytes);
enum th_status th_embed_find_copy(ERL_NIF_TERM term);

/* The thread was refused memory since th_embed_enter(): TH_FAILED, over the chain of STATUS, and it
 * is no more. */
enum th_status th_embed_refused(enum th_status status);

static inline enum tracehost_status th_embed_answer(enum th_status status)
{
    if (__builtin_expect(th_memory_refused, 0) && status != TH_OK && status != TH_END)
        status = th_embed_refused(status);
    return (enum tracehost_status)status;
}

/* For arguments that must be given. Checks are chained with `?:`, which goes on while the status is
 * TH_OK. */
enum th_status th_embed_missing(const char *what);

static inline enum th_status th_embed_need(bool given, const char *what)
{
    return given ? TH_OK : th_embed_missing(what);
}

_Static_assert(TH_OK == 0, "the first status that is not TH_OK ends a chain of checks");

/* --- The host --------------------------------------------------------------------------------- */

struct tracehost_host {
    struct th_tracing *tracing;
    struct th_texts folders;  /* of the setup, and added ones; each is ours */
    tracehost_replay *replay; /* that has begun and not ended, NULL: none */
    pthread_mutex_t loading;  /* guards the folders; libraries are loaded one at a time */
    atomic_size_t live;       /* processes and functions that have begun and not ended; relaxed: a
                                 program that stops the host has ended them before */
    bool guard;
    struct th_control_host *control;   /* NULL: nobody else tells the host what to do */
    tracehost_live_process *processes; /* that have begun and not ended */
    pthread_mutex_t processes_lock;    /* around them */
};

/* TH_USAGE unless HOST is the one that runs. */
enum th_status th_embed_check(const tracehost_host *host);

/* The same; also TH_USAGE if the thread is in a callback, or in a function of the program that was
 * called from here. */
enum th_status th_embed_check_outside(const tracehost_host *host);

/* HOST is the one that runs, and has *FOUND, which is alive: else TH_USAGE. */
enum th_status th_embed_session(const tracehost_host *host, tracehost_session session,
                                struct th_session **found);

/* The processes of HOST that have begun and not ended, as the command `processes` shows them. */
json_t *th_embed_processes(tracehost_host *host);

/* TH_USAGE if there are bits among FLAGS, enum tracehost_flag, that mean nothing. */
enum th_status th_embed_check_flags(uint32_t flags);

/* FLAGS, which were checked, as enum th_flag. */
uint32_t th_embed_flags(uint32_t flags);

/* Reads TEXT, "M:F/A". TH_USAGE if it is something else. */
enum th_status th_embed_read_function(const char *text, struct th_mfa *function);

/* Where tracers are looked for; th_library_search_free() ends it. While loading is locked. */
void th_embed_search(const tracehost_host *host, struct th_search *search);

/* --- Recorded streams ------------------------------------------------------------------------- */

struct tracehost_stream {
    struct th_reader *reader;
    struct th_event event;   /* the latest that was read here */
    struct th_event *latest; /* or by a replay; NULL: there is none */
    volatile int stop; /* atomic, relaxed: it stands for itself; see tracehost_stream_stop() */
    char *name;
    bool replayed; /* a replay has begun and not ended */
};

static inline bool th_embed_stream_stopped(const tracehost_stream *stream)
{
    return __atomic_load_n(&stream->stop, __ATOMIC_RELAXED);
}

/* Fills RECORD, which was checked. */
void th_embed_record_give(struct tracehost_record *record, struct th_event *event);

#endif
