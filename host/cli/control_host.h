/*
 * A host that is told what to do while it runs, by a socket (--control=SOCKET), by files that
 * change (--watch), and by who looks at it (--top). What its commands need to know of it, and what
 * their files share.
 *
 *   host = {.program = "run", .tracing = tracing, ...};
 *   th_control_host_start(&host);
 *   ... it runs ...
 *   th_control_host_end(&host);        before sessions are looked at without the lock
 *
 * Commands are carried out one at a time, with host->lock held, which the watch takes, too: so
 * nobody else destroys a session that one of them uses. What runs code of libraries that come and
 * go is carried out apart, and lets go of the lock meanwhile: so nobody waits for that code.
 */
#ifndef TH_CONTROL_HOST_H
#define TH_CONTROL_HOST_H

#include "between.h"
#include "trace_options.h"
#include "watch.h"

#include "host/control/control.h"

#include <pthread.h>

struct th_control_host {
    const char *program; /* "run", "replay" */
    struct th_tracing *tracing;
    const struct th_trace_options *options;
    const char *load_info; /* for code that is loaded, Erlang text; NULL: 0 */

    /* Has the work end, soon, as a signal does; any number of times. Any thread. */
    void (*stop)(void *context);
    /* Adds to what `status` answers. The server's thread. */
    void (*tell)(void *context, json_t *status);
    /* Of the thread that alone may name processes; NULL: any may. */
    struct th_between *between;
    /* What there is of processes; by the thread that may name them. */
    json_t *(*processes)(void);
    void *context;

    /* Its own. */
    struct th_control *server; /* NULL: it has no socket */
    struct th_watch watch;     /* begins with the lock */
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

/* Sets host->setup and what is its own: the first part of the start. */
void th_control_host_prepare(struct th_control_host *host, const char *path);

/* What host->options ask for: serves the socket, attaches the tracers, watches their files, shows
 * the view. th_control_host_end() comes after it in any case. */
enum th_status th_control_host_start(struct th_control_host *host);

/* No command is carried out and no tracer replaced any more; the view stays: see top.h. Waits for
 * what has begun, so without the lock. Again: nothing. */
void th_control_host_end(struct th_control_host *host);

/* Around what other threads than the server's do to sessions in between. */
void th_control_host_lock(struct th_control_host *host);
/* For who cannot wait, as the program is to end. False: others have had it for a second, and may
 * have it for ever, as they are in a function of a tracer. */
bool th_control_host_lock_soon(struct th_control_host *host);
void th_control_host_unlock(struct th_control_host *host);

/* --- What commands share ---------------------------------------------------------------------- */

/* Has ERRAND(ARGUMENT) called by a thread that may name processes, and waits for its end. */
enum th_status th_control_at_tracees(const struct th_control_host *host,
                                     enum th_status (*errand)(void *argument), void *argument);

/* TERM as Erlang text; the name of ATOM as it is; "m:f/a". */
json_t *th_control_term(th_term term);
json_t *th_control_atom(th_term atom);
json_t *th_control_function(const struct th_function *function);

/* The names of what is set, an array. "as_recorded": time stamps, arity and scheduler are. */
json_t *th_control_flags(uint32_t flags);
json_t *th_control_kinds(uint32_t kinds);

/* The session that WHICH names: its number, its title, or its tracer, if that has one alone. NULL:
 * the only one that there is. TH_USAGE. */
enum th_status th_control_session(const struct th_control_host *host, const char *which,
                                  struct th_session **session);

/* Counts up from 1 by the order in which they began; none is ever given twice. */
json_int_t th_control_session_number(const struct th_session *session);

/* {"number": .., "tracer": .., "title": ..}, by which other objects refer to it. */
json_t *th_control_session_name(const struct th_session *session);

/* What SESSION has counted: an array of functions, most calls first. */
json_t *th_control_counted(const struct th_session *session);

/* TH_USAGE: a command has words that it has no use for. */
enum th_status th_control_no_words(int count, char **words);

/* --- The commands: see control_host.c --------------------------------------------------------- */

/* Each is LOCKED, carried out by the server's thread, with the lock; or in a thread of its own, as
 * it may take long: LOADS with the lock, which it lets go of while tracers are loaded, asked or
 * unloaded, and while thread progress is waited for (named_tracer.h); APART without it: then it
 * must leave sessions alone. */

#define TH_CONTROL_COMMANDS(X)                                                                     \
    X(status, LOCKED, "", "how the host fares: time, events, rates, losses")                       \
    X(tracers, LOCKED, "", "the tracers that can be attached, and where they are")                 \
    X(attach, LOADS,                                                                               \
      "TRACER [--session=NAME] [--flags=LIST] [--processes=LIST] [--ports=LIST] [-p PATTERN "      \
      "[--match-spec=SPEC] [--return] [--exception] [--caller] "                                   \
      "[--caller-line] [--kind=LIST] "                                                             \
      "[--meta-tracer=TRACER]]...",                                                                \
      "loads a tracer and has it trace, as -t does with the options behind it")                    \
    X(detach, LOADS, "SESSION", "ends a session: its number, its name or its tracer")              \
    X(replace, LOADS, "SESSION TRACER",                                                            \
      "another tracer, or new code of the same, takes the session over; without a state it stays") \
    X(sessions, LOCKED, "", "the sessions, what they trace, and what became of their events")      \
    X(pattern, LOADS,                                                                              \
      "PATTERN [--match-spec=SPEC] [--return] [--exception] [--caller] "                           \
      "[--caller-line] [--kind=LIST] "                                                             \
      "[--meta-tracer=TRACER] [--session=SESSION]",                                                \
      "sets breakpoints, as -p does; --match-spec=false clears, pause and restart are for "        \
      "counts")                                                                                    \
    X(flags, LOCKED, "LIST [on|off] [WHOM] [--ports=WHOM] [--session=SESSION]",                    \
      "gives trace flags, or takes them: of all, existing, new, pids or names")                    \
    X(functions, LOCKED, "[PATTERN]", "the functions, their breakpoints and counts")               \
    X(info, LOCKED, "M:F/A|on_load",                                                               \
      "what each session has set for a function, and counted; on_load: for functions to come")     \
    X(processes, LOCKED, "", "who there is, and what they do")                                     \
    X(load, APART, "LIBRARY... [--purge=hard] [--load-info=TERM]",                                 \
      "loads libraries, or new code of those that are there, all of them at one instant or none; " \
      "--purge=hard kills who is still in code that must go first; --load-info as `run` has it, "  \
      "and else what that was given; the answer names functions whose new code has no room for "   \
      "local breakpoints that are set")                                                            \
    X(purge, APART, "MODULE [--hard]",                                                             \
      "unloads a module's old code, which was replaced or deleted, if nobody is in it any more; "  \
      "--hard kills who is")                                                                       \
    X(delete, APART, "MODULE [--purge=hard]",                                                      \
      "a module can be called no more; what it was is old code")                                   \
    X(modules, APART, "", "the code of modules, current and old, and how many are in it")          \
    X(stop, LOCKED, "", "ends the host, as a signal does")                                         \
    X(help, LOCKED, "[COMMAND]", "what a command does; without one this list")

const struct th_control_command *th_control_commands(size_t *count);

/* "TRACER [--session=NAME] ...", of each as th_control_usage_attach. */
#define X(name, how, arguments, help)            \
    extern const char th_control_usage_##name[]; \
    enum th_status th_control_do_##name(void *context, int count, char **words, json_t **result);
TH_CONTROL_COMMANDS(X)
#undef X

#endif
