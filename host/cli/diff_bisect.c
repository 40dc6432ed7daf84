/*
 * tracehost diff --bisect: finds the recording in which a condition began to hold, by halving.
 *
 * 1. The recordings are put in order: by the system time of their first records if all have one, else
 *    by their names.
 * 2. The first recording is compared with itself, and with the last: the condition must not hold for
 *    the one, and hold for the other.
 * 3. Between a recording for which the condition does not hold and a later one for which it holds,
 *    the middle one is tried, until the two are neighbours. This assumes that the condition goes on to
 *    hold once it has begun; else there is more than one beginning, and one of them is found.
 */
#include "diff_sides.h"

#include "subcommand.h"

#include "host/base/buffer.h"
#include "host/base/memory.h"

#include <dirent.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { RECORDS_TRIED = 1000 /* for the first record with a system time */ };

struct dated {
    char *name;
    bool known;
    int64_t ns; /* system time of the first record, if `known` */
};

struct recordings {
    struct dated *items;
    size_t count, capacity;
};

/* --- The recordings in order ------------------------------------------------------------------ */

static void add_recording(struct recordings *recordings, char *name)
{
    if (recordings->count == recordings->capacity) {
        recordings->capacity = recordings->capacity ? 2 * recordings->capacity : 16;
        recordings->items =
            th_realloc(recordings->items, recordings->capacity * sizeof *recordings->items);
    }
    recordings->items[recordings->count++] = (struct dated){.name = name};
}

/* Adds the regular files of the folder NAME, without hidden ones. */
static enum th_status add_files_of_folder(struct recordings *recordings, const char *name)
{
    DIR *folder = opendir(name);
    const struct dirent *file;
    struct stat about;

    if (!folder)
        return th_error_raise(TH_MALFORMED, "cannot read the folder %s: %s", name, strerror(errno));
    while ((file = readdir(folder))) {
        char *path = th_printf("%s/%s", name, file->d_name);
        if (*file->d_name != '.' && stat(path, &about) == 0 && S_ISREG(about.st_mode))
            add_recording(recordings, path);
        else
            th_free(path);
    }
    closedir(folder);
    return TH_OK;
}

/* Finds the system time of the recording's first record that has one. */
static enum th_status date_recording(struct dated *dated)
{
    struct th_reader *reader;
    struct th_event event;
    size_t files;

    if (th_replay_reader_reads_once(dated->name, &files))
        return th_error_raise(TH_USAGE,
                              "--bisect reads recordings several times, but %s can be read "
                              "only once",
                              th_cli_stream_title(dated->name));
    if (th_replay_reader_open(dated->name, NULL, &reader) != TH_OK)
        return th_error_status();
    for (size_t i = 0; i < RECORDS_TRIED && !dated->known; i++) {
        if (th_replay_reader_next(reader, &event) != TH_OK)
            break;
        if (event.kind != TH_EVENT_DROP && th_trace_event_time(&event) == TH_OK &&
            event.time.kind == TH_TIME_TIMESTAMP) {
            dated->known = true;
            dated->ns = event.time.ns;
        }
    }
    th_error_clear();
    th_replay_reader_close(reader);
    return TH_OK;
}

static int compare_names(const void *left, const void *right)
{
    return strcmp(((const struct dated *)left)->name, ((const struct dated *)right)->name);
}

static int compare_dates(const void *left, const void *right)
{
    const struct dated *a = left, *b = right;

    if (a->ns != b->ns)
        return a->ns < b->ns ? -1 : 1;
    return compare_names(left, right);
}

static enum th_status take_recordings(const struct th_texts *streams, struct recordings *recordings)
{
    enum th_status status = TH_OK;
    bool known = true;
    struct stat about;

    for (size_t i = 0; i < streams->count && status == TH_OK; i++) {
        const char *name = streams->items[i];
        if (stat(name, &about) == 0 && S_ISDIR(about.st_mode))
            status = add_files_of_folder(recordings, name);
        else
            add_recording(recordings, th_strdup(name));
    }
    for (size_t i = 0; i < recordings->count && status == TH_OK; i++) {
        status = date_recording(&recordings->items[i]);
        known &= recordings->items[i].known;
    }
    if (status != TH_OK)
        return status;
    if (recordings->count < 2)
        return th_error_raise(TH_USAGE, "--bisect needs two recordings at least, but there %s %zu",
                              recordings->count == 1 ? "is" : "are", recordings->count);
    qsort(recordings->items, recordings->count, sizeof *recordings->items,
          known ? compare_dates : compare_names);
    fprintf(stderr, "tracehost diff: %zu recordings, in the order of their %s\n", recordings->count,
            known ? "first times" : "names");
    return TH_OK;
}

/* --- Halving ---------------------------------------------------------------------------------- */

struct bisection {
    struct th_diff *diff;
    struct recordings recordings;
    int before; /* the side of the first recording */
    size_t read;
};

/* Compares recording I with the first one. Sets *HOLDS. Returns another status than TH_OK, reported,
 * if that is impossible. */
static int try_recording(struct bisection *bisection, size_t i, bool *holds)
{
    const char *name = bisection->recordings.items[i].name;
    struct th_diff_result result = {.before = bisection->before, .output = "/dev/null", .json = -1};
    json_t *json;
    int status;

    result.json = th_cli_diff_make_file();
    if (result.json < 0)
        return TH_FAILED;
    bisection->read++;
    status = th_cli_diff_play(bisection->diff, name, -1, &result);
    if (status == TH_OK || status == TH_PARTIAL) {
        json = th_cli_diff_read_json(result.json);
        status = json ? th_cli_diff_decide(bisection->diff, json, true) : TH_USAGE;
        *holds = status == TH_FAILED;
        if (status == TH_PARTIAL) {
            th_cli_diff_decide(bisection->diff, json, false);
            fprintf(stderr, "tracehost diff: the search ends at %s\n", name);
        } else if (status != TH_USAGE) {
            fprintf(stderr, "tracehost diff: %s: the condition %s\n", name,
                    *holds ? "holds" : "does not hold");
            status = TH_OK;
        }
        json_decref(json);
    }
    close(result.json);
    return status;
}

/* Reports that the search has no beginning or no end. */
static int refuse_ends(const struct bisection *bisection, bool first)
{
    const struct recordings *all = &bisection->recordings;
    const char *name = all->items[first ? 0 : all->count - 1].name;

    th_error_raise(TH_FAILED,
                   first ? "the condition holds for the first recording, %s, itself"
                         : "the condition does not hold for the last recording, %s: there is no "
                           "beginning to be found",
                   name);
    return th_cli_command_fail("diff");
}

static int halve(struct bisection *bisection)
{
    const struct dated *items = bisection->recordings.items;
    size_t good = 0, bad = bisection->recordings.count - 1, middle;
    bool holds = false;
    int status = try_recording(bisection, good, &holds);

    if (status != TH_OK || holds)
        return status != TH_OK ? status : refuse_ends(bisection, true);
    status = try_recording(bisection, bad, &holds);
    if (status != TH_OK || !holds)
        return status != TH_OK ? status : refuse_ends(bisection, false);
    while (bad - good > 1 && status == TH_OK) {
        middle = good + (bad - good) / 2;
        status = try_recording(bisection, middle, &holds);
        if (holds)
            bad = middle;
        else
            good = middle;
    }
    if (status != TH_OK)
        return status;
    printf("%s: the condition does not hold\n%s: the condition holds\n", items[good].name,
           items[bad].name);
    fprintf(stderr,
            "tracehost diff: %zu comparisons of %zu recordings; this is the only beginning if the "
            "condition goes on to hold once it has begun\n",
            bisection->read, bisection->recordings.count);
    return TH_OK;
}

int th_cli_diff_bisect(struct th_diff *diff)
{
    struct bisection bisection = {.diff = diff};
    enum th_status taken = take_recordings(&diff->replay.streams, &bisection.recordings);
    int status;

    if (taken != TH_OK) {
        status = th_cli_command_fail("diff");
    } else {
        bisection.before = th_cli_diff_make_file();
        status = bisection.before < 0 ? TH_FAILED
                                      : th_cli_diff_play(diff, bisection.recordings.items[0].name,
                                                         bisection.before, NULL);
        if (status == TH_OK || status == TH_PARTIAL)
            status = halve(&bisection);
    }
    for (size_t i = 0; i < bisection.recordings.count; i++)
        th_free(bisection.recordings.items[i].name);
    th_free(bisection.recordings.items);
    return status;
}
