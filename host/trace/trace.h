/* The face of trace/: events, sessions, and the one path from the one to the other. */
#ifndef TH_TRACE_H
#define TH_TRACE_H

#include "callback.h"
#include "event.h"
#include "host/trace/recorded/execution.h"
#include "failure.h"
#include "guard.h"
#include "host/trace/live/live.h"
#include "match.h"
#include "match_report.h"
#include "match_trial.h"
#include "named_tracer.h"
#include "message_pattern.h"
#include "pattern.h"
#include "host/trace/recorded/recordings.h"
#include "session.h"
#include "setting.h"
#include "tags.h"
#include "tracees.h"

#endif
