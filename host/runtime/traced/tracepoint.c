#include "tracepoint.h"

#include "host/runtime/call_steps.h"
#include "host/runtime/process_life.h"
#include "host/runtime/mailbox.h"
#include "host/runtime/seq_token.h"
#include "host/self/self.h"

static uint64_t words_of(struct th_live_tracee *live)
{
    return th_runtime_heap_words(th_runtime_process_of_live(live));
}

void th_traced_tracepoint_begin(struct th_process *process, struct th_process *parent, bool linked)
{
    struct th_tracing *tracing = th_runtime_tracing();

    if (!tracing)
        return;
    process->live.id = process->pid;
    process->live.asked = &th_traced_process_asked;
    process->live.words = words_of;
    th_live_process_begin(&process->live, tracing, parent ? &parent->live : NULL, linked);
}

void th_traced_tracepoint_end(struct th_process *process)
{
    struct th_tracing *tracing = process->live.traced.tracing;

    if (!tracing)
        return;
    th_traced_tracepoint_about(process, TH_TAG_out_exited, th_small(0));
    th_live_process_end(&process->live);
    process->live.traced.tracing = NULL;
    th_trace_ended(tracing, process->pid);
}

void th_traced_tracepoint_leave(struct th_process *process)
{
    if (!th_traced_tracepoint_is_there(process))
        return;
    th_traced_tracepoint_about(process, TH_TAG_out_exited, th_small(0));
    th_live_process_leave(&process->live);
    th_trace_ended(process->live.traced.tracing, process->pid);
}

/* --- Of terms that exist --------------------------------------------------------------------- */

void th_traced_tracepoint_tell(struct th_process *process, enum th_tracer_tag tag, th_term term,
                               th_term extra)
{
    struct th_live_event event;

    th_runtime_seq_taken(process);
    th_live_event_init(&event, &process->live, tag);
    event.event.term = term;
    event.event.extra = extra;
    th_live_trace(&event);
}

void th_traced_tracepoint_tell_send(struct th_process *process, th_term to, th_term message)
{
    th_traced_tracepoint_tell(
        process, th_process_alive(to) ? TH_TAG_send : TH_TAG_send_to_non_existing_process, message,
        to);
}

void th_traced_tracepoint_tell_receive(struct th_process *process, th_term sender, th_term message)
{
    struct th_live_event event;

    th_live_event_init(&event, &process->live, TH_TAG_receive);
    event.event.term = message;
    event.sender = sender;
    th_live_trace(&event);
}

/* --- Names ----------------------------------------------------------------------------------- */

/* ID, which need not be of a process that runs, got or lost NAME: that is told in order with all
 * else that happens to it, by the thread that runs it. */
static void named(th_term id, th_term name, bool given)
{
    enum th_tracer_tag tag = given ? TH_TAG_register : TH_TAG_unregister;

    if (!th_runtime_tracing())
        return;
    if (th_is_port(id))
        th_traced_tracepoint_port_named(id, tag, name);
    else if (!th_self.call || th_self.call->process->pid != id)
        th_runtime_signal_send(id, TH_SIGNAL_NAMED, TH_NONE, tag, name);
    else if (th_runtime_dirty_take(th_self.call->process)) {
        th_traced_tracepoint_about(th_self.call->process, tag, name);
        th_runtime_dirty_let_go(th_self.call->process);
    }
}

const struct th_process_watcher th_traced_tracepoint_watcher = {
    .named = named,
    .port_opened = th_traced_tracepoint_port_opened,
    .port_commanded = th_traced_tracepoint_port_commanded,
    .port_closed = th_traced_tracepoint_port_closed,
};

/* --- Functions ------------------------------------------------------------------------------- */

/* What goes on in a function's place is that function. */
static th_term place_of(const struct th_continuation *next, th_env *env)
{
    const struct th_callee *callee = next->callee;

    switch (next->step) {
    case TH_STEP_CALL:
        return th_make_tuple_of(env, next->module, next->function, th_small(next->argc));
    case TH_STEP_RUN:
    case TH_STEP_AWAIT:
    case TH_STEP_FILE:
    case TH_STEP_CODE:
        return th_make_tuple_of(
            env, th_library_name(callee->library),
            th_code_name_atom(next->goes_on ? callee->function->name : next->name),
            th_small(next->goes_on ? (int64_t)callee->function->arity : next->argc));
    default:
        return th_small(0);
    }
}

static void build_place(struct th_live_event *self, th_env *env)
{
    self->event.term = place_of(self->context, env);
}

static void tell_place(struct th_process *process, enum th_tracer_tag tag)
{
    struct th_live_event event;

    if (!th_live_is_wanted(&process->live, tag))
        return;
    th_live_event_init(&event, &process->live, tag);
    event.build = build_place;
    event.context = &process->next;
    th_live_trace(&event);
}

void th_traced_tracepoint_tell_in(struct th_process *process)
{
    process->live.scheduler = th_self.scheduler->number;
    th_live_resume(&process->live);
    tell_place(process, TH_TAG_in);
}

void th_traced_tracepoint_tell_out(struct th_process *process)
{
    tell_place(process, TH_TAG_out);
    th_live_pause(&process->live);
}

/* --- Spawn ----------------------------------------------------------------------------------- */

/* The context is the child: whatever the tag, Extra is its first call. */
static void build_call(struct th_live_event *self, th_env *env)
{
    const struct th_process *child = self->context;
    const struct th_continuation *first = &child->next;

    self->event.extra = th_make_tuple_of(env, first->module, first->function,
                                         th_make_list(env, first->argv, (size_t)first->argc));
}

static void tell_birth(struct th_process *process, enum th_tracer_tag tag, th_term other,
                       struct th_process *child)
{
    struct th_live_event event;

    th_live_event_init(&event, &process->live, tag);
    event.event.term = other;
    event.build = build_call;
    event.context = child;
    th_live_trace(&event);
}

/* The order is that of a BEAM. */
void th_traced_tracepoint_spawn(struct th_process *parent, struct th_process *child, bool linked)
{
    if (!th_traced_tracepoint_is_wanted(parent, TH_TAG_spawn))
        return;
    th_runtime_seq_taken(parent);
    child->live.scheduler = parent->live.scheduler;
    tell_birth(parent, TH_TAG_spawn, child->pid, child);
    if (linked)
        th_traced_tracepoint_tell(parent, TH_TAG_link, child->pid, TH_NONE);
    tell_birth(child, TH_TAG_spawned, parent->pid, child);
    if (linked)
        th_traced_tracepoint_tell(child, TH_TAG_getting_linked, parent->pid, TH_NONE);
}

/* --- Collections ----------------------------------------------------------------------------- */

struct collection {
    struct th_heap_sizes sizes;
    size_t words;
};

/* In the order of a BEAM; what does not exist here is 0. */
static void build_sizes(struct th_live_event *self, th_env *env)
{
    const struct collection *c = self->context;
    const struct {
        const char *name;
        size_t words;
    } all[] = {
        {"wordsize", c->words},
        {"old_heap_block_size", 0},
        {"heap_block_size", c->sizes.heap_block_size},
        {"mbuf_size", c->sizes.mbuf_size},
        {"recent_size", c->sizes.recent_size},
        {"stack_size", c->sizes.stack_size},
        {"old_heap_size", 0},
        {"heap_size", c->sizes.heap_size},
        {"bin_vheap_size", c->sizes.bin_vheap_size},
        {"bin_vheap_block_size", 0},
        {"bin_old_vheap_size", 0},
        {"bin_old_vheap_block_size", 0},
    };
    enum { COUNT = sizeof all / sizeof all[0] };
    th_term pairs[COUNT];

    for (size_t i = 0; i < COUNT; i++)
        pairs[i] = th_make_tuple_of(env, th_atom(all[i].name), th_make_uint64(env, all[i].words));
    self->event.term = th_make_list(env, pairs, COUNT);
}

void th_traced_tracepoint_tell_gc(struct th_process *process, enum th_tracer_tag tag, size_t words)
{
    struct collection collection = {th_runtime_heap_sizes(process), words};
    struct th_live_event event;

    th_live_event_init(&event, &process->live, tag);
    event.build = build_sizes;
    event.context = &collection;
    th_live_trace(&event);
}

/* --- Sequential tokens ----------------------------------------------------------------------- */

struct passage {
    const struct th_seq *seq;
    th_term action, from, to, message;
};

static void build_passage(struct th_live_event *self, th_env *env)
{
    const struct passage *p = self->context;
    th_term serial = th_make_tuple_of(env, th_make_int64(env, p->seq->previous),
                                      th_make_int64(env, p->seq->serial));

    self->event.label = p->seq->label ? p->seq->label->term : th_small(0);
    self->event.term = th_make_tuple_of(env, p->action, serial, p->from, p->to, p->message);
}

void th_traced_tracepoint_seq(struct th_process *process, const struct th_seq *seq, th_term action,
                              th_term from, th_term to, th_term message)
{
    struct passage passage = {seq, action, from, to, message};
    struct th_live_event event;

    th_live_event_init_seq(&event, &process->live);
    event.event.time.kind = th_runtime_seq_time(seq);
    event.build = build_passage;
    event.context = &passage;
    th_live_trace(&event);
}
