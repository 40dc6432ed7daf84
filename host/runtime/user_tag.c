/*
 * User tags, as OTP's module dyntrace has them: a process marks what it does, for whoever looks on
 * from outside, and the mark goes with its messages while it spreads. What they do was taken from
 * OTP's emulator:
 *
 * A tag that was put stays until another is put. One that has come with a message is there until a
 * message comes without one, and spreads; it does not take the place of one that was put, which
 * then spreads as well. A message without a tag ends that a tag spreads.
 *
 * With a message travels {Tag, Token}, where Token, the sequential one, is [] if there is none.
 */
#include "dirty_end.h"
#include "seq_token.h"

#include "host/base/base.h"

enum { STAYS = 1, SPREADS = 2 }; /* in the state of th_runtime_tag_spread(), as in a BEAM */

void th_runtime_tag_end(struct th_seq *seq)
{
    if (seq->tag)
        th_process_message_free(seq->tag);
    seq->tag = NULL;
    seq->tag_stays = seq->tag_spreads = false;
}

struct th_message *th_runtime_tag_copy(const struct th_seq *seq)
{
    return seq->tag ? th_process_message_create(seq->tag->term) : NULL;
}

static void set(struct th_seq *seq, th_term tag)
{
    struct th_message *copy = th_process_message_create(tag);

    if (seq->tag)
        th_process_message_free(seq->tag);
    seq->tag = copy;
}

/* --- Travelling ------------------------------------------------------------------------------- */

th_term th_runtime_tag_send(const struct th_seq *seq, th_env *env, th_term token)
{
    if (!seq->tag || !seq->tag_spreads)
        return token;
    return th_make_tuple_of(env, th_copy(env, seq->tag->term), token == TH_NONE ? TH_NIL : token);
}

static void receive_none(struct th_seq *seq)
{
    if (!seq->tag_stays)
        th_runtime_tag_end(seq);
    seq->tag_spreads = false;
}

th_term th_runtime_tag_receive(struct th_seq *seq, th_term travelled)
{
    const th_term *parts;

    if (travelled == TH_NONE || th_tuple_arity(travelled) != 2) {
        receive_none(seq);
        return travelled;
    }
    parts = th_tuple_elements(travelled);
    if (!seq->tag)
        set(seq, parts[0]);
    seq->tag_spreads = true;
    return parts[1] == TH_NIL ? TH_NONE : parts[1];
}

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

static bool is_binary(th_term term)
{
    const unsigned char *bytes;
    size_t size;

    return th_get_bytes(term, &bytes, &size);
}

th_term th_runtime_tag_put(struct th_call *call, th_term item)
{
    struct th_seq *seq = &call->process->seq;
    th_term before = th_runtime_tag_get_data(call);

    if ((item != TH_AM(undefined) && !is_binary(item)) || !th_runtime_dirty_take(call->process))
        return TH_NONE;
    if (item == TH_AM(undefined)) {
        th_runtime_tag_end(seq);
    } else {
        set(seq, item);
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

    if (state == TH_AM(true)) /* what spread_tag/1 says where there are no tags */
        return true;
    if (!th_term_is(state, TH_TUPLE) || th_tuple_arity(state) != 2)
        return false;
    parts = th_tuple_elements(state);
    if (!th_get_int64(parts[0], &flags) || flags < 0 || flags > (STAYS | SPREADS) ||
        (parts[1] == TH_NIL ? flags != 0 : !is_binary(parts[1])) ||
        !th_runtime_dirty_take(call->process))
        return false;
    if (parts[1] == TH_NIL)
        th_runtime_tag_end(seq);
    else
        set(seq, parts[1]);
    seq->tag_stays = flags & STAYS;
    seq->tag_spreads = flags & SPREADS;
    th_runtime_dirty_let_go(call->process);
    return true;
}

/* A byte 0 ends a text for whoever reads it from outside. */
void th_runtime_tag_text(const struct th_process *process, struct th_buffer *text)
{
    const unsigned char *bytes;
    size_t size;

    if (process->seq.tag && th_get_bytes(process->seq.tag->term, &bytes, &size))
        th_buffer_add(text, bytes, size);
}
