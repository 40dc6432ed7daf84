/* Plays a stream into the tracer `count`, as `tracehost replay -t count` does. */
#ifndef PLAY_H
#define PLAY_H

#include "host/trace/trace.h"

/* All events, as they were recorded. */
#define PLAY_ALL (TH_FLAGS_EVENTS | TH_FLAG_AS_RECORDED)

/* Delivers the events of FLAGS, and returns the number of records. The tracer's tables go to
 * stdout. The program ends if the stream or the tracer cannot be opened. */
uint64_t play(const char *stream, uint32_t flags);

#endif
