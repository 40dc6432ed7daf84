/*
 * Tracers from text that users write: name, state, library; and the lock around sessions.
 */
#ifndef TH_NAMED_TRACER_H
#define TH_NAMED_TRACER_H

#include "host/base/error.h"
#include "host/term/env.h"

#include <pthread.h>
#include <stdatomic.h>

struct th_tracer_setting;
struct th_session;
struct th_search;
struct th_names;
struct th_library;

struct th_named_tracer {
    char *name;
    th_term state; /* in `env` */
    th_env env;
};

/*
 * Reads NAME, NAME=ERLANG_TERM or NAME,key=value,...; the first `=` or `,` decides. The state is
 * the term, or the map of the keys, or the empty map. The atom `console` in the state, except in a
 * key of a map, becomes the pid of the console.
 * Errors: TH_USAGE with the cause; nothing is to be freed then.
 */
enum th_status th_trace_named_tracer_parse(const char *text, struct th_named_tracer *tracer);
void th_trace_named_tracer_free(struct th_named_tracer *tracer);

/* Read a state alone, made in ENV: the first function reads an Erlang term, the second one
 * key=value,..., with values that are integers, true or false, else binaries.
 * Errors: TH_USAGE with the cause. */
enum th_status th_trace_tracer_state_parse(th_env *env, const char *text, th_term *state);
enum th_status th_trace_tracer_settings_parse(th_env *env, const char *text, th_term *state);

/* Reads a state that is no plain term, made in ENV; NULL: all states are plain terms. Installed,
 * before any state is read, by the room that has expressions.
 * Errors: TH_USAGE with the cause. */
extern enum th_status (*th_tracer_state_evaluate)(th_env *env, const char *text, th_term *state);

/*
 * Lock around sessions. A thread leaves the lock while it opens, loads, upgrades and unloads
 * libraries, while it asks a tracer for its trace_status, and while it waits for a grace period:
 * library code may take any time. NULL: no lock.
 *
 * The functions of trace/ that leave the lock of the calling thread for such a time:
 * th_trace_session_create(), _attach(), _function(), _meta_function(), _replace(), _destroy(), and
 * th_trace_go(). Another thread may destroy the session then; a function that still needs the
 * session fails.
 */
struct th_tracer_lock {
    pthread_mutex_t mutex;
    _Atomic unsigned
        away; /* threads that have left the lock for such a time; relaxed, a number in itself */
};

/* Lock; note that the calling thread has locked `mutex` itself; unlock at the end. */
void th_trace_tracer_lock_take(struct th_tracer_lock *lock);
void th_trace_tracer_lock_taken(struct th_tracer_lock *lock);
void th_trace_tracer_lock_drop(struct th_tracer_lock *lock);

/* Leave LOCK for a time in which library code may run, and take it again. LOCK may be NULL. */
void th_trace_tracer_lock_leave(struct th_tracer_lock *lock);
void th_trace_tracer_lock_return(struct th_tracer_lock *lock);

/* Finds, opens, checks and loads the tracer NAME, and logs the library's remarks as warnings.
 * Owner: the caller is a user of the library. */
enum th_status th_trace_tracer_load(const struct th_search *search, const char *name,
                                    struct th_library **library);

/* Replaces SESSION's tracer, as th_trace_session_replace(), by that of TEXT, in the syntax of
 * th_trace_named_tracer_parse(). If TEXT has no state, the present state stays. If TEXT names the
 * file of the present tracer, a new instance of the file is loaded, by upgrade() as for new code.
 * Thread: the caller has LOCK, and others may use the session meanwhile.
 * Errors: also TH_FAILED if the session has ended or got another tracer meanwhile. */
enum th_status th_trace_tracer_replace(struct th_session *session, const struct th_search *search,
                                       const char *text, struct th_tracer_lock *lock);

/* Loads the tracer of TEXT in advance, without warnings: a later load then calls no code of the
 * library. Does not evaluate the state. Returns TH_OK with *LIBRARY NULL if TEXT has no name, which
 * th_trace_named_tracer_parse() reports.
 * Owner: the caller releases *LIBRARY, which is NULL after an error. */
enum th_status th_trace_tracer_preload(const struct th_search *search, const char *text,
                                       struct th_library **library);

/* True if another file is now where the session's tracer was found, or the file was written to. */
bool th_trace_tracer_is_outdated(const struct th_session *session);

/* Replaces the session's tracer by the file that is there now. Name and state stay. */
enum th_status th_trace_tracer_renew(struct th_session *session, struct th_tracer_lock *lock);

/*
 * Settings that tracers declare (th_tracer_settings of erl_tracer.h), and the values that users
 * give.
 */

/* Describes the values of SETTING: "a number", "table, json or csv".
 * Owner: the caller frees the text with th_free(). */
char *th_trace_setting_values(const struct th_tracer_setting *setting);

/* Appends the words that SETTING accepts. */
void th_trace_setting_words(const struct th_tracer_setting *setting, struct th_names *words);

#endif
