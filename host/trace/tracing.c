/* Creates and frees tracings, changes worlds, and queues work for the end of the current event. */
#include "tracing.h"

#include "note.h"
#include "pattern_internal.h"
#include "trace_internal.h"
#include "trace_thread.h"

#include "host/base/memory.h"
#include "host/process/process.h"

/* --- flags of tracees --- */

struct th_tracee_flags *th_trace_tracee_flags_create(size_t count)
{
    struct th_tracee_flags *tracee_flags = th_alloc(
        sizeof *tracee_flags + (count > 0 ? count : 1) * sizeof tracee_flags->tracee_flags[0]);

    tracee_flags->count = 0;
    tracee_flags->tracee_flags[0] = (struct th_tracee_ref){NULL, TH_FLAG_NONE};
    return tracee_flags;
}

void th_trace_tracee_flags_add(struct th_tracee_flags *tracee_flags, struct th_session *session,
                               uint32_t flags)
{
    if (flags)
        tracee_flags->tracee_flags[tracee_flags->count++] = (struct th_tracee_ref){session, flags};
}

struct th_tracee_flags *th_trace_tracee_flags_with(const struct th_tracee_flags *old,
                                                   struct th_session *session, uint32_t flags)
{
    struct th_tracee_flags *tracee_flags = th_trace_tracee_flags_create(old->count + 1u);
    uint32_t i = 0;

    for (; i < old->count && old->tracee_flags[i].session->index < session->index; i++)
        th_trace_tracee_flags_add(tracee_flags, old->tracee_flags[i].session,
                                  old->tracee_flags[i].flags);
    th_trace_tracee_flags_add(tracee_flags, session, flags);
    i += i < old->count && old->tracee_flags[i].session == session;
    for (; i < old->count; i++)
        th_trace_tracee_flags_add(tracee_flags, old->tracee_flags[i].session,
                                  old->tracee_flags[i].flags);
    return tracee_flags;
}

uint32_t th_trace_tracee_flags_union(const struct th_tracee_flags *tracee_flags)
{
    uint32_t flags = 0;

    for (uint32_t i = 0; i < tracee_flags->count; i++)
        flags |= tracee_flags->tracee_flags[i].flags;
    return flags;
}

void th_trace_tracee_words_set(struct th_tracee_words *words, const struct th_tracee_words *before,
                               const struct th_tracee_flags *tracee_flags)
{
    uint64_t calling = 0, special = 0;

    for (uint32_t i = 0; i < tracee_flags->count; i++) {
        const struct th_tracee_ref *ref = &tracee_flags->tracee_flags[i];
        uint64_t bit = ref->session->bit;
        if (ref->flags & TH_FLAG_CALL)
            calling |= bit;
        if (ref->flags & TH_FLAGS_SPECIAL)
            special |= bit;
    }
    if (before)
        special |= atomic_load_explicit(&before->special, memory_order_relaxed) & ~calling;
    atomic_store_explicit(&words->special, special, memory_order_relaxed);
    atomic_store_explicit(&words->calling, calling, memory_order_release);
}

bool th_trace_tracee_flags_equal(const struct th_tracee_flags *a, const struct th_tracee_flags *b)
{
    bool equal = a->count == b->count;

    for (uint32_t i = 0; equal && i < a->count; i++)
        equal = a->tracee_flags[i].session == b->tracee_flags[i].session &&
                a->tracee_flags[i].flags == b->tracee_flags[i].flags;
    return equal;
}

/* --- queue for the end of the current event --- */

void th_trace_later(struct th_tracing *tracing, struct th_later *later,
                    void (*run)(struct th_later *later))
{
    if (tracing->shared) {
        th_progress_later(later, run);
        return;
    }
    *later = (struct th_later){.run = run};
    *tracing->waiting_end = later;
    tracing->waiting_end = &later->next;
}

static void free_tracee_flags(struct th_later *later)
{
    th_free(later); /* the first member of the array */
}

void th_trace_retire(struct th_tracing *tracing, struct th_tracee_flags *tracee_flags)
{
    th_trace_later(tracing, &tracee_flags->later, free_tracee_flags);
}

struct delivery_asked {
    struct th_later later; /* first member */
    void (*done)(void *context);
    void *context;
};

static void report_delivered(struct th_later *later)
{
    struct delivery_asked *asked = (struct delivery_asked *)later;

    asked->done(asked->context);
    th_free(asked);
}

void th_trace_delivered(struct th_tracing *tracing, void (*done)(void *context), void *context)
{
    struct delivery_asked *asked = th_alloc(sizeof *asked);

    asked->done = done;
    asked->context = context;
    th_trace_later(tracing, &asked->later, report_delivered);
    th_trace_settle(tracing);
}

static bool meta_ended(const struct th_tracing *tracing)
{
    return !tracing->shared && atomic_load_explicit(&tracing->meta_ended, memory_order_relaxed);
}

void th_trace_settle(struct th_tracing *tracing)
{
    if (th_trace_callback_handled() || th_self.attachment)
        return;
    while (tracing->waiting || meta_ended(tracing)) {
        struct th_later *due = tracing->waiting, *next;
        tracing->waiting = NULL; /* the functions may queue others */
        tracing->waiting_end = &tracing->waiting;
        for (; due; due = next) {
            next = due->next;
            due->run(due);
        }
        if (atomic_exchange_explicit(&tracing->meta_ended, false, memory_order_acquire))
            th_trace_meta_tracers_reap(tracing);
    }
}

/* --- defaults --- */

static void tracing_replace(struct th_tracing *tracing, struct th_tracee_flags *_Atomic *place,
                            struct th_tracee_flags *tracee_flags)
{
    struct th_tracee_flags *old = atomic_load_explicit(place, memory_order_relaxed);

    atomic_store_explicit(place, tracee_flags, memory_order_release);
    th_trace_retire(tracing, old);
}

void th_trace_update(struct th_tracing *tracing)
{
    struct th_tracee_flags *everyone = th_trace_tracee_flags_create(TH_SESSIONS_LIMIT);
    struct th_session *session;
    uint32_t flags;

    for (enum th_kind kind = 0; kind < TH_KINDS; kind++) {
        struct th_tracee_flags *found = th_trace_tracee_flags_create(TH_SESSIONS_LIMIT);
        for (size_t i = 0; (session = th_trace_next(tracing, &i));)
            th_trace_tracee_flags_add(found, session, session->found[kind]);
        flags = th_trace_tracee_flags_union(found);
        atomic_fetch_or_explicit(&tracing->wanted, flags, memory_order_relaxed);
        th_trace_tracee_words_set(&tracing->found_words[kind], &tracing->found_words[kind], found);
        tracing_replace(tracing, &tracing->found[kind], found);
    }
    for (size_t i = 0; (session = th_trace_next(tracing, &i));)
        th_trace_tracee_flags_add(everyone, session,
                                  atomic_load_explicit(&session->flags, memory_order_relaxed) |
                                      TH_FLAG_ALWAYS);
    tracing_replace(tracing, &tracing->everyone, everyone);
    th_trace_inheritance_update(tracing);
}

/* --- worlds --- */

static void leave_world(struct th_tracing *tracing)
{
    th_process_world_reset(th_trace_tracee_drop);
    th_trace_note_forget();
    th_trace_lock(tracing);
    for (size_t i = 0; i < TH_DEPARTED; i++) {
        struct th_tracee_flags *tracee_flags = atomic_exchange_explicit(
            &tracing->departed[i].tracee_flags, NULL, memory_order_relaxed);
        if (tracee_flags)
            th_trace_retire(tracing, tracee_flags);
        tracing->departed[i].id = TH_NONE;
    }
    tracing->departures = 0;
    tracing->calls_forgotten += th_recorded_streak_forgotten(&tracing->streak);
    tracing->streak = (struct th_discard_streak){0};
    tracing->special = false;
    th_trace_unlock(tracing);
    th_trace_settle(tracing);
}

void th_trace_new_world(struct th_tracing *tracing)
{
    tracing->replayer = pthread_self();
    leave_world(tracing);
    th_trace_lock(tracing);
    th_trace_tracees_expected(tracing);
    th_trace_inheritance_update(tracing);
    th_trace_unlock(tracing);
}

/* --- threads --- */

void th_trace_share(struct th_tracing *tracing)
{
    struct th_live_counts before = th_trace_thread_sum_live();
    struct th_session *session;

    if (tracing->shared)
        return;
    if (th_trace_callback_handled() || th_self.attachment)
        th_bug("th_trace_share() was called during an event");
    th_trace_settle(tracing);
    tracing->suppressed_before = before.suppressed;
    tracing->strangers_before = before.strangers;
    th_live_table_begin(&tracing->live);
    tracing->shared = true;
    for (size_t i = 0; (session = th_trace_next(tracing, &i));)
        session->shared = true;
    th_trace_meta_tracers_share(tracing);
}

void th_trace_replay_nothing(struct th_tracing *tracing)
{
    tracing->replays_nothing = true;
}

bool th_trace_is_shared(const struct th_tracing *tracing)
{
    return tracing->shared;
}

/* --- creation and end --- */

struct th_tracing *th_trace_create(void)
{
    struct th_tracing *tracing = th_alloc_zero(sizeof *tracing);
    pthread_mutexattr_t recursive;

    pthread_mutexattr_init(&recursive);
    pthread_mutexattr_settype(&recursive, PTHREAD_MUTEX_RECURSIVE);
    pthread_mutex_init(&tracing->lock, &recursive);
    pthread_mutexattr_destroy(&recursive);
    tracing->waiting_end = &tracing->waiting;
    th_env_init(&tracing->arena, TH_ENV_PLAIN);
    atomic_init(&tracing->wanted, TH_FLAG_ALWAYS);
    th_recorded_start(&tracing->execution, NULL);
    for (enum th_kind kind = 0; kind < TH_KINDS; kind++)
        atomic_init(&tracing->found[kind], th_trace_tracee_flags_create(0));
    atomic_init(&tracing->everyone, th_trace_tracee_flags_create(0));
    th_trace_new_world(tracing);
    return tracing;
}

void th_trace_free(struct th_tracing *tracing)
{
    struct th_session *session;

    if (!tracing)
        return;
    leave_world(tracing);
    if (tracing->shared)
        th_trace_sessions_settle(tracing);
    for (size_t i = 0; (session = th_trace_next(tracing, &i));)
        th_trace_session_free(session);
    th_trace_meta_tracers_settle(tracing);
    if (!th_live_table_end(&tracing->live) || tracing->live_functions)
        th_bug("a tracing is freed that has live processes or functions");
    for (size_t i = 0; i < tracing->functions.count; i++) { /* no site has a breakpoint any more */
        th_breakpoint_site_drop(tracing->functions.items[i]->site);
        th_free(tracing->functions.items[i]);
    }
    th_free(tracing->functions.items);
    th_free(tracing->unmatched);
    th_hash_table_free(&tracing->functions.table);
    th_trace_settle(tracing);
    th_env_release(&tracing->arena);
    for (enum th_kind kind = 0; kind < TH_KINDS; kind++)
        th_free(atomic_load_explicit(&tracing->found[kind], memory_order_relaxed));
    th_free(atomic_load_explicit(&tracing->everyone, memory_order_relaxed));
    pthread_mutex_destroy(&tracing->lock);
    th_free(tracing);
    th_recorded_streams_forget();
}

void th_trace_use_wall_clock(struct th_tracing *tracing)
{
    tracing->wall_clock = true;
}

size_t th_trace_sessions(const struct th_tracing *tracing)
{
    size_t count = 0;

    for (size_t i = 0; th_trace_next(tracing, &i);)
        count++;
    return count;
}

struct th_session *th_trace_session(const struct th_tracing *tracing, size_t n)
{
    struct th_session *session;
    size_t i = 0;

    while ((session = th_trace_next(tracing, &i)) && n-- > 0)
        continue;
    return session;
}

uint32_t th_trace_seen(const struct th_tracing *tracing)
{
    return tracing->seen;
}

uint64_t th_trace_calls_forgotten(const struct th_tracing *tracing)
{
    return tracing->calls_forgotten + th_recorded_streak_forgotten(&tracing->streak);
}

struct th_caller th_trace_decode_caller(struct th_tracing *tracing, struct th_event *event)
{
    if (th_trace_event_decode(event, &tracing->arena) == TH_OK)
        return event->callers_told ? th_recorded_first_caller(event->callers)
                                   : th_recorded_caller_of_result(event->match_spec_result);
    th_error_clear(); /* raised again when a session wants the terms */
    return (struct th_caller){.kind = TH_CALLER_UNKNOWN};
}
