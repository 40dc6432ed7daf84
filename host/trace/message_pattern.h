/*
 * Patterns for messages: which sends, and which receives, of a recording a session traces.
 *
 *   th_trace_session_send_pattern(session, TH_AM(false));      no send at all
 *   th_trace_session_receive_pattern(session, spec);           those that match
 *
 * As OTP's trace:send/3 and trace:recv/3, or erlang:trace_pattern/3 for `send` and `'receive'`.
 * They are about what the flags let pass, and come before all else: of what a pattern leaves out
 * the tracer is not even asked. A specification's head is [Receiver, Message], the receiver as the
 * sender named it, or [Node, Sender, Message]. As in a BEAM they are for messages of processes, not
 * of ports, and with a specification (not without) those of a silent process are held back.
 *
 * No recording tells who sent what is received: Node and Sender are unknown; of live events
 * (live.h) whoever raises them tells. An event of which a
 * specification cannot say for sure whether it matches is not passed on, but counted.
 */
#ifndef TH_MESSAGE_PATTERN_H
#define TH_MESSAGE_PATTERN_H

#include "host/match/match.h"
#include "session.h"

/*
 * MATCH is `true` (or []): all, as they were recorded; `false`: none; or a match specification,
 * from which the session then has the match_spec_result. It replaces what was set before, at once:
 * with the next event of each thread. TH_USAGE or TH_MALFORMED, with nothing changed, if MATCH is
 * none of these. Also in callbacks.
 */
enum th_status th_trace_session_send_pattern(struct th_session *session, th_term match);
enum th_status th_trace_session_receive_pattern(struct th_session *session, th_term match);

/* What is set, as it was given; `true` if nothing was. A copy in ENV. */
th_term th_trace_session_send_pattern_info(const struct th_session *session, th_env *env);
th_term th_trace_session_receive_pattern_info(const struct th_session *session, th_env *env);

/* What became of messages at patterns, sends and receives together. */
struct th_message_counts {
    uint64_t unmatched;      /* left out: `false`, or the specification says no */
    uint64_t silenced;       /* matched, but the process is silent */
    uint64_t undecided;      /* left out, as the specification hangs on something unknown */
    uint64_t actions_unsure; /* actions left out, as something they depend on is unknown */
};

struct th_message_counts th_trace_session_message_counts(const struct th_session *session);

/* True if the session was given a pattern for messages that is not `true`, at any time. */
bool th_trace_session_message_patterned(const struct th_session *session);

#endif
