/* The tracer of a meta breakpoint, and how it goes: by itself, when a hit has found it gone. */
#ifndef TH_BP_META_H
#define TH_BP_META_H

#include "generic_bp.h"
#include "hit.h"

/* The caller's share; takes one of TRACER, which may be NULL: nobody. */
struct th_bp_meta *th_breakpoint_meta_create(struct th_shared *tracer);

/* Calls the hook for a meta breakpoint that was hit, unless its tracer is gone. */
uint32_t th_breakpoint_meta_hit(struct th_hit *hit, struct th_bp_session *session);

#endif
