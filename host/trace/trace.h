/*
 * Delivers trace events, recorded or live, to the tracers of sessions.
 *
 *   event.h            struct th_event: the common parts of recorded and live events; its terms are
 *                      made when a tracer wants them
 *   session.h          struct th_tracing, struct th_session: a tracer with a state; th_trace() for
 *                      recorded events. Begin here.
 *   tracees.h          the processes and ports that a session traces, with their flags
 *   pattern.h          the calls that a session traces: patterns of functions and messages, match
 *                      specifications
 *   live/live.h        processes, functions, calls and events of this host
 *   recorded/          the stack of a recorded process (execution.h); recordings that are played
 *                      (recordings.h)
 *   named_tracer.h     tracers as text that users write; the lock around sessions; settings that
 *                      tracers declare
 *   callback.h         the callback that a thread is in; failures that tracers report
 *   callback_series.h  calls of callbacks without events, to measure them
 *   tags.h             names of tags and flags
 *   share.h            shares of a recording, each played by a process of its own
 *   selection.h        the recorded events that sessions can get, for readers that pass over others
 *
 * Thread: a tracing belongs to the thread that made it, until th_trace_share(). From then on any
 * thread controls sessions and raises live events, one thread replays, and an event with all its
 * callbacks is one reader section (progress/). Callbacks of tracers run in the thread that raises
 * the event, under no lock of the host; they may call control functions.
 * Order: flag, `enabled`, match specification, silent, `trace`. A change that a callback makes
 * applies from the next event on.
 */
#ifndef TH_TRACE_H
#define TH_TRACE_H

#include "callback.h"
#include "callback_series.h"
#include "event.h"
#include "named_tracer.h"
#include "note.h"
#include "pattern.h"
#include "selection.h"
#include "session.h"
#include "share.h"
#include "tags.h"
#include "tracees.h"

#include "host/trace/live/live.h"
#include "host/trace/recorded/execution.h"
#include "host/trace/recorded/recordings.h"

#endif
