/*
 * Sequential tokens, as seq_trace has them. What a process counts was measured on OTP 25: a serial
 * is counted up by each send, spawn and print of whoever has a token, and what is received sets the
 * count to at least its own.
 *
 * A token travels as the tuple {Flags, Label, Serial, From, Previous}.
 */
#include "running.h"

/* The bits of Flags, as in a BEAM. */
static const struct {
    th_term component;
    unsigned bit;
} flags[] = {
    {TH_AM(send), 1},
    {TH_AM(receive), 2},
    {TH_AM(print), 4},
    {TH_AM(timestamp), 8},
    {TH_AM(strict_monotonic_timestamp), 16},
    {TH_AM(monotonic_timestamp), 32},
};

static unsigned flag_of(th_term component)
{
    for (size_t i = 0; i < sizeof flags / sizeof flags[0]; i++)
        if (flags[i].component == component)
            return flags[i].bit;
    return 0;
}

static th_term label_of(const struct th_seq *seq)
{
    return seq->label ? seq->label->term : th_small(0);
}

void th_seq_end(struct th_seq *seq)
{
    if (seq->label)
        th_message_free(seq->label);
    seq->label = NULL;
    seq->set = false;
}

static void set_label(struct th_seq *seq, th_term label)
{
    struct th_message *copy = th_message_create(label);

    if (seq->label)
        th_message_free(seq->label);
    seq->label = copy;
}

/* --- Travelling ------------------------------------------------------------------------------ */

/* What carries the token next has a serial of its own. */
static void count_up(struct th_process_run *process)
{
    struct th_seq *seq = &process->seq;

    seq->from = process->pid;
    seq->serial = ++seq->clock;
    seq->previous = seq->last;
}

th_term th_seq_token(const struct th_process_run *process, th_env *env)
{
    const struct th_seq *seq = &process->seq;

    if (!seq->set)
        return TH_NIL;
    return th_make_tuple_of(env, th_small(seq->flags), th_copy(env, label_of(seq)),
                            th_make_int64(env, seq->serial), seq->from,
                            th_make_int64(env, seq->previous));
}

th_term th_seq_send(struct th_process_run *process, th_env *env)
{
    if (!process->seq.set)
        return TH_NONE;
    count_up(process);
    return th_seq_token(process, env);
}

void th_seq_receive(struct th_process_run *process, th_term token)
{
    struct th_seq *seq = &process->seq;
    const th_term *parts;

    if (token == TH_NONE) {
        th_seq_end(seq);
        return;
    }
    parts = th_tuple_elements(token);
    seq->set = true;
    seq->flags = (unsigned)th_small_value(parts[0]);
    set_label(seq, parts[1]);
    th_get_int64(parts[2], &seq->serial);
    seq->from = parts[3];
    th_get_int64(parts[4], &seq->previous);
    seq->last = seq->serial;
    if (seq->clock < seq->last)
        seq->clock = seq->last;
}

void th_seq_spawn(struct th_process_run *parent, struct th_process_run *child)
{
    if (!parent->seq.set)
        return;
    count_up(parent);
    child->seq = parent->seq;
    child->seq.label = NULL;
    set_label(&child->seq, label_of(&parent->seq));
    child->seq.last = parent->seq.clock;
    count_up(child);
}

void th_seq_exit(struct th_process_run *process, enum th_signal kind, th_term to, th_term reason)
{
    struct th_message *signal;
    th_env env;

    th_env_init(&env, TH_ENV_PLAIN);
    signal = th_message_create_with(reason, th_seq_send(process, &env));
    th_env_release(&env);
    signal->kind = kind;
    signal->from = process->pid;
    th_host_process_post(to, signal);
}

/* This is where a process sends. */
bool th_process_send(th_env *env, th_term pid, th_term message)
{
    struct th_call *call = env ? th_call_of(env) : NULL;
    th_term token = call ? th_seq_send(call->process, env) : TH_NONE;

    if (token != TH_NONE && th_host_process_post(pid, th_message_create_with(message, token)))
        return true;
    return th_mail_send(pid, message);
}

/* --- For functions that run ------------------------------------------------------------------ */

/* The value of COMPONENT, TH_NONE: there is no such. */
static th_term value_of(const struct th_seq *seq, th_env *env, th_term component)
{
    unsigned flag = flag_of(component);

    if (flag)
        return seq->flags & flag ? TH_AM(true) : TH_AM(false);
    if (component == TH_AM(label))
        return th_copy(env, label_of(seq));
    if (component == TH_AM(serial))
        return th_make_tuple_of(env, th_make_int64(env, seq->previous),
                                th_make_int64(env, seq->serial));
    return TH_NONE;
}

/* False: VALUE is none of COMPONENT. */
static bool set_value(struct th_seq *seq, th_term component, th_term value)
{
    unsigned flag = flag_of(component);
    int64_t previous, serial;

    if (component == TH_AM(label)) {
        set_label(seq, value);
        return true;
    }
    if (flag) {
        if (value != TH_AM(true) && value != TH_AM(false))
            return false;
        seq->flags = value == TH_AM(true) ? seq->flags | flag : seq->flags & ~flag;
        return true;
    }
    if (!th_is(value, TH_TUPLE) || th_tuple_arity(value) != 2 ||
        !th_get_int64(th_tuple_elements(value)[0], &previous) ||
        !th_get_int64(th_tuple_elements(value)[1], &serial))
        return false;
    seq->previous = seq->last = previous;
    seq->serial = seq->clock = serial;
    return true;
}

/* A token of which nothing is said yet. */
static void begin(struct th_process_run *process)
{
    struct th_seq *seq = &process->seq;

    if (seq->set)
        return;
    seq->set = true;
    seq->flags = 0;
    seq->serial = 0;
    seq->previous = seq->last;
    seq->from = process->pid;
}

th_term th_seq_set_in(struct th_process_run *process, th_env *env, th_term component, th_term value)
{
    struct th_seq *seq = &process->seq;
    bool was_set = seq->set;
    th_term before;

    if (!flag_of(component) && component != TH_AM(label) && component != TH_AM(serial))
        return TH_NONE;
    begin(process);
    before = was_set || component != TH_AM(serial)
                 ? value_of(seq, env, component)
                 : th_make_tuple_of(env, th_small(0), th_small(0));
    if (set_value(seq, component, value))
        return before;
    if (!was_set)
        th_seq_end(seq);
    return TH_NONE;
}

th_term th_seq_set(struct th_call *call, th_term component, th_term value)
{
    return th_seq_set_in(call->process, call->env, component, value);
}

th_term th_seq_get(struct th_call *call, th_term component)
{
    const struct th_seq *seq = &call->process->seq;
    th_term value = value_of(seq, call->env, component);

    if (value == TH_NONE)
        return TH_NONE;
    return seq->set ? th_make_tuple_of(call->env, component, value) : TH_NIL;
}

void th_seq_reset(struct th_call *call)
{
    th_seq_end(&call->process->seq);
}

/* This is where what was printed is told. */
bool th_seq_print_label(struct th_call *call, th_term label, th_term info)
{
    struct th_seq *seq = &call->process->seq;

    (void)info;
    if (!seq->set || !th_identical(label_of(seq), label))
        return false;
    count_up(call->process);
    return true;
}
