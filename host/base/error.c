#include "error.h"

#include "thread.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* The thread's chain; NULL: the thread never had an error. */
static _Thread_local void *own;

/* The status of an error whose chain got no memory; TH_OK: no such error. */
static _Thread_local enum th_status untold;
static const char untold_link[] = "out of memory, so that there is no room to say what went wrong";

/* Returns the thread's chain for writing, NULL if there is no memory for one. */
static struct th_error_chain *begin_chain(enum th_status status)
{
    struct th_error_chain *chain = own;

    if (!chain)
        chain = th_thread_memory(&own, sizeof *chain);
    untold = chain ? TH_OK : status;
    return chain;
}

enum th_status th_error_raise(enum th_status status, const char *format, ...)
{
    struct th_error_chain *chain = begin_chain(status);
    va_list args;
    char text[TH_ERROR_TEXT];

    if (!chain)
        return status;
    va_start(args, format);
    vsnprintf(text, sizeof text, format, args); /* an argument may be a link of the old chain */
    va_end(args);
    chain->status = status;
    chain->count = 1;
    memcpy(chain->links[0], text, sizeof text);
    return status;
}

enum th_status th_error_context(const char *format, ...)
{
    struct th_error_chain *chain = own;
    va_list args;

    if (!chain)
        return untold;
    if (chain->count == TH_ERROR_LINKS) {
        memmove(chain->links[1], chain->links[2], (TH_ERROR_LINKS - 2) * sizeof chain->links[0]);
        chain->count--;
    }
    va_start(args, format);
    vsnprintf(chain->links[chain->count++], TH_ERROR_TEXT, format, args);
    va_end(args);
    return chain->status;
}

enum th_status th_error_status(void)
{
    const struct th_error_chain *chain = own;

    return chain && chain->count ? chain->status : untold;
}

const char *th_error_link(size_t i)
{
    const struct th_error_chain *chain = own;

    if (chain && i < chain->count)
        return chain->links[chain->count - 1 - i];
    return untold != TH_OK && i == 0 ? untold_link : NULL;
}

void th_error_clear(void)
{
    struct th_error_chain *chain = own;

    if (chain)
        chain->count = 0;
    untold = TH_OK;
}

static void copy_chain(struct th_error_chain *to, const struct th_error_chain *from)
{
    to->status = from->status;
    to->count = from->count;
    memcpy(to->links, from->links, from->count * sizeof from->links[0]);
}

void th_error_save(struct th_error_chain *kept)
{
    const struct th_error_chain *chain = own;

    if (chain) {
        copy_chain(kept, chain);
        return;
    }
    kept->status = untold;
    kept->count = untold != TH_OK;
    memcpy(kept->links[0], untold_link, sizeof untold_link);
}

void th_error_restore(const struct th_error_chain *kept)
{
    struct th_error_chain *chain;

    if (kept->count == 0)
        th_error_clear();
    else if ((chain = begin_chain(kept->status)))
        copy_chain(chain, kept);
}

void th_error_print(FILE *out, const char *prefix)
{
    const char *text;

    for (size_t i = 0; (text = th_error_link(i)); i++) {
        if (i == 0)
            fprintf(out, "%s: %s\n", prefix, text);
        else
            fprintf(out, "  %s\n", text);
    }
}

void th_bug(const char *format, ...)
{
    va_list args;

    fputs("tracehost: internal error: ", stderr);
    va_start(args, format);
    vfprintf(stderr, format, args);
    va_end(args);
    fputc('\n', stderr);
    abort();
}

/* --- Names of errno values -------------------------------------------------------------------- */

enum { ERRORS = 256, LONGEST = 16 };

static char errno_names[ERRORS][LONGEST]; /* written once, by name_errors() */
static pthread_once_t once = PTHREAD_ONCE_INIT;

static void name_errors(void)
{
    for (int error = 1; error < ERRORS; error++) {
        const char *name = strerrorname_np(error);
        if (error == ENOTSUP)
            name = "ENOTSUP"; /* the same number as EOPNOTSUPP */
        for (size_t i = 0; name && i + 1 < LONGEST && name[i]; i++)
            errno_names[error][i] =
                (char)(name[i] >= 'A' && name[i] <= 'Z' ? name[i] - 'A' + 'a' : name[i]);
    }
}

const char *th_base_errno_name(int error)
{
    pthread_once(&once, name_errors);
    return error > 0 && error < ERRORS && errno_names[error][0] ? errno_names[error] : "unknown";
}
