/*
 * The heap of a process.
 *
 * While a function runs, its environment only grows. Between two functions at depth 0, only these
 * terms are needed: those of the next step, those that continuations keep, and an exception before
 * it is caught. When the heap has grown enough, they are copied into a fresh environment, and the
 * old one is dropped. "Enough" is twice the size after the last collection, so that the cost for
 * each new word is constant.
 *
 * The size includes the words of the heap, the words of received messages (whose terms are used in
 * place), and the bytes of referenced binaries, which are shared: a chain of calls that makes a
 * large binary in each step grows as well.
 *
 * A copy of a term that is referenced twice exists twice. If the copies would be larger than the
 * heap, as nested arguments can be, the heap stays until it is twice as large.
 *
 * While the checker is on, each function has its own environment (check.h).
 */
#include "call_steps.h"
#include "process_life.h"
#include "runtime_internal.h"

#include "host/check/check.h"
#include "host/runtime/traced/tracepoint.h"
#include "host/term/make.h"

enum { LEAST = 16 * 1024 /* bytes; a smaller heap is not worth a collection */ };

void th_runtime_heap_start(struct th_process *process)
{
    process->collect_at = LEAST;
    process->collected = NULL;
    process->held = 0;
}

static size_t size_of(struct th_process *process)
{
    process->held += th_binary_held(process->env, process->collected);
    process->collected = process->env->offheap;
    return th_env_footprint(process->env) + process->held +
           process->fragment_words * sizeof(th_term);
}

/* BEFORE: former limit in bytes. */
static void collect_later(struct th_process *process, size_t size, size_t before)
{
    process->collect_at = 2 * size > LEAST ? 2 * size : LEAST;
    if (TH_PROBE_ENABLED(process__heap_grow) || TH_PROBE_ENABLED(process__heap_shrink))
        th_traced_probe_room(process, before, process->collect_at);
}

/* --- Needed terms ----------------------------------------------------------------------------- */

/* Calls WITH for each array of needed terms. */
static void each_root(struct th_process *process,
                      void (*with)(void *context, th_term **terms, int count), void *context)
{
    th_term *exception = &process->raised.reason;

    with(context, &process->next.argv, process->next.argc);
    for (size_t i = 0; i < process->frame_count; i++)
        with(context, &process->frames[i].then.argv, process->frames[i].then.argc);
    if (process->raised.class) {
        with(context, &exception, 1);
        process->raised.reason = *exception;
        exception = &process->raised.stack;
        with(context, &exception, 1);
        process->raised.stack = *exception;
    }
}

struct sum {
    size_t words, most;
};

static void heap_add_words(void *context, th_term **terms, int count)
{
    struct sum *sum = context;

    for (int i = 0; i < count && sum->words <= sum->most; i++)
        if ((*terms)[i] != TH_NONE)
            sum->words += th_term_words_up_to((*terms)[i], sum->most) + 1;
}

/* Replaces *TERMS by a copy in ENV, the context. */
static void move(void *context, th_term **terms, int count)
{
    *terms = th_runtime_terms_copy(context, count, *terms);
}

static void free_fragments(struct th_process *process)
{
    th_process_messages_free(process->fragments);
    process->fragments = NULL;
    process->fragment_words = 0;
}

void th_runtime_heap_collect(struct th_process *process)
{
    size_t size = th_check_on() ? SIZE_MAX : size_of(process), before = process->collect_at;
    struct sum sum = {.most = size / sizeof(th_term)};
    th_env *old = process->env, *fresh;
    size_t words, reclaimed;

    if (size <= before)
        return;
    each_root(process, heap_add_words, &sum);
    if (sum.words > sum.most) {
        collect_later(process, size, before);
        return;
    }

    words = th_env_used(old) + process->fragment_words;
    fresh = th_env_create(TH_ENV_CALLBACK);
    if (TH_PROBE_ENABLED(gc_major__start))
        th_traced_probe_gc_start(process);
    th_traced_tracepoint_gc(process, TH_TAG_gc_major_start, 0);
    fresh->self = old->self;
    fresh->library = old->library;
    each_root(process, move, fresh);
    process->env = fresh;
    process->recent = th_env_used(fresh);
    th_runtime_heap_move(process, old, fresh);
    th_runtime_heap_start(process);
    free_fragments(process);
    th_check_retire(old);

    reclaimed = words > process->recent ? words - process->recent : 0;
    th_traced_tracepoint_gc(process, TH_TAG_gc_major_end, reclaimed);
    if (TH_PROBE_ENABLED(gc_major__end))
        th_traced_probe_gc_end(process, reclaimed);
    collect_later(process, size_of(process), before);
}

void th_runtime_heap_end(struct th_process *process)
{
    free_fragments(process);
    if (th_traced_tracepoint_is_there(process))
        process->left_behind += th_env_used(process->env);
    if (!th_check_on()) {
        th_env_clear(process->env);
        return;
    }
    th_check_retire(process->env);
    process->env = th_env_create(TH_ENV_CALLBACK);
}

/* While the checker is on, the function had a copy. */
void th_runtime_heap_attach(struct th_process *process, struct th_message *message)
{
    if (th_check_on() || th_is_immediate(message->term)) {
        th_process_message_free(message);
        return;
    }
    message->next = process->fragments;
    process->fragments = message;
    process->fragment_words += message->words_count;
}

void th_runtime_heap_move(struct th_process *process, const th_env *from, const th_env *to)
{
    process->left_behind += th_env_used(from) - th_env_used(to);
}

/* A nested call under the checker has its own environment. */
uint64_t th_runtime_heap_words(const struct th_process *process)
{
    const struct th_call *call = th_self.call;
    const th_env *env = call && call->process == process ? call->env : process->env;

    return process->left_behind + th_env_used(env);
}

struct th_heap_sizes th_runtime_heap_sizes(const struct th_process *process)
{
    struct th_heap_sizes sizes = {
        .heap_block_size = th_env_footprint(process->env) / sizeof(th_term),
        .heap_size = th_env_used(process->env),
        .mbuf_size = process->fragment_words,
        .recent_size = process->recent,
        .bin_vheap_size = process->held / sizeof(th_term),
    };

    for (size_t i = 0; i < process->frame_count; i++)
        sizes.stack_size += (size_t)process->frames[i].then.argc;
    return sizes;
}
