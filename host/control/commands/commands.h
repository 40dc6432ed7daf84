/*
 * A host that is told what to do while it runs, by a socket (--control=SOCKET), by files that
 * change (--watch), and by who looks at it (--top). What its commands need to know of it, and what
 * their files share.
 *
 *   host = {.program = "run", .tracing = tracing, ...};
 *   th_control_host_begin(&host);
 *   ... it runs ...
 *   th_control_host_end(&host);        before sessions are looked at without the lock
 *
 * Commands are carried out one at a time, with host->lock held, which the watch takes, too: so
 * nobody else destroys a session that one of them uses. What runs code of libraries that come and
 * go is carried out apart, and lets go of the lock meanwhile: so nobody waits for that code.
 */
#ifndef TH_CONTROL_COMMANDS_H
#define TH_CONTROL_COMMANDS_H

#include "watch.h"

#include "host/control/server.h"
#include "host/library/find.h"
#include "host/trace/named_tracer.h"

#include <jansson.h>
#include <pthread.h>
#include <stdatomic.h>

/* --- The main thread -------------------------------------------------------------------------- */

/*
 * Tasks of the main thread: what another thread asks of the one which works, and which looks
 * between two pieces of its work whether a task is there.
 *
 *   status = th_control_main_thread_ask(&main_thread, task, argument);    another thread
 *   th_control_main_thread_look(&main_thread);                            the main one, now and
 *                                                                         then
 *   th_control_main_thread_end(&main_thread);                             it looks no more
 */
struct th_mfa;
struct th_main_thread_task;

struct th_control_main_thread {
    pthread_mutex_t lock;
    pthread_cond_t done; /* ->asked is NULL again, or `ended` */
    /* Written under the lock. Relaxed: who sees one takes the lock to look at it. */
    struct th_main_thread_task *_Atomic asked;
    bool ended;
};

void th_control_main_thread_begin(struct th_control_main_thread *thread);

void th_control_main_thread_do(struct th_control_main_thread *thread);
static inline void th_control_main_thread_look(struct th_control_main_thread *thread)
{
    if (__builtin_expect(atomic_load_explicit(&thread->asked, memory_order_relaxed) != NULL, 0))
        th_control_main_thread_do(thread);
}

/* Whoever asks is told so. */
void th_control_main_thread_end(struct th_control_main_thread *thread);

/* --- The host --------------------------------------------------------------------------------- */

struct th_control_host {
    const char *program; /* "run", "replay" */
    struct th_tracing *tracing;
    bool live;      /* this host is traced, not a recording */
    bool runs_code; /* it loads and runs libraries: load, purge, delete and modules are for it */
    const struct th_texts *folders; /* of tracers and plugins, which are looked in first */
    pthread_mutex_t *folders_lock;  /* around what is read of them; NULL: none is added */
    const char *path;               /* of the socket; NULL: there is none */
    bool watches;                   /* tracers and plugins are replaced when their files change */
    const char *load_info;          /* for code that is loaded, Erlang text; NULL: 0 */

    /* Has the work end, soon, as a signal does; any number of times. Any thread. NULL: it is
     * nobody's to end. */
    void (*stop)(void *context);
    /* Reports what the watch has done, or has not and why: a line, with its causes below, each with
     * its newline. The watch's thread. */
    void (*report)(const struct th_control_host *host, const char *text);
    /* Adds to what `status` answers. The server's thread. NULL: nothing. */
    void (*tell)(void *context, json_t *status);
    /* The tasks of the thread that alone may name processes. NULL: any thread may. */
    struct th_control_main_thread *main_thread;
    /* The processes as JSON, for `processes`. Called by the thread that may name them. */
    json_t *(*processes)(void *context);
    void *context;

    /* Its own. */
    struct th_control *server;     /* NULL: it has no socket */
    struct th_control_watch watch; /* begins with the lock */
    struct th_control_setup setup;
    struct attaching *attaching; /* commands that are at it, by the lock */
    int64_t began;
    struct th_control_rate { /* at the last `status` */
        int64_t time;
        uint64_t events;
    } rate;
    /* Around each command, and around what others do to sessions meanwhile. Outermost. */
    struct th_tracer_lock lock;
};

/* Sets host->setup and what is its own: the first part of the beginning. */
void th_control_host_prepare(struct th_control_host *host);

/* Serves the socket, if there is to be one: before tracers begin to write where another host may be
 * at work. th_control_host_end() comes after it in any case. */
enum th_status th_control_host_begin(struct th_control_host *host);

/* Watches files, if the host is to. With the lock, when its first tracers are attached. */
enum th_status th_control_host_watch(struct th_control_host *host);

/* Fills SEARCH with the folders of KIND; tracers are opened replaceable. End with
 * th_library_search_free(). */
void th_control_host_search(const struct th_control_host *host, enum th_search_kind kind,
                            struct th_search *search);

/* No command is carried out and no tracer replaced any more; the view stays: see top.h. Waits for
 * what has begun, so without the lock. Again: nothing. */
void th_control_host_end(struct th_control_host *host);

/* Around what other threads than the server's do to sessions in between. */
void th_control_host_lock(struct th_control_host *host);
/* For who cannot wait, as the program is to end. False: others have had it for a second, and may
 * have it for ever, as they are in a function of a tracer. */
bool th_control_host_lock_soon(struct th_control_host *host);
void th_control_host_unlock(struct th_control_host *host);

/* --- Libraries that are loaded ---------------------------------------------------------------- */

/* Reads TEXT, the term that load() is given, into ENV; NULL: 0. TH_USAGE if it is no term. */
enum th_status th_control_load_info_read(const char *text, th_env *env, th_term *info);

/* --- What commands share ---------------------------------------------------------------------- */

/* TERM as Erlang text; the name of ATOM as it is; "m:f/a". */
json_t *th_control_term(th_term term);
json_t *th_control_atom(th_term atom);
json_t *th_control_function(const struct th_mfa *function);

/* --- The commands ----------------------------------------------------------------------------- */

/* Each is carried out by the server's thread, with the lock; or, as it may take long, in a thread
 * of its own: with the lock, which it lets go of while tracers are loaded, asked or unloaded, and
 * while thread progress is waited for (named_tracer.h); or without the lock: then it must leave
 * sessions alone. */
extern const struct th_control_command th_control_command_status, th_control_command_tracers,
    th_control_command_attach, th_control_command_detach, th_control_command_replace,
    th_control_command_sessions, th_control_command_pattern, th_control_command_flags,
    th_control_command_functions, th_control_command_info, th_control_command_processes,
    th_control_command_load, th_control_command_purge, th_control_command_delete,
    th_control_command_modules, th_control_command_stop, th_control_command_help;

/* All of them, NULL behind them. */
extern const struct th_control_command *const th_control_commands[];

#endif
