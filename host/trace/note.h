/*
 * Notes: records of tracehost's own in a recording of a running node. They tell what no trace
 * message tells. A note is a record {tracehost, Key, Value}, a TH_EVENT_OTHER; no tracer gets it, and
 * dbg:trace_client/2 of Erlang prints it as it is.
 *
 *     {tracehost, node, {Pid, Release, OsPid}}           Pid is any process of the node, Release and
 *                                                        OsPid are binaries
 *     {tracehost, clock, {Monotonic, System}}            one moment by both clocks, in nanoseconds
 *     {tracehost, names, [{Id, Name}]}                   processes and ports that were registered
 *                                                        when the recording began
 *     {tracehost, initial_calls, [{Pid, {M, F, A}}]}     first functions of processes, likewise;
 *                                                        spawn and spawned tell those of others
 *     {tracehost, off, {Reason, Events, Text}}           from here on the node traces nothing; Text,
 *                                                        a binary, says why
 *     {tracehost, sampled, {Reason, Events, N}}          from here on the node traces one of N
 *                                                        processes
 *     {tracehost, counts, [{{M, F, A}, Kind, Value}]}    counts of breakpoints in the node, as
 *                                                        erlang:trace_info/2 returns them
 *
 *     {tracehost, notice, Text}                          Text, a binary, is for the user
 *
 * A note with another key is kept and means nothing.
 */
#ifndef TH_NOTE_H
#define TH_NOTE_H

#include "event.h"

struct th_tracing;

struct th_note {
    th_term key, value; /* key: an atom */
};

/* Returns whether EVENT is a note; then NOTE is decoded into ENV. A damaged record is none. */
bool th_trace_note(struct th_event *event, th_env *env, struct th_note *note);

/* Returns whether NOTE tells the clocks; *NS is the offset from monotonic to system time then. */
bool th_trace_note_offset(const struct th_note *note, int64_t *ns);

/* Appends to TEXT what NOTE tells users: a notice, or that the node traces no more, or less. Returns
 * false if NOTE is no such. */
bool th_trace_note_told(const struct th_note *note, struct th_buffer *text);

/* Returns what a note tells of WORD: the name of a pid or port, or the owner of a name, when the
 * recording began; TH_NONE: nothing. th_trace_note_first_call() returns the first function of the
 * process ID; NULL: unknown. th_trace_note_forget() forgets all.
 * Owner: the function is valid until the notes are forgotten.
 * Thread: the replaying one; others get nothing. */
th_term th_trace_note_of(th_term word);
const struct th_mfa *th_trace_note_first_call(th_term id);
void th_trace_note_forget(void);

/*
 * th_trace_note_birth() learns the first function of a process from EVENT, a decoded spawn or spawned.
 * th_trace_note_death() forgets that of ID, which has exited. th_trace_note_is_played() returns
 * whether the recording has notes; if not, births are not noted.
 * Thread: the replaying one.
 */
bool th_trace_note_is_played(void);
void th_trace_note_birth(const struct th_event *event);
void th_trace_note_death(th_term id);

/* Applies NOTE to the world of TRACING and to the recording's clocks.
 * Thread: the replaying one. */
void th_trace_note_play(struct th_tracing *tracing, const struct th_note *note);

#endif
