/*
 * A scene for the tests of trace/: the tracer `hooked` attached, events written as Erlang text,
 * callbacks noted as text.
 */
#ifndef SCENE_H
#define SCENE_H

#include "host/trace/trace.h"

/* Begins with a tracer that has the callbacks SLOTS (see hooked.h; NULL: all) and everything
 * recorded as flags. */
void scene_begin(const char *slots);

/* The same without any session. */
void scene_begin_empty(const char *slots);

/* One more session of the same tracer, with another state and flags. */
void scene_attach(const char *state, uint32_t flags);

/* One that traces nobody yet. */
struct th_session *scene_create(const char *state);

/* The tracer, for one more user. */
struct th_library *scene_library(void);

void scene_end(void);

struct th_tracing *scene_tracing(void);

/* th_live_functions_begin() and end(), by who has the permission for that only. */
void scene_begin_functions(struct th_traceable_function *const functions[], size_t count);
void scene_end_functions(struct th_traceable_function *const functions[], size_t count);

/*
 * What the tracer answers to CALLBACK, or to it with one tag ("enabled_call", "enabled_procs
 * spawn"); the last that was said and fits counts. ANSWER is an Erlang term, or "badarg" in
 * capitals to raise that. Without a word `enabled` callbacks answer trace, others ok.
 */
void scene_answer(const char *callback, const char *answer);
void scene_forget_answers(void);

/* Calls ACT in each CALLBACK (NULL: any) for a session whose state is the atom STATE (NULL: any),
 * before it answers. */
void scene_act(const char *callback, const char *state, void (*act)(void));

/* Takes the event along. */
enum th_status scene_trace(const char *tuple);

/* The same of a call of which the recording tells more. */
enum th_status scene_trace_call(const char *tuple, enum th_fact external, enum th_fact tail);

/* The event happens, and nobody gets it. */
void scene_trace_skip(const char *tuple);

/*
 * The callbacks since the last call, a line each: "enabled_call(call,s,<0.1.0>)"; those of the
 * trace family end in " self" where enif_self gave the tracee.
 */
const char *scene_log(void);

/* How often terms were decoded. */
unsigned scene_decoded(void);

#endif
