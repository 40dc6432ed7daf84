/* Defines the tracepoint peers:EVENT as LTTng requires, which includes this file again. */
#undef LTTNG_UST_TRACEPOINT_PROVIDER
#define LTTNG_UST_TRACEPOINT_PROVIDER peers
#undef LTTNG_UST_TRACEPOINT_INCLUDE
#define LTTNG_UST_TRACEPOINT_INCLUDE "./lttng_events.h"

#if !defined(LTTNG_EVENTS_H) || defined(LTTNG_UST_TRACEPOINT_HEADER_MULTI_READ)
#define LTTNG_EVENTS_H

#include <lttng/tracepoint.h>

LTTNG_UST_TRACEPOINT_EVENT(peers, EVENT, LTTNG_UST_TP_ARGS(int, argc, unsigned long, term),
                           LTTNG_UST_TP_FIELDS(lttng_ust_field_integer(int, argc, argc)
                                                   lttng_ust_field_integer(unsigned long, term,
                                                                           term)))

#endif

#include <lttng/tracepoint-event.h>
