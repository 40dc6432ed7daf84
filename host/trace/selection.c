#include "selection.h"

#include "pattern_internal.h"

#include "host/base/buffer.h"
#include "host/base/memory.h"
#include "host/match/match.h"
#include "host/term/make.h"

/* Returns whether the patterns of SESSION do no more than choose calls. */
static bool only_chooses(const struct th_session *session)
{
    const struct th_session_breakpoints *breakpoints = th_trace_session_breakpoints(session);

    if (atomic_load_explicit(&session->message_patterned, memory_order_relaxed))
        return false;
    for (size_t i = 0; breakpoints && i < breakpoints->count; i++) {
        const struct th_bp_setting *setting = &breakpoints->defaults[i].setting;
        const struct th_shared_spec *spec = (const struct th_shared_spec *)setting->spec;
        if (setting->set & ~(uint32_t)(TH_BP_LOCAL | TH_BP_GLOBAL))
            return false;
        if (spec && th_match_changes(spec->spec))
            return false;
    }
    return true;
}

/* Adds the tracees of SESSION. Returns false if they are not known. */
static bool select_tracees(const struct th_session *session, struct th_trace_selection *selection)
{
    uint32_t others = 0;

    for (int kind = 0; kind < TH_KINDS; kind++)
        others |= session->found[kind] | session->born[kind];
    for (size_t i = 0; i < session->expected_count; i++) {
        const struct th_expected *expected = &session->expected[i];
        others |= expected->flags & (TH_FLAGS_ON_SPAWN | TH_FLAGS_ON_LINK);
        if (th_is_atom(expected->who))
            return false; /* a name: more than one process may have it, one after the other */
        TH_ARRAY_GROW(selection->tracees, selection->tracee_count, selection->tracee_capacity);
        selection->tracees[selection->tracee_count++] = expected->who;
    }
    return !others && session->expected_count > 0;
}

/* Returns the tags of events that FLAGS let pass. */
static uint64_t tags_of(uint32_t flags)
{
    uint64_t tags = UINT64_C(1) << TH_TAG_seq_trace;

    for (int tag = 0; tag < TH_TAG_COUNT; tag++)
        for (int port = 0; port < 2; port++) {
            enum th_tracer_group group = (enum th_tracer_group)th_trace_tag_groups[port][tag];
            if (group != TH_GROUP_none && flags & th_trace_tag_flag((enum th_tracer_tag)tag, group))
                tags |= UINT64_C(1) << tag;
        }
    return tags;
}

void th_trace_select(struct th_tracing *tracing, struct th_trace_selection *selection)
{
    enum {
        CALLS = 1 << TH_TAG_call | 1 << TH_TAG_return_from | 1 << TH_TAG_exception_from |
                1 << TH_TAG_return_to | 1 << TH_TAG_seq_trace
    };
    bool tracees = true, functions = true, chosen = true;
    struct th_session *session;
    uint64_t tags;
    size_t i = 0;

    *selection = (struct th_trace_selection){.tracing = tracing};
    selection->stacks = atomic_load_explicit(&tracing->patterned, memory_order_relaxed);
    chosen = !atomic_load_explicit(&tracing->meta_tracers, memory_order_relaxed);
    while ((session = th_trace_next(tracing, &i))) {
        chosen = chosen && only_chooses(session);
        tracees = tracees && select_tracees(session, selection);
        functions = functions && th_trace_session_breakpoints(session);
    }
    if (!tracees || !chosen)
        selection->tracee_count = 0;
    selection->met = th_alloc_zero(selection->tracee_count + 1);
    if (!chosen)
        return;
    tags = tags_of(atomic_load_explicit(&tracing->wanted, memory_order_relaxed)) |
           atomic_load_explicit(&tracing->relevant, memory_order_relaxed);
    if (selection->stacks)
        tags |= 1 << TH_TAG_call; /* sites may count calls of any tracee */
    selection->functions = selection->stacks;
    selection->only_functions = functions && !(tags & ~(uint64_t)CALLS);
}

void th_trace_selection_free(struct th_trace_selection *selection)
{
    th_free(selection->tracees);
    th_free(selection->met);
    *selection = (struct th_trace_selection){0};
}

bool th_trace_selects_function(void *context, const struct th_mfa *function)
{
    const struct th_trace_selection *selection = context;
    bool met = false;
    struct th_session *session;
    size_t i = 0;

    while ((session = th_trace_next(selection->tracing, &i))) {
        const struct th_session_breakpoints *breakpoints = th_trace_session_breakpoints(session);
        for (size_t j = 0; breakpoints && j < breakpoints->count; j++)
            met |= th_trace_pattern_concerns(&breakpoints->defaults[j].pattern, function);
    }
    if (met) {
        struct th_function_sites *sites = th_trace_patterns_meet(selection->tracing, function);
        atomic_store_explicit(&sites->called, true, memory_order_relaxed); /* guards no data */
    }
    return met || !selection->only_functions;
}

/* Notes that the tracee WHO is there. */
static void meet_expected(struct th_tracing *tracing, th_term who)
{
    struct th_session *session;
    size_t i = 0;

    while ((session = th_trace_next(tracing, &i)))
        for (size_t j = 0; j < session->expected_count; j++)
            session->expected[j].met |= session->expected[j].who == who;
}

void th_trace_selection_saw(const struct th_trace_selection *selection, uint64_t tags)
{
    struct th_tracing *tracing = selection->tracing;

    for (size_t i = 0; i < selection->tracee_count; i++)
        if (selection->met[i])
            meet_expected(tracing, selection->tracees[i]);
    for (int tag = 0; tag < TH_TAG_COUNT; tag++)
        for (int port = 0; port < 2 && tags >> tag & 1; port++) {
            enum th_tracer_group group = (enum th_tracer_group)th_trace_tag_groups[port][tag];
            if (group != TH_GROUP_none)
                tracing->seen |= th_trace_tag_flag((enum th_tracer_tag)tag, group);
        }
}
