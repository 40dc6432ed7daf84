#include "tracing.h"

#include "inheritance.h"

/* --- what waits for the end of the event at hand --- */

void th_tracing_retire(struct th_tracing *tracing, struct th_tracee_refs *refs)
{
    refs->retired = tracing->retired;
    tracing->retired = refs;
    tracing->unsettled = true;
}

static void free_retired(struct th_tracing *tracing)
{
    while (tracing->retired) {
        struct th_tracee_refs *next = tracing->retired->retired;
        th_free(tracing->retired);
        tracing->retired = next;
    }
}

static void deliver(struct th_tracing *tracing)
{
    struct th_delivery *deliveries = tracing->deliveries;
    size_t count = tracing->delivery_count;

    tracing->deliveries = NULL; /* others may be asked for meanwhile */
    tracing->delivery_count = tracing->delivery_capacity = 0;
    for (size_t i = 0; i < count; i++)
        deliveries[i].done(deliveries[i].context);
    th_free(deliveries);
}

void th_trace_delivered(struct th_tracing *tracing, th_term tracee, void (*done)(void *context),
                        void *context)
{
    (void)tracee; /* the events of all come one after the other */
    TH_ARRAY_GROW(tracing->deliveries, tracing->delivery_count, tracing->delivery_capacity);
    tracing->deliveries[tracing->delivery_count++] = (struct th_delivery){done, context};
    tracing->unsettled = true;
    th_tracing_settle(tracing);
}

void th_tracing_settle(struct th_tracing *tracing)
{
    if (th_callback_current.event || th_callback_current.session)
        return;
    while (tracing->unsettled) {
        tracing->unsettled = false;
        th_sessions_bury(tracing);
        free_retired(tracing);
        deliver(tracing);
    }
}

/* --- defaults --- */

static void replace(struct th_tracing *tracing, struct th_tracee_refs **place,
                    struct th_tracee_refs *refs)
{
    th_tracing_retire(tracing, *place);
    *place = refs;
}

void th_tracing_update(struct th_tracing *tracing)
{
    struct th_tracee_refs *everyone = th_refs_create(TH_SESSIONS_LIMIT);

    for (enum th_kind kind = 0; kind < TH_KINDS; kind++) {
        struct th_tracee_refs *found = th_refs_create(TH_SESSIONS_LIMIT);
        for (size_t i = 0; i < TH_SESSIONS_LIMIT; i++)
            if (tracing->sessions[i])
                th_refs_add(found, tracing->sessions[i], tracing->sessions[i]->found[kind]);
        replace(tracing, &tracing->found[kind], found);
        tracing->wanted |= th_refs_union(found);
    }
    for (size_t i = 0; i < TH_SESSIONS_LIMIT; i++)
        if (tracing->sessions[i])
            th_refs_add(everyone, tracing->sessions[i],
                        tracing->sessions[i]->flags | TH_FLAG_ALWAYS);
    replace(tracing, &tracing->everyone, everyone);
    th_inheritance_update(tracing);
}

/* --- worlds --- */

static void forget_departed(struct th_tracing *tracing)
{
    for (size_t i = 0; i < TH_DEPARTED; i++)
        th_free(tracing->departed[i].refs);
    memset(tracing->departed, 0, sizeof tracing->departed);
    tracing->departures = 0;
}

static void leave_world(struct th_tracing *tracing)
{
    th_world_reset(th_tracee_drop);
    forget_departed(tracing);
    tracing->habit = (struct th_calls_habit){0};
    tracing->special = false;
}

void th_tracing_new_world(struct th_tracing *tracing)
{
    leave_world(tracing);
    th_tracees_expected(tracing);
    th_inheritance_update(tracing);
}

/* --- a tracing's life --- */

struct th_tracing *th_tracing_create(void)
{
    struct th_tracing *tracing = th_alloc_zero(sizeof *tracing);

    th_env_init(&tracing->arena, TH_ENV_PLAIN);
    tracing->wanted = TH_FLAG_ALWAYS;
    th_execution_start(&tracing->execution, NULL);
    tracing->found[TH_KIND_PROCESS] = th_refs_create(0);
    tracing->found[TH_KIND_PORT] = th_refs_create(0);
    tracing->everyone = th_refs_create(0);
    th_tracing_new_world(tracing);
    return tracing;
}

void th_tracing_free(struct th_tracing *tracing)
{
    if (!tracing)
        return;
    leave_world(tracing);
    for (size_t i = 0; i < TH_SESSIONS_LIMIT; i++)
        if (tracing->sessions[i])
            th_session_free(tracing->sessions[i]);
    th_functions_free(&tracing->functions);
    free_retired(tracing);
    th_free(tracing->deliveries);
    th_env_release(&tracing->arena);
    th_free(tracing->found[TH_KIND_PROCESS]);
    th_free(tracing->found[TH_KIND_PORT]);
    th_free(tracing->everyone);
    th_free(tracing);
}

void th_tracing_use_wall_clock(struct th_tracing *tracing)
{
    tracing->wall_clock = true;
}

size_t th_tracing_sessions(const struct th_tracing *tracing)
{
    size_t count = 0;

    for (size_t i = 0; i < TH_SESSIONS_LIMIT; i++)
        count += tracing->sessions[i] != NULL;
    return count;
}

struct th_session *th_tracing_session(const struct th_tracing *tracing, size_t n)
{
    for (size_t i = 0; i < TH_SESSIONS_LIMIT; i++)
        if (tracing->sessions[i] && n-- == 0)
            return tracing->sessions[i];
    return NULL;
}

uint64_t th_tracing_calls_forgotten(const struct th_tracing *tracing)
{
    return tracing->calls_forgotten;
}
