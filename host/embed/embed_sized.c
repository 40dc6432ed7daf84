/* Structures with a size; memory; errors. */
#include "embed_host.h"

#include <stdio.h>
#include <string.h>

_Static_assert((int)TRACEHOST_OK == TH_OK && (int)TRACEHOST_FAILED == TH_FAILED &&
                   (int)TRACEHOST_USAGE == TH_USAGE && (int)TRACEHOST_MALFORMED == TH_MALFORMED &&
                   (int)TRACEHOST_PARTIAL == TH_PARTIAL && (int)TRACEHOST_REFUSED == TH_REFUSED &&
                   (int)TRACEHOST_END == TH_END,
               "statuses are handed on as they are");

/* The size is the first member of each such structure. */
static size_t given_size(const void *structure)
{
    size_t size;

    memcpy(&size, structure, sizeof size);
    return size;
}

static enum th_status no_size(const char *name)
{
    return th_error_raise(TH_USAGE, "the size of a struct %s is not set", name);
}

enum th_status th_embed_sized_take(void *known, size_t size, const void *given, const char *name)
{
    const unsigned char *bytes = given;
    size_t there = given ? given_size(given) : 0;

    if (given && there < sizeof there)
        return no_size(name);
    for (size_t i = size; i < there; i++)
        if (bytes[i])
            return th_error_raise(TH_USAGE,
                                  "a struct %s has members set that libtracehost %s does not know",
                                  name, TH_VERSION);
    memset(known, 0, size);
    if (given)
        memcpy(known, given, there < size ? there : size);
    return TH_OK;
}

enum th_status th_embed_sized_check(const void *result, const char *name)
{
    if (!result)
        return th_error_raise(TH_USAGE, "the argument struct %s is missing", name);
    return given_size(result) < sizeof(size_t) ? no_size(name) : TH_OK;
}

void th_embed_sized_give(void *result, const void *known, size_t size)
{
    size_t room = given_size(result);

    memset((unsigned char *)result + sizeof room, 0, room - sizeof room);
    memcpy((unsigned char *)result + sizeof room, (const unsigned char *)known + sizeof room,
           (room < size ? room : size) - sizeof room);
}

enum tracehost_status th_embed_sized_answer(void *result, const void *known, size_t size,
                                            const char *name)
{
    enum th_status status = th_embed_sized_check(result, name);

    if (status == TH_OK)
        th_embed_sized_give(result, known, size);
    return th_embed_answer(status);
}

/* --- Memory ----------------------------------------------------------------------------------- */

enum th_status th_embed_find_room(size_t bytes)
{
    void *room = th_may_realloc(NULL, bytes);

    th_free(room);
    return room ? TH_OK : th_error_status();
}

enum th_status th_embed_find_copy(ERL_NIF_TERM term)
{
    enum { COPIES = 4 /* copies of a match specification: source, program, screened parts */ };

    return th_embed_find_room(COPIES * sizeof term * (th_term_words(term) + 1));
}

enum th_status th_embed_refused(enum th_status status)
{
    char why[TH_ERROR_TEXT] = "";

    th_memory_refused = false;
    if (status != TH_OK && th_error_status() == TH_FAILED)
        return TH_FAILED; /* the chain begins with TH_FAILED already */
    if (status != TH_OK)
        snprintf(why, sizeof why, "%s", th_error_link(0));
    th_error_raise(TH_FAILED, "out of memory");
    return *why ? th_error_context("%s", why) : TH_FAILED;
}

enum th_status th_embed_missing(const char *what)
{
    return th_error_raise(TH_USAGE, "the %s is missing", what);
}

/* --- The thread's chain of causes ------------------------------------------------------------- */

enum tracehost_status tracehost_error_status(void)
{
    return (enum tracehost_status)th_error_status();
}

const char *tracehost_error_link(size_t i)
{
    return th_error_link(i);
}

void tracehost_error_print(FILE *out, const char *prefix)
{
    th_error_print(out, prefix);
}

/* Puts TEXT at offset AT of BUFFER, as far as there is room. Returns the end of the whole text. */
static size_t put_link(char *buffer, size_t size, size_t at, const char *text)
{
    size_t length = strlen(text);

    if (at + 1 < size)
        memcpy(buffer + at, text, length < size - at - 1 ? length : size - at - 1);
    return at + length;
}

size_t tracehost_error_text(char *buffer, size_t size)
{
    size_t at = 0;

    for (size_t i = 0; th_error_link(i); i++) {
        at = put_link(buffer, size, at, i ? ": " : "");
        at = put_link(buffer, size, at, th_error_link(i));
    }
    if (size)
        buffer[at < size ? at : size - 1] = 0;
    return at;
}

void tracehost_error_clear(void)
{
    th_error_clear();
}
