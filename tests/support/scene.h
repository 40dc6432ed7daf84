/*
 * Sets the scene for the tests of trace/: attaches the tracer `hooked`, takes events as Erlang text
 * and notes callbacks as text.
 */
#ifndef SCENE_H
#define SCENE_H

#include "host/trace/trace.h"

/* Begins a scene with a session whose tracer has the callbacks SLOTS (see hooked.h; NULL: all). The
 * session's flags are all events, as recorded. */
void scene_begin(const char *slots);

/* Begins a scene without a session. */
void scene_begin_empty(const char *slots);

/* Attaches one more session of the same tracer, with STATE and FLAGS. */
void scene_attach(const char *state, uint32_t flags);

/* Creates a session that traces nothing yet. */
struct th_session *scene_create(const char *state);

/* Returns the tracer with a reference of the caller's. */
struct th_library *scene_library(void);

void scene_end(void);

struct th_tracing *scene_tracing(void);

/* Calls th_live_functions_begin() or th_live_functions_end() with the permission, which is taken
 * and released here. */
void scene_begin_functions(struct th_traceable_function *const functions[], size_t count);
void scene_end_functions(struct th_traceable_function *const functions[], size_t count);

/*
 * Sets the answer of CALLBACK, or of CALLBACK with one tag ("enabled_call", "enabled_procs spawn").
 * If several answers fit, the last one is used. ANSWER is an Erlang term, or "BADARG" to raise
 * badarg. The default is `trace` for `enabled` callbacks and `ok` for others.
 */
void scene_answer(const char *callback, const char *answer);
void scene_forget_answers(void);

/* Runs ACT in each call of CALLBACK (NULL: any) for a session whose state is the atom STATE (NULL:
 * any), before the callback answers. */
void scene_act(const char *callback, const char *state, void (*act)(void));

/* Traces the event TUPLE. */
enum th_status scene_trace(const char *tuple);

/* Like scene_trace(), for a call whose recording also has EXTERNAL and TAIL. */
enum th_status scene_trace_call(const char *tuple, enum th_fact external, enum th_fact tail);

/* Skips the event TUPLE: no session gets it. */
void scene_trace_skip(const char *tuple);

/*
 * Returns the callbacks since the last call, one a line: "enabled_call(call,s,<0.1.0>)". " self"
 * follows if enif_self() succeeded; it then returned the tracee.
 */
const char *scene_log(void);

/* Number of times that an event's terms were decoded. */
unsigned scene_decoded(void);

#endif
