#include "progress_line.h"

#include "host/base/buffer.h"
#include "host/base/kept.h"
#include "host/replay/reader.h"
#include "host/term/clock.h"

#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <termios.h>
#include <unistd.h>

static const int64_t FIRST_NS = 1000000000, PAUSE_NS = 250000000, LASTING_PAUSE_NS = 10000000000;

enum {
    STEPS = 16,   /* calls for each look at the clock */
    COLUMNS = 80, /* width of an unknown terminal */
    TITLE_WIDTH = 32,
    TITLE_LEAST = 12
};

#define CLEAR "\r\033[K"

static void (*instead)(const char *title, const struct th_reader_info *info);

void th_cli_progress_divert(void (*show_instead)(const char *title,
                                                 const struct th_reader_info *info))
{
    instead = show_instead;
}

void th_cli_progress_last(const char *title, const struct th_reader_info *info)
{
    if (instead)
        instead(title, info);
}

void th_cli_progress_begin(struct th_progress *progress, enum th_progress_when when)
{
    const char *terminal = getenv("TERM");
    int64_t now = th_clock_real_monotonic();
    bool lasting = !isatty(STDERR_FILENO);
    bool wanted = when == TH_PROGRESS_AUTO
                      ? !lasting && !(terminal && strcmp(terminal, "dumb") == 0)
                      : when == TH_PROGRESS_ALWAYS;

    *progress = (struct th_progress){
        .possible = instead || wanted,
        .lasting = lasting,
        .next = now + FIRST_NS,
        .left = STEPS,
        .since = now,
    };
}

/* The reader of stdout has ended; the program ends, too. */
static void on_broken_pipe(int number)
{
    ssize_t written = write(STDERR_FILENO, CLEAR, strlen(CLEAR));

    (void)written; /* stderr is the only place for a report */
    raise(number); /* SA_RESETHAND: the default action runs once this handler has returned */
}

/* Replaces the handler BEFORE of SIGPIPE by HANDLER, if BEFORE is installed. */
static void handle_broken_pipe(void (*before)(int), void (*handler)(int))
{
    struct sigaction old, action = {.sa_handler = handler, .sa_flags = (int)SA_RESETHAND};

    if (sigaction(SIGPIPE, NULL, &old) == 0 && old.sa_handler == before)
        sigaction(SIGPIPE, &action, NULL);
}

void th_cli_progress_print_place(struct th_buffer *out, uint64_t bytes, uint64_t size)
{
    double read = (double)bytes / 1e6, all = (double)size / 1e6;

    if (size)
        th_buffer_printf(out, "%.0f%% of %.1f MB", read < all ? 100 * read / all : 100, all);
    else
        th_buffer_printf(out, "%.1f MB", read);
}

/* Appends PART to LINE if the result fits WIDTH columns, and empties PART. */
static void progress_line_take_part(struct th_buffer *line, struct th_buffer *part, size_t width)
{
    if (line->size + part->size <= width)
        th_buffer_add(line, part->data, part->size);
    part->size = 0;
}

/* Prints the line. On a terminal the cursor returns to the line's start, so that other output
 * overwrites the line. The last column stays free: some terminals wrap when it is written. */
static void progress_line_show(struct th_progress *progress, const char *title,
                               const struct th_reader_info *info, int64_t now)
{
    struct th_buffer line = {0}, part = {0};
    double seconds = (double)(now - progress->since) / 1e9; /* since the last update */
    double rate = seconds > 0 ? (double)(info->records - progress->records) / seconds : 0;
    uint64_t damaged = info->malformed + info->damages;
    int width = COLUMNS - 1, length = (int)strlen(title), left;
    struct winsize size;

    progress->since = now;
    progress->records = info->records;
    if (!progress->lasting && ioctl(STDERR_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col > 0)
        width = size.ws_col - 1;
    th_cli_progress_print_place(&part, info->bytes, info->size);
    progress_line_take_part(&line, &part, (size_t)width);
    if (info->drops)
        th_buffer_printf(&part, ", %llu dropped", (unsigned long long)info->drops);
    if (damaged)
        th_buffer_printf(&part, ", %llu damaged", (unsigned long long)damaged);
    progress_line_take_part(&line, &part, (size_t)width);
    th_buffer_printf(&part, ", %llu record%s", (unsigned long long)info->records,
                     th_log_plural(info->records));
    progress_line_take_part(&line, &part, (size_t)width);
    if (rate < 10e3)
        th_buffer_printf(&part, ", %.0f/s", rate);
    else if (rate < 10e6)
        th_buffer_printf(&part, ", %.0f k/s", rate / 1e3);
    else
        th_buffer_printf(&part, ", %.0f M/s", rate / 1e6);
    progress_line_take_part(&line, &part, (size_t)width);

    /* The end of a long name is more useful than its beginning. No name if there is no room. */
    left = width - (int)line.size - (int)strlen(": ");
    if (left > TITLE_WIDTH)
        left = TITLE_WIDTH;
    if (length <= left)
        fprintf(stderr, "%s: ", title);
    else if (left >= TITLE_LEAST)
        fprintf(stderr, "...%s: ", title + length - (left - 3));
    fprintf(stderr, "%s%s", th_buffer_text(&line), progress->lasting ? "\n" : "\033[K\r");
    fflush(stderr);
    th_buffer_free(&line);
    th_buffer_free(&part);
}

void th_cli_progress_look(struct th_progress *progress, const char *title,
                          const struct th_reader_info *info)
{
    struct termios mode;
    int64_t now;

    if (!progress->possible)
        return;
    if (instead) {
        instead(title, info);
        return;
    }
    now = th_clock_real_monotonic();
    if (now < progress->next)
        return;
    progress->next = now + (progress->lasting ? LASTING_PAUSE_NS : PAUSE_NS);
    if (!progress->lasting) {
        if (th_kept_stdout_is_used() && isatty(STDOUT_FILENO)) {
            th_cli_progress_hide(progress);
            progress->possible = false;
            return;
        }
        /* Pagers and editors read single keys and draw the whole screen. */
        if (tcgetattr(STDERR_FILENO, &mode) == 0 && !(mode.c_lflag & ICANON))
            return;
        if (!progress->shown)
            handle_broken_pipe(SIG_DFL, on_broken_pipe);
    }
    progress_line_show(progress, title, info, now);
    progress->shown = !progress->lasting;
}

void th_cli_progress_step(struct th_progress *progress, const char *title,
                          const struct th_reader_info *info)
{
    if (!progress->possible || --progress->left)
        return;
    progress->left = STEPS;
    th_cli_progress_look(progress, title, info);
}

void th_cli_progress_hide(struct th_progress *progress)
{
    if (!progress->shown)
        return;
    fputs(CLEAR, stderr);
    fflush(stderr);
    handle_broken_pipe(on_broken_pipe, SIG_DFL);
    progress->shown = false;
}
