#include "refs.h"

#include "tracing.h"

#include <string.h>

struct th_tracee_refs *th_trace_refs_create(size_t count)
{
    struct th_tracee_refs *refs =
        th_alloc(sizeof *refs + (count > 0 ? count : 1) * sizeof refs->refs[0]);

    refs->retired = NULL;
    refs->count = 0;
    refs->refs[0] = (struct th_tracee_ref){NULL, TH_FLAG_NONE};
    return refs;
}

void th_trace_refs_add(struct th_tracee_refs *refs, struct th_session *session, uint32_t flags)
{
    if (flags)
        refs->refs[refs->count++] = (struct th_tracee_ref){session, flags};
}

struct th_tracee_refs *th_trace_refs_with(const struct th_tracee_refs *old,
                                          struct th_session *session, uint32_t flags)
{
    struct th_tracee_refs *refs = th_trace_refs_create(old->count + 1u);
    uint32_t i = 0;

    for (; i < old->count && old->refs[i].session->index < session->index; i++)
        th_trace_refs_add(refs, old->refs[i].session, old->refs[i].flags);
    th_trace_refs_add(refs, session, flags);
    i += i < old->count && old->refs[i].session == session;
    for (; i < old->count; i++)
        th_trace_refs_add(refs, old->refs[i].session, old->refs[i].flags);
    return refs;
}

uint32_t th_trace_refs_flags(const struct th_tracee_refs *refs, const struct th_session *session)
{
    for (uint32_t i = 0; i < refs->count; i++)
        if (refs->refs[i].session == session)
            return refs->refs[i].flags;
    return 0;
}

uint32_t th_trace_refs_union(const struct th_tracee_refs *refs)
{
    uint32_t flags = 0;

    for (uint32_t i = 0; i < refs->count; i++)
        flags |= refs->refs[i].flags;
    return flags;
}

bool th_trace_refs_equal(const struct th_tracee_refs *a, const struct th_tracee_refs *b)
{
    bool equal = a->count == b->count;

    for (uint32_t i = 0; equal && i < a->count; i++)
        equal = a->refs[i].session == b->refs[i].session && a->refs[i].flags == b->refs[i].flags;
    return equal;
}
