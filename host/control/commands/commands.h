/*
 * A host that accepts commands while it runs: from a socket (--control=SOCKET), from changed files
 * (--watch), and from the view (--top). This header has the state that the commands need.
 *
 *   host = {.program = "run", .tracing = tracing, ...};
 *   th_control_host_begin(&host);
 *   ... the run or replay ...
 *   th_control_host_end(&host);        before sessions are read without the lock
 *
 * Commands run one at a time under host->lock; the watch takes the same lock. So a session cannot
 * be destroyed while a command uses the session. A command that may run code of libraries has a
 * thread of its own, and does not hold the lock while that code runs; so no other command waits for
 * that code.
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
 * Tasks for the main thread. Another thread submits a task; the main thread checks for a task
 * between two pieces of its work.
 *
 *   status = th_control_main_thread_ask(&main_thread, task, argument);    another thread
 *   th_control_main_thread_look(&main_thread);                            main thread, repeatedly
 *   th_control_main_thread_end(&main_thread);                             main thread, last
 */
struct th_mfa;
struct th_main_thread_task;

struct th_control_main_thread {
    pthread_mutex_t lock;
    pthread_cond_t done; /* signalled when ->asked becomes NULL or `ended` is set */
    /* Written under the lock. Relaxed: a reader that sees a task takes the lock before it uses the
     * task. */
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

/* Ends the tasks: a thread that waits for a task to begin gets TH_FAILED, and so does each later
 * submission. */
void th_control_main_thread_end(struct th_control_main_thread *thread);

/* --- The host --------------------------------------------------------------------------------- */

struct th_control_host {
    const char *program; /* "run", "replay" */
    struct th_tracing *tracing;
    bool live;      /* this host is traced, not a recording */
    bool runs_code; /* loads and runs libraries: load, purge, delete and modules work */
    const struct th_texts *folders; /* folders of tracers and plugins, searched first */
    pthread_mutex_t *folders_lock;  /* guards reads of `folders`; NULL: no folder is ever added */
    const char *path;               /* of the socket; NULL: none */
    bool watches;                   /* changed tracers and plugins are replaced */
    const char *load_info;          /* argument of load() in later loads, Erlang text; NULL: 0 */

    /* Ends the work soon, as a signal does. May be called more than once. NULL: the host cannot be
     * stopped.
     * Thread: any. */
    void (*stop)(void *context);
    /* Reports the outcome of the watch's work: one line, with its causes on lines below; each line
     * ends with a newline.
     * Thread: the watch's. */
    void (*report)(const struct th_control_host *host, const char *text);
    /* Adds members to the answer of `status`. NULL: none. Thread: the server's. */
    void (*tell)(void *context, json_t *status);
    /* Tasks of the only thread that may name processes. NULL: any thread may. */
    struct th_control_main_thread *main_thread;
    /* Returns the processes as JSON, for `processes`. Thread: one that may name processes. */
    json_t *(*processes)(void *context);
    void *context;

    /* Internal. */
    struct th_control *server;     /* NULL: no socket */
    struct th_control_watch watch; /* begun with the lock held */
    struct th_control_setup setup;
    struct attaching *attaching; /* `attach` commands in progress; guarded by the lock */
    int64_t began;
    struct th_control_rate { /* at the last `status` */
        int64_t time;
        uint64_t events;
    } rate;
    /* Held during each command and each change of sessions by other threads. Outermost lock. */
    struct th_tracer_lock lock;
};

/* Sets host->setup and the internal members; the first part of th_control_host_begin(). */
void th_control_host_prepare(struct th_control_host *host);

/* Prepares HOST and serves its socket, if host->path is set.
 * Order: before tracers open their outputs: if another host serves this socket, that host may be
 * writing the same files. th_control_host_end() must follow, whatever the status.
 * Errors: as th_control_begin(). */
enum th_status th_control_host_begin(struct th_control_host *host);

/* Starts to watch files, if host->watches is set.
 * Order: with the lock held, after the first tracers are attached. th_control_host_end() ends the
 * watch.
 * Errors: TH_FAILED if the system refuses inotify, an eventfd or a thread. */
enum th_status th_control_host_watch(struct th_control_host *host);

/* Fills SEARCH with the folders for KIND. Tracers are opened replaceable if the host has a socket
 * or watches files.
 * Owner: the caller ends SEARCH with th_library_search_free(). */
void th_control_host_search(const struct th_control_host *host, enum th_search_kind kind,
                            struct th_search *search);

/* Ends the commands and the watch: no command runs and no tracer is replaced any more. The view
 * stays (top.h). A second call does nothing.
 * Thread: without the lock, as this waits for commands in progress. */
void th_control_host_end(struct th_control_host *host);

/* Take and drop the lock, for threads other than the server's. */
void th_control_host_lock(struct th_control_host *host);
/* Takes the lock, or returns false after about one second: the owner may be in a function of a
 * tracer that never returns. For a program that is about to end. */
bool th_control_host_lock_soon(struct th_control_host *host);
void th_control_host_unlock(struct th_control_host *host);

/* --- Libraries that are loaded ---------------------------------------------------------------- */

/* Reads TEXT, the argument of load(), into ENV; a TEXT of NULL is 0.
 * Errors: TH_USAGE if TEXT is no term. */
enum th_status th_control_load_info_read(const char *text, th_env *env, th_term *info);

/* --- Values as JSON --------------------------------------------------------------------------- */

/* Return JSON strings: TERM as Erlang text; the name of ATOM; "m:f/a". */
json_t *th_control_term(th_term term);
json_t *th_control_atom(th_term atom);
json_t *th_control_function(const struct th_mfa *function);

/* --- The commands ----------------------------------------------------------------------------- */

/* A command runs in one of three ways: in the server's thread, with the lock; in a thread of its
 * own, with the lock, which is released while tracers are loaded, called or unloaded and during a
 * grace period (named_tracer.h); or in a thread of its own without the lock: then it must not use
 * sessions. */
extern const struct th_control_command th_control_command_status, th_control_command_tracers,
    th_control_command_attach, th_control_command_detach, th_control_command_replace,
    th_control_command_sessions, th_control_command_pattern, th_control_command_flags,
    th_control_command_functions, th_control_command_info, th_control_command_processes,
    th_control_command_load, th_control_command_purge, th_control_command_delete,
    th_control_command_modules, th_control_command_stop, th_control_command_help;

/* All commands, NULL-terminated. */
extern const struct th_control_command *const th_control_commands[];

#endif
