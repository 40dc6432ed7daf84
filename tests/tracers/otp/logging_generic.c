/* logging.c with none but the mandatory callbacks: they stand in for all others. */
#define LOGGING_SLOTS(X)   \
    X(enabled, 3, generic) \
    X(trace, 5, generic)

#include "logging.c"
