#include "errno_name.h"

#include <errno.h>
#include <pthread.h>
#include <string.h>

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
            names[error][i] =
                (char)(name[i] >= 'A' && name[i] <= 'Z' ? name[i] - 'A' + 'a' : name[i]);
    }
}

const char *th_errno_name(int error)
{
    pthread_once(&once, fill);
    return error > 0 && error < ERRORS && names[error][0] ? names[error] : "unknown";
}
