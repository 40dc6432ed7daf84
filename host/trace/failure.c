#include "failure.h"

#include <pthread.h>

static struct {
    pthread_mutex_t lock;
    unsigned long count;
    char latest[1024]; /* cut, if need be: no memory is taken */
} failures = {.lock = PTHREAD_MUTEX_INITIALIZER};

void th_failure_report(const char *tracer, const char *reason)
{
    pthread_mutex_lock(&failures.lock);
    failures.count++;
    snprintf(failures.latest, sizeof failures.latest, "tracer '%s' failed: %s", tracer, reason);
    pthread_mutex_unlock(&failures.lock);
    th_log_error("tracer '%s' failed: %s", tracer, reason);
}

unsigned long th_failures(void)
{
    unsigned long count;

    pthread_mutex_lock(&failures.lock);
    count = failures.count;
    pthread_mutex_unlock(&failures.lock);
    return count;
}

enum th_status th_failures_raise(unsigned long before)
{
    enum th_status status = TH_OK;

    pthread_mutex_lock(&failures.lock);
    if (failures.count > before)
        status = th_error_raise(TH_FAILED, "%s", failures.latest);
    pthread_mutex_unlock(&failures.lock);
    return status;
}
