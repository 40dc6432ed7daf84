/*
 * The terminal of `--top`, opened from stderr: raw keys, the alternate screen, and a file that
 * holds back other output.
 *
 *   th_top_terminal_check()                      is there a terminal?
 *   th_top_terminal_enter()
 *   th_top_terminal_draw(bytes, size)            one frame
 *   th_top_terminal_wait(deadline, ...)          keys, signals or a wake-up
 *   th_top_terminal_leave()
 *
 * From enter to leave, stderr, and stdout if it is the same terminal, go to a file. leave copies
 * the file to the terminal. So output of tracers and functions does not disturb the view, and none
 * is lost. leave also runs when the guard reports a crash, at exit(), and at SIGQUIT. While the
 * program is stopped (SIGTSTP), the terminal has its original settings; a shell may use the
 * terminal.
 *
 * The program has one such terminal.
 * Thread: one thread, except for th_top_terminal_leave() and th_top_terminal_wake().
 */
#ifndef TH_TOP_TERMINAL_H
#define TH_TOP_TERMINAL_H

#include "host/base/error.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/ioctl.h>

/* Checks that stderr can show a view.
 * Errors: TH_USAGE, with the reason. */
enum th_status th_top_terminal_check(void);

/* Opens the terminal, shows the alternate screen and holds back other output.
 * Errors: TH_FAILED, with nothing shown, if the terminal, a file or a pipe cannot be opened. */
enum th_status th_top_terminal_enter(void);

/* Restores the terminal and prints the text that was held back. Waits at most half a second for a
 * frame that is being drawn. Before th_top_terminal_enter(), or if called again, does nothing.
 * Thread: any; async-signal-safe. */
void th_top_terminal_leave(void);

/* Returns the size; 80 columns and 24 rows if the terminal does not report one. */
struct winsize th_top_terminal_size(void);

/* Draws a frame; after leave this does nothing. */
void th_top_terminal_draw(const void *bytes, size_t size);

struct th_terminal_news {
    char keys[64]; /* bytes as received */
    size_t key_count;
    bool gone; /* the terminal is gone */
};

/* Waits until DEADLINE (monotonic nanoseconds), a key, a signal such as that of a new size, or
 * th_top_terminal_wake(). If the program is stopped meanwhile, returns when the program continues.
 */
void th_top_terminal_wait(int64_t deadline, struct th_terminal_news *news);

/* Wakes th_top_terminal_wait(). Thread: any; async-signal-safe. */
void th_top_terminal_wake(void);

enum th_top_key {
    TH_KEY_NONE, /* a key without a meaning here, or an incomplete sequence */
    TH_KEY_UP = 256,
    TH_KEY_DOWN,
    TH_KEY_PAGE_UP,
    TH_KEY_PAGE_DOWN,
    TH_KEY_HOME,
    TH_KEY_END
    /* other keys are their own code: 'q' */
};

/* Reads the first key of COUNT (> 0) bytes; *USED gets the number of its bytes. */
int th_top_key_read(const char *bytes, size_t count, size_t *used);

#endif
