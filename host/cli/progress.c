#include "progress.h"

#include <stdio_ext.h>
#include <string.h>
#include <unistd.h>

static const int64_t FIRST_NS = 1000000000, PAUSE_NS = 250000000;

enum {
    STEPS = 16,   /* the clock is looked at once in so many */
    COLUMNS = 79, /* a longer line would leave a part of it behind */
    TITLE_WIDTH = 32,
    TITLE_LEAST = 12
};

static void (*instead)(const char *title, const struct th_reader_info *info);

void th_progress_divert(void (*show_instead)(const char *title, const struct th_reader_info *info))
{
    instead = show_instead;
}

void th_progress_last(const char *title, const struct th_reader_info *info)
{
    if (instead)
        instead(title, info);
}

void th_progress_begin(struct th_progress *progress)
{
    int64_t now = th_clock_real_monotonic();

    *progress = (struct th_progress){
        .possible = instead || isatty(STDERR_FILENO),
        .next = now + FIRST_NS,
        .left = STEPS,
        .since = now,
    };
}

/* stdio gives a stream its buffer with the first byte that is written. */
static bool is_in_the_way(void)
{
    return __fbufsize(stdout) > 0 && isatty(STDOUT_FILENO);
}

/* The end of a long name tells more than its beginning. */
static void put_title(const char *title, int width)
{
    int length = (int)strlen(title);

    if (width > TITLE_WIDTH)
        width = TITLE_WIDTH;
    if (width < TITLE_LEAST)
        width = TITLE_LEAST;
    if (length > width)
        fprintf(stderr, "...%s", title + length - (width - 3));
    else
        fputs(title, stderr);
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

static void add_place(struct th_buffer *line, const struct th_reader_info *info)
{
    double read = (double)info->bytes / 1e6;
    double size = (double)info->size / 1e6;

    if (info->size)
        th_buffer_printf(line, ": %.0f%% of %.1f MB", read < size ? 100 * read / size : 100, size);
    else
        th_buffer_printf(line, ": %.1f MB", read);
}

static void add_rate(struct th_buffer *line, double rate)
{
    if (rate < 10e3)
        th_buffer_printf(line, ", %.0f/s", rate);
    else if (rate < 10e6)
        th_buffer_printf(line, ", %.0f k/s", rate / 1e3);
    else
        th_buffer_printf(line, ", %.0f M/s", rate / 1e6);
}

static void add_losses(struct th_buffer *line, const struct th_reader_info *info)
{
    uint64_t damaged = info->malformed + info->damages;

    if (info->drops)
        th_buffer_printf(line, ", %llu dropped", (unsigned long long)info->drops);
    if (damaged)
        th_buffer_printf(line, ", %llu damaged", (unsigned long long)damaged);
}

/* The line ends where it begins, so that whoever writes next without knowing writes over it. */
static void show(struct th_progress *progress, const char *title, const struct th_reader_info *info,
                 int64_t now)
{
    struct th_buffer line = {0};

    add_place(&line, info);
    th_buffer_printf(&line, ", %llu record%s", (unsigned long long)info->records,
                     th_plural(info->records));
    add_rate(&line, rate(progress, info, now));
    add_losses(&line, info);
    put_title(title, COLUMNS - (int)line.size);
    fprintf(stderr, "%s\033[K\r", th_buffer_text(&line));
    fflush(stderr);
    th_buffer_free(&line);
}

void th_progress_look(struct th_progress *progress, const char *title,
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
    progress->next = now + PAUSE_NS;
    if (is_in_the_way()) {
        th_progress_hide(progress);
        progress->possible = false;
        return;
    }
    show(progress, title, info, now);
    progress->shown = true;
}

void th_progress_step(struct th_progress *progress, const char *title,
                      const struct th_reader_info *info)
{
    if (!progress->possible || --progress->left)
        return;
    progress->left = STEPS;
    th_progress_look(progress, title, info);
}

void th_progress_hide(struct th_progress *progress)
{
    if (!progress->shown)
        return;
    fputs("\033[K", stderr);
    fflush(stderr);
    progress->shown = false;
}
