#include "check_lines.h"

#include "host/base/buffer.h"
#include "host/base/hash.h"
#include "host/base/memory.h"
#include "host/library/code_map.h"
#include "host/library/debuginfo/line.h"
#include "host/library/examine.h"
#include "host/library/load.h"

#include <dlfcn.h>
#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <fts.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

/* --- In the trial ----------------------------------------------------------------------------- */

static void (*write_counts)(void); /* of the trial's library; NULL: none was found */

void th_check_lines_note(const struct th_library *library)
{
    static const char *const names[] = {"__gcov_exit", "__gcov_dump"}; /* gcc, clang */
    const struct th_examination *e = th_library_examination(library);
    struct th_symbols symbols = {0};

    if (!e->leaves && !e->unique && !e->no_delete)
        return;
    th_library_symbols(library, STT_FUNC, &symbols);
    for (size_t i = 0; i < symbols.count; i++)
        for (size_t k = 0; k < sizeof names / sizeof *names; k++)
            if (strcmp(symbols.items[i].name, names[k]) == 0)
                write_counts =
                    (void (*)(void))(th_library_base(library) + symbols.items[i].address);
    th_debuginfo_symbols_free(&symbols);
}

void th_check_lines_write(void)
{
    Dl_info info;

    if (write_counts && dladdr((const void *)(uintptr_t)write_counts, &info))
        write_counts();
}

/* --- gcov ------------------------------------------------------------------------------------- */

void th_check_lines_begin(const char *folder)
{
    char *counts = th_printf("%s/counts", folder);

    setenv("GCOV_PREFIX", counts, 1);
    unsetenv("GCOV_PREFIX_STRIP");
    th_free(counts);
}

/* The command gcov, and llvm-cov, for libraries that clang has compiled. */
struct gcov {
    char **words; /* "llvm-cov", "gcov", "-t", then the files */
    size_t count, capacity;
    char *missing; /* a file that the compiler has written and that is gone; NULL: none is */
};
enum { FIRST_FILE = 3 };

static void gcov_add(struct gcov *gcov, char *word)
{
    TH_ARRAY_GROW(gcov->words, gcov->count, gcov->capacity);
    gcov->words[gcov->count++] = word;
}

/* Adds the files of counts below FOLDER. Beside each, gcov expects the file that the compiler has
 * written beside the object: a link leads there. */
static void find_counts(struct gcov *gcov, char *folder)
{
    static const char from[] = ".gcda", to[] = ".gcno";
    FTS *tree = fts_open((char *const[]){folder, NULL}, FTS_PHYSICAL | FTS_NOCHDIR, NULL);

    for (FTSENT *file; tree && (file = fts_read(tree));) {
        size_t stem = file->fts_pathlen - strlen(from);
        char *link, *notes;
        if (file->fts_info != FTS_F || file->fts_pathlen < strlen(from) ||
            strcmp(file->fts_path + stem, from) != 0)
            continue;
        link = th_printf("%.*s%s", (int)stem, file->fts_path, to);
        notes = link + strlen(folder);
        if (access(notes, R_OK) != 0 && !gcov->missing)
            gcov->missing = th_strdup(notes);
        if (symlink(notes, link) == 0)
            gcov_add(gcov, th_strdup(file->fts_path));
        th_free(link);
    }
    if (tree)
        fts_close(tree);
}

/* Runs WORDS, whose report goes into the file REPORT. Returns 0, or an error as of errno; -1: it failed.
 * The status of a child that found no program is NOT_FOUND. */
static int run_gcov(char *const words[], const char *report)
{
    enum { MODE = 0600, NOT_FOUND = 127 };
    posix_spawn_file_actions_t actions;
    int error, status;
    pid_t child;

    posix_spawn_file_actions_init(&actions);
    posix_spawn_file_actions_addopen(&actions, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
    posix_spawn_file_actions_addopen(&actions, STDOUT_FILENO, report, O_WRONLY | O_CREAT | O_TRUNC,
                                     MODE);
    posix_spawn_file_actions_addopen(&actions, STDERR_FILENO, "/dev/null", O_WRONLY, 0);
    error = posix_spawnp(&child, words[0], &actions, NULL, words, environ);
    posix_spawn_file_actions_destroy(&actions);
    if (error)
        return error;
    while (waitpid(child, &status, 0) < 0 && errno == EINTR)
        ;
    if (WIFEXITED(status) && WEXITSTATUS(status) == NOT_FOUND)
        return ENOENT;
    return status == 0 ? 0 : -1;
}

/* --- The report ------------------------------------------------------------------------------- */

enum line { NO_CODE, NOT_REACHED, REACHED };

struct source {
    char *name;
    unsigned char *lines; /* enum line, by number */
    size_t count, capacity;
};

struct report {
    struct source *items;
    size_t count, capacity;
};

/* Returns whether NAME is a header of the system or of the NIF API: not what its user has written. */
static bool is_foreign(const char *name)
{
    static const char *const headers[] = {"erl_nif.h", "erl_tracer.h", "nif_module.h"};
    const char *slash = strrchr(name, '/'), *base = slash ? slash + 1 : name;

    for (size_t i = 0; i < sizeof headers / sizeof *headers; i++)
        if (strcmp(base, headers[i]) == 0)
            return true;
    return strncmp(name, "/usr/include/", 13) == 0 || strncmp(name, "/usr/lib/", 9) == 0;
}

/* Returns the source NAME, which may have been met in another object; NULL if it is foreign. */
static struct source *source_of(struct report *report, const char *name)
{
    if (is_foreign(name))
        return NULL;
    for (size_t i = 0; i < report->count; i++)
        if (strcmp(report->items[i].name, name) == 0)
            return &report->items[i];
    TH_ARRAY_GROW(report->items, report->count, report->capacity);
    report->items[report->count] = (struct source){.name = th_strdup(name)};
    return &report->items[report->count++];
}

static void note_line(struct source *source, size_t number, enum line line)
{
    while (source->count <= number) {
        TH_ARRAY_GROW(source->lines, source->count, source->capacity);
        source->lines[source->count++] = NO_CODE;
    }
    if (source->lines[number] < line)
        source->lines[number] = (unsigned char)line;
}

/* Reads the lines of gcov: "COUNT:NUMBER:TEXT". Number 0 has facts in place of the text. */
static void read_gcov(struct report *report, FILE *file)
{
    static const char name[] = "Source:";
    struct source *source = NULL;
    size_t size = 0;
    char *line = NULL, count[32];

    while (getline(&line, &size, file) >= 0) {
        unsigned long number;
        int text = 0;
        line[strcspn(line, "\n")] = '\0';
        if (sscanf(line, " %31[^:]:%lu:%n", count, &number, &text) < 2 || text == 0)
            continue;
        if (number == 0 && strncmp(line + text, name, strlen(name)) == 0)
            source = source_of(report, line + text + strlen(name));
        else if (number > 0 && source && *count != '-')
            note_line(source, number, *count == '#' || *count == '=' ? NOT_REACHED : REACHED);
    }
    free(line);
}

/* Prints the lines that were not reached, at most a few. Lines without code do not end a range. */
static void print_not_reached(const struct report *report)
{
    enum { MOST = 6 };
    unsigned ranges = 0;

    for (size_t i = 0; i < report->count; i++) {
        const struct source *source = &report->items[i];
        bool named = false;
        for (size_t from = 0; from < source->count; from++) {
            size_t to = from;
            if (source->lines[from] != NOT_REACHED)
                continue;
            for (size_t k = from; k < source->count && source->lines[k] != REACHED; k++)
                to = source->lines[k] == NOT_REACHED ? k : to;
            if (ranges++ < MOST) {
                printf("%s%s%s%zu", ranges == 1 ? "; not reached: " : ", ",
                       named ? "" : source->name, named ? "" : ":", from);
                if (to > from)
                    printf("-%zu", to);
            }
            named = true;
            from = to;
        }
    }
    puts(ranges > MOST ? ", ..." : "");
}

static void free_report(struct report *report)
{
    for (size_t i = 0; i < report->count; i++) {
        th_free(report->items[i].name);
        th_free(report->items[i].lines);
    }
    th_free(report->items);
}

/* Prints what the report in FILE says. */
static void print_report(const char *file)
{
    struct report report = {0};
    size_t lines = 0, reached = 0;
    FILE *text = fopen(file, "re");

    if (text) {
        read_gcov(&report, text);
        fclose(text);
    }
    for (size_t i = 0; i < report.count; i++)
        for (size_t k = 0; k < report.items[i].count; k++) {
            lines += report.items[i].lines[k] != NO_CODE;
            reached += report.items[i].lines[k] == REACHED;
        }
    printf("  lines    %zu of %zu", reached, lines);
    if (lines > 0)
        printf(" (%zu %%)", 100 * reached / lines);
    print_not_reached(&report);
    free_report(&report);
}

void th_check_lines_sum_up(const char *folder)
{
    char *counts = th_printf("%s/counts", folder), *file = th_printf("%s/report", folder);
    struct gcov gcov = {0};
    int error;

    gcov_add(&gcov, th_strdup("llvm-cov"));
    gcov_add(&gcov, th_strdup("gcov"));
    gcov_add(&gcov, th_strdup("-t"));
    find_counts(&gcov, counts);
    gcov_add(&gcov, NULL);
    if (gcov.missing) {
        printf("  lines    not known: there is no %s\n", gcov.missing);
    } else if (gcov.words[FIRST_FILE]) {
        error = run_gcov(gcov.words + 1, file);
        if (error == 0 || run_gcov(gcov.words, file) == 0)
            print_report(file);
        else
            printf("  lines    not known: %s\n",
                   error == ENOENT ? "gcov is not installed" : "gcov cannot read the counts");
    }
    for (size_t i = 0; i < gcov.count; i++)
        th_free(gcov.words[i]);
    th_free(gcov.words);
    th_free(gcov.missing);
    th_free(counts);
    th_free(file);
}
