/* Whom a session traces. */
#include "embed_host.h"

#define TRACEHOST_FLAG_GC TRACEHOST_FLAG_GARBAGE_COLLECTION
#define TRACEHOST_FLAG_MONOTONIC TRACEHOST_FLAG_MONOTONIC_TIMESTAMP
#define TRACEHOST_FLAG_STRICT_MONOTONIC TRACEHOST_FLAG_STRICT_MONOTONIC_TIMESTAMP
#define X(name, bit, help) \
    _Static_assert((int)TRACEHOST_FLAG_##bit == (int)TH_FLAG_##bit, #name " is the same bit");
TH_FLAGS(X)
#undef X
_Static_assert((int)TRACEHOST_FLAGS_EVENTS == (int)TH_FLAGS_EVENTS, "the same events");

enum { SAME = (1 << TH_FLAG_BITS) - 1 };

enum th_status th_embed_check_flags(uint32_t flags)
{
    uint32_t unknown = flags & ~(uint32_t)(SAME | TRACEHOST_FLAG_AS_RECORDED);

    return unknown ? th_error_raise(TH_USAGE, "there is no trace flag 0x%x", unknown) : TH_OK;
}

uint32_t th_embed_flags(uint32_t flags)
{
    return (flags & SAME) | (flags & TRACEHOST_FLAG_AS_RECORDED ? TH_FLAG_AS_RECORDED : 0);
}

static uint32_t flags_of_program(uint32_t flags)
{
    return (flags & SAME) | (flags & TH_FLAG_AS_RECORDED ? TRACEHOST_FLAG_AS_RECORDED : 0);
}

enum tracehost_status tracehost_flags_parse(const char *list, uint32_t *flags)
{
    uint32_t parsed;
    enum th_status status = th_embed_need(list, "text")
                                ?: th_embed_need(flags, "result")
                                ?: th_trace_flags_parse(list, &parsed);

    if (status == TH_OK)
        *flags = flags_of_program(parsed);
    return th_embed_answer(status);
}

/* --- setting --- */

static enum th_status check_group(enum tracehost_tracees which)
{
    _Static_assert((int)TRACEHOST_PROCESSES_ALL == TH_PROCESSES_ALL &&
                       (int)TRACEHOST_PROCESSES_EXISTING == TH_PROCESSES_EXISTING &&
                       (int)TRACEHOST_PROCESSES_NEW == TH_PROCESSES_NEW &&
                       (int)TRACEHOST_PORTS_ALL == TH_PORTS_ALL &&
                       (int)TRACEHOST_PORTS_EXISTING == TH_PORTS_EXISTING &&
                       (int)TRACEHOST_PORTS_NEW == TH_PORTS_NEW,
                   "groups are handed on as they are");
    if ((unsigned)which > TRACEHOST_PORTS_NEW)
        return th_error_raise(TH_USAGE, "there is no group %d of processes or ports", (int)which);
    return TH_OK;
}

static enum th_status check_tracee(th_term id)
{
    return th_is_local_pid(id) || th_is_local_port(id)
               ? TH_OK
               : th_error_raise(TH_USAGE, "that is no process or port of the recorded node");
}

/* Finds a session whose flags are to be changed. */
static enum th_status begin_change(tracehost_host *host, tracehost_session session, uint32_t flags,
                                   struct th_session **found)
{
    return th_embed_session(host, session, found)
           ?: th_embed_enter()
           ?: th_embed_check_flags(flags);
}

enum tracehost_status tracehost_session_trace(tracehost_host *host, tracehost_session session,
                                              enum tracehost_tracees which, bool on, uint32_t flags)
{
    struct th_session *found;

    return th_embed_answer(
        begin_change(host, session, flags, &found)
            ?: check_group(which)
            ?: th_trace_session_trace(found, (enum th_tracees)which, on, th_embed_flags(flags)));
}

enum tracehost_status tracehost_session_trace_one(tracehost_host *host, tracehost_session session,
                                                  ERL_NIF_TERM tracee, bool on, uint32_t flags)
{
    struct th_session *found;

    return th_embed_answer(begin_change(host, session, flags, &found)
                         ?: check_tracee(tracee)
                         ?: th_trace_session_trace_one(found, tracee, on, th_embed_flags(flags)));
}

enum tracehost_status tracehost_session_expect(tracehost_host *host, tracehost_session session,
                                               ERL_NIF_TERM who, uint32_t flags)
{
    struct th_session *found;

    return th_embed_answer(begin_change(host, session, flags, &found)
                         ?: (th_is_atom(who) ? TH_OK : check_tracee(who))
                         ?: th_trace_session_expect(found, who, th_embed_flags(flags)));
}

/* --- asking --- */

enum tracehost_status tracehost_session_get_flags(tracehost_host *host, tracehost_session session,
                                                  ERL_NIF_TERM tracee, uint32_t *flags)
{
    struct th_session *found;
    enum th_status status = th_embed_session(host, session, &found)
                                ?: check_tracee(tracee)
                                ?: th_embed_need(flags, "result");

    if (status == TH_OK)
        *flags = flags_of_program(th_trace_session_flags(found, tracee));
    return th_embed_answer(status);
}

enum tracehost_status tracehost_session_get_default_flags(tracehost_host *host,
                                                          tracehost_session session,
                                                          enum tracehost_tracees which,
                                                          uint32_t *flags)
{
    struct th_session *found;
    enum th_status status = th_embed_session(host, session, &found)
                                ?: check_group(which)
                                ?: th_embed_need(flags, "result");

    if (status == TH_OK)
        *flags = flags_of_program(th_trace_session_default_flags(found, (enum th_tracees)which));
    return th_embed_answer(status);
}
