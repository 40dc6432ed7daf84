/* The face of trace/: events, sessions, and the one path from the one to the other. */
#ifndef TH_TRACE_H
#define TH_TRACE_H

#include "callback.h"
#include "event.h"
#include "failure.h"
#include "message_pattern.h"
#include "named_tracer.h"
#include "pattern.h"
#include "session.h"
#include "setting.h"
#include "tags.h"
#include "tracees.h"

#include "host/match/match.h"
#include "host/trace/live/live.h"
#include "host/trace/recorded/execution.h"
#include "host/trace/recorded/recordings.h"

#endif
