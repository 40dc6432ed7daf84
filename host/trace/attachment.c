#include "attachment.h"

#include "trace_thread.h"

#include "host/self/self.h"

#include <stdatomic.h>

/* --- Calling ---------------------------------------------------------------------------------- */

static inline th_term call(struct th_attachment *attachment, th_env *env, enum th_tracer_slot slot,
                           const th_term argv[], th_term self)
{
    th_term answer;

    env->self = self;
    th_self.reported += slot % 2;
    answer = th_trace_attachment_enter(attachment, env, slot, argv);
    if (env->exception != TH_NONE)
        answer = TH_NONE;
    th_env_clear(env);
    th_resource_reap(); /* what the callback let go of */
    return answer;
}

/* In the thread's environment; or, where that is in use by a callback, in one of its own. */
static __attribute__((noinline)) th_term call_shared(struct th_attachment *attachment,
                                                     enum th_tracer_slot slot, const th_term argv[],
                                                     th_term self)
{
    struct th_trace_thread *thread = th_trace_thread_own();
    th_env nested;
    th_term answer;

    if (!th_self.attachment) {
        thread->env.library = attachment->library;
        return call(attachment, &thread->env, slot, argv, self);
    }
    th_env_init(&nested, TH_ENV_CALLBACK);
    nested.library = attachment->library;
    answer = call(attachment, &nested, slot, argv, self);
    th_env_release(&nested);
    return answer;
}

th_term th_trace_attachment_call(struct th_attachment *attachment, enum th_tracer_slot slot,
                                 const th_term argv[], th_term self)
{
    if (__builtin_expect(attachment->session->shared, 0))
        return call_shared(attachment, slot, argv, self);
    return call(attachment, &attachment->env, slot, argv, self);
}

th_env *th_trace_attachment_env(struct th_attachment *attachment)
{
    return attachment->session->shared ? &th_trace_thread_own()->env : &attachment->env;
}

/* --- trace_status ----------------------------------------------------------------------------- */

/* Callbacks of a tracing that is shared are in a section, also those that belong to no event. */
bool th_trace_attachment_ask_status(struct th_attachment *attachment, th_term tracee)
{
    th_term argv[] = {TH_AM(trace_status), attachment->state, tracee};
    struct th_session *session = attachment->session;
    bool shared = session->shared;
    struct th_callback_subject *outer = th_self.subject;
    struct th_callback_subject subject = {.event = th_trace_callback_handled(), .tracee = tracee};
    th_term answer;

    th_trace_session_count(session, TH_COUNTED(status));
    th_self.subject = &subject;
    if (shared)
        th_progress_enter();
    answer = th_trace_attachment_call(attachment, TH_SLOT_enabled, argv, TH_NONE);
    if (shared)
        th_progress_leave();
    th_self.subject = outer;
    return answer != TH_AM(remove);
}

static enum th_status first_answer(const struct th_attachment *attachment, bool stays)
{
    if (attachment->failure)
        return th_error_raise(TH_FAILED, "%s", attachment->failure);
    if (!stays)
        return th_error_raise(TH_FAILED, "it answered 'remove' to enabled(trace_status, ...)");
    return TH_OK;
}

enum th_status th_trace_attachment_ask_first_status(struct th_attachment *attachment)
{
    struct th_attachment *outer = th_self.attachment;
    unsigned slot = th_self.slot;
    bool stays;

    attachment->asked_first = true;
    stays = th_trace_attachment_ask_status(attachment, TH_AM(undefined));
    attachment->asked_first = false;
    th_trace_callback_set(outer);
    th_self.slot = slot;
    return first_answer(attachment, stays);
}

/* --- One of them ------------------------------------------------------------------------------ */

static ERL_NIF_TERM want_nothing(ErlNifEnv *env, int argc, const ERL_NIF_TERM argv[])
{
    (void)env;
    (void)argc;
    (void)argv;
    return TH_AM(discard);
}

/* In the place of a tracer's, where there is none. */
static const struct th_slots no_tracer = {
    .functions = {[0 ... TH_SLOTS - 1] = want_nothing},
    .filled_by = {[0 ... TH_SLOTS - 1] = "no tracer"},
};

static void watch(struct th_attachment *attachment)
{
    attachment->watched = th_alloc(sizeof *attachment->watched);
    *attachment->watched = *attachment->slots;
    for (int i = 0; i < TH_SLOTS; i++)
        attachment->watched->functions[i] = th_trace_callback_watcher;
    attachment->slots = attachment->watched;
}

struct th_attachment *th_trace_attachment_create(struct th_session *session,
                                                 const struct th_session_setup *setup,
                                                 th_term state)
{
    struct th_attachment *attachment = th_alloc_zero(sizeof *attachment);

    attachment->session = session;
    attachment->library = setup->library;
    attachment->slots = setup->library ? th_library_slots(setup->library) : &no_tracer;
    if (setup->library && th_trace_callback_watcher)
        watch(attachment);
    attachment->name = th_strdup(setup->name);
    atomic_init(&attachment->pending, th_trace_held());
    th_env_init(&attachment->state_env, TH_ENV_PLAIN);
    attachment->state = th_copy(&attachment->state_env, state);
    th_env_init(&attachment->env, TH_ENV_CALLBACK);
    attachment->env.library = setup->library;
    return attachment;
}

void th_trace_attachment_free(struct th_attachment *attachment)
{
    if (attachment->library)
        th_library_release(attachment->library);
    th_env_release(&attachment->env);
    th_env_release(&attachment->state_env);
    th_free(attachment->watched);
    th_free(attachment->name);
    th_free(attachment->failure);
    th_free(attachment);
}
