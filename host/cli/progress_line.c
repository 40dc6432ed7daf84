#include "progress_line.h"

#include <signal.h>
#include <stdio_ext.h>
#include <string.h>
#include <sys/ioctl.h>
#include <termios.h>
#include <unistd.h>

static const int64_t FIRST_NS = 1000000000, PAUSE_NS = 250000000, LASTING_PAUSE_NS = 10000000000;

enum {
    STEPS = 16,   /* the clock is looked at once in so many */
    COLUMNS = 80, /* where nobody tells how many there are */
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

static bool is_wanted(enum th_progress_when when)
{
    const char *terminal = getenv("TERM");

    if (when != TH_PROGRESS_AUTO)
        return when == TH_PROGRESS_ALWAYS;
    return isatty(STDERR_FILENO) && !(terminal && strcmp(terminal, "dumb") == 0);
}

void th_cli_progress_begin(struct th_progress *progress, enum th_progress_when when)
{
    int64_t now = th_clock_real_monotonic();

    *progress = (struct th_progress){
        .possible = instead || is_wanted(when),
        .lasting = !isatty(STDERR_FILENO),
        .next = now + FIRST_NS,
        .left = STEPS,
        .since = now,
    };
}

/* Whoever reads stdout has gone, and the program ends. */
static void on_broken_pipe(int number)
{
    ssize_t written = write(STDERR_FILENO, CLEAR, strlen(CLEAR));

    (void)written; /* there is nobody else to tell */
    raise(number); /* SA_RESETHAND: as without this handler, once it has returned */
}

/* Only where SIGPIPE ends the program. */
static void clear_at_broken_pipe(void)
{
    struct sigaction old, action = {.sa_handler = on_broken_pipe, .sa_flags = (int)SA_RESETHAND};

    if (sigaction(SIGPIPE, NULL, &old) == 0 && old.sa_handler == SIG_DFL)
        sigaction(SIGPIPE, &action, NULL);
}

static void no_line_at_broken_pipe(void)
{
    struct sigaction old;

    if (sigaction(SIGPIPE, NULL, &old) == 0 && old.sa_handler == on_broken_pipe)
        signal(SIGPIPE, SIG_DFL);
}

/* Pagers and editors read keys as they are typed, and draw the terminal's lines themselves. */
static bool is_drawn_on(void)
{
    struct termios mode;

    return tcgetattr(STDERR_FILENO, &mode) == 0 && !(mode.c_lflag & ICANON);
}

/* The last column stays free: some terminals go to the next line when it is written. */
static int columns(const struct th_progress *progress)
{
    struct winsize size;

    if (progress->lasting)
        return COLUMNS - 1;
    if (ioctl(STDERR_FILENO, TIOCGWINSZ, &size) != 0 || size.ws_col == 0)
        return COLUMNS - 1;
    return size.ws_col - 1;
}

/* stdio gives a stream its buffer with the first byte that is written. */
static bool is_in_the_way(void)
{
    return __fbufsize(stdout) > 0 && isatty(STDOUT_FILENO);
}

/* The end of a long name tells more than its beginning. Nothing where there is no room for it. */
static void put_title(const char *title, int width)
{
    int length = (int)strlen(title);

    if (width > TITLE_WIDTH)
        width = TITLE_WIDTH;
    if (length <= width)
        fprintf(stderr, "%s: ", title);
    else if (width >= TITLE_LEAST)
        fprintf(stderr, "...%s: ", title + length - (width - 3));
}

/* Records a second since the last time. */
static double rate(struct th_progress *progress, const struct th_reader_info *info, int64_t now)
{
    double seconds = (double)(now - progress->since) / 1e9;
    double records = (double)(info->records - progress->records);

    progress->since = now;
    progress->records = info->records;
    return seconds > 0 ? records / seconds : 0;
}

static void add_place(struct th_buffer *part, const struct th_reader_info *info)
{
    double read = (double)info->bytes / 1e6;
    double size = (double)info->size / 1e6;

    if (info->size)
        th_buffer_printf(part, "%.0f%% of %.1f MB", read < size ? 100 * read / size : 100, size);
    else
        th_buffer_printf(part, "%.1f MB", read);
}

static void add_rate(struct th_buffer *part, double rate)
{
    if (rate < 10e3)
        th_buffer_printf(part, ", %.0f/s", rate);
    else if (rate < 10e6)
        th_buffer_printf(part, ", %.0f k/s", rate / 1e3);
    else
        th_buffer_printf(part, ", %.0f M/s", rate / 1e6);
}

static void add_losses(struct th_buffer *part, const struct th_reader_info *info)
{
    uint64_t damaged = info->malformed + info->damages;

    if (info->drops)
        th_buffer_printf(part, ", %llu dropped", (unsigned long long)info->drops);
    if (damaged)
        th_buffer_printf(part, ", %llu damaged", (unsigned long long)damaged);
}

/* Appends PART to LINE if that still has no more than WIDTH columns, and empties it. */
static void take_part(struct th_buffer *line, struct th_buffer *part, size_t width)
{
    if (line->size + part->size <= width)
        th_buffer_add(line, part->data, part->size);
    part->size = 0;
}

/* On a terminal the line ends where it begins, so that whoever writes next without knowing writes
 * over it. */
static void show(struct th_progress *progress, const char *title, const struct th_reader_info *info,
                 int64_t now)
{
    struct th_buffer line = {0}, part = {0};
    size_t width = (size_t)columns(progress);

    add_place(&part, info);
    take_part(&line, &part, width);
    add_losses(&part, info);
    take_part(&line, &part, width);
    th_buffer_printf(&part, ", %llu record%s", (unsigned long long)info->records,
                     th_log_plural(info->records));
    take_part(&line, &part, width);
    add_rate(&part, rate(progress, info, now));
    take_part(&line, &part, width);
    put_title(title, (int)width - (int)line.size - (int)strlen(": "));
    fprintf(stderr, "%s%s", th_buffer_text(&line), progress->lasting ? "\n" : "\033[K\r");
    fflush(stderr);
    th_buffer_free(&line);
    th_buffer_free(&part);
}

void th_cli_progress_look(struct th_progress *progress, const char *title,
                          const struct th_reader_info *info)
{
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
    if (!progress->lasting && is_in_the_way()) {
        th_cli_progress_hide(progress);
        progress->possible = false;
        return;
    }
    if (!progress->lasting && is_drawn_on())
        return;
    if (!progress->lasting && !progress->shown)
        clear_at_broken_pipe();
    show(progress, title, info, now);
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
    no_line_at_broken_pipe();
    progress->shown = false;
}
