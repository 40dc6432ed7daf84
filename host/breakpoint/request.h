/* What hits ask for: collected, and done in one change. */
#ifndef TH_REQUEST_H
#define TH_REQUEST_H

#include "hit.h"

struct th_bp_setting;

/* The kinds of the breakpoint that was hit are to be cleared. From inside of a hit. */
void th_breakpoint_request_clear(struct th_hit *hit, uint32_t kinds);

/* All that was asked for and not taken yet. SERIAL of a setting: th_bp_data.serial of the
 * breakpoint that was hit; another is not meant. With the code modification permission. */
void th_breakpoint_request_take(void (*take)(void *context, const struct th_bp_setting *setting,
                                             uint64_t serial),
                                void *context);

/* A change of what th_breakpoint_request_take() gives; change.c. */
struct th_change *th_breakpoint_change_of_requests(void);

#endif
