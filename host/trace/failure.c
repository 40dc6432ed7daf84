#include "failure.h"

#include <ctype.h>
#include <pthread.h>
#include <string.h>

static struct {
    pthread_mutex_t lock;
    unsigned long count;
    char latest[1024];       /* cut, if need be: no memory is taken */
    const char *path, *name; /* th_trace_failures_name() */
} failures = {.lock = PTHREAD_MUTEX_INITIALIZER};

void th_trace_failures_name(const char *path, const char *name)
{
    pthread_mutex_lock(&failures.lock);
    failures.path = path;
    failures.name = name;
    pthread_mutex_unlock(&failures.lock);
}

/* The place in REASON of the path that has another name; NULL: REASON does not have that path. */
static const char *find_path(const char *reason)
{
    const char *found = failures.path ? strstr(reason, failures.path) : NULL;

    return found && !isalnum((unsigned char)found[strlen(failures.path)]) ? found : NULL;
}

void th_trace_failure_report(const char *tracer, const char *reason)
{
    const char *found, *name = "", *rest = "";
    int before = (int)strlen(reason);

    pthread_mutex_lock(&failures.lock);
    found = find_path(reason);
    if (found) {
        before = (int)(found - reason);
        name = failures.name;
        rest = found + strlen(failures.path);
    }
    failures.count++;
    snprintf(failures.latest, sizeof failures.latest, "tracer '%s' failed: %.*s%s%s", tracer,
             before, reason, name, rest);
    pthread_mutex_unlock(&failures.lock);
    th_log_error("tracer '%s' failed: %.*s%s%s", tracer, before, reason, name, rest);
}

unsigned long th_trace_failures(void)
{
    unsigned long count;

    pthread_mutex_lock(&failures.lock);
    count = failures.count;
    pthread_mutex_unlock(&failures.lock);
    return count;
}

enum th_status th_trace_failures_raise(unsigned long before)
{
    enum th_status status = TH_OK;

    pthread_mutex_lock(&failures.lock);
    if (failures.count > before)
        status = th_error_raise(TH_FAILED, "%s", failures.latest);
    pthread_mutex_unlock(&failures.lock);
    return status;
}
