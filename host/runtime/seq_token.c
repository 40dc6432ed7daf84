/*
 * Sequential tokens, as seq_trace has them. What a process counts was measured on OTP 25: a serial
 * is counted up by each send, spawn and print of whoever has a token, and what is received sets the
 * count to at least its own.
 *
 * A token travels as the tuple {Flags, Label, Serial, From, Previous}; where there is a user tag
 * that spreads, in what user_tag.c makes of both.
 */
#include "seq_token.h"

#include "process_signal.h"
#include "dirty_end.h"
#include "host/runtime/traced/probed.h"
#include "host/runtime/traced/tracepoint.h"
#include "host/self/self.h"

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

void th_runtime_seq_end(struct th_seq *seq)
{
    if (seq->label)
        th_process_message_free(seq->label);
    seq->label = NULL;
    seq->set = false;
}

void th_runtime_seq_release(struct th_seq *seq)
{
    th_runtime_seq_end(seq);
    th_runtime_tag_end(seq);
}

static void set_label(struct th_seq *seq, th_term label)
{
    struct th_message *copy = th_process_message_create(label);

    if (seq->label)
        th_process_message_free(seq->label);
    seq->label = copy;
}

/* --- Being told ------------------------------------------------------------------------------ */

enum th_time_kind th_runtime_seq_time(const struct th_seq *seq)
{
    if (seq->flags & flag_of(TH_AM(timestamp)))
        return TH_TIME_TIMESTAMP;
    if (seq->flags & flag_of(TH_AM(strict_monotonic_timestamp)))
        return TH_TIME_STRICT_MONOTONIC;
    return seq->flags & flag_of(TH_AM(monotonic_timestamp)) ? TH_TIME_MONOTONIC : TH_TIME_NONE;
}

/* ACTION, which is a flag of the token as well, is to be told. */
static bool is_told(const struct th_process *process, th_term action)
{
    return th_traced_tracepoint_is_wanted(process, TH_TAG_seq_trace) &&
           process->seq.flags & flag_of(action);
}

void th_runtime_seq_taken(struct th_process *process)
{
    if (!process->seq_untold)
        return;
    process->seq_untold = false;
    if (is_told(process, TH_AM(receive)))
        th_traced_tracepoint_seq(process, &process->seq, TH_AM(receive), process->seq.from,
                                 process->pid, process->offered->term);
}

/* --- Travelling ------------------------------------------------------------------------------ */

/* What carries the token next has a serial of its own. */
static void count_up(struct th_process *process)
{
    struct th_seq *seq = &process->seq;

    th_runtime_seq_taken(process);
    seq->from = process->pid;
    seq->serial = ++seq->clock;
    seq->previous = seq->last;
}

th_term th_runtime_seq_token(const struct th_process *process, th_env *env)
{
    const struct th_seq *seq = &process->seq;

    if (!seq->set)
        return TH_NIL;
    return th_make_tuple_of(env, th_small(seq->flags), th_copy(env, label_of(seq)),
                            th_make_int64(env, seq->serial), seq->from,
                            th_make_int64(env, seq->previous));
}

th_term th_runtime_seq_send(struct th_process *process, th_env *env, th_term to, th_term message)
{
    if (!process->seq.set)
        return th_runtime_tag_send(&process->seq, env, TH_NONE);
    count_up(process);
    if (is_told(process, TH_AM(send)))
        th_traced_tracepoint_seq(process, &process->seq, TH_AM(send), process->pid, to, message);
    return th_runtime_tag_send(&process->seq, env, th_runtime_seq_token(process, env));
}

void th_runtime_seq_receive(struct th_process *process, th_term token)
{
    struct th_seq *seq = &process->seq;
    const th_term *parts;

    token = th_runtime_tag_receive(seq, token);
    if (token == TH_NONE) {
        th_runtime_seq_end(seq);
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

void th_runtime_seq_spawn(struct th_process *parent, struct th_process *child)
{
    if (!parent->seq.set)
        return;
    count_up(parent);
    child->seq = parent->seq;
    child->seq.label = NULL;
    child->seq.tag = NULL;
    child->seq.tag_stays = child->seq.tag_spreads = false;
    set_label(&child->seq, label_of(&parent->seq));
    child->seq.last = parent->seq.clock;
    count_up(child);
}

/* It is told as the message that it is for who traps exits. */
void th_runtime_seq_exit(struct th_process *process, th_term to, th_term reason)
{
    struct th_message *signal;
    th_term message = TH_NIL;
    th_env env;

    th_env_init(&env, TH_ENV_PLAIN);
    if (process->seq.set)
        message = th_make_tuple_of(&env, TH_AM(EXIT), process->pid, reason);
    signal =
        th_process_message_create_with(reason, th_runtime_seq_send(process, &env, to, message));
    th_env_release(&env);
    signal->kind = TH_SIGNAL_EXIT_LINKED;
    signal->from = process->pid;
    th_traced_probed_exit_signal(process->pid, to, reason);
    th_process_post(to, signal);
}

/* By a process; and by a callback, which is no event. */
static struct th_process *sender_of(const th_env *env)
{
    struct th_call *call = env ? th_runtime_call_of(env) : NULL;

    return call ? call->process : NULL;
}

/* What a callback sends while a function runs would be that function's: it is counted. */
static void suppress(th_term pid, th_term message)
{
    if (__builtin_expect(th_self.call && th_self.attachment, 0))
        th_traced_tracepoint_send(th_self.call->process, pid, message);
}

static bool send_from(struct th_process *process, th_env *env, th_term pid, th_term message)
{
    struct th_message *copy;
    th_term token;

    th_traced_tracepoint_send(process, pid, message);
    token = th_runtime_seq_send(process, env, pid, message);
    th_traced_probed_send(process, pid, message);
    if (token == TH_NONE)
        return th_process_mail_send_from(pid, message, process->pid);
    copy = th_process_message_create_with(message, token);
    copy->from = process->pid;
    return th_process_post(pid, copy) || th_process_mail_send(pid, message);
}

bool th_runtime_process_send(th_env *env, th_term pid, th_term message)
{
    struct th_process *process = sender_of(env);
    bool sent;

    if (!process) {
        suppress(pid, message);
        return th_process_mail_send(pid, message);
    }
    if (!th_runtime_dirty_take(process))
        return false;
    sent = send_from(process, env, pid, message);
    th_runtime_dirty_let_go(process);
    return sent;
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
    if (!th_term_is(value, TH_TUPLE) || th_tuple_arity(value) != 2 ||
        !th_get_int64(th_tuple_elements(value)[0], &previous) ||
        !th_get_int64(th_tuple_elements(value)[1], &serial))
        return false;
    seq->previous = seq->last = previous;
    seq->serial = seq->clock = serial;
    return true;
}

/* A token of which nothing is said yet. */
static void begin(struct th_process *process)
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

th_term th_runtime_seq_set_in(struct th_process *process, th_env *env, th_term component,
                              th_term value)
{
    struct th_seq *seq = &process->seq;
    bool was_set = seq->set;
    th_term before;

    if (!flag_of(component) && component != TH_AM(label) && component != TH_AM(serial))
        return TH_NONE;
    th_runtime_seq_taken(process);
    begin(process);
    before = was_set || component != TH_AM(serial)
                 ? value_of(seq, env, component)
                 : th_make_tuple_of(env, th_small(0), th_small(0));
    if (set_value(seq, component, value))
        return before;
    if (!was_set)
        th_runtime_seq_end(seq);
    return TH_NONE;
}

th_term th_runtime_seq_set(struct th_call *call, th_term component, th_term value)
{
    th_term before;

    if (!th_runtime_dirty_take(call->process))
        return TH_NONE;
    before = th_runtime_seq_set_in(call->process, call->env, component, value);
    th_runtime_dirty_let_go(call->process);
    return before;
}

th_term th_runtime_seq_get(struct th_call *call, th_term component)
{
    const struct th_seq *seq = &call->process->seq;
    th_term value;

    if (!th_runtime_dirty_take(call->process))
        return TH_NONE;
    value = value_of(seq, call->env, component);
    if (value != TH_NONE)
        value = seq->set ? th_make_tuple_of(call->env, component, value) : TH_NIL;
    th_runtime_dirty_let_go(call->process);
    return value;
}

void th_runtime_seq_reset(struct th_call *call)
{
    if (!th_runtime_dirty_take(call->process))
        return;
    th_runtime_seq_taken(call->process);
    th_runtime_seq_end(&call->process->seq);
    th_runtime_dirty_let_go(call->process);
}

bool th_runtime_seq_print_label(struct th_call *call, th_term label, th_term info)
{
    struct th_seq *seq = &call->process->seq;
    bool prints;

    if (!th_runtime_dirty_take(call->process))
        return false;
    prints = seq->set && th_identical(label_of(seq), label);
    if (prints) {
        count_up(call->process);
        if (is_told(call->process, TH_AM(print)))
            th_traced_tracepoint_seq(call->process, seq, TH_AM(print), call->process->pid, TH_NIL,
                                     info);
    }
    th_runtime_dirty_let_go(call->process);
    return prints;
}
