/* logging.c with only the mandatory callbacks, which replace all others. */
#define LOGGING_SLOTS(X)   \
    X(enabled, 3, generic) \
    X(trace, 5, generic)

#include "logging.c"
