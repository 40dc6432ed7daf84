/*
 * The face of trace/: events, sessions, and the way of an event to the tracers of sessions.
 *
 *   event.h            struct th_event: what is common to recorded and live events; its terms are
 *                      made when a tracer wants them
 *   session.h          struct th_tracing, struct th_session: a tracer with a state; th_trace() for
 *                      recorded events. Begin here.
 *   tracees.h          which processes and ports a session traces, with which flags
 *   pattern.h          which calls it traces: patterns of functions and messages, match
 *                      specifications
 *   live/live.h        processes, functions, calls and events of this host
 *   recorded/          the stack of a recorded process (execution.h); which recordings are played
 *                      (recordings.h)
 *   named_tracer.h     tracers as people name them; the lock around sessions; settings that
 *                      tracers declare
 *   callback.h         the callback that a thread is in; failures that tracers report
 *   tags.h             names of tags and flags
 *
 * Thread: a tracing belongs to the thread that made it, until th_trace_share(). From then on any
 * thread controls sessions and raises live events, one thread replays, and an event is one reader
 * section (progress/) with all its callbacks. Callbacks of tracers run in the thread that raises
 * the event, under no lock of the host; they may call control functions.
 * Order: flag, `enabled`, match specification, silent, `trace`. A change that a callback makes
 * holds from the next event on.
 */
#ifndef TH_TRACE_H
#define TH_TRACE_H

#include "callback.h"
#include "event.h"
#include "named_tracer.h"
#include "pattern.h"
#include "session.h"
#include "tags.h"
#include "tracees.h"

#include "host/trace/live/live.h"
#include "host/trace/recorded/execution.h"
#include "host/trace/recorded/recordings.h"

#endif
