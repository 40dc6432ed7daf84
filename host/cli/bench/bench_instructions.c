/* Runs valgrind, and reads the counts that it writes. */
#include "bench_instructions.h"

#include "host/base/buffer.h"
#include "host/base/memory.h"

#include <errno.h>
#include <fcntl.h>
#include <spawn.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

/* The function whose calls callgrind counts, and after each of which it writes a file. */
#define COUNTED "th_trace_session_call_series"

/* Counted plays of all series; the median counts, as some series meet a table that grows. */
enum { PASSES = 3 };

void th_bench_play_counted(struct th_bench *bench)
{
    th_trace_session_series_clock();
    th_bench_warm_up(bench);
    for (size_t i = 0; i < bench->tracer_count; i++)
        for (unsigned k = 0; k < PASSES; k++)
            th_bench_play(bench, i);
}

/* --- The process ------------------------------------------------------------------------------ */

struct words {
    char **items;
    size_t count, capacity;
};

/* Owner: WORDS takes over WORD. */
static void add_word(struct words *words, char *word)
{
    TH_ARRAY_GROW(words->items, words->count, words->capacity);
    words->items[words->count++] = word;
}

/* COUNTS: the descriptor of the file of counts, which valgrind inherits. */
static void make_words(struct words *words, int counts, const char *tracer,
                       const struct th_texts *folders)
{
    char program[4096];
    ssize_t length = readlink("/proc/self/exe", program, sizeof program - 1);

    add_word(words, th_strdup("valgrind"));
    add_word(words, th_strdup("-q"));
    add_word(words, th_strdup("--tool=callgrind"));
    add_word(words, th_strdup("--toggle-collect=" COUNTED));
    add_word(words, th_strdup("--dump-after=" COUNTED));
    add_word(words, th_strdup("--combine-dumps=yes"));
    add_word(words, th_printf("--callgrind-out-file=/proc/self/fd/%d", counts));
    add_word(words, th_printf("%.*s", (int)(length < 0 ? 0 : length), program));
    add_word(words, th_strdup("bench"));
    add_word(words, th_strdup("--unmeasured"));
    for (size_t i = 0; i < folders->count; i++)
        add_word(words, th_printf("-L%s", folders->items[i]));
    add_word(words, th_strdup("--"));
    add_word(words, th_strdup(tracer));
    add_word(words, NULL);
}

static void free_words(struct words *words)
{
    for (size_t i = 0; i < words->count; i++)
        th_free(words->items[i]);
    th_free(words->items);
}

/* Runs WORDS without input and output, and waits for the end. The status of a child that found no
 * program is NOT_FOUND. */
static enum th_status run_valgrind(char *const words[])
{
    enum { NOT_FOUND = 127 };
    posix_spawn_file_actions_t actions;
    int error, status;
    pid_t child;

    posix_spawn_file_actions_init(&actions);
    for (int i = STDIN_FILENO; i <= STDERR_FILENO; i++)
        posix_spawn_file_actions_addopen(&actions, i, "/dev/null", O_RDWR, 0);
    error = posix_spawnp(&child, words[0], &actions, NULL, words, environ);
    posix_spawn_file_actions_destroy(&actions);
    while (!error && waitpid(child, &status, 0) < 0 && errno == EINTR)
        ;
    if (error == ENOENT || (!error && WIFEXITED(status) && WEXITSTATUS(status) == NOT_FOUND))
        return th_error_raise(TH_FAILED, "valgrind is not installed");
    if (error)
        return th_error_raise(TH_FAILED, "valgrind cannot be run: %s", strerror(error));
    if (WIFSIGNALED(status))
        return th_error_raise(TH_FAILED, "valgrind was ended by signal %d", WTERMSIG(status));
    if (WEXITSTATUS(status) != 0)
        return th_error_raise(TH_FAILED, "the tracer ended under valgrind, with status %d",
                              WEXITSTATUS(status));
    return TH_OK;
}

/* --- The counts ------------------------------------------------------------------------------- */

struct counts {
    double *items;
    size_t count, capacity;
};

/* Reads the sums of all parts of FILE, in their order. The last part, of the end of the process,
 * is left out. */
static void read_callgrind_sums(FILE *file, struct counts *counts)
{
    char line[256];
    double count;

    while (fgets(line, sizeof line, file))
        if (sscanf(line, "totals: %lf", &count) == 1) {
            TH_ARRAY_GROW(counts->items, counts->count, counts->capacity);
            counts->items[counts->count++] = count;
        }
    if (counts->count)
        counts->count--;
}

static double middle_of(const double v[PASSES])
{
    double low = v[0] < v[1] ? v[0] : v[1], high = v[0] < v[1] ? v[1] : v[0];

    return v[2] < low ? low : v[2] > high ? high : v[2];
}

/* Takes the counts of the series that TRACER wants from the end of COUNTS. */
static void take_counts(const struct th_bench_events *events, struct th_bench_tracer *tracer,
                        struct counts *counts)
{
    double(*passes)[PASSES] = th_alloc_zero(events->count * sizeof *passes);

    for (size_t pass = PASSES; pass-- > 0;)
        for (size_t i = events->count; i-- > 0;)
            if (tracer->wanted[i])
                passes[i][pass] = counts->items[--counts->count];
    th_free(tracer->instructions);
    tracer->instructions = th_alloc_zero(events->count * sizeof *tracer->instructions);
    for (size_t i = 0; i < events->count; i++)
        tracer->instructions[i] = middle_of(passes[i]) / (double)events->series[i].count;
    th_free(passes);
}

/* Returns the number of calls of th_trace_session_call_series() for TRACER in th_bench_warm_up() and
 * th_bench_play(). */
static size_t calls_of(const struct th_bench_events *events, const struct th_bench_tracer *tracer,
                       bool empty)
{
    size_t calls = 0;

    for (size_t i = 0; i < events->count; i++)
        calls += (size_t)tracer->wanted[i] * (TH_BENCH_WARM_UPS + PASSES) +
                 (!empty && events->series[i].asked != SIZE_MAX);
    return calls;
}

/* The process has played the series of the empty tracer, then those of tracer NUMBER. */
static enum th_status take_all_counts(struct th_bench *bench, size_t number, FILE *file)
{
    struct th_bench_tracer *tracer = &bench->tracers[number];
    struct th_bench_tracer *empty = &bench->tracers[TH_BENCH_EMPTY];
    struct counts counts = {0};
    enum th_status status = TH_OK;
    size_t wanted;

    read_callgrind_sums(file, &counts);
    wanted = calls_of(&bench->events, empty, true) + calls_of(&bench->events, tracer, false);
    if (counts.count != wanted) {
        status = th_error_raise(TH_FAILED, "callgrind counted %zu series of calls, not %zu",
                                counts.count, wanted);
    } else {
        take_counts(&bench->events, tracer, &counts);
        take_counts(&bench->events, empty, &counts);
    }
    th_free(counts.items);
    return status;
}

enum th_status th_bench_count_instructions(struct th_bench *bench, size_t number,
                                           const struct th_texts *folders)
{
    int counts = memfd_create("counts", 0);
    FILE *file = counts < 0 ? NULL : fdopen(counts, "r");
    struct words words = {0};
    enum th_status status;

    if (!file)
        return th_error_raise(TH_FAILED, "there is no memory file: %s", strerror(errno));
    make_words(&words, counts, bench->tracers[number].name, folders);
    status = run_valgrind(words.items);
    free_words(&words);
    if (status == TH_OK)
        status = take_all_counts(bench, number, file);
    fclose(file);
    return status;
}
