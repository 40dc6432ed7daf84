/*
 * The terminal of `--top`, that of stderr: raw keys, the alternate screen, and what else is written
 * to it meanwhile.
 *
 *   th_top_terminal_check()                      is there one?
 *   th_top_terminal_enter()
 *   th_top_terminal_draw(bytes, size)            one frame
 *   th_top_terminal_wait(deadline, ...)          keys, or something else that happens
 *   th_top_terminal_leave()
 *
 * From enter to leave stderr, and stdout if it is the same terminal, are a file, which is copied to
 * the terminal by leave: so nothing that tracers or functions print gets between, and nothing is
 * lost. That also happens where the guard reports a crash, at exit(), and at SIGQUIT. Stopped (by
 * SIGTSTP) and until it goes on the terminal is as it was before; a shell may use it.
 *
 * There is one in the program. What is here is of one thread, but for th_top_terminal_leave() and
 * th_top_terminal_wake().
 */
#ifndef TH_TOP_TERMINAL_H
#define TH_TOP_TERMINAL_H

#include "host/base/error.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/ioctl.h>

/* TH_USAGE, with the reason, if no view can be shown on stderr. */
enum th_status th_top_terminal_check(void);

/* TH_FAILED if a file or a pipe cannot be opened. */
enum th_status th_top_terminal_enter(void);

/* Any thread; a second time it does nothing. Async-signal-safe. */
void th_top_terminal_leave(void);

/* 80 columns and 24 rows, if the terminal does not know. */
struct winsize th_top_terminal_size(void);

/* Not after leave: then it does nothing. */
void th_top_terminal_draw(const void *bytes, size_t size);

struct th_terminal_news {
    char keys[64]; /* bytes as they came */
    size_t key_count;
    bool gone; /* there is no terminal any more */
};

/* Waits until DEADLINE (monotonic nanoseconds), a key, another size or th_top_terminal_wake().
 * While the program is stopped that is longer. */
void th_top_terminal_wait(int64_t deadline, struct th_terminal_news *news);

/* Any thread; async-signal-safe. */
void th_top_terminal_wake(void);

enum th_top_key {
    TH_KEY_NONE, /* one that means nothing here, or the beginning of a sequence that goes on */
    TH_KEY_UP = 256,
    TH_KEY_DOWN,
    TH_KEY_PAGE_UP,
    TH_KEY_PAGE_DOWN,
    TH_KEY_HOME,
    TH_KEY_END
    /* others are themselves: 'q' */
};

/* The first key in COUNT bytes, of which there is at least one; *USED gets how many of them it is.
 */
int th_top_key_read(const char *bytes, size_t count, size_t *used);

#endif
