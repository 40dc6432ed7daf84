/* What match specifications of patterns ask and do. */
#ifndef TH_MATCH_CONTEXT_H
#define TH_MATCH_CONTEXT_H

#include "host/match/match.h"
#include "dispatch.h"

/* The context of th_pattern_operations. */
struct th_surroundings {
    const struct th_way *way;
    struct th_session *session;
    struct th_tracee *tracee; /* NULL: it is of another node */
};

extern const struct th_match_operations th_pattern_operations;

/* The flags that LIST names; false: it is none of flags that a match specification may give. */
bool th_surroundings_flags(th_term list, uint32_t *flags);

#endif
