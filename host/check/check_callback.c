/*
 * Callbacks of tracers under the checker: each runs in an environment of its own, and may be examined
 * (callbacks.h).
 */
#include "check_internal.h"

#include "host/base/buffer.h"
#include "host/base/hash.h"
#include "host/base/memory.h"
#include "host/base/thread.h"
#include "host/library/load.h"
#include "host/trace/callback.h"

#include <string.h>
#include <time.h>

/* Written while there is one thread. */
static const struct th_check_callbacks nothing;
static const struct th_check_callbacks *how = &nothing;

static inline bool is_enabled(unsigned slot)
{
    return slot % 2 == 0;
}

/* --- Answers ---------------------------------------------------------------------------------- */

/* ANSWER is TH_NONE after an exception. */
static void check_answer(th_term answer, th_term again)
{
    if (answer == TH_NONE)
        th_check_found_now(TH_RULE_ANSWER, "raised", "raises an exception: this means `remove`");
    else if (answer != TH_AM(trace) && answer != TH_AM(discard) && answer != TH_AM(remove))
        th_check_found_now(TH_RULE_ANSWER, "unknown",
                           "answers neither trace nor discard nor remove: this means `remove`");
    else if (answer != again)
        th_check_found_now(TH_RULE_EFFECT, "differs",
                           "answers differently when it is called again");
}

/* --- Time ------------------------------------------------------------------------------------- */

/* A call that seems slow is repeated: other programs, and memory that was not in a cache, slow down some
 * calls, but not all. */
enum { ENOUGH = 32 };

/* The least time of `enabled` for a tag. Used by one thread. */
struct timed {
    int64_t least_ns;
    unsigned count;
    struct th_origin *origin; /* of the quickest call */
};

static struct th_table times; /* struct timed, by slot and tag */

static uint64_t time_key(unsigned slot, th_term tag)
{
    return tag << 8 | slot;
}

static int64_t processor_time(void)
{
    static const int64_t SECOND = 1000000000;
    struct timespec now;

    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
    return now.tv_sec * SECOND + now.tv_nsec;
}

/* Returns whether `enabled` must be called again to know whether it is slow. */
static bool seems_slow(unsigned slot, th_term tag)
{
    const struct timed *timed = th_hash_table_get(&times, time_key(slot, tag));

    return timed && timed->least_ns >= how->slow_ns && timed->count < ENOUGH;
}

static void note_callback_time(unsigned slot, th_term tag, int64_t ns)
{
    uint64_t key = time_key(slot, tag);
    struct timed *timed = th_hash_table_get(&times, key);

    if (!timed) {
        timed = th_alloc_zero(sizeof *timed);
        th_hash_table_set(&times, key, timed);
    }
    if (timed->count++ > 0 && ns >= timed->least_ns)
        return;
    timed->least_ns = ns;
    th_check_origin_release(timed->origin);
    timed->origin = th_check_origin_now();
}

void th_check_callbacks_report_slow(void)
{
    enum { US = 1000 };
    size_t position = 0;
    struct th_slot *slot;

    while ((slot = th_hash_table_next(&times, &position))) {
        struct timed *timed = slot->value;
        if (timed->count >= ENOUGH && timed->least_ns >= how->slow_ns)
            th_check_found(timed->origin, TH_RULE_SLOW, "slow",
                           "takes at least %lld us of processor time",
                           (long long)(timed->least_ns / US));
        th_check_origin_release(timed->origin);
        th_free(timed);
    }
    th_hash_table_free(&times);
}

/* --- A callback ------------------------------------------------------------------------------- */

/* ASKS: whether an event is wanted. */
static th_term run_callback(struct th_check_call *call, th_slot_function *function, bool asks)
{
    const bool data = how->effects && asks;
    int64_t began = 0;
    th_term answer;

    if (data)
        th_check_data_note(call->env->library);
    if (asks && how->slow_ns)
        began = processor_time();
    if (how->system_calls)
        th_check_system_calls_begin(asks);
    answer = function(call->env, call->argc, call->argv);
    if (how->system_calls)
        th_check_system_calls_end();
    if (began)
        note_callback_time(th_self.slot, call->argv[0], processor_time() - began);
    if (data)
        th_check_data_compare();
    return answer;
}

/* Runs a callback in its own environment, with copies of its arguments, as functions of libraries run
 * while the checker is on; so terms left from an earlier callback are recognized. The result of
 * `trace` is not used: it may be 0. */
static th_term call_in(const th_env *like, unsigned slot, const th_term argv[])
{
    const bool enabled = is_enabled(slot);
    /* trace_status is asked rarely: then a tracer may open files, for example. */
    const bool asks = enabled && argv[0] != TH_AM(trace_status);
    th_slot_function *function = th_library_slots(like->library)->functions[slot];
    th_env *env = th_env_create(TH_ENV_CALLBACK);
    th_term copies[5], answer, again;
    struct th_check_call call = {.argc = enabled ? 3 : 5, .argv = copies, .env = env};

    env->self = like->self;
    env->library = like->library;
    env->thread = like->thread;
    for (int i = 0; i < call.argc; i++)
        copies[i] = th_copy(env, argv[i]);
    th_check_begin(&call);
    answer = run_callback(&call, function, asks);
    if (asks && how != &nothing) {
        th_term raised = env->exception;
        env->exception = TH_NONE;
        again = how->effects ? run_callback(&call, function, asks) : answer;
        while (how->slow_ns && seems_slow(slot, argv[0]))
            run_callback(&call, function, asks);
        env->exception = raised;
        if (raised != TH_NONE || (answer != TH_NONE && th_is_immediate(answer)))
            check_answer(raised != TH_NONE ? TH_NONE : answer, again);
    }
    answer = th_check_answer(&call, answer, !enabled);
    th_check_retire(env);
    return th_is_immediate(answer) ? answer : TH_NONE;
}

/* Runs a callback as a host without the checker. */
static void call_plainly(const th_env *like, unsigned slot, const th_term argv[])
{
    const int argc = is_enabled(slot) ? 3 : 5;
    th_term copies[5];
    th_env env;

    th_env_init(&env, TH_ENV_CALLBACK);
    env.self = like->self;
    env.library = like->library;
    env.thread = like->thread;
    for (int i = 0; i < argc; i++)
        copies[i] = th_copy(&env, argv[i]);
    th_library_slots(like->library)->functions[slot](&env, argc, copies);
    th_env_release(&env);
}

/* --- Callbacks that are kept ------------------------------------------------------------------- */

/* A callback, with its arguments. */
struct kept {
    struct th_attachment *attachment;
    unsigned slot;
    th_term argv[5], tracee;
    th_env env; /* of the arguments; library, self and thread are those of the callback */
};

static struct kept **kept_callbacks;
static size_t kept_count, kept_capacity;

static void keep_callback(const th_env *given, unsigned slot, const th_term argv[])
{
    struct kept *kept = th_alloc_zero(sizeof *kept);

    kept->attachment = th_self.attachment;
    kept->slot = slot;
    kept->tracee = th_self.subject ? th_self.subject->tracee : TH_NONE;
    th_env_init(&kept->env, TH_ENV_PLAIN);
    kept->env.library = given->library;
    kept->env.self = given->self;
    kept->env.thread = given->thread;
    for (int i = 0; i < (is_enabled(slot) ? 3 : 5); i++)
        kept->argv[i] = th_copy(&kept->env, argv[i]);
    TH_ARRAY_GROW(kept_callbacks, kept_count, kept_capacity);
    kept_callbacks[kept_count++] = kept;
}

/* Returns the process or port that stands for ID in thread NUMBER. */
static th_term tracee_of_thread(th_term id, unsigned number)
{
    enum { APART = 1 << 16 };

    if (th_is_local_pid(id))
        return th_local_pid(th_local_pid_number(id),
                            (th_local_pid_serial(id) + number * 64) & TH_PID_SERIAL_MAX) |
               th_peer_pid_bits(th_peer_of(id));
    return th_is_local_port(id)
               ? th_local_port((th_local_port_id(id) + number * APART) & TH_PORT_ID_MAX) |
                     th_peer_port_bits(th_peer_of(id))
               : id;
}

void th_check_callbacks_run_kept(unsigned number)
{
    for (size_t i = 0; i < kept_count; i++) {
        const struct kept *kept = kept_callbacks[i];
        struct th_callback_subject subject = {.tracee = tracee_of_thread(kept->tracee, number)};
        th_term argv[5];
        th_env like = kept->env;

        memcpy(argv, kept->argv, sizeof argv);
        argv[2] = tracee_of_thread(argv[2], number);
        like.self = tracee_of_thread(like.self, number);
        th_self.subject = &subject;
        th_self.slot = kept->slot;
        th_trace_callback_set(kept->attachment);
        th_thread_count(&th_self.callbacks); /* the watchdog sees another callback */
        if (th_check_on())
            call_in(&like, kept->slot, argv);
        else
            call_plainly(&like, kept->slot, argv);
        th_trace_callback_set(NULL);
        th_self.subject = NULL;
    }
}

/* Relaxed: the only thread writes, before it starts others. */
void th_check_callbacks_let_be(void)
{
    atomic_store_explicit(&th_check_started, false, memory_order_relaxed);
    atomic_store_explicit(&th_env_watch, NULL, memory_order_relaxed);
}

static void forget_kept(void)
{
    for (size_t i = 0; i < kept_count; i++) {
        th_env_release(&kept_callbacks[i]->env);
        th_free(kept_callbacks[i]);
    }
    th_free(kept_callbacks);
    kept_callbacks = NULL;
    kept_count = kept_capacity = 0;
}

/* --- The watcher of callbacks ------------------------------------------------------------------ */

static ERL_NIF_TERM call_watched(ErlNifEnv *given, int argc, const ERL_NIF_TERM argv[])
{
    const struct th_event *event = th_trace_callback_handled();

    (void)argc;
    if (how->called)
        how->called(how->context, th_self.slot, event && !event->live ? event->number : 0);
    if (how->keeps)
        keep_callback(given, th_self.slot, argv);
    return call_in(given, th_self.slot, argv);
}

void th_check_callbacks_examine(const struct th_check_callbacks *examine)
{
    how = examine;
    if (how->system_calls)
        th_check_system_calls_supported();
}

bool th_check_callbacks_see_system_calls(void)
{
    return th_check_system_calls_supported();
}

void th_check_callbacks_start(void)
{
    th_trace_callback_watcher = call_watched;
}

void th_check_callbacks_end(void)
{
    th_trace_callback_watcher = NULL;
    th_check_data_end();
    forget_kept();
    how = &nothing;
}
