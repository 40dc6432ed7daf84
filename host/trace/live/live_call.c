/*
 * Live calls at breakpoints.
 *
 * In the order of a BEAM: the tracee's flag `call` (a meta breakpoint: for each tracee), enabled,
 * the match specification, silent, trace. Most sites have one breakpoint and no specification; that
 * way is in this file from th_live_call() to th_live_tell() without a detour, and everything else
 * in functions of its own, so that it costs that way no register. No event is made: a callback gets
 * terms that are made of the call in its own environment, and who reports a callback that crashed
 * makes the event then (guard.c). Long because: all that is inlined into that way stands before it.
 */
#include "live_hit.h"

#include "host/trace/match_context.h"
#include "host/trace/pattern_hit.h"
#include "host/trace/points.h"
#include "host/trace/return_request.h"

/* What hooks get. */
struct live_hit {
    struct th_hit hit; /* the first member; its context is NULL */
    const struct th_live_call *call;
    struct th_live_wants *wants;
};

/* --- the call as an event --- */

/* {M, F, Args}, or {M, F, Arity} where a session has the flag arity. */
static inline th_term term_of(const struct th_live_call *call, th_env *env, uint32_t flags)
{
    const struct th_function *name = &call->function->function.name;
    size_t cells = flags & TH_FLAG_ARITY ? 0 : name->arity;
    th_term *words = th_env_take(env, 4 + 2 * cells), *cell = words + 4;

    words[0] = th_header(TH_TUPLE, 3);
    words[1] = name->module;
    words[2] = name->function;
    words[3] = flags & TH_FLAG_ARITY ? th_small(name->arity) : TH_NIL;
    if (cells == 0)
        return th_boxed(words);
    words[3] = th_listed(cell);
    for (size_t i = 0; i < cells; i++, cell += 2) {
        cell[0] = call->arguments[i];
        cell[1] = th_listed(cell + 2);
    }
    cell[-1] = TH_NIL;
    return th_boxed(words);
}

static enum th_status decode(struct th_event *event, th_env *env)
{
    event->term = term_of(event->reader, env, TH_FLAG_NONE);
    event->scheduler_id = th_live_scheduler(event);
    event->decoded = true;
    return TH_OK;
}

static enum th_status function(struct th_event *event, struct th_function *found)
{
    *found = ((const struct th_live_call *)event->reader)->function->function.name;
    return TH_OK;
}

static const struct th_event_source source = {decode, th_live_time, function, th_live_actor,
                                              th_live_whole};

void th_live_call_event(struct th_event *event, const struct th_live_call *call)
{
    th_live_event_of(event, TH_TAG_call, call->process, &source, call);
    event->external = call->external ? TH_YES : TH_NO;
}

/* --- what is wanted of its end --- */

static __attribute__((cold, noinline)) void make_room(struct th_live_wants *wants)
{
    uint32_t capacity = wants->capacity ? 2 * wants->capacity : 4 * TH_LIVE_WANTED;
    uint64_t *many = th_alloc(capacity * sizeof *many);

    memcpy(many, wants->capacity ? wants->many : wants->few, wants->count * sizeof *many);
    if (wants->capacity)
        th_free(wants->many);
    wants->many = many;
    wants->capacity = capacity;
}

static inline void want(struct th_live_wants *wants, uint64_t word)
{
    if (wants->count == (wants->capacity ? wants->capacity : TH_LIVE_WANTED))
        make_room(wants);
    (wants->capacity ? wants->many : wants->few)[wants->count++] = word;
}

static inline void want_of(struct th_live_wants *wants, const struct th_session *session,
                           uint64_t what)
{
    if (what)
        want(wants, session->id << WANT_BITS | what);
}

/* --- enabled --- */

/*
 * A call about which a session is asked. All that is needed after a callback is in here, in memory
 * which the callback might write as far as a compiler knows, and not in registers: so none is saved
 * for a call that is discarded.
 */
struct question {
    th_term argv[5]; /* of enabled_call three, then of trace_call */
    const struct th_live_call *call;
    struct th_live_wants *wants;
    struct th_attachment *attachment; /* who was asked: of the session, as it was then */
    struct th_shared *spec;           /* of the breakpoint, */
    uint32_t kind;                    /* which is local, global or meta */
};

/* Asks SESSION about QUESTION's call; `discard` is counted. The thread has begun. */
static inline __attribute__((always_inline)) th_term ask(struct question *question,
                                                         struct th_session *session,
                                                         struct th_generic_bp *breakpoint,
                                                         const struct th_bp_data *data)
{
    struct th_callback *callback = &th_callback_current;
    const struct th_live_call *call = question->call;
    struct th_attachment *attachment = th_session_attachment(session);
    th_term answer;

    callback->tracee = call->process->id;
    callback->call = call;
    callback->breakpoint = breakpoint;
    callback->breakpoint_data = data;
    callback->hit_kinds = question->kind;
    question->attachment = attachment;
    question->argv[0] = TH_AM(call);
    question->argv[1] = attachment->state;
    question->argv[2] = call->process->id;
    answer = th_thread_ask(attachment, question->argv);
    if (__builtin_expect(answer == TH_AM(discard), 1))
        th_thread_count_in(th_thread_here, question->attachment->session, TH_COUNTED(discarded));
    return answer;
}

/* --- trace --- */

static inline uint32_t flags_in(const struct th_live_call *call, const struct th_session *session)
{
    return th_refs_flags_quickly(th_traced_refs(&call->process->traced), session);
}

/* A destructor that ran after enabled_call may have been in a callback about something else. */
static inline void tell(struct question *question, th_term result, uint32_t flags)
{
    const struct th_live_call *call = question->call;
    struct th_attachment *attachment = question->attachment;
    struct th_thread *thread = th_thread_here;
    th_term id = call->process->id;

    th_callback_current.call = call;
    question->argv[3] = term_of(call, &thread->env, flags);
    question->argv[4] =
        th_opts_make_quickly(&thread->env, TH_NONE, result, call->process->scheduler, flags);
    th_thread_count_in(thread, attachment->session, TH_COUNTED(traced));
    th_thread_tell(attachment, question->argv, th_is_local_pid(id) ? id : TH_NONE);
}

/* What the specification gives if that takes no run, else NULL. */
static inline const struct th_match_result *match_quickly(const struct question *question)
{
    const struct th_live_call *call = question->call;

    return th_match_quickly(((struct th_shared_spec *)question->spec)->spec, call->arguments,
                            call->function->function.name.arity);
}

static bool match_slowly(const struct th_live_call *call, struct th_session *session,
                         const struct th_match_spec *spec, struct th_match_result *result)
{
    struct th_live_process *process = call->process;
    struct th_match_context context = {.tracing = session->tracing,
                                       .session = session,
                                       .id = process->id,
                                       .traced = &process->traced,
                                       .process = process,
                                       .call = call};
    struct th_match_subject subject = {TH_NONE, call->arguments,
                                       call->function->function.name.arity};

    th_match_context_run(&context, spec, &subject, &th_thread_here->arena, result);
    th_wants_count_unknown(session, result);
    return result->end == TH_MATCH_YES;
}

/* *RESULT is ROOM, or the specification's. */
static inline bool match(const struct question *question, struct th_session *session,
                         struct th_match_result *room, const struct th_match_result **result)
{
    *result = match_quickly(question);
    if (*result)
        return (*result)->end == TH_MATCH_YES;
    *result = room;
    return match_slowly(question->call, session, ((struct th_shared_spec *)question->spec)->spec,
                        room);
}

/* What the specification said, unless that is to say nothing. */
static void tell_result(struct question *question, const struct th_match_result *result,
                        uint32_t flags)
{
    if (th_wants_message(result))
        tell(question, result->message == TH_AM(true) ? TH_NONE : result->message, flags);
}

static const struct th_match_result matched = {.end = TH_MATCH_YES, .message = TH_AM(true)};

/* The specification says whether the call is traced; its terms are in the arena. */
static __attribute__((noinline)) void take_matched(struct question *question)
{
    struct th_session *session = question->attachment->session;
    const struct th_match_result *result;
    struct th_match_result room;
    uint32_t flags;

    if (!match(question, session, &room, &result))
        return;
    flags = flags_in(question->call, session); /* the specification may have changed them */
    if (flags & TH_FLAG_SILENT) {
        th_session_count(session, TH_COUNTED(silenced));
        return;
    }
    want_of(question->wants, session,
            th_wants_of(result) | th_wants_return_to(result, question->kind, flags));
    tell_result(question, result, flags);
}

/* Without a specification each call matches. */
static void take(struct question *question)
{
    uint32_t flags = flags_in(question->call, question->attachment->session);

    if (__builtin_expect(flags & TH_FLAG_SILENT, 0)) {
        th_session_count(question->attachment->session, TH_COUNTED(silenced));
        return;
    }
    want_of(question->wants, question->attachment->session,
            th_wants_return_to(&matched, question->kind, flags));
    tell(question, TH_NONE, flags);
}

/* CALLED, who was asked, is told what SESSION's specification said. */
static __attribute__((noinline)) void take_meta(struct question *question,
                                                struct th_session *session)
{
    struct th_match_result room = matched;
    const struct th_match_result *result = &room;
    uint64_t wanted;

    if (!question->spec || match(question, session, &room, &result)) {
        wanted = th_wants_of(result);
        want_of(question->wants, question->attachment->session, wanted ? wanted | WANT_META : 0);
        tell_result(question, result, TH_FLAG_TIMESTAMP);
    }
    th_env_clear(&th_thread_here->arena);
}

/* What has been said, where that is not `discard`. */
static th_term heed(struct th_session *session, th_term answer)
{
    if (answer != TH_AM(trace))
        return TH_AM(remove);
    /* It may have been destroyed. */
    return th_session_is_attached(session) ? answer : TH_AM(discard);
}

static __attribute__((noinline)) void go_on_slowly(struct question *question, th_term answer)
{
    answer = heed(question->attachment->session, answer);
    if (answer == TH_AM(remove)) {
        th_traced_forget(&question->call->process->traced, question->attachment->session);
    } else if (answer == TH_AM(trace) && question->spec) {
        take_matched(question);
        th_env_clear(&th_thread_here->arena);
    } else if (answer == TH_AM(trace)) {
        take(question);
    }
}

/* The answer was not discard. In place is what most are: `trace`, where a specification, if there
 * is one, takes no run, and no flag says anything else. */
static inline void go_on(struct question *question, th_term answer)
{
    const uint32_t special = TH_FLAG_SILENT | TH_FLAG_RETURN_TO | TH_FLAG_ARITY | TH_OPTS_FLAGS;
    struct th_session *session = question->attachment->session;
    const struct th_match_result *result = NULL;

    th_thread_count_in(th_thread_here, session, TH_COUNTED(enabled));
    if (__builtin_expect(answer == TH_AM(trace) && th_session_is_attached(session), 1))
        result = question->spec ? match_quickly(question) : &matched;
    if (result && result->end == TH_MATCH_NO)
        return;
    if (__builtin_expect(!result || result->message != TH_AM(true) ||
                             flags_in(question->call, session) & special,
                         0)) {
        go_on_slowly(question, answer);
        return;
    }
    want_of(question->wants, session, th_wants_of(result));
    tell(question, TH_NONE, TH_FLAG_NONE);
}

/* A local or global breakpoint, KIND, of SESSION, which may have been left by all. */
static void obey(const struct th_live_call *call, struct th_live_wants *wants,
                 struct th_session *session, struct th_generic_bp *breakpoint,
                 const struct th_bp_data *data, uint32_t kind)
{
    struct question question = {.call = call, .wants = wants, .spec = data->spec, .kind = kind};
    th_term answer;

    if (!th_session_is_attached(session) || !(flags_in(call, session) & TH_FLAG_CALL))
        return;
    th_thread_own();
    answer = ask(&question, session, breakpoint, data);
    if (answer != TH_AM(discard))
        go_on(&question, answer);
}

/* --- hooks --- */

static inline struct th_session *session_of(struct th_bp_session *points)
{
    return ((struct th_points *)points)->session;
}

uint32_t th_live_hit_call(struct th_hit *hit, struct th_bp_session *points, struct th_shared *spec,
                          uint32_t kind)
{
    struct live_hit *live = (struct live_hit *)hit;

    if (hit->context)
        return th_patterns_hit(hit, points, spec, kind);
    obey(live->call, live->wants, session_of(points), hit->breakpoint, hit->data, kind);
    return 0;
}

/* CALLED, the tracer's, is another's than SESSION where that is a meta tracer of its own. */
uint32_t th_live_hit_meta(struct th_hit *hit, struct th_session *session, struct th_session *called,
                          struct th_shared *spec)
{
    const struct live_hit *live = (struct live_hit *)hit;
    struct question question = {
        .call = live->call, .wants = live->wants, .spec = spec, .kind = TH_BP_META};
    th_term answer;

    if (!live->call->process)
        return 0;
    th_thread_own();
    answer = ask(&question, called, hit->breakpoint, hit->data);
    if (answer == TH_AM(discard))
        return 0;
    th_thread_count_in(th_thread_here, called, TH_COUNTED(enabled));
    answer = heed(called, answer);
    if (answer == TH_AM(trace) && th_session_is_attached(session))
        take_meta(&question, session);
    return answer == TH_AM(remove) ? TH_HIT_REMOVE : 0;
}

struct th_account *th_live_hit_account(struct th_hit *hit, struct th_bp_session *points,
                                       struct th_account_reading *reading)
{
    const struct th_live_call *call = ((struct live_hit *)hit)->call;
    struct th_session *session = session_of(points);

    if (!th_session_is_attached(session) || !(flags_in(call, session) & TH_FLAG_CALL))
        return NULL;
    th_live_read(call->process, reading);
    return th_timing_account(&call->process->timing, session);
}

void th_live_hit_entered(struct th_hit *hit, struct th_bp_session *points,
                         const struct th_account_frame *frame)
{
    struct live_hit *live = (struct live_hit *)hit;
    uint32_t number = th_timing_enter(&live->call->process->timing, session_of(points), frame);

    if (number != UINT32_MAX)
        want(live->wants, (uint64_t)number << WANT_BITS | WANT_TIME);
}

/* --- the call --- */

void th_live_call_suppressed(void)
{
    th_thread_add(&th_thread_own()->suppressed);
}

/* The thread is in a callback, or runs no process: then what is left of the breakpoints counts the
 * call, and meta ones, which are for whoever calls, find that nobody does. */
static __attribute__((cold, noinline)) void call_oddly(const struct th_live_call *call)
{
    struct th_thread *thread = th_thread_own();
    struct live_hit live = {.call = call};

    if (th_callback_current.attachment) {
        th_thread_add(&thread->suppressed);
        return;
    }
    th_thread_add(&thread->strangers);
    live.hit.kinds = TH_BP_COUNT | TH_BP_META;
    th_breakpoint_hit(call->site, &live.hit);
}

/* All that may be at the site. In a section, if the thread is in one. */
static __attribute__((noinline)) void hit(const struct th_live_call *call,
                                          struct th_live_wants *wants, uint32_t kinds)
{
    struct live_hit live;

    live.hit.context = NULL; /* the rest of it is filled by the hit */
    live.hit.kinds = kinds;
    live.call = call;
    live.wants = wants;
    th_breakpoint_hit(call->site, &live.hit);
    th_callback_current.breakpoint = NULL;
}

void th_live_call_before(const struct th_live_call *call, struct th_site *next,
                         struct th_live_wants *wants)
{
    struct live_hit live = {.hit.kinds = TH_BP_ALL, .call = call, .wants = wants};

    wants->count = wants->capacity = 0;
    if (th_callback_current.attachment) {
        call_oddly(call);
        return;
    }
    th_breakpoint_hit_before(call->site, next, &live.hit);
    th_callback_current.breakpoint = NULL;
}

static inline uint32_t kinds_of(const struct th_live_call *call)
{
    return call->external ? TH_BP_ALL : TH_BP_ALL & ~TH_BP_GLOBAL;
}

/* These three end the section. They are jumped to: so th_live_call() saves no register, nor does
 * obey_single() for a call that is discarded. */
static __attribute__((noinline)) void hit_all(const struct th_live_call *call,
                                              struct th_live_wants *wants)
{
    hit(call, wants, kinds_of(call));
    th_progress_leave();
}

static __attribute__((noinline)) void go_on_single(struct question *question, th_term answer)
{
    go_on(question, answer);
    th_callback_current.breakpoint = NULL;
    th_progress_leave();
}

/* What th_live_hit_call() does, in place. */
static __attribute__((noinline)) void obey_single(const struct th_live_call *call,
                                                  struct th_live_wants *wants,
                                                  struct th_generic_bp *breakpoint,
                                                  const struct th_bp_data *data, uint32_t kind)
{
    struct th_session *session = session_of(breakpoint->session);
    struct question question;
    th_term answer;

    if (__builtin_expect(!th_thread_here, 0)) {
        hit_all(call, wants);
        return;
    }
    if (__builtin_expect(
            !th_session_is_attached(session) || !(flags_in(call, session) & TH_FLAG_CALL), 0)) {
        th_progress_leave();
        return;
    }
    question.call = call;
    question.wants = wants;
    question.spec = data->spec;
    question.kind = kind;
    answer = ask(&question, session, breakpoint, data);
    if (__builtin_expect(answer != TH_AM(discard), 0)) {
        go_on_single(&question, answer);
        return;
    }
    th_callback_current.breakpoint = NULL;
    th_progress_leave();
}

void th_live_call(const struct th_live_call *call, struct th_live_wants *wants)
{
    struct th_bp_single single;
    unsigned long *word;

    wants->count = wants->capacity = 0;
    if (__builtin_expect(th_callback_current.attachment || !call->process, 0)) {
        call_oddly(call);
        return;
    }
    word = th_progress_enter_quickly();
    if (__builtin_expect(!word, 0)) {
        hit(call, wants, kinds_of(call));
        return;
    }
    if (__builtin_expect(!th_breakpoint_is_single(call->site, kinds_of(call), &single), 0)) {
        hit_all(call, wants);
        return;
    }
    if (single.kind && th_live_is_calling(call->process)) {
        obey_single(call, wants, single.breakpoint, single.data, single.kind);
        return;
    }
    th_progress_leave_quickly(word);
}

/* --- what callbacks ask of a call --- */

bool th_live_is_external(const struct th_live_call *call)
{
    const struct th_match_operations *owner = call->process->asked;

    return call->external ||
           (owner && owner->is_external &&
            owner->is_external(call->process, &call->function->function.name, call->arguments));
}

th_term th_live_callers(const struct th_live_call *call, th_env *env)
{
    const struct th_match_operations *owner = call->process->asked;
    const struct th_caller *known = call->caller;
    th_term first;

    if (!known)
        return owner && owner->stack ? owner->stack(call->process, env, TH_EXECUTION_CALLERS)
                                     : TH_NONE;
    if (known->kind == TH_CALLER_UNDEFINED)
        return TH_NIL;
    if (known->kind != TH_CALLER_FUNCTION)
        return TH_NONE;
    first = th_make_tuple_of(env, known->function.module, known->function.function,
                             th_small(known->function.arity), TH_NIL);
    return th_make_cons(env, first, TH_AM(undefined));
}
