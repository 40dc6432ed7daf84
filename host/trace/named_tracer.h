/*
 * Tracers as people name them: from text to a loaded library and a state.
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
 * Reads NAME, NAME=ERLANG_TERM or NAME,key=value,...; the first of = and , decides. The state is
 * the term; the map of the keys; without either the empty map. `console` anywhere in it, but in a
 * key of a map, is the pid of the console. TH_USAGE with the cause; there is nothing to free then.
 */
enum th_status th_trace_named_tracer_parse(const char *text, struct th_named_tracer *tracer);
void th_trace_named_tracer_free(struct th_named_tracer *tracer);

/* The two forms of states alone, made in ENV: an Erlang term; key=value,..., where values are
 * integers, true and false, else binaries. TH_USAGE with the cause. */
enum th_status th_trace_tracer_state_parse(th_env *env, const char *text, th_term *state);
enum th_status th_trace_tracer_settings_parse(th_env *env, const char *text, th_term *state);

/* Reads a state that is no plain term, made in ENV. TH_USAGE with the cause. Set before states are
 * read by the room that has expressions; NULL: states are plain terms. */
extern enum th_status (*th_tracer_state_evaluate)(th_env *env, const char *text, th_term *state);

/*
 * A lock around sessions, which is let go of while libraries are opened, loaded, upgraded and
 * unloaded, while a tracer is asked for its trace_status, and while thread progress is waited for:
 * what their code does may take any time. NULL: there is none.
 *
 * What trace/ does so is done without the lock that the calling thread has:
 * th_trace_session_create(), _attach(), _function(), _meta_function(), _replace() and _destroy(),
 * and th_trace_go(). Then another thread may have destroyed the session: where it was needed, they
 * fail.
 */
struct th_tracer_lock {
    pthread_mutex_t mutex;
    _Atomic unsigned
        away; /* threads that have let go of it for that; relaxed, a number in itself */
};

/* The calling thread takes it; has taken it by other means; lets go of it at its end. */
void th_trace_tracer_lock_take(struct th_tracer_lock *lock);
void th_trace_tracer_lock_taken(struct th_tracer_lock *lock);
void th_trace_tracer_lock_drop(struct th_tracer_lock *lock);

void th_trace_tracer_lock_leave(struct th_tracer_lock *lock);
void th_trace_tracer_lock_return(struct th_tracer_lock *lock);

/* Finds, opens, checks and loads the tracer NAME. The caller is a user of the library. Its remarks
 * are warnings. */
enum th_status th_trace_tracer_load(const struct th_search *search, const char *name,
                                    struct th_library **library);

/* th_trace_session_replace() by the tracer of TEXT, which is as th_trace_named_tracer_parse() has
 * it; without a state in it, the state stays. If the session has the tracer of that very file, it
 * gets a new instance of it, by upgrade() as with new code. The caller has LOCK; others may do
 * anything with the session meanwhile: TH_FAILED, if it is gone or has another tracer then. */
enum th_status th_trace_tracer_replace(struct th_session *session, const struct th_search *search,
                                       const char *text, struct th_tracer_lock *lock);

/* th_trace_tracer_load() of the tracer of TEXT, without warnings: so that what loads it later calls
 * no code of it. Its state, an expression perhaps, is not evaluated. Nothing, and *LIBRARY NULL, if
 * TEXT has no name: th_trace_named_tracer_parse() reports that. */
enum th_status th_trace_tracer_preload(const struct th_search *search, const char *text,
                                       struct th_library **library);

/* There is another file where the session's tracer was found, or it was written to. */
bool th_trace_tracer_is_outdated(const struct th_session *session);

/* th_trace_tracer_replace() by what is there now. Name and state stay. */
enum th_status th_trace_tracer_renew(struct th_session *session, struct th_tracer_lock *lock);

/*
 * Settings that tracers declare (th_tracer_settings of erl_tracer.h), and what is given for them.
 */

/* A word for what a value may be: "a number", "table, json or csv". To be freed by th_free(). */
char *th_trace_setting_values(const struct th_tracer_setting *setting);

/* Appends the words that SETTING may be. */
void th_trace_setting_words(const struct th_tracer_setting *setting, struct th_names *words);

#endif
