/* The host that a program has. */
#ifndef TH_EMBED_HOST_H
#define TH_EMBED_HOST_H

#include "embed_sized.h"

#include "host/control/control.h"
#include "host/trace/trace.h"

#include <pthread.h>
#include <stdatomic.h>

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

/* Reads TEXT, Erlang text or a name that dbg knows, as a match specification in ENV. */
enum th_status th_embed_read_specification(th_env *env, const char *text, th_term *specification);

/* Where tracers are looked for; th_library_search_free() ends it. While loading is locked. */
void th_embed_search(const tracehost_host *host, struct th_search *search);

#endif
