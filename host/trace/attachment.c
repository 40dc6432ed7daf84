/*
 * Creates attachments, asks tracers for their trace_status, and replaces and frees attachments.
 *
 * A tracer is replaced in four steps:
 * 1. The present attachment is noted, and its library kept: upgrade() needs its private data.
 * 2. The new library is loaded, and the host asks its tracer for the trace_status. No other thread
 *    knows the new attachment yet.
 * 3. The new attachment becomes the session's, unless another thread, or one of its own callbacks,
 *    was faster: each later event finds it.
 * 4. When the events that found the old attachment are over, that is freed. A failure before step 3
 *    changes nothing.
 */
#include "named_tracer.h"
#include "trace_internal.h"
#include "tracing.h"

#include "host/base/memory.h"
#include "host/base/shared.h"
#include "host/code/permission.h"
#include "host/library/load.h"

#include <stdatomic.h>

/* --- Creation and end ------------------------------------------------------------------------- */

static ERL_NIF_TERM want_nothing(ErlNifEnv *env, int argc, const ERL_NIF_TERM argv[])
{
    (void)env;
    (void)argc;
    (void)argv;
    return TH_AM(discard);
}

/* Functions of a session without a tracer. */
static const struct th_slots no_tracer = {
    .functions = {[0 ... TH_SLOTS - 1] = want_nothing},
    .filled_by = {[0 ... TH_SLOTS - 1] = "no tracer"},
};

struct th_attachment *th_trace_attachment_create(struct th_session *session,
                                                 const struct th_session_setup *setup,
                                                 th_term state)
{
    struct th_attachment *attachment = th_shared_alloc(sizeof *attachment);

    attachment->session = session;
    attachment->library = setup->library;
    attachment->own = setup->own;
    attachment->slots = setup->library ? th_library_slots(setup->library)
                        : setup->own   ? setup->own->slots
                                       : &no_tracer;
    if (setup->library && th_trace_callback_watcher) {
        attachment->watched = th_shared_alloc(sizeof *attachment->watched);
        *attachment->watched = *attachment->slots;
        for (int i = 0; i < TH_SLOTS; i++)
            attachment->watched->functions[i] = th_trace_callback_watcher;
        attachment->slots = attachment->watched;
    }
    attachment->name = th_shared_strdup(setup->name);
    atomic_init(&attachment->pending, th_trace_held());
    th_env_init(&attachment->state_env, TH_ENV_PLAIN);
    attachment->state = th_copy(&attachment->state_env, state);
    if (session->tracing->discards_outputs)
        th_trace_outputs_discard(attachment);
    th_env_init(&attachment->env, TH_ENV_CALLBACK);
    attachment->env.library = setup->library;
    return attachment;
}

void th_trace_attachment_free(struct th_attachment *attachment)
{
    if (attachment->library)
        th_library_release(attachment->library);
    if (attachment->own)
        attachment->own->release(attachment->own, attachment->session->id != 0);
    th_env_release(&attachment->env);
    th_env_release(&attachment->state_env);
    th_shared_free(attachment->watched);
    th_shared_free(attachment->name);
    th_free(attachment->failure);
    th_shared_free(attachment);
}

/* --- trace_status ----------------------------------------------------------------------------- */

/* A callback in a shared tracing is in a section, even if it belongs to no event. */
bool th_trace_attachment_ask_status(struct th_attachment *attachment, th_term tracee)
{
    th_term argv[] = {TH_AM(trace_status), attachment->state, tracee};
    const struct th_tracing *tracing = attachment->session->tracing;
    struct th_callback_subject *outer = th_self.subject;
    struct th_callback_subject subject = {.event = th_trace_callback_handled(), .tracee = tracee};
    th_term answer;

    th_trace_session_count(attachment->session, TH_COUNTED(status));
    th_self.subject = &subject;
    th_trace_enter(tracing);
    answer = th_trace_attachment_call(attachment, TH_SLOT_enabled, argv, TH_NONE);
    th_trace_leave(tracing);
    th_self.subject = outer;
    return answer != TH_AM(remove);
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
    if (attachment->failure)
        return th_error_raise(TH_FAILED, "%s", attachment->failure);
    if (!stays)
        return th_error_raise(TH_FAILED,
                              "the tracer answered 'remove' to enabled(trace_status, ...)");
    return TH_OK;
}

/* --- Steps 1 to 3 ----------------------------------------------------------------------------- */

struct replacement {
    struct th_session *session;
    struct th_library *old_library;  /* kept */
    struct th_attachment *new, *old; /* `old`: set in step 3 */
};

bool th_trace_session_upgrades(const struct th_library *library, const struct th_library *old)
{
    return th_library_entry(library)->upgrade && th_library_name(library) == th_library_name(old);
}

/* The first half of step 2. */
enum th_status th_trace_session_load_successor(struct th_library *library, struct th_library *old)
{
    struct th_library *from = th_trace_session_upgrades(library, old) ? old : NULL;
    enum th_status status = th_library_check_tracer(library);

    return status == TH_OK ? th_library_load(library, from, th_small(0)) : status;
}

/* Step 3. */
static enum th_status publish(struct replacement *replacement)
{
    struct th_session *session = replacement->session;
    bool unchanged;

    th_trace_lock(session->tracing);
    replacement->old = th_trace_session_attachment(session);
    unchanged = th_trace_session_is_attached(session) &&
                replacement->old->library == replacement->old_library;
    if (unchanged)
        atomic_store_explicit(&session->attachment, replacement->new, memory_order_release);
    th_trace_unlock(session->tracing);
    return unchanged
               ? TH_OK
               : th_error_raise(TH_FAILED, "the session has ended, or has another tracer now");
}

/* The other half, and step 3. The callback may do anything to the session, even destroy it: the
 * section, or in an unshared tracing the queue of th_trace_settle(), keeps it. Owners of the lock
 * around sessions read their tracers: so a tracer is replaced under that lock. */
static enum th_status ask_and_publish(struct replacement *replacement)
{
    struct th_tracing *tracing = replacement->session->tracing;
    th_session_id id = th_trace_session_id_of(replacement->session);
    struct th_outputs outputs = {0};
    enum th_status status = th_trace_outputs_check(replacement->new, &outputs);
    struct th_tracer_lock *lock;

    th_trace_enter(tracing);
    lock = th_trace_tracer_lock_pause();
    if (status == TH_OK)
        status = th_trace_attachment_ask_first_status(replacement->new);
    th_trace_outputs_close(&outputs);
    if (status == TH_OK && !lock)
        status = publish(replacement);
    th_trace_leave(tracing);
    th_trace_tracer_lock_return(lock);
    if (status == TH_OK && lock)
        status = th_trace_session_check_there(tracing, id);
    return status == TH_OK && lock ? publish(replacement) : status;
}

static void free_later(struct th_later *later)
{
    th_trace_attachment_free((struct th_attachment *)later);
}

enum th_status th_trace_session_replace(struct th_session *session,
                                        const struct th_session_setup *setup)
{
    struct replacement replacement = {.session = session};
    struct th_tracing *tracing = session->tracing;
    const struct th_attachment *now;
    struct th_tracer_lock *lock;
    enum th_status status;

    if (!th_trace_session_library(session)) {
        th_library_release(setup->library);
        return th_error_raise(TH_USAGE,
                              "the session's tracer is no library: it cannot be replaced");
    }

    /* Step 1. */
    th_trace_lock(tracing);
    if (th_trace_session_is_attached(session)) {
        now = th_trace_session_attachment(session);
        replacement.old_library = now->library;
        th_library_keep(now->library);
        replacement.new = th_trace_attachment_create(
            session, setup, setup->state == TH_NONE ? now->state : setup->state);
    }
    th_trace_unlock(tracing);
    if (!replacement.new) {
        th_library_release(setup->library);
        th_error_raise(TH_FAILED, "the session's tracer is detached");
        return th_error_context("cannot attach tracer '%s'", setup->name);
    }

    status = th_trace_session_load_successor(setup->library, replacement.old_library);
    if (status == TH_OK)
        status = ask_and_publish(&replacement);
    lock = th_trace_tracer_lock_pause();
    th_library_release(replacement.old_library);
    if (status != TH_OK) {
        th_trace_attachment_free(replacement.new);
    } else if (tracing->shared && th_code_permission_may_wait()) {
        th_progress_wait();
        th_trace_attachment_free(replacement.old);
    } else {
        th_trace_later(tracing, &replacement.old->later, free_later);
    }
    th_trace_settle(tracing);
    th_trace_tracer_lock_return(lock);
    return status == TH_OK ? TH_OK : th_error_context("cannot attach tracer '%s'", setup->name);
}
