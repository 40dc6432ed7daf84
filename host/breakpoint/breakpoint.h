/*
 * The face of breakpoint/: breakpoints in the functions that are traced.
 *
 *   site.h      the sites of breakpoints; an untraced function costs one load of a word
 *   native.h    sites in machine code
 *   change.h    setting, updating, removing breakpoints, while everything runs
 *   hit.h       calls that meet breakpoints
 *   fast_hit.h  the most frequent hit, inlined
 *   account.h   time and memory by process; the breakpoints of a function and their counters
 *   breakpoint_session.h   types that trace/ provides: match specifications, tracers, sessions
 *
 * Source: Erlang/OTP, erts/emulator/internal_doc/Tracing.md.
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
