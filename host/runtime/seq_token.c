/*
 * Sequential tokens, as seq_trace has them. The counters of a process follow measurements of OTP
 * 25: each send, spawn and print of a process with a token counts its serial up, and a received
 * token raises the counter to at least its own serial.
 *
 * A token travels as the tuple {Flags, Label, Serial, From, Previous}; with a user tag that
 * spreads, it travels as send_tag() combines both.
 *
 * User tags, as in OTP's module dyntrace: a process marks its activity for observers outside, and
 * the mark travels with its messages while it spreads. The rules are those of OTP's emulator:
 *
 * A tag that was put stays until another is put. A tag that came with a message stays until a
 * message comes without one, and spreads; it does not replace a tag that was put, which then
 * spreads as well. A message without a tag stops the spreading.
 *
 * A message carries {Tag, Token}; Token, the sequential token, is [] if there is none.
 */

#include "mailbox.h"

#include "host/runtime/traced/tracepoint.h"
#include "host/term/compare.h"
#include "host/term/make.h"

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

static void seq_token_drop(struct th_message **held)
{
    if (*held)
        th_process_message_free(*held);
    *held = NULL;
}

void th_runtime_seq_end(struct th_seq *seq)
{
    seq_token_drop(&seq->label);
    seq->set = false;
}

static void end_tag(struct th_seq *seq)
{
    seq_token_drop(&seq->tag);
    seq->tag_stays = seq->tag_spreads = false;
}

void th_runtime_seq_release(struct th_seq *seq)
{
    th_runtime_seq_end(seq);
    end_tag(seq);
}

/* --- Events ----------------------------------------------------------------------------------- */

enum th_time_kind th_runtime_seq_time(const struct th_seq *seq)
{
    if (seq->flags & flag_of(TH_AM(timestamp)))
        return TH_TIME_TIMESTAMP;
    if (seq->flags & flag_of(TH_AM(strict_monotonic_timestamp)))
        return TH_TIME_STRICT_MONOTONIC;
    return seq->flags & flag_of(TH_AM(monotonic_timestamp)) ? TH_TIME_MONOTONIC : TH_TIME_NONE;
}

/* Returns whether an event of ACTION, which is also a flag of the token, is wanted. */
static bool seq_token_is_told(const struct th_process *process, th_term action)
{
    return th_traced_tracepoint_is_wanted(process, TH_TAG_seq_trace) &&
           process->seq.flags & flag_of(action);
}

void th_runtime_seq_taken(struct th_process *process)
{
    if (!process->seq_untold)
        return;
    process->seq_untold = false;
    if (seq_token_is_told(process, TH_AM(receive)))
        th_traced_tracepoint_seq(process, &process->seq, TH_AM(receive), process->seq.from,
                                 process->pid, process->offered->term);
}

/* --- Travelling ------------------------------------------------------------------------------- */

/* Replaces *HELD by a copy of TERM. */
static void hold(struct th_message **held, th_term term)
{
    struct th_message *copy = th_process_message_create(term);

    seq_token_drop(held);
    *held = copy;
}

struct th_message *th_runtime_tag_copy(const struct th_seq *seq)
{
    return seq->tag ? th_process_message_create(seq->tag->term) : NULL;
}

/* Returns in ENV the data that travel with a message: the tag, if it spreads, with TOKEN (TH_NONE:
 * none). TH_NONE if there is neither. */
static th_term send_tag(const struct th_seq *seq, th_env *env, th_term token)
{
    if (!seq->tag || !seq->tag_spreads)
        return token;
    return th_make_tuple_of(env, th_copy(env, seq->tag->term), token == TH_NONE ? TH_NIL : token);
}

/* Receives the tag in TRAVELLED and returns the token. */
static th_term receive_tag(struct th_seq *seq, th_term travelled)
{
    const th_term *parts;

    if (travelled == TH_NONE || th_tuple_arity(travelled) != 2) {
        if (!seq->tag_stays)
            end_tag(seq);
        seq->tag_spreads = false;
        return travelled;
    }
    parts = th_tuple_elements(travelled);
    if (!seq->tag)
        hold(&seq->tag, parts[0]);
    seq->tag_spreads = true;
    return parts[1] == TH_NIL ? TH_NONE : parts[1];
}

/* Gives the token's next message a serial of its own. */
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
        return send_tag(&process->seq, env, TH_NONE);
    count_up(process);
    if (seq_token_is_told(process, TH_AM(send)))
        th_traced_tracepoint_seq(process, &process->seq, TH_AM(send), process->pid, to, message);
    return send_tag(&process->seq, env, th_runtime_seq_token(process, env));
}

void th_runtime_seq_receive(struct th_process *process, th_term token)
{
    struct th_seq *seq = &process->seq;
    const th_term *parts;

    token = receive_tag(seq, token);
    if (token == TH_NONE) {
        th_runtime_seq_end(seq);
        return;
    }
    parts = th_tuple_elements(token);
    seq->set = true;
    seq->flags = (unsigned)th_small_value(parts[0]);
    hold(&seq->label, parts[1]);
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
    hold(&child->seq.label, label_of(&parent->seq));
    child->seq.last = parent->seq.clock;
    count_up(child);
}

/* --- For functions that run ------------------------------------------------------------------ */

/* Returns the value of COMPONENT; TH_NONE: no such component. */
static th_term seq_token_value_of(const struct th_seq *seq, th_env *env, th_term component)
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

/* Returns false if VALUE is invalid for COMPONENT. */
static bool set_value(struct th_seq *seq, th_term component, th_term value)
{
    unsigned flag = flag_of(component);
    const th_term *numbers;

    if (component == TH_AM(label)) {
        hold(&seq->label, value);
        return true;
    }
    if (flag) {
        if (value != TH_AM(true) && value != TH_AM(false))
            return false;
        seq->flags = value == TH_AM(true) ? seq->flags | flag : seq->flags & ~flag;
        return true;
    }
    if (!th_term_is(value, TH_TUPLE) || th_tuple_arity(value) != 2)
        return false;
    numbers = th_tuple_elements(value);
    if (!th_is_small(numbers[0]) || !th_is_small(numbers[1])) /* as in a BEAM */
        return false;
    seq->previous = seq->last = th_small_value(numbers[0]);
    seq->serial = seq->clock = th_small_value(numbers[1]);
    return true;
}

th_term th_runtime_seq_set(struct th_process *process, th_env *env, th_term component,
                           th_term value)
{
    struct th_seq *seq = &process->seq;
    bool was_set, good;
    th_term before;

    if ((!flag_of(component) && component != TH_AM(label) && component != TH_AM(serial)) ||
        !th_runtime_dirty_take(process))
        return TH_NONE;
    th_runtime_seq_taken(process);
    was_set = seq->set;
    if (!was_set) { /* a token with default values */
        seq->set = true;
        seq->flags = 0;
        seq->serial = 0;
        seq->previous = seq->last;
        seq->from = process->pid;
    }
    before = was_set || component != TH_AM(serial)
                 ? seq_token_value_of(seq, env, component)
                 : th_make_tuple_of(env, th_small(0), th_small(0));
    good = set_value(seq, component, value);
    if (!good && !was_set)
        th_runtime_seq_end(seq);
    th_runtime_dirty_let_go(process);
    return good ? before : TH_NONE;
}

th_term th_runtime_seq_get(struct th_call *call, th_term component)
{
    const struct th_seq *seq = &call->process->seq;
    th_term value;

    if (!th_runtime_dirty_take(call->process))
        return TH_NONE;
    value = seq_token_value_of(seq, call->env, component);
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
        if (seq_token_is_told(call->process, TH_AM(print)))
            th_traced_tracepoint_seq(call->process, seq, TH_AM(print), call->process->pid, TH_NIL,
                                     info);
    }
    th_runtime_dirty_let_go(call->process);
    return prints;
}

/* --- User tags ------------------------------------------------------------------------------- */

enum { STAYS = 1, SPREADS = 2 }; /* in the state of th_runtime_tag_spread(), as in a BEAM */

/* --- For functions that run ------------------------------------------------------------------- */

th_term th_runtime_tag_get_data(struct th_call *call)
{
    const struct th_seq *seq = &call->process->seq;

    return seq->tag ? th_copy(call->env, seq->tag->term) : TH_AM(undefined);
}

th_term th_runtime_tag_get(struct th_call *call)
{
    return call->process->seq.tag_stays ? th_runtime_tag_get_data(call) : TH_AM(undefined);
}

static bool seq_token_is_binary(th_term term)
{
    const unsigned char *bytes;
    size_t size;

    return th_get_bytes(term, &bytes, &size);
}

th_term th_runtime_tag_put(struct th_call *call, th_term item)
{
    struct th_seq *seq = &call->process->seq;
    th_term before = th_runtime_tag_get_data(call);

    if ((item != TH_AM(undefined) && !seq_token_is_binary(item)) ||
        !th_runtime_dirty_take(call->process))
        return TH_NONE;
    if (item == TH_AM(undefined)) {
        end_tag(seq);
    } else {
        hold(&seq->tag, item);
        seq->tag_stays = true;
    }
    th_runtime_dirty_let_go(call->process);
    return before;
}

th_term th_runtime_tag_spread(struct th_call *call, bool spreads)
{
    struct th_seq *seq = &call->process->seq;
    int state = (seq->tag_stays ? STAYS : 0) | (seq->tag_spreads ? SPREADS : 0);
    th_term before = th_make_tuple_of(call->env, th_small(state),
                                      seq->tag ? th_copy(call->env, seq->tag->term) : TH_NIL);

    if (th_runtime_dirty_take(call->process)) {
        seq->tag_spreads = spreads && seq->tag;
        th_runtime_dirty_let_go(call->process);
    }
    return before;
}

bool th_runtime_tag_restore(struct th_call *call, th_term state)
{
    struct th_seq *seq = &call->process->seq;
    const th_term *parts;
    int64_t flags;

    if (state == TH_AM(true)) /* result of spread_tag/1 without tags */
        return true;
    if (!th_term_is(state, TH_TUPLE) || th_tuple_arity(state) != 2)
        return false;
    parts = th_tuple_elements(state);
    if (!th_get_int64(parts[0], &flags) || flags < 0 || flags > (STAYS | SPREADS) ||
        (parts[1] == TH_NIL ? flags != 0 : !seq_token_is_binary(parts[1])) ||
        !th_runtime_dirty_take(call->process))
        return false;
    if (parts[1] == TH_NIL)
        end_tag(seq);
    else
        hold(&seq->tag, parts[1]);
    seq->tag_stays = flags & STAYS;
    seq->tag_spreads = flags & SPREADS;
    th_runtime_dirty_let_go(call->process);
    return true;
}

/* A byte 0 ends the text for readers outside. */
void th_runtime_tag_text(const struct th_process *process, struct th_buffer *text)
{
    const unsigned char *bytes;
    size_t size;

    if (process->seq.tag && th_get_bytes(process->seq.tag->term, &bytes, &size))
        th_buffer_add(text, bytes, size);
}
