/*
 * Starts a process of the host that keeps its messages as Erlang text, for tests of senders.
 * Thread: there is one inbox. The test's thread calls its functions; any thread may send.
 */
#ifndef INBOX_H
#define INBOX_H

#include "host/term/term.h"

th_term inbox_open(void); /* returns the process' pid */
void inbox_close(void);

/* Waits until COUNT messages have come since the last call, ten seconds at most, and returns all,
 * one on a line. The text is valid until the next call. */
const char *inbox_await(unsigned count);

/* Like inbox_await(), without waiting. */
const char *inbox_take(void);

#endif
