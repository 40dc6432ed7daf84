/*
 * Random streams: a small world of processes and ports, one act after the other.
 *
 * An act is one event, or a few that belong together, such as `spawn` and `spawned`. Acts follow the
 * state of the world: only a process that runs calls or sends, a return follows its call, a name is
 * registered once. So a stream is one that a node could send, but for the terms in it.
 */
#include "generate_internal.h"

#include "host/term/env.h"
#include "host/term/make.h"
#include "host/trace/event.h"

enum { PROCESSES = 12, PORTS = 4, ACTORS = PROCESSES + PORTS, FRAMES = 40, FIRST_NUMBER = 100 };

struct actor {
    th_term id;
    bool alive, runs;
    th_term name;           /* TH_NONE: not registered */
    th_term owner;          /* of a port */
    th_term frames[FRAMES]; /* {M, F, Arity} of calls that have not returned; in `kept` */
    size_t depth;
};

/* Random numbers are drawn in statements of their own where C leaves the order open, so that all
 * compilers give the same stream. */
struct world {
    struct th_generate_random random;
    struct th_buffer *stream;
    size_t left; /* events to be written */
    th_env env;  /* terms of one act */
    th_env kept; /* functions; all other terms that outlive an act are immediates */
    th_term functions[24];
    struct actor actors[ACTORS]; /* processes, then ports */
    uint32_t next_number;        /* of the next process or port */
    enum th_time_kind times;
    int64_t ns, unique;
    bool scheduler_ids, arity;
    int64_t serial; /* of sequential tracing */
};

static bool chance(struct world *w, unsigned percent)
{
    return th_replay_generate_chance(&w->random, percent);
}

static size_t below(struct world *w, size_t limit)
{
    return th_replay_generate_number(&w->random, limit);
}

static th_term odd_term(struct world *w)
{
    return th_replay_generate_term(&w->random, &w->env);
}

static bool is_process(const struct world *w, const struct actor *actor)
{
    return actor < w->actors + PROCESSES;
}

/* --- Records ---------------------------------------------------------------------------------- */

/* Sets the time: of the stream's kind, but for one event in 50. Clocks go on with each event. */
static void add_time(struct world *w, struct th_event *event)
{
    static const int64_t starts[] = {
        [TH_TIME_TIMESTAMP] = 1795233754093267000,
        [TH_TIME_MONOTONIC] = -576460751495413024,
        [TH_TIME_STRICT_MONOTONIC] = -576460751495413024,
        [TH_TIME_CPU] = 1000000,
    };

    event->time.kind = chance(w, 2) ? (enum th_time_kind)below(w, 5) : w->times;
    w->ns += (int64_t)below(w, chance(w, 3) ? 1000000000 : 5000);
    if (event->time.kind == TH_TIME_NONE)
        return;
    event->time.ns = starts[event->time.kind] + w->ns;
    event->time.unique = w->unique++ - ((int64_t)1 << 59);
    if (event->kind == TH_EVENT_TRACE)
        event->kind = TH_EVENT_TRACE_TS;
}

static void add_random_event(struct world *w, struct th_event *event)
{
    const struct th_writer_options how = {.format = TH_FORMAT_TRACE_PORT};

    if (w->left == 0)
        return;
    w->left--;
    add_time(w, event);
    if (th_trace_tag_has_result(event->tag) && chance(w, 10))
        event->match_spec_result = odd_term(w);
    if (w->scheduler_ids && event->kind != TH_EVENT_SEQ_TRACE)
        event->scheduler_id = th_small((int64_t)(1 + below(w, 8)));
    th_replay_generate_add(w->stream, &how, event);
}

static void add(struct world *w, enum th_tracer_tag tag, const struct actor *actor, th_term term,
                th_term extra)
{
    struct th_event event = {
        .kind = TH_EVENT_TRACE, .tag = tag, .tracee = actor->id, .term = term, .extra = extra};

    add_random_event(w, &event);
}

/* --- Actors ----------------------------------------------------------------------------------- */

/* Returns an actor of COUNT from FIRST on that is alive, or is not; NULL: there is none. */
static struct actor *find_actor(struct world *w, size_t first, size_t count, bool alive)
{
    const size_t begin = below(w, count);

    for (size_t i = 0; i < count; i++) {
        struct actor *actor = &w->actors[first + (begin + i) % count];
        if (actor->alive == alive)
            return actor;
    }
    return NULL;
}

static struct actor *find_process(struct world *w)
{
    return find_actor(w, 0, PROCESSES, true);
}

static void start_actor(struct world *w, struct actor *actor, bool runs)
{
    const uint32_t n = w->next_number++;

    *actor = (struct actor){.alive = true, .runs = runs};
    actor->id = is_process(w, actor) ? th_make_pid(&w->kept, TH_NONE, 0, n, 0)
                                     : th_make_port(&w->kept, TH_NONE, 0, n);
}

/* A term that names another process or port, as receiver or link. */
static th_term other_actor(struct world *w)
{
    if (chance(w, 10))
        return th_replay_generate_parse(&w->env, chance(w, 70) ? "external_pid" : "external_port");
    if (chance(w, 15)) {
        const struct actor *port = find_actor(w, PROCESSES, PORTS, true);
        if (port)
            return port->id;
    }
    return find_process(w)->id;
}

static th_term function_with(struct world *w, th_term function, th_term arity)
{
    return th_make_tuple_of(&w->env, th_tuple_elements(function)[0], th_tuple_elements(function)[1],
                            arity);
}

static th_term choose_function(struct world *w)
{
    return w->functions[below(w, sizeof w->functions / sizeof w->functions[0])];
}

/* {M, F, Arguments} */
static th_term choose_call(struct world *w, th_term function)
{
    th_term arguments = TH_NIL;

    for (int64_t i = th_small_value(th_tuple_elements(function)[2]); i > 0; i--)
        arguments = th_make_cons(&w->env, i > 5 ? th_small(i) : odd_term(w), arguments);
    return function_with(w, function, arguments);
}

static th_term scheduled_place(struct world *w, const struct actor *actor)
{
    if (!is_process(w, actor))
        return chance(w, 50) ? th_small(0) : th_atom("command");
    if (chance(w, 10))
        return th_small(0);
    return actor->depth ? actor->frames[actor->depth - 1] : choose_function(w);
}

static void schedule(struct world *w, struct actor *actor, bool in)
{
    actor->runs = in;
    add(w, in ? TH_TAG_in : TH_TAG_out, actor, scheduled_place(w, actor), TH_NONE);
}

/* --- Acts of a process ------------------------------------------------------------------------ */

static void act_call(struct world *w, struct actor *self)
{
    const th_term function = choose_function(w);

    if (self->depth == FRAMES)
        return;
    self->frames[self->depth++] = function;
    add(w, TH_TAG_call, self, w->arity ? function : choose_call(w, function), TH_NONE);
}

/* Ends calls: tail calls return together with their caller, an exception ends several. */
static void end_calls(struct world *w, struct actor *self, enum th_tracer_tag tag, th_term value,
                      unsigned more)
{
    do
        add(w, tag, self, self->frames[--self->depth], value);
    while (self->depth > 0 && chance(w, more));
    if (chance(w, 50))
        add(w, TH_TAG_return_to, self,
            self->depth ? self->frames[self->depth - 1] : TH_AM(undefined), TH_NONE);
}

static void act_return(struct world *w, struct actor *self)
{
    if (self->depth > 0)
        end_calls(w, self, TH_TAG_return_from, odd_term(w), 25);
}

static void act_raise(struct world *w, struct actor *self)
{
    static const char *const classes[] = {"error", "exit", "throw"};

    const th_term class = th_atom(classes[below(w, 3)]), value = odd_term(w);

    if (self->depth > 0)
        end_calls(w, self, TH_TAG_exception_from, th_make_tuple_of(&w->env, class, value), 60);
}

static void act_send(struct world *w, struct actor *self)
{
    const th_term message = odd_term(w);
    struct actor *receiver = find_process(w);

    if (chance(w, 50)) {
        add(w, TH_TAG_send, self, message,
            receiver->name && chance(w, 60) ? receiver->name : receiver->id);
        add(w, TH_TAG_receive, receiver, message, TH_NONE);
    } else if (chance(w, 20)) {
        receiver = find_actor(w, 0, PROCESSES, false);
        if (receiver && receiver->id)
            add(w, TH_TAG_send_to_non_existing_process, self, message, receiver->id);
    } else if (chance(w, 30)) {
        add(w, TH_TAG_send, self, message,
            th_replay_generate_parse(&w->env, chance(w, 50) ? "{worker,other@host}" : "alias_ref"));
    } else {
        add(w, TH_TAG_send, self, message, other_actor(w));
    }
}

static void act_spawn(struct world *w, struct actor *self)
{
    struct actor *child = find_actor(w, 0, PROCESSES, false);
    th_term call;

    if (!child)
        return;
    start_actor(w, child, false);
    call = chance(w, 20) ? th_replay_generate_parse(&w->env, "{erlang,apply,[a_fun,[]]}")
                         : choose_call(w, choose_function(w));
    add(w, TH_TAG_spawn, self, child->id, call);
    add(w, TH_TAG_spawned, child, self->id, call);
    if (chance(w, 50)) {
        add(w, TH_TAG_link, self, child->id, TH_NONE);
        add(w, TH_TAG_getting_linked, child, self->id, TH_NONE);
    }
}

static void act_link(struct world *w, struct actor *self)
{
    static const enum th_tracer_tag tags[] = {TH_TAG_link, TH_TAG_unlink, TH_TAG_getting_linked,
                                              TH_TAG_getting_unlinked};

    add(w, tags[below(w, 4)], self, other_actor(w), TH_NONE);
}

/* Registers ACTOR, or takes its name away. */
static void act_name(struct world *w, struct actor *actor)
{
    th_term name = actor->name;

    if (name == TH_NONE) {
        name = th_replay_generate_atom(&w->random, &w->env);
        for (size_t i = 0; i < ACTORS; i++)
            if (w->actors[i].name == name)
                return;
    }
    add(w, actor->name ? TH_TAG_unregister : TH_TAG_register, actor, name, TH_NONE);
    actor->name = actor->name ? TH_NONE : name;
}

static th_term collection(struct world *w)
{
    static const char *const keys[] = {"off_heap_message_size",
                                       "bin_old_vheap_block_size",
                                       "bin_old_vheap_size",
                                       "bin_vheap_block_size",
                                       "bin_vheap_size",
                                       "heap_size",
                                       "old_heap_size",
                                       "stack_size",
                                       "recent_size",
                                       "mbuf_size",
                                       "heap_block_size",
                                       "old_heap_block_size",
                                       "wordsize"};
    th_term list = TH_NIL;

    /* The first key is one of later releases. */
    for (size_t i = chance(w, 80); i < sizeof keys / sizeof keys[0]; i++)
        list = th_make_cons(
            &w->env,
            th_make_tuple_of(&w->env, th_atom(keys[i]), th_small((int64_t)below(w, 1000000))),
            list);
    return list;
}

static void act_collect(struct world *w, struct actor *self)
{
    const bool major = chance(w, 30);

    if (chance(w, 5)) {
        add(w, TH_TAG_gc_max_heap_size, self, collection(w), TH_NONE);
        return;
    }
    add(w, major ? TH_TAG_gc_major_start : TH_TAG_gc_minor_start, self, collection(w), TH_NONE);
    add(w, major ? TH_TAG_gc_major_end : TH_TAG_gc_minor_end, self, collection(w), TH_NONE);
}

static void act_open(struct world *w, struct actor *self)
{
    struct actor *port = find_actor(w, PROCESSES, PORTS, false);

    if (!port)
        return;
    start_actor(w, port, false);
    port->owner = self->id;
    add(w, TH_TAG_open, port, self->id, th_replay_generate_atom(&w->random, &w->env));
    add(w, TH_TAG_getting_linked, port, self->id, TH_NONE);
    add(w, TH_TAG_link, self, port->id, TH_NONE);
}

static void act_trace_sequence(struct world *w, struct actor *self)
{
    static const char *const kinds[] = {"send", "receive", "print"};
    const size_t kind = below(w, 3);
    const th_term serial = th_make_tuple_of(&w->env, th_small(w->serial), th_small(w->serial + 1));
    const th_term other = kind == 2 ? TH_NIL : other_actor(w);
    struct th_event event = {.kind = TH_EVENT_SEQ_TRACE, .tag = TH_TAG_seq_trace};

    w->serial++;
    event.label = chance(w, 50) ? th_small((int64_t)below(w, 5)) : odd_term(w);
    event.term =
        th_make_tuple_of(&w->env, th_atom(kinds[kind]), serial, kind == 1 ? other : self->id,
                         kind == 1 ? self->id : other, odd_term(w));
    add_random_event(w, &event);
}

static void act_wait(struct world *w, struct actor *self)
{
    schedule(w, self, false);
}

/* Ends SELF, unless it is the last process. */
static void act_exit(struct world *w, struct actor *self)
{
    static const char *const reasons[] = {"normal", "shutdown", "killed", "{shutdown,restart}"};

    self->alive = false;
    if (!find_process(w)) {
        self->alive = true;
        return;
    }
    if (self->name)
        act_name(w, self);
    add(w, TH_TAG_exit, self,
        chance(w, 60) ? th_replay_generate_parse(&w->env, reasons[below(w, 4)])
                      : th_make_tuple_of(&w->env, odd_term(w),
                                         th_replay_generate_parse(&w->env, "[{worker,f,1,[]}]")),
        TH_NONE);
    if (chance(w, 20)) {
        add(w, TH_TAG_out_exiting, self, th_small(0), TH_NONE);
        add(w, TH_TAG_in_exiting, self, scheduled_place(w, self), TH_NONE);
    }
    add(w, TH_TAG_out_exited, self, scheduled_place(w, self), TH_NONE);
}

/* --- Acts of a port --------------------------------------------------------------------------- */

static void act_command(struct world *w, struct actor *port)
{
    const th_term what = th_make_tuple_of(&w->env, th_atom("command"), odd_term(w));

    add(w, TH_TAG_receive, port, th_make_tuple_of(&w->env, port->owner, what), TH_NONE);
}

static void act_data(struct world *w, struct actor *port)
{
    const th_term what = th_make_tuple_of(&w->env, th_atom("data"), odd_term(w));

    add(w, TH_TAG_send, port, th_make_tuple_of(&w->env, port->id, what), port->owner);
}

static void act_close(struct world *w, struct actor *port)
{
    if (port->name)
        act_name(w, port);
    port->alive = false;
    add(w, TH_TAG_closed, port, chance(w, 70) ? TH_AM(normal) : odd_term(w), TH_NONE);
    add(w, TH_TAG_out_exited, port, th_small(0), TH_NONE);
}

/* --- The stream ------------------------------------------------------------------------------- */

struct weighted_act {
    unsigned weight;
    void (*act)(struct world *w, struct actor *self);
};

static const struct weighted_act process_acts[] = {
    {30, act_call}, {22, act_return},        {4, act_raise}, {12, act_send},
    {4, act_spawn}, {3, act_link},           {3, act_name},  {4, act_collect},
    {3, act_open},  {3, act_trace_sequence}, {9, act_wait},  {3, act_exit},
};
static const struct weighted_act port_acts[] = {
    {40, act_command}, {30, act_data}, {10, act_link},
    {5, act_name},     {10, act_wait}, {5, act_close},
};

/* ACTS have together the weight 100. */
static void act_by_weight(struct world *w, const struct weighted_act *acts, struct actor *self)
{
    size_t at = below(w, 100);

    while (at >= acts->weight)
        at -= acts++->weight;
    acts->act(w, self);
}

static void choose_act(struct world *w)
{
    struct actor *port = chance(w, 20) ? find_actor(w, PROCESSES, PORTS, true) : NULL;
    struct actor *self = port ? port : find_process(w);

    if (!self->runs && chance(w, 90))
        schedule(w, self, true);
    else if (!self->runs)
        add(w, TH_TAG_receive, self, odd_term(w), TH_NONE);
    else
        act_by_weight(w, port ? port_acts : process_acts, self);
}

static void choose_functions(struct world *w)
{
    for (size_t i = 0; i < sizeof w->functions / sizeof w->functions[0]; i++) {
        const th_term module = th_replay_generate_atom(&w->random, &w->kept);
        const th_term name = th_replay_generate_atom(&w->random, &w->kept);
        const int64_t arity = i == 0 ? TH_FUNCTION_ARITY_MAX : (int64_t)below(w, 5);
        w->functions[i] = th_make_tuple_of(&w->kept, module, name, th_small(arity));
    }
}

void th_replay_generate_random(struct th_buffer *stream, uint64_t seed, size_t count)
{
    struct world w = {
        .random.state = seed, .stream = stream, .left = count, .next_number = FIRST_NUMBER};

    th_env_init(&w.env, TH_ENV_PLAIN);
    th_env_init(&w.kept, TH_ENV_PLAIN);
    w.times = (enum th_time_kind)below(&w, 5);
    w.scheduler_ids = chance(&w, 30);
    w.arity = chance(&w, 25);
    choose_functions(&w);
    for (size_t i = 0; i < 3; i++)
        start_actor(&w, &w.actors[i], i == 0);
    while (w.left > 0) {
        choose_act(&w);
        th_env_clear(&w.env);
    }
    th_env_release(&w.env);
    th_env_release(&w.kept);
}
