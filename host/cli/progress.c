#include "progress.h"

#include <stdio_ext.h>
#include <string.h>
#include <unistd.h>

static const int64_t FIRST_NS = 1000000000, PAUSE_NS = 250000000;

enum {
    STEPS = 16,      /* the clock is looked at once in so many */
    TITLE_WIDTH = 32 /* the line must fit 80 columns */
};

void th_progress_begin(struct th_progress *progress)
{
    *progress = (struct th_progress){
        .possible = isatty(STDERR_FILENO),
        .next = th_clock_real_monotonic() + FIRST_NS,
        .left = STEPS,
    };
}

/* stdio gives a stream its buffer with the first byte that is written. */
static bool is_in_the_way(void)
{
    return __fbufsize(stdout) > 0 && isatty(STDOUT_FILENO);
}

/* The end of a long name tells more than its beginning. */
static void add_title(char *line, size_t size, const char *title)
{
    size_t length = strlen(title);

    if (length > TITLE_WIDTH)
        snprintf(line, size, "...%s", title + length - (TITLE_WIDTH - 3));
    else
        snprintf(line, size, "%s", title);
}

/* The line ends where it begins, so that whoever writes next without knowing writes over it. */
static void show(const char *title, const struct th_reader_info *info)
{
    double read = (double)info->bytes / 1e6;
    double size = (double)info->size / 1e6;
    char name[TITLE_WIDTH + 1];

    add_title(name, sizeof name, title);
    if (info->size)
        fprintf(stderr, "%s: %.0f%% of %.1f MB, %llu records\033[K\r", name,
                read < size ? 100 * read / size : 100, size, (unsigned long long)info->records);
    else
        fprintf(stderr, "%s: %.1f MB, %llu records\033[K\r", name, read,
                (unsigned long long)info->records);
    fflush(stderr);
}

void th_progress_step(struct th_progress *progress, const char *title,
                      const struct th_reader_info *info)
{
    int64_t time;

    if (!progress->possible || --progress->left)
        return;
    progress->left = STEPS;
    time = th_clock_real_monotonic();
    if (time < progress->next)
        return;
    progress->next = time + PAUSE_NS;
    if (is_in_the_way()) {
        th_progress_hide(progress);
        progress->possible = false;
        return;
    }
    show(title, info);
    progress->shown = true;
}

void th_progress_hide(struct th_progress *progress)
{
    if (!progress->shown)
        return;
    fputs("\033[K", stderr);
    fflush(stderr);
    progress->shown = false;
}
