/* The host that a program has. */
#ifndef TH_EMBED_HOST_H
#define TH_EMBED_HOST_H

#include "sized.h"

#include "host/trace/trace.h"

struct tracehost_host {
    struct th_tracing *tracing;
    const char **folders; /* of the setup, and added ones; each is ours */
    size_t folder_count, folder_capacity;
    tracehost_replay *replay; /* that has begun and not ended, NULL: none */
    unsigned inside;          /* functions of the program that were called and have not returned */
    bool guard;
};

/* TH_USAGE unless HOST is the one that runs. */
enum th_status th_embed_check(const tracehost_host *host);

/* The same; also TH_USAGE if the thread is in a callback, or in a function of the program that was
 * called from here. */
enum th_status th_embed_check_outside(const tracehost_host *host);

/* HOST is the one that runs, and has *FOUND, which is alive: else TH_USAGE. */
enum th_status th_embed_session(const tracehost_host *host, tracehost_session session,
                                struct th_session **found);

/* Where tracers are looked for; th_search_free() ends it. */
void th_embed_search(const tracehost_host *host, struct th_search *search);

#endif
