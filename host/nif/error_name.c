/*
 * erl_errno_id(): the driver API's names of errno values, which NIF libraries use as well.
 *
 * They are the C names in lower case. A BEAM has no name for a few late ones (and says "unknown"
 * there); the names here are what it would call them.
 */
#include "nif.h"

#include <errno.h>
#include <pthread.h>

enum { ERRORS = 256, LONGEST = 16 };

static char names[ERRORS][LONGEST]; /* written once, by fill() */
static pthread_once_t once = PTHREAD_ONCE_INIT;

static void fill(void)
{
    for (int error = 1; error < ERRORS; error++) {
        const char *name = strerrorname_np(error);
        if (error == ENOTSUP)
            name = "ENOTSUP"; /* the same number as EOPNOTSUPP */
        for (size_t i = 0; name && i + 1 < LONGEST && name[i]; i++)
            names[error][i] = name[i] >= 'A' && name[i] <= 'Z' ? name[i] - 'A' + 'a' : name[i];
    }
}

char *erl_errno_id(int error)
{
    static char unknown[] = "unknown";

    pthread_once(&once, fill);
    if (error <= 0 || error >= ERRORS || !names[error][0])
        return unknown;
    return names[error];
}
