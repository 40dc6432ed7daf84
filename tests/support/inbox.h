/*
 * A process of the host that keeps what it is sent, as Erlang text: for tests of who sends. There
 * is one; its functions may be called by the test's thread, messages come from any.
 */
#ifndef INBOX_H
#define INBOX_H

#include "host/term/term.h"

th_term inbox_open(void); /* its pid */
void inbox_close(void);

/* Waits until COUNT messages have come since the last call, ten seconds at most. They are returned,
 * with a line break after each; good until the next call. */
const char *inbox_await(unsigned count);

/* The same without waiting. */
const char *inbox_take(void);

#endif
