/*
 * Live calls at breakpoints.
 *
 * In the order of a BEAM: the tracee's flag `call` (a meta breakpoint: for each tracee), enabled,
 * the match specification, silent, trace. A call that enabled discards costs little more than
 * asking: its event, the struct of it included, is made when somebody wants it.
 */
#include "live_hit.h"

#include "pattern_hit.h"
#include "points.h"
#include "thread.h"
#include "wants.h"

/* Made in steps, so nothing of it is cleared that a discarded call does not look at. */
struct live_hit {
    struct th_hit hit; /* the first member; its context is NULL */
    const struct th_live_call *call;
    struct th_live_wants *wants;
    struct th_shared *spec; /* of the breakpoint at hand, ... */
    uint32_t kind;          /* ... local or global */
    bool made;              /* what follows */
    struct th_event event;
    struct th_way way;
};

/* --- the call as an event --- */

th_term th_live_function_term(th_env *env, const struct th_function *name)
{
    return th_make_tuple_of(env, name->module, name->function, th_small(name->arity));
}

static th_term argument_list(const struct th_live_call *call, th_env *env)
{
    return th_make_list(env, call->arguments, call->function->function.name.arity);
}

static enum th_status decode(struct th_event *event, th_env *env)
{
    const struct th_live_call *call = event->reader;
    const struct th_function *name = &call->function->function.name;

    event->term = th_make_tuple_of(env, name->module, name->function, argument_list(call, env));
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
    th_event_begin(event, TH_EVENT_TRACE);
    event->tag = TH_TAG_call;
    event->external = call->external ? TH_YES : TH_NO;
    event->tracee = call->process->id;
    event->number = event->position = 0;
    event->source = &source;
    event->reader = (void *)call;
    event->live = &call->process->traced;
}

void th_live_way(struct th_way *way, struct th_event *event, const struct th_live_process *process)
{
    *way = (struct th_way){
        .tracing = process->traced.tracing,
        .event = event,
        .group = TH_GROUP_call,
        .flag = TH_FLAG_CALL,
        .tag = th_tag_atom(event->tag),
        .tracee = process->id,
    };
}

static void make(struct live_hit *live)
{
    if (live->made)
        return;
    live->made = true;
    th_live_call_event(&live->event, live->call);
    th_live_way(&live->way, &live->event, live->call->process);
    th_callback_current.event = &live->event;
}

static void unmake(void)
{
    th_callback_current.event = NULL;
    th_env_clear(&th_thread_own()->arena);
}

/* --- what is wanted of its end --- */

static void make_room(struct th_live_wants *wants)
{
    uint32_t capacity = wants->capacity ? 2 * wants->capacity : 4 * TH_LIVE_WANTED;
    uint64_t *many = th_alloc(capacity * sizeof *many);

    memcpy(many, wants->capacity ? wants->many : wants->few, wants->count * sizeof *many);
    if (wants->capacity)
        th_free(wants->many);
    wants->many = many;
    wants->capacity = capacity;
}

static void want(struct live_hit *live, uint64_t word)
{
    struct th_live_wants *wants = live->wants;

    if (wants->count == (wants->capacity ? wants->capacity : TH_LIVE_WANTED))
        make_room(wants);
    (wants->capacity ? wants->many : wants->few)[wants->count++] = word;
}

static void want_of(struct live_hit *live, const struct th_session *session, uint64_t what)
{
    if (what)
        want(live, session->id << WANT_BITS | what);
}

/* --- sessions that want it --- */

static inline uint32_t flags_in(const struct th_live_call *call, const struct th_session *session)
{
    return th_refs_flags_quickly(th_traced_refs(&call->process->traced), session);
}

static uint32_t flags_of(const struct live_hit *live, const struct th_session *session)
{
    return flags_in(live->call, session);
}

/* Without a specification each call matches. */
static bool match(struct live_hit *live, struct th_session *session, struct th_shared *spec,
                  struct th_match_result *result)
{
    const struct th_live_call *call = live->call;
    struct th_live_surroundings context = {call, session};
    struct th_match_surroundings surroundings = {&th_live_operations, &context};
    struct th_match_subject subject = {TH_NONE, call->arguments,
                                       call->function->function.name.arity};

    *result = (struct th_match_result){.end = TH_MATCH_YES, .message = TH_AM(true)};
    if (!spec)
        return true;
    make(live);
    th_match_run(((struct th_shared_spec *)spec)->spec, &subject, &surroundings,
                 &th_thread_own()->arena, result);
    th_wants_count_unknown(session, result);
    return result->end == TH_MATCH_YES;
}

static void tell(struct live_hit *live, struct th_session *session,
                 const struct th_match_result *result, uint32_t flags)
{
    struct th_event event;

    if (result->message == TH_AM(false) || result->message == TH_NONE)
        return;
    make(live);
    if (!th_way_decode(&live->way))
        return;
    event = live->event;
    event.match_spec_result = result->message;
    th_way_hand_over(&live->way, session, &event, flags);
}

/* The call is traced, as far as enabled goes. */
static void take(struct live_hit *live, struct th_session *session)
{
    uint32_t kind = live->kind, flags;
    struct th_match_result result;

    if (!match(live, session, live->spec, &result))
        return;
    flags = flags_of(live, session); /* the specification may have changed them */
    if (flags & TH_FLAG_SILENT) {
        th_session_count(session, TH_COUNTED(silenced));
        return;
    }
    tell(live, session, &result, flags);
    want_of(live, session,
            th_wants_of(&result) |
                (kind == TH_BP_LOCAL && flags & TH_FLAG_RETURN_TO ? WANT_RETURN_TO : 0));
}

static __attribute__((noinline)) void take_meta(struct live_hit *live, struct th_session *session,
                                                struct th_session *called, struct th_shared *spec)
{
    struct th_match_result result;
    uint64_t wanted;

    if (!match(live, session, spec, &result))
        return;
    tell(live, called, &result, TH_FLAG_TIMESTAMP);
    wanted = th_wants_of(&result);
    want_of(live, called, wanted ? wanted | WANT_META : 0);
}

/* --- enabled --- */

/* What has been said, where that is not `discard`. */
static __attribute__((noinline)) th_term heed(struct th_session *session, th_term answer)
{
    th_session_count(session, TH_COUNTED(enabled));
    if (answer != TH_AM(trace))
        return TH_AM(remove);
    /* It may have been destroyed. */
    return th_session_is_attached(session) ? answer : TH_AM(discard);
}

static inline __attribute__((always_inline)) th_term
ask(const struct th_live_call *call, struct th_session *session, struct th_generic_bp *breakpoint,
    const struct th_bp_data *data, uint32_t kind)
{
    th_term id = call->process->id;
    th_term argv[] = {TH_AM(call), session->state, id};
    struct th_callback *callback = &th_callback_current;
    struct th_thread *thread = th_thread_own();
    th_term answer;

    callback->tracee = id;
    callback->call = call;
    callback->breakpoint = breakpoint;
    callback->breakpoint_data = data;
    callback->hit_kinds = kind;
    answer = th_thread_ask(thread, session, TH_SLOT_enabled_call, argv);
    if (__builtin_expect(answer != TH_AM(discard), 0))
        return heed(session, answer);
    th_thread_count_in(thread, session, TH_COUNTED(discarded));
    return answer;
}

static inline struct th_session *session_of(struct th_bp_session *points)
{
    struct th_session *session = ((struct th_points *)points)->session;

    return __builtin_expect(th_session_is_attached(session), 1) ? session : NULL;
}

/* The answer was not discard. */
static __attribute__((noinline)) uint32_t go_on(struct live_hit *live, struct th_session *session,
                                                th_term answer)
{
    if (answer == TH_AM(trace))
        take(live, session);
    else if (answer == TH_AM(remove))
        th_traced_forget(&live->call->process->traced, session);
    return 0;
}

/* --- hooks --- */

uint32_t th_live_hit_call(struct th_hit *hit, struct th_bp_session *points, struct th_shared *spec,
                          uint32_t kind)
{
    struct live_hit *live = (struct live_hit *)hit;
    struct th_session *session = ((struct th_points *)points)->session;
    th_term answer;

    if (hit->context)
        return th_patterns_hit(hit, points, spec, kind);
    if (!th_session_is_attached(session) || !(flags_of(live, session) & TH_FLAG_CALL))
        return 0;
    live->spec = spec;
    live->kind = kind;
    answer = ask(live->call, session, hit->breakpoint, hit->data, kind);
    if (__builtin_expect(answer != TH_AM(discard), 0))
        return go_on(live, session, answer);
    return 0;
}

/* CALLED, the tracer's, is another's than SESSION where that is a meta tracer of its own. */
uint32_t th_live_hit_meta(struct th_hit *hit, struct th_session *session, struct th_session *called,
                          struct th_shared *spec)
{
    struct live_hit *live = (struct live_hit *)hit;
    th_term answer;

    if (!live->call->process)
        return 0;
    answer = ask(live->call, called, hit->breakpoint, hit->data, TH_BP_META);
    if (answer == TH_AM(trace) && th_session_is_attached(session))
        take_meta(live, session, called, spec);
    return answer == TH_AM(remove) ? TH_HIT_REMOVE : 0;
}

struct th_account *th_live_hit_account(struct th_hit *hit, struct th_bp_session *points,
                                       struct th_account_reading *reading)
{
    struct live_hit *live = (struct live_hit *)hit;
    struct th_session *session = session_of(points);

    if (!session || !(flags_of(live, session) & TH_FLAG_CALL))
        return NULL;
    th_live_read(live->call->process, reading);
    return th_timing_account(&live->call->process->timing, session);
}

void th_live_hit_entered(struct th_hit *hit, struct th_bp_session *points,
                         const struct th_account_frame *frame)
{
    struct live_hit *live = (struct live_hit *)hit;
    uint32_t number =
        th_timing_enter(&live->call->process->timing, ((struct th_points *)points)->session, frame);

    if (number != UINT32_MAX)
        want(live, (uint64_t)number << WANT_BITS | WANT_TIME);
}

/* --- the call --- */

/* The thread is in a callback, or runs no process: then what is left of the breakpoints counts the
 * call, and meta ones, which are for whoever calls, find that nobody does. */
static __attribute__((cold, noinline)) void call_oddly(const struct th_live_call *call)
{
    struct th_thread *thread = th_thread_own();
    struct live_hit live = {.call = call};

    if (th_callback_current.session) {
        th_thread_add(&thread->suppressed);
        return;
    }
    th_thread_add(&thread->strangers);
    live.hit.kinds = TH_BP_COUNT | TH_BP_META;
    th_breakpoint_hit(call->site, &live.hit);
}

/* All that may be at the site. */
static __attribute__((noinline)) void hit(const struct th_live_call *call,
                                          struct th_live_wants *wants, uint32_t kinds)
{
    struct live_hit live;

    live.hit.context = NULL; /* the rest of it is filled by the hit */
    live.hit.kinds = kinds;
    live.call = call;
    live.wants = wants;
    live.made = false;
    th_breakpoint_hit(call->site, &live.hit);
    th_callback_current.breakpoint = NULL;
    if (live.made)
        unmake();
}

/* Of a single breakpoint: the answer was not discard. */
static __attribute__((noinline)) void
go_on_single(const struct th_live_call *call, struct th_live_wants *wants,
             struct th_session *session, const struct th_bp_single *single, th_term answer)
{
    struct live_hit live;

    live.call = call;
    live.wants = wants;
    live.spec = single->spec;
    live.kind = single->kind;
    live.made = false;
    go_on(&live, session, answer);
    if (live.made)
        unmake();
}

/* What th_live_hit_call() does, in place. */
static inline void obey_single(const struct th_live_call *call, struct th_live_wants *wants,
                               const struct th_bp_single *single)
{
    struct th_session *session = ((struct th_points *)single->session)->session;
    th_term answer;

    if (!th_session_is_attached(session) || !(flags_in(call, session) & TH_FLAG_CALL))
        return;
    answer = ask(call, session, single->breakpoint, single->data, single->kind);
    if (__builtin_expect(answer != TH_AM(discard), 0))
        go_on_single(call, wants, session, single, answer);
    th_callback_current.breakpoint = NULL;
}

void th_live_call(const struct th_live_call *call, struct th_live_wants *wants)
{
    uint32_t kinds = call->external ? TH_BP_ALL : TH_BP_ALL & ~TH_BP_GLOBAL;
    struct th_bp_single single;
    unsigned long *word;

    wants->count = wants->capacity = 0;
    if (__builtin_expect(th_callback_current.session || !call->process, 0)) {
        call_oddly(call);
        return;
    }
    word = th_progress_enter_quickly();
    if (__builtin_expect(!word, 0)) {
        hit(call, wants, kinds);
        return;
    }
    if (!th_breakpoint_is_single(call->site, kinds, &single))
        hit(call, wants, kinds);
    else if (single.session)
        obey_single(call, wants, &single);
    th_progress_leave_quickly(word);
}
