/*
 * File descriptors that libraries wait for: enif_select().
 *
 * The first call that needs the poll thread (epoll) starts it. The poll thread sends messages with
 * th_process_send_message(), which works also without schedulers, as during a replay.
 *
 * The first select of a descriptor relates the descriptor to a resource and keeps a reference to
 * the resource. The relation ends with ERL_NIF_SELECT_STOP, or when another resource selects the
 * same descriptor: the other resource takes the descriptor over, with a warning, as in a BEAM.
 * Other unusual cases follow OTP as measured; select.c has the table.
 *
 * Thread: any, with no lock held that a `stop` callback takes.
 */
#ifndef TH_SELECT_H
#define TH_SELECT_H

#include "host/term/word.h"
#include "plugin_api/erl_nif.h"

/* The message for a ready EVENT: {select, Resource, REF, ready_input | ready_output | ready_error},
 * or MESSAGE itself if that is not TH_NONE. */
struct th_select_message {
    th_term pid;
    th_term ref;     /* a reference, or `undefined` */
    th_term message; /* copied by th_poll_select() */
};

/* Implements enif_select() with its results. TO is not used if FLAGS stop or cancel. */
int th_poll_select(ErlNifEvent event, enum ErlNifSelectFlags flags, void *object,
                   const struct th_select_message *to);

/*
 * Ends the poll thread after it has called all scheduled `stop` callbacks, and ends all relations
 * without `stop`. The next th_poll_select() starts anew.
 * Order: for th_runtime_stop() and the end of the program, when no other thread can call
 *   th_poll_select().
 */
void th_poll_select_end(void);

#endif
