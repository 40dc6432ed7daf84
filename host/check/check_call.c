/*
 * Calls: what is looked at before a function of a library runs and after it has returned; callbacks
 * of tracers among them. Starting and ending the checker.
 */
#include "check_internal.h"

#include "host/self/self.h"

enum { MOST_BYTES = 64 << 10 /* of one binary */, MOST_BINARIES = 64 /* of one call */ };

/* Bytes of an argument, which must not change. */
struct th_check_bytes {
    const unsigned char *bytes;
    size_t size;
    uint64_t hash;
    int argument; /* from 0 */
};

/* --- The bytes of arguments ------------------------------------------------------------------ */

struct collecting {
    struct th_check_frame *frame;
    int argument;
};

static void note_bytes(void *context, const unsigned char *bytes, size_t size)
{
    struct collecting *collecting = context;
    struct th_check_frame *frame = collecting->frame;

    if (size == 0 || size > MOST_BYTES || frame->byte_count == MOST_BINARIES)
        return;
    TH_ARRAY_GROW(frame->bytes, frame->byte_count, frame->byte_capacity);
    frame->bytes[frame->byte_count++] =
        (struct th_check_bytes){bytes, size, th_hash_bytes(bytes, size), collecting->argument};
}

static void compare_arguments(const struct th_check_frame *frame)
{
    for (size_t i = 0; i < frame->byte_count; i++) {
        const struct th_check_bytes *it = &frame->bytes[i];
        if (th_hash_bytes(it->bytes, it->size) != it->hash)
            th_check_found_now("changed bytes", "changed the bytes of a binary in argument %d",
                               it->argument + 1);
    }
}

/* --- The answer ------------------------------------------------------------------------------ */

static th_term look_at_answer(th_env *env, th_term answer, bool scheduled)
{
    if (env->exception != TH_NONE) {
        if (answer != TH_NONE)
            th_check_found_now("raised",
                               "returns a term after it raised an exception, which counts");
        if (!th_check_valid(env, env->exception, "raises", NULL))
            env->exception = TH_AM(undefined);
        return TH_NONE;
    }
    if (scheduled && answer == TH_NONE)
        return TH_NONE;
    if (answer == TH_NONE) {
        th_check_found_now("nothing", "returns 0: neither a term nor an exception");
        return TH_AM(undefined);
    }
    return th_check_valid(env, answer, "returns", NULL) ? answer : TH_AM(undefined);
}

/* --- Calls ----------------------------------------------------------------------------------- */

void th_check_begin(const struct th_check_call *call)
{
    static _Atomic uint64_t calls; /* relaxed: only distinct */
    struct th_check_frame *frame = th_alloc(sizeof *frame);

    *frame = (struct th_check_frame){
        .outer = th_self.check_frame,
        .call = call,
        .running = th_self.library_frame,
        .origin = th_check_origin_of_call(call),
        .number = atomic_fetch_add_explicit(&calls, 1, memory_order_relaxed) + 1,
    };
    for (int i = 0; i < call->argc; i++)
        if (call->argv[i] != TH_NONE) /* in place of a result or a message */
            th_check_each_binary(call->env, call->argv[i], note_bytes,
                                 &(struct collecting){frame, i});
    th_self.check_frame = frame;
}

th_term th_check_answer(const struct th_check_call *call, th_term answer, bool scheduled)
{
    struct th_check_frame *frame = th_self.check_frame;

    answer = look_at_answer(call->env, answer, scheduled);
    compare_arguments(frame);
    th_check_locks_left(frame);
    th_self.check_frame = frame->outer;
    th_check_ended(call->env, frame->origin);
    th_free(frame->bytes);
    th_free(frame);
    return answer;
}

/* --- Callbacks of tracers -------------------------------------------------------------------- */

/* Each has an environment of its own, with its arguments copied into it, as functions of libraries
 * have while the checker is on; so terms that are left from an earlier one are met as what they
 * are. What `trace` answers is used nowhere: it may be nothing. */
static ERL_NIF_TERM call_watched(ErlNifEnv *given, int argc, const ERL_NIF_TERM argv[])
{
    enum th_tracer_slot slot = th_self.slot;
    th_env *env = th_env_create(TH_ENV_CALLBACK);
    th_term copies[5], answer;
    struct th_check_call call = {.argc = argc, .argv = copies, .env = env};

    env->self = given->self;
    env->library = given->library;
    env->thread = given->thread;
    for (int i = 0; i < argc; i++)
        copies[i] = th_copy(env, argv[i]);
    th_check_begin(&call);
    answer = th_library_slots(env->library)->functions[slot](env, argc, copies);
    answer = th_check_answer(&call, answer, argc == 5);
    th_check_retire(env);
    return th_is_immediate(answer) ? answer : TH_NONE;
}

/* --- The checker ------------------------------------------------------------------------------ */

_Atomic bool th_check_started;

void th_check_start(void)
{
    th_check_heaps_start();
    th_trace_callback_watcher = call_watched;
    atomic_store_explicit(&th_check_started, true, memory_order_relaxed);
}

/* Memory that was freed is checked before memory that was not: the lines stand in order of time. */
uint64_t th_check_end(void)
{
    if (!th_check_on())
        return 0;
    atomic_store_explicit(&th_check_started, false, memory_order_relaxed);
    th_trace_callback_watcher = NULL;
    th_check_heaps_end();
    th_check_owned_end();
    return th_check_findings_end();
}
