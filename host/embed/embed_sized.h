/* The structures of tracehost.h, which whoever makes one gives a size: programs may have been
 * compiled with an older header than ours, or with a newer one. */
#ifndef TH_EMBED_SIZED_H
#define TH_EMBED_SIZED_H

#include "embed.h"
#include "host/base/base.h"

/*
 * Copies what was GIVEN, a struct NAME, into KNOWN, of which SIZE bytes are known; what is missing
 * becomes 0, all of it if GIVEN is NULL. TH_USAGE if its size is not set, or if it has more than is
 * known and that is not 0.
 */
enum th_status th_embed_sized_take(void *known, size_t size, const void *given, const char *name);

/* TH_USAGE unless RESULT is a struct NAME that can be filled. */
enum th_status th_embed_sized_check(const void *result, const char *name);

/* Fills RESULT, which was checked, from KNOWN, of SIZE bytes, as far as it goes; its size stays. */
void th_embed_sized_give(void *result, const void *known, size_t size);

/* Begins a call that needs memory, whose arguments were checked. TH_FAILED if there is too little.
 */
enum th_status th_embed_enter(void);

/* TH_FAILED unless there are so many bytes at this moment. The same for what is kept, and made, of
 * a term that the program gives. */
enum th_status th_embed_find_room(size_t bytes);
enum th_status th_embed_find_copy(ERL_NIF_TERM term);

/* The thread was refused memory since th_embed_enter(): TH_FAILED, over the chain of STATUS, and it
 * is no more. */
enum th_status th_embed_refused(enum th_status status);

static inline enum tracehost_status th_embed_answer(enum th_status status)
{
    if (__builtin_expect(th_memory_refused, 0) && status != TH_OK && status != TH_END)
        status = th_embed_refused(status);
    return (enum tracehost_status)status;
}

/* For arguments that must be given. Checks are chained with `?:`, which goes on while the status is
 * TH_OK. */
enum th_status th_embed_missing(const char *what);

static inline enum th_status th_embed_need(bool given, const char *what)
{
    return given ? TH_OK : th_embed_missing(what);
}

_Static_assert(TH_OK == 0, "the first status that is not TH_OK ends a chain of checks");

#endif
