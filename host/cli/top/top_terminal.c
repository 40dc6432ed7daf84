#include "top_terminal.h"

#include "host/base/output.h"
#include "host/cli/interrupt.h"
#include "host/crash/crash.h"
#include "host/term/clock.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <termios.h>
#include <time.h>
#include <unistd.h>

/* --- Output of others: a file in between ------------------------------------------------------ */

/* Written before there is anything to restore; then read-only. -1: not in use. */
static int file = -1, was_stdout = -1, was_stderr = -1;

static int top_terminal_duplicate(int descriptor)
{
    return fcntl(descriptor, F_DUPFD_CLOEXEC, STDERR_FILENO + 1);
}

/* Redirects stderr, and stdout if it is the same terminal, to a file. Errors: TH_FAILED, with
 * nothing changed. */
static enum th_status begin_holding(void)
{
    struct stat one, other;
    bool both = isatty(STDOUT_FILENO) && fstat(STDOUT_FILENO, &one) == 0 &&
                fstat(STDERR_FILENO, &other) == 0 && one.st_rdev == other.st_rdev;
    FILE *opened = tmpfile(); /* without a name: nothing is left behind in any case */

    fflush(NULL);
    file = opened ? top_terminal_duplicate(fileno(opened)) : -1;
    if (opened)
        fclose(opened);
    if (file >= 0)
        fcntl(file, F_SETFL, O_APPEND); /* all writers append */
    was_stderr = top_terminal_duplicate(STDERR_FILENO);
    was_stdout = both ? top_terminal_duplicate(STDOUT_FILENO) : -1;
    if (file < 0 || was_stderr < 0 || (both && was_stdout < 0)) {
        enum th_status status = th_error_raise(
            TH_FAILED, "cannot redirect stdout and stderr to a file: %s", strerror(errno));
        close(file);
        close(was_stderr);
        close(was_stdout);
        return status;
    }
    th_crash_set_held(file);
    dup2(file, STDERR_FILENO);
    if (both)
        dup2(file, STDOUT_FILENO);
    return TH_OK;
}

/* Restores the descriptors and copies the file to the terminal. Async-signal-safe. Called once. */
static void end_holding(void)
{
    off_t copied = th_output_copy_file(file, 0, was_stderr);

    dup2(was_stderr, STDERR_FILENO);
    if (was_stdout >= 0)
        dup2(was_stdout, STDOUT_FILENO);
    th_output_copy_file(file, copied, was_stderr);
    th_crash_set_held(-1);
    close(was_stderr);
    close(file);
    if (was_stdout >= 0)
        close(was_stdout);
    file = was_stderr = was_stdout = -1;
}

/* --- The state -------------------------------------------------------------------------------- */

/* Alternate screen, no cursor, no line wrap. */
#define ENTER "\033[?1049h\033[?25l\033[?7l\033[H\033[2J"

enum state {
    OUT,     /* the terminal has its original settings */
    SHOWN,   /* the screen shows the view */
    DRAWING, /* the screen is being written */
    HIDDEN   /* stopped: original settings, but output of others is still held back */
};

/* The thread that changes the state from SHOWN or HIDDEN owns the variables below. Acquire and
 * release. */
static _Atomic enum state state;
static int terminal = -1;
static int wake[2] = {-1, -1}; /* a pipe: read end, write end */
static struct termios before;
/* Set by signal handlers, cleared by the waiting thread; relaxed, as the byte in the pipe follows
 * the store. */
static atomic_bool stopping, going_on;

/* --- Signals ---------------------------------------------------------------------------------- */

void th_top_terminal_wake(void)
{
    int error = errno;

    if (write(wake[1], "", 1) < 0) /* the pipe is full, so it is readable anyway */
        errno = error;
}

static void on_news(int number, siginfo_t *info, void *context)
{
    (void)info, (void)context;
    if (number != SIGWINCH) /* the view is drawn again at each wake-up */
        atomic_store_explicit(number == SIGTSTP ? &stopping : &going_on, true,
                              memory_order_relaxed);
    th_top_terminal_wake();
}

static void on_quit(int number, siginfo_t *info, void *context)
{
    (void)info, (void)context;
    th_top_terminal_leave(); /* this also restores the signal's previous action */
    raise(number);
}

static const struct handled {
    int number;
    void (*handler)(int number, siginfo_t *info, void *context);
} handled[] = {{SIGWINCH, on_news}, {SIGTSTP, on_news}, {SIGCONT, on_news}, {SIGQUIT, on_quit}};
enum { HANDLED = sizeof handled / sizeof handled[0] };
static struct sigaction old_actions[HANDLED];

/* --- The screen ------------------------------------------------------------------------------- */

/* Ctrl-C, Ctrl-Z and Ctrl-\ still send signals. */
static void top_terminal_show(void)
{
    struct termios raw = before;

    raw.c_lflag &= ~(tcflag_t)(ICANON | ECHO | IEXTEN);
    raw.c_cc[VMIN] = 0;
    raw.c_cc[VTIME] = 0;
    tcsetattr(terminal, TCSANOW, &raw);
    th_crash_set_screen(true);
    th_output_write_bytes(terminal, ENTER,
                          strlen(ENTER)); /* th_top_terminal_wait() reports a failure */
}

static void hide(void)
{
    th_write_text(terminal, TH_CRASH_LEAVE_SCREEN);
    th_crash_set_screen(false);
    tcsetattr(terminal, TCSANOW, &before);
}

static bool change(enum state from, enum state to)
{
    return atomic_compare_exchange_strong_explicit(&state, &from, to, memory_order_acq_rel,
                                                   memory_order_acquire);
}

/* Sets the state to OUT and returns the previous one. Waits for a frame in progress, but not for
 * ever: the drawing thread may be the one that crashed, and a terminal may block (Ctrl-S). */
static enum state top_terminal_take_out(void)
{
    const struct timespec millisecond = {0, 1000000};

    for (int patience = 500; patience > 0; patience--) {
        if (change(SHOWN, OUT))
            return SHOWN;
        if (change(HIDDEN, OUT))
            return HIDDEN;
        if (atomic_load_explicit(&state, memory_order_acquire) == OUT)
            return OUT;
        nanosleep(&millisecond, NULL);
    }
    return atomic_exchange_explicit(&state, OUT, memory_order_acq_rel);
}

void th_top_terminal_leave(void)
{
    int error = errno;
    enum state was = top_terminal_take_out();

    if (was == OUT)
        return;
    if (was != HIDDEN)
        hide();
    for (size_t i = 0; i < HANDLED; i++)
        sigaction(handled[i].number, &old_actions[i], NULL);
    end_holding();
    errno = error;
}

void th_top_terminal_draw(const void *bytes, size_t size)
{
    if (!change(SHOWN, DRAWING))
        return;
    th_output_write_bytes(terminal, bytes, size);
    change(DRAWING, SHOWN);
}

struct winsize th_top_terminal_size(void)
{
    struct winsize size;

    if (ioctl(terminal, TIOCGWINSZ, &size) != 0 || !size.ws_col || !size.ws_row)
        return (struct winsize){.ws_col = 80, .ws_row = 24};
    return size;
}

/* --- Beginning -------------------------------------------------------------------------------- */

enum th_status th_top_terminal_check(void)
{
    const char *type = getenv("TERM");

    if (!isatty(STDERR_FILENO))
        return th_error_raise(TH_USAGE, "--top needs a terminal: stderr is not a terminal");
    if (!type || !*type || strcmp(type, "dumb") == 0)
        return th_error_raise(
            TH_USAGE, "--top needs a terminal that can move the cursor: the type in $TERM is '%s'",
            type ? type : "");
    return TH_OK;
}

enum th_status th_top_terminal_enter(void)
{
    enum th_status status;
    char name[256];

    /* Opened again from stderr's name, for reading, whatever stdin is. */
    if (ttyname_r(STDERR_FILENO, name, sizeof name) == 0)
        terminal = open(name, O_RDWR | O_NOCTTY | O_CLOEXEC);
    if (terminal < 0 || tcgetattr(terminal, &before) != 0)
        return th_error_raise(TH_FAILED, "cannot use the terminal: %s", strerror(errno));
    if (pipe2(wake, O_CLOEXEC | O_NONBLOCK) != 0)
        return th_error_raise(TH_FAILED, "cannot make a pipe: %s", strerror(errno));
    status = begin_holding();
    if (status != TH_OK)
        return status;
    for (size_t i = 0; i < HANDLED; i++)
        th_cli_interrupt_handle(handled[i].number, handled[i].handler, &old_actions[i]);
    top_terminal_show();
    atomic_store_explicit(&state, SHOWN, memory_order_release);
    return TH_OK;
}

/* --- Keys and wake-ups ------------------------------------------------------------------------ */

static bool top_terminal_take(atomic_bool *news)
{
    return atomic_exchange_explicit(news, false, memory_order_relaxed);
}

void th_top_terminal_wait(int64_t deadline, struct th_terminal_news *news)
{
    struct pollfd from[] = {{.fd = terminal, .events = POLLIN}, {.fd = wake[0], .events = POLLIN}};
    int64_t left = deadline - th_clock_real_monotonic();
    struct timespec timeout = {.tv_sec = left > 0 ? left / 1000000000 : 0,
                               .tv_nsec = left > 0 ? left % 1000000000 : 0};

    char bytes[64];

    *news = (struct th_terminal_news){0};
    if (ppoll(from, 2, &timeout, NULL) <= 0)
        return;
    if (from[0].revents & POLLIN) {
        ssize_t count = read(terminal, news->keys, sizeof news->keys);
        news->key_count = count > 0 ? (size_t)count : 0;
        news->gone = count < 0 && errno != EINTR && errno != EAGAIN;
    }
    news->gone |= (from[0].revents & (POLLHUP | POLLERR | POLLNVAL)) != 0;
    if (!from[1].revents)
        return;

    while (read(wake[0], bytes, sizeof bytes) == (ssize_t)sizeof bytes)
        continue;
    if (top_terminal_take(&stopping) && change(SHOWN, HIDDEN)) {
        hide();
        th_cli_interrupt_stop_program();
        atomic_store_explicit(&going_on, true, memory_order_relaxed);
    }
    /* Other programs may have used the terminal while the program was stopped. */
    if (top_terminal_take(&going_on) && (change(HIDDEN, DRAWING) || change(SHOWN, DRAWING))) {
        top_terminal_show();
        change(DRAWING, SHOWN);
    }
}

/* --- Keys, as terminals send them ------------------------------------------------------------- */

/* A control sequence is ESC, [ or O, parameter bytes below '@', and a final byte from '@' on
 * (ECMA-48). */
int th_top_key_read(const char *bytes, size_t count, size_t *used)
{
    /* Sequences after ESC [ or ESC O. */
    static const struct {
        char final;
        int number; /* parameter before '~' */
        enum th_top_key key;
    } keys[] = {{'A', 0, TH_KEY_UP},   {'B', 0, TH_KEY_DOWN},    {'H', 0, TH_KEY_HOME},
                {'F', 0, TH_KEY_END},  {'~', 5, TH_KEY_PAGE_UP}, {'~', 6, TH_KEY_PAGE_DOWN},
                {'~', 1, TH_KEY_HOME}, {'~', 7, TH_KEY_HOME},    {'~', 4, TH_KEY_END},
                {'~', 8, TH_KEY_END}};
    int number = 0;
    size_t i = 2;

    *used = 1;
    if (bytes[0] != '\033')
        return bytes[0];
    if (count < 2 || (bytes[1] != '[' && bytes[1] != 'O'))
        return TH_KEY_NONE;
    for (; i < count && bytes[i] >= ' ' && bytes[i] < '@'; i++)
        if (bytes[i] >= '0' && bytes[i] <= '9' && number < 100)
            number = 10 * number + bytes[i] - '0';
    *used = i < count ? i + 1 : count;
    for (size_t k = 0; i < count && k < sizeof keys / sizeof keys[0]; k++)
        if (keys[k].final == bytes[i] && (bytes[i] != '~' || keys[k].number == number))
            return keys[k].key;
    return TH_KEY_NONE;
}
