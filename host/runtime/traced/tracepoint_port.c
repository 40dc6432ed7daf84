/*
 * What happens to the host's own ports is traced.
 *
 * Several threads may command a port at once, and its events are raised by each of them: they are
 * no calls, so that what a thread of its own would have to itself (timing, returns) is not touched.
 * Who raises an event has a share in the port as trace/ knows it, so that who closes the port does
 * not take it away under the event: the last one ends it.
 */
#include "tracepoint.h"

#include "host/self/self.h"

#include <string.h>

struct live_port {
    struct th_live_tracee live; /* the first member */
    unsigned shares;            /* under the lock: of the table, and of those in an event */
};

/* Guards what follows, and the shares; no event is raised under it. */
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct th_table ports; /* by id: struct live_port */

/* Under the lock. */
static struct live_port *make(th_term id)
{
    struct live_port *port = th_alloc_zero(sizeof *port);

    port->live.id = id;
    port->shares = 1;
    th_live_process_begin(&port->live, th_runtime_tracing(), NULL, false);
    th_hash_table_set(&ports, id, port);
    return port;
}

/* One that was opened while nothing was traced is made known when it is met. NULL: it was closed
 * meanwhile, or nothing is traced. ENDING: by who closes it. */
static struct live_port *share(th_term id, bool ending)
{
    struct live_port *port;

    if (!th_runtime_tracing())
        return NULL;
    pthread_mutex_lock(&lock);
    port = th_hash_table_get(&ports, id);
    if (!port && (ending || th_process_alive(id)))
        port = make(id);
    if (port)
        port->shares++;
    pthread_mutex_unlock(&lock);
    return port;
}

static void let_go(struct live_port *port)
{
    bool last;

    pthread_mutex_lock(&lock);
    last = --port->shares == 0;
    pthread_mutex_unlock(&lock);
    if (!last)
        return;
    th_live_process_end(&port->live);
    th_free(port);
}

static void strike(struct live_port *port)
{
    pthread_mutex_lock(&lock);
    th_hash_table_remove(&ports, port->live.id);
    pthread_mutex_unlock(&lock);
    let_go(port);
}

void th_traced_tracepoint_ports_end(void)
{
    const struct th_slot *slot;
    size_t position = 0;

    while ((slot = th_hash_table_next(&ports, &position)))
        let_go(slot->value);
    th_hash_table_free(&ports);
}

static void tell(struct live_port *port, enum th_tracer_tag tag, th_term term, th_term extra)
{
    struct th_live_event event;

    if (!th_live_is_wanted(&port->live, tag))
        return;
    th_live_event_init(&event, &port->live, tag);
    event.event.term = term;
    event.event.extra = extra;
    th_live_trace(&event);
}

static th_term who(void)
{
    return th_self.call ? th_self.call->process->pid : TH_AM(undefined);
}

/* What it is opened for, as an atom, as a BEAM tells the name of a driver. */
void th_traced_tracepoint_port_opened(th_term id, const char *what, th_term owner)
{
    struct live_port *port = share(id, false);
    th_term name;

    if (TH_PROBE_ENABLED(port__open))
        th_traced_probed_port_open(who(), what, id);
    if (!port)
        return;
    name = th_atom_utf8(what, strlen(what));

    tell(port, TH_TAG_open, owner == TH_NONE ? who() : owner,
         name == TH_NONE ? TH_AM(undefined) : name);
    let_go(port);
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

static void tell_command(struct live_port *port, th_term iodata)
{
    struct th_live_event event;

    if (!th_live_is_wanted(&port->live, TH_TAG_receive))
        return;
    th_live_event_init(&event, &port->live, TH_TAG_receive);
    event.sender = who();
    event.build = build_command;
    event.context = &iodata;
    th_live_trace(&event);
}

void th_traced_tracepoint_port_commanded(th_term id, th_term iodata, bool written)
{
    struct live_port *port = share(id, false);

    if (TH_PROBE_ENABLED(port__command) && !written)
        th_traced_probed_port_command(who(), id);
    if (!port)
        return;
    tell(port, written ? TH_TAG_out : TH_TAG_in, th_atom("command"), TH_NONE);
    if (!written)
        tell_command(port, iodata);
    let_go(port);
}

void th_traced_tracepoint_port_closed(th_term id, const char *what, th_term reason, th_term name)
{
    struct live_port *port = share(id, true);

    if (TH_PROBE_ENABLED(port__exit))
        th_traced_probed_port_exit(who(), id, what, reason);
    if (!port)
        return;
    tell(port, TH_TAG_closed, reason, TH_NONE);
    if (name != TH_NONE)
        tell(port, TH_TAG_unregister, name, TH_NONE);
    strike(port);
    let_go(port);
    th_trace_ended(th_runtime_tracing(), id);
}

void th_traced_tracepoint_port_named(th_term id, enum th_tracer_tag tag, th_term name)
{
    struct live_port *port = share(id, false);

    if (!port)
        return;
    tell(port, tag, name, TH_NONE);
    let_go(port);
}
