/*
 * File descriptors that libraries wait for: enif_select().
 *
 * The poll thread (epoll) is started by the first call that needs it. What it sends goes through
 * th_process_send(), so this works also where no schedulers run, as during a replay. Any
 * thread may call th_poll_select(), with no lock held that a `stop` callback could want.
 *
 * The first select of a descriptor makes it its resource's, of which the relation holds a share. It
 * ends with ERL_NIF_SELECT_STOP, or when another resource selects the same descriptor: that takes
 * it over, with a warning, as in a BEAM. What happens in the other odd cases is OTP's way, too, as
 * measured; select.c has the table.
 */
#ifndef TH_SELECT_H
#define TH_SELECT_H

#include "host/term/word.h"
#include "plugin_api/erl_nif.h"

/* What is sent when EVENT is ready: {select, Resource, REF, ready_input | ready_output |
 * ready_error}, or MESSAGE itself where that is not TH_NONE. */
struct th_select_message {
    th_term pid;
    th_term ref;     /* a reference, or `undefined` */
    th_term message; /* copied */
};

/* As enif_select() says, the result as well. TO says nothing where FLAGS stop or cancel. */
int th_poll_select(ErlNifEvent event, enum ErlNifSelectFlags flags, void *object,
                   const struct th_select_message *to);

/*
 * Ends the poll thread. `stop` callbacks that were scheduled are called before; what is still
 * selected is forgotten. For th_runtime_stop() and the program's end, when no other thread can call
 * th_poll_select(); the next th_poll_select() begins anew.
 */
void th_poll_select_end(void);

#endif
