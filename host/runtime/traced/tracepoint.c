#include "tracepoint.h"

#include "host/runtime/call_steps.h"
#include "host/runtime/mailbox.h"
#include "host/runtime/process_life.h"
#include "host/term/make.h"

#include <string.h>

static uint64_t tracepoint_words_of(struct th_live_tracee *live)
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
    process->live.words = tracepoint_words_of;
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

/* --- Events with existing terms --------------------------------------------------------------- */

static void raise_event(struct th_live_tracee *live, enum th_tracer_tag tag, th_term term,
                        th_term extra)
{
    struct th_live_event event;

    th_live_event_init(&event, live, tag);
    event.event.term = term;
    event.event.extra = extra;
    th_live_trace(&event);
}

/* BUILD builds the missing terms from CONTEXT. */
static void raise_built(struct th_process *process, enum th_tracer_tag tag, th_term term,
                        void (*build)(struct th_live_event *self, th_env *env), void *context)
{
    struct th_live_event event;

    th_live_event_init(&event, &process->live, tag);
    event.event.term = term;
    event.build = build;
    event.context = context;
    th_live_trace(&event);
}

void th_traced_tracepoint_report(struct th_process *process, enum th_tracer_tag tag, th_term term,
                                 th_term extra)
{
    th_runtime_seq_taken(process);
    raise_event(&process->live, tag, term, extra);
}

void th_traced_tracepoint_report_receive(struct th_process *process, th_term sender,
                                         th_term message)
{
    struct th_live_event event;

    th_live_event_init(&event, &process->live, TH_TAG_receive);
    event.event.term = message;
    event.sender = sender;
    th_live_trace(&event);
}

/* --- Ports ----------------------------------------------------------------------------------- */

/*
 * Events of the host's own ports.
 *
 * Several threads may send commands to a port at once, and each raises the port's events: these are
 * no calls, so data that one thread owns (timing, returns) stay untouched. A thread that raises an
 * event holds a reference to the port's tracee, so that closing the port does not free the tracee
 * during the event. The last reference ends the tracee.
 */
struct live_port {
    struct th_live_tracee live; /* the first member */
    unsigned shares;            /* references of the table and of events; under the lock */
};

/* Guards the following and the references; no event is raised under it. */
static pthread_mutex_t ports_lock = PTHREAD_MUTEX_INITIALIZER;
static struct th_table ports; /* id -> struct live_port */

/* Returns the port ID with a new reference. A port that was opened before tracing becomes known
 * now. NULL: it was closed meanwhile, or nothing is traced. ENDING: the caller closes the port. */
static struct live_port *share(th_term id, bool ending)
{
    struct live_port *port;

    if (!th_runtime_tracing())
        return NULL;
    pthread_mutex_lock(&ports_lock);
    port = th_hash_table_get(&ports, id);
    if (!port && (ending || th_process_alive(id))) {
        port = th_alloc_zero(sizeof *port);
        port->live.id = id;
        port->shares = 1;
        th_live_process_begin(&port->live, th_runtime_tracing(), NULL, false);
        th_hash_table_set(&ports, id, port);
    }
    if (port)
        port->shares++;
    pthread_mutex_unlock(&ports_lock);
    return port;
}

static void tracepoint_let_go(struct live_port *port)
{
    bool last;

    pthread_mutex_lock(&ports_lock);
    last = --port->shares == 0;
    pthread_mutex_unlock(&ports_lock);
    if (!last)
        return;
    th_live_process_end(&port->live);
    th_free(port);
}

void th_traced_tracepoint_ports_end(void)
{
    const struct th_slot *slot;
    size_t position = 0;

    while ((slot = th_hash_table_next(&ports, &position)))
        tracepoint_let_go(slot->value);
    th_hash_table_free(&ports);
}

static void tracepoint_tell(struct live_port *port, enum th_tracer_tag tag, th_term term,
                            th_term extra)
{
    if (th_live_is_wanted(&port->live, tag))
        raise_event(&port->live, tag, term, extra);
}

static th_term who(void)
{
    return th_self.call ? th_self.call->process->pid : TH_AM(undefined);
}

/* The port's purpose as an atom, as a BEAM reports the name of a driver. */
static void port_opened(th_term id, const char *what, th_term owner)
{
    struct live_port *port = share(id, false);
    th_term name;

    if (TH_PROBE_ENABLED(port__open))
        th_traced_probed_port_open(who(), what, id);
    if (!port)
        return;
    name = th_atom_utf8(what, strlen(what));
    tracepoint_tell(port, TH_TAG_open, owner == TH_NONE ? who() : owner,
                    name == TH_NONE ? TH_AM(undefined) : name);
    tracepoint_let_go(port);
}

/* {From, {command, Binary}} */
static void build_command(struct th_live_event *self, th_env *env)
{
    const th_term *iodata = self->context;
    struct th_buffer bytes = {0};
    th_term binary;
    size_t size = 0;

    th_term_iodata_size(*iodata, &size);
    th_term_iodata_copy(*iodata, th_buffer_reserve(&bytes, size));
    binary = th_make_binary(env, bytes.data, size);
    th_buffer_free(&bytes);
    self->event.term =
        th_make_tuple_of(env, who(), th_make_tuple_of(env, th_atom("command"), binary));
}

static void port_commanded(th_term id, th_term iodata, bool written)
{
    struct live_port *port = share(id, false);
    struct th_live_event event;

    if (TH_PROBE_ENABLED(port__command) && !written)
        th_traced_probed_port_command(who(), id);
    if (!port)
        return;
    tracepoint_tell(port, written ? TH_TAG_out : TH_TAG_in, th_atom("command"), TH_NONE);
    if (!written && th_live_is_wanted(&port->live, TH_TAG_receive)) {
        th_live_event_init(&event, &port->live, TH_TAG_receive);
        event.sender = who();
        event.build = build_command;
        event.context = &iodata;
        th_live_trace(&event);
    }
    tracepoint_let_go(port);
}

static void port_closed(th_term id, const char *what, th_term reason, th_term name)
{
    struct live_port *port = share(id, true);

    if (TH_PROBE_ENABLED(port__exit))
        th_traced_probed_port_exit(who(), id, what, reason);
    if (!port)
        return;
    tracepoint_tell(port, TH_TAG_closed, reason, TH_NONE);
    if (name != TH_NONE)
        tracepoint_tell(port, TH_TAG_unregister, name, TH_NONE);
    pthread_mutex_lock(&ports_lock);
    th_hash_table_remove(&ports, id);
    pthread_mutex_unlock(&ports_lock);
    tracepoint_let_go(port); /* the table's reference */
    tracepoint_let_go(port);
    th_trace_ended(th_runtime_tracing(), id);
}

static void port_named(th_term id, enum th_tracer_tag tag, th_term name)
{
    struct live_port *port = share(id, false);

    if (!port)
        return;
    tracepoint_tell(port, tag, name, TH_NONE);
    tracepoint_let_go(port);
}

/* --- Names ----------------------------------------------------------------------------------- */

/* Reports that ID, possibly of a process that does not run, got or lost NAME. A process' own thread
 * raises the event, in order with its other events. */
static void named(th_term id, th_term name, bool given)
{
    enum th_tracer_tag tag = given ? TH_TAG_register : TH_TAG_unregister;

    if (!th_runtime_tracing())
        return;
    if (th_is_port(id))
        port_named(id, tag, name);
    else if (!th_self.call || th_self.call->process->pid != id)
        th_runtime_signal_send(id, TH_SIGNAL_NAMED, TH_NONE, tag, name);
    else if (th_runtime_dirty_take(th_self.call->process)) {
        th_traced_tracepoint_about(th_self.call->process, tag, name);
        th_runtime_dirty_let_go(th_self.call->process);
    }
}

const struct th_process_watcher th_traced_tracepoint_watcher = {
    .named = named,
    .port_opened = port_opened,
    .port_commanded = port_commanded,
    .port_closed = port_closed,
};

/* --- Functions ------------------------------------------------------------------------------- */

bool th_traced_next_name(const struct th_continuation *next, struct th_mfa *name)
{
    if (next->step == TH_STEP_CALL)
        *name = (struct th_mfa){next->module, next->function, (uint32_t)next->argc};
    else if (th_runtime_step_is_code(next->step))
        *name = th_runtime_code_name(next->callee, next->name, next->goes_on, next->argc);
    else
        return false;
    return true;
}

static void build_place(struct th_live_event *self, th_env *env)
{
    struct th_mfa name;

    self->event.term =
        th_traced_next_name(self->context, &name)
            ? th_make_tuple_of(env, name.module, name.function, th_small((int)name.arity))
            : th_small(0);
}

static void tell_place(struct th_process *process, enum th_tracer_tag tag)
{
    if (th_live_is_wanted(&process->live, tag))
        raise_built(process, tag, TH_NONE, build_place, &process->next);
}

void th_traced_tracepoint_report_in(struct th_process *process)
{
    process->live.scheduler = th_self.scheduler->number;
    th_live_resume(&process->live);
    tell_place(process, TH_TAG_in);
}

void th_traced_tracepoint_report_out(struct th_process *process)
{
    tell_place(process, TH_TAG_out);
    th_live_pause(&process->live);
}

/* --- Spawn ----------------------------------------------------------------------------------- */

/* The context is the child: for both tags, Extra is its first call. */
static void build_call(struct th_live_event *self, th_env *env)
{
    const struct th_process *child = self->context;
    const struct th_continuation *first = &child->next;

    self->event.extra = th_make_tuple_of(env, first->module, first->function,
                                         th_make_list(env, first->argv, (size_t)first->argc));
}

/* The order is that of a BEAM. */
void th_traced_tracepoint_spawn(struct th_process *parent, struct th_process *child, bool linked)
{
    if (!th_traced_tracepoint_is_wanted(parent, TH_TAG_spawn))
        return;
    th_runtime_seq_taken(parent);
    child->live.scheduler = parent->live.scheduler;
    raise_built(parent, TH_TAG_spawn, child->pid, build_call, child);
    if (linked)
        th_traced_tracepoint_report(parent, TH_TAG_link, child->pid, TH_NONE);
    raise_built(child, TH_TAG_spawned, parent->pid, build_call, child);
    if (linked)
        th_traced_tracepoint_report(child, TH_TAG_getting_linked, parent->pid, TH_NONE);
}

/* --- Collections ----------------------------------------------------------------------------- */

struct collection {
    struct th_heap_sizes sizes;
    size_t words;
};

/* In the order of a BEAM; items that do not exist here are 0. */
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

void th_traced_tracepoint_gc(struct th_process *process, enum th_tracer_tag tag, size_t words)
{
    struct collection collection = {.words = words};

    if (!th_traced_tracepoint_is_wanted(process, tag))
        return;
    collection.sizes = th_runtime_heap_sizes(process);
    raise_built(process, tag, TH_NONE, build_sizes, &collection);
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
