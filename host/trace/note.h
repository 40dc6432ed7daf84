/*
 * Notes: records of tracehost's own in a recording of a running node. They tell what no trace
 * message tells. A note is a record {tracehost, Key, Value}, a TH_EVENT_OTHER; no tracer gets it, and
 * dbg:trace_client/2 of Erlang prints it as it is.
 *
 *     {tracehost, node, {Pid, Release, OsPid}}           Pid is any process of the node, Release and
 *                                                        OsPid are binaries
 *     {tracehost, clock, {Monotonic, System}}            one moment by both clocks, in nanoseconds
 *     {tracehost, round_trip, {Monotonic, System, Before, After}}
 *                                                        one moment by both clocks of the node, and the
 *                                                        times of day of the recording host before and
 *                                                        after it, Before =< After, in nanoseconds; one
 *                                                        note near the beginning, then one each second
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
 *     {tracehost, unmatched, {{M, F, A}, Kinds, [{Function, Arity}]}}
 *                                                        no function of the node has the pattern, in
 *                                                        which _ is any, with the Kinds that were
 *                                                        asked for; functions of the module
 *     {tracehost, notice, Text}                          Text, a binary, is for the user
 *
 * A note with another key is kept and means nothing.
 */
#ifndef TH_NOTE_H
#define TH_NOTE_H

#include "event.h"

struct th_pattern;
struct th_tracing;

struct th_note {
    th_term key, value; /* key: an atom */
};

/* Returns whether EVENT is a note; then NOTE is decoded into ENV. A damaged record is none. */
bool th_trace_note(struct th_event *event, th_env *env, struct th_note *note);

/* Returns whether NOTE tells the clocks; *NS is the offset from monotonic to system time then. */
bool th_trace_note_offset(const struct th_note *note, int64_t *ns);

/* Returns whether NOTE tells a round trip; TIMES are its four times. */
bool th_trace_note_round_trip(const struct th_note *note, int64_t times[4]);

/* Appends to TEXT what NOTE tells users: a notice, that the node traces no more, or less, or that a
 * pattern has no function. Returns false if NOTE is no such. */
bool th_trace_note_told(const struct th_note *note, struct th_buffer *text);

/* Returns whether a note has told that PATTERN has no function in the node. */
bool th_trace_note_unmatched(const struct th_tracing *tracing, const struct th_pattern *pattern);

/* Return what a note tells: the name that the pid or port ID had when the recording began; the owner
 * of NAME in the node with INDEX, 0 or that of a peer (term/peer.h); the first function of the process
 * ID. TH_NONE, or NULL: nothing. th_trace_note_forget() forgets all.
 * Owner: the function is valid until the notes are forgotten.
 * Thread: the replaying one; others get nothing. */
th_term th_trace_note_name(th_term id);
th_term th_trace_note_owner(th_term name, unsigned index);
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
