/*
 * Findings: told on stderr, a line each, and counted.
 */
#include "check_internal.h"

#include <pthread.h>
#include <stdarg.h>

enum { TOLD = 10 /* of one kind in one function */ };

/* Findings of one kind in one function. */
struct series {
    uint64_t count;
    char *where;
    char *first; /* what was said at the first */
};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER; /* guards what follows */
static struct th_table all;                              /* series, by where and kind */
static uint64_t found;

/* The series of KIND at WHERE, with one more in it. Two that share a key, of 64 mixed bits, would
 * be told as one. */
static uint64_t count_in_series(const char *where, const char *kind, const char *message)
{
    uint64_t key = th_hash_mix(th_hash_bytes(where, strlen(where)) ^ (uintptr_t)kind) | 1;
    struct series *series;
    uint64_t count;

    pthread_mutex_lock(&lock);
    series = th_hash_table_get(&all, key);
    if (!series) {
        series = th_alloc(sizeof *series);
        *series = (struct series){0, th_strdup(where), th_strdup(message)};
        th_hash_table_set(&all, key, series);
    }
    found++;
    count = ++series->count;
    pthread_mutex_unlock(&lock);
    return count;
}

/* A line on stderr, behind what was written to stdout before it. */
static void print_finding(const char *who, const char *message)
{
    fflush(stdout);
    fprintf(stderr, "tracehost: check: %s: %s\n", who, message);
}

static void tell_finding(const struct th_origin *origin, const char *kind, char *message)
{
    if (count_in_series(origin->where, kind, message) <= TOLD)
        print_finding(origin->text, message);
    th_free(message);
}

void th_check_found(const struct th_origin *origin, const char *kind, const char *format, ...)
{
    va_list args;

    va_start(args, format);
    tell_finding(origin, kind, th_vprintf(format, args));
    va_end(args);
}

void th_check_found_now(const char *kind, const char *format, ...)
{
    struct th_origin *origin = th_check_origin_now();
    va_list args;

    va_start(args, format);
    tell_finding(origin, kind, th_vprintf(format, args));
    va_end(args);
    th_check_origin_release(origin);
}

void th_check_tell_leak(const char *format, ...)
{
    va_list args;
    char *message;

    va_start(args, format);
    message = th_vprintf(format, args);
    va_end(args);
    print_finding("leak", message);
    th_free(message);
    pthread_mutex_lock(&lock);
    found++;
    pthread_mutex_unlock(&lock);
}

void th_check_blame(const char *function, const char *what)
{
    th_check_found_now(what, "%s() %s", function, what);
}

void th_check_blame_of(const char *function, const char *what, const char *other)
{
    th_check_found_now(what, "%s() %s %s()", function, what, other);
}

uint64_t th_check_findings_end(void)
{
    size_t position = 0;
    struct th_slot *slot;
    uint64_t total;

    pthread_mutex_lock(&lock);
    while ((slot = th_hash_table_next(&all, &position))) {
        struct series *series = slot->value;
        if (series->count > TOLD)
            fprintf(stderr, "tracehost: check: %s: %llu times more: %s\n", series->where,
                    (unsigned long long)(series->count - TOLD), series->first);
        th_free(series->where);
        th_free(series->first);
        th_free(series);
    }
    th_hash_table_free(&all);
    total = found;
    found = 0;
    pthread_mutex_unlock(&lock);
    return total;
}
