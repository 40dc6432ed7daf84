/*
 * The face of breakpoint/: breakpoints in the functions that are traced (spec/tracing.md).
 *
 *   site.h      where breakpoints hang: what costs an untraced function one word to read
 *   native.h    sites in machine code
 *   change.h    setting, updating, removing breakpoints, while everything runs
 *   hit.h       what a call does that meets breakpoints
 *   fast_hit.h  the way of most hits, in place
 *   account.h   time and memory by process; what breakpoints a function has, and have counted
 *   breakpoint_session.h   what trace/ hands in: match specifications, tracers, sessions
 */
#ifndef TH_BREAKPOINT_H
#define TH_BREAKPOINT_H

#include "account.h"
#include "breakpoint_session.h"
#include "change.h"
#include "fast_hit.h"
#include "hit.h"
#include "site.h"

#include "host/breakpoint/native/native.h"

#endif
