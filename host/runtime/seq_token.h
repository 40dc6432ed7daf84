/* Sequential tokens and user tags, which travel with messages. Inner header of runtime/. */
#ifndef TH_SEQ_TOKEN_H
#define TH_SEQ_TOKEN_H

#include "runtime_internal.h"

/* The token for MESSAGE, which the process sends now, in ENV; TH_NONE: it has none. */
th_term th_runtime_seq_send(struct th_process *process, th_env *env, th_term to, th_term message);

/* It has received what carried TOKEN, TH_NONE: none. */
void th_runtime_seq_receive(struct th_process *process, th_term token);

/*
 * The message that is offered is taken, as far as its token goes: that is told, unless it was
 * before. When the function that has the message has returned; or as soon as that uses the token
 * or does something else that is told, so that the order is a BEAM's. One that skips the message
 * after that is told to have received it.
 */
void th_runtime_seq_taken(struct th_process *process);

/* Sends the exit signal with REASON over the link to TO. */
void th_runtime_seq_exit(struct th_process *process, th_term to, th_term reason);

/* The time stamp that the token asks for. */
enum th_time_kind th_runtime_seq_time(const struct th_seq *seq);

/* The token as it is, [] if there is none, in ENV. */
th_term th_runtime_seq_token(const struct th_process *process, th_env *env);

/* CHILD was spawned. */
void th_runtime_seq_spawn(struct th_process *parent, struct th_process *child);
void th_runtime_seq_end(struct th_seq *seq);

/* All of it goes, the user tag too. */
void th_runtime_seq_release(struct th_seq *seq);

struct th_message *th_runtime_tag_copy(const struct th_seq *seq);

/* The tag as text, "" if there is none; appended to TEXT. */
void th_runtime_tag_text(const struct th_process *process, struct th_buffer *text);

#endif
