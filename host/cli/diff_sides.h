/*
 * Plays recordings into the tracer `diff`: each in a child, so that the pids, names and clocks of one
 * recording never meet those of another, and a tracer that dies is reported as in `replay`.
 *
 *   file = th_cli_diff_make_file();
 *   status = th_cli_diff_play(&diff, "old.trace", file, NULL);      fills the file
 *   result = (struct th_diff_result){.before = file, ...};
 *   status = th_cli_diff_play(&diff, "new.trace", -1, &result);     compares
 */
#ifndef TH_DIFF_SIDES_H
#define TH_DIFF_SIDES_H

#include "diff_condition.h"
#include "replaying.h"

struct th_diff {
    struct th_replaying replay; /* as the options say; streams are those of the command line */
    const char *output, *flame; /* NULL: stdout; none */
    int format, color;          /* index of a word of the tracer's setting */
    int64_t top;
    bool bisect;
    struct th_texts conditions; /* of --fail-if */
    struct th_diff_condition *parsed;
};

/* Files of a comparison. Descriptors that children inherit; -1: none. */
struct th_diff_result {
    int before;                 /* file that the first side was written to */
    const char *output, *flame; /* paths for the tracer; NULL: none */
    int json;                   /* gets the differences as JSON */
};

/* Plays STREAM in a child. KEEP, if not -1, is a descriptor of the file that gets the side; RESULT, if
 * not NULL, says with which side it is compared. Returns the exit status; errors are reported. */
int th_cli_diff_play(const struct th_diff *diff, const char *stream, int keep,
                     const struct th_diff_result *result);

/* Makes a file without a name for a side, or for JSON. Errors: -1, reported. */
int th_cli_diff_make_file(void);

/* Reads the JSON of the file. Errors: NULL, reported.
 * Owner: the caller drops the reference. */
json_t *th_cli_diff_read_json(int file);

/* Decides all conditions, and reports those that hold or cannot be decided on stderr, unless QUIET.
 * Returns TH_OK, TH_FAILED if one holds, else TH_PARTIAL if one is undecided. */
int th_cli_diff_decide(const struct th_diff *diff, const json_t *result, bool quiet);

/* Finds where the first condition that holds began to hold. Returns the exit status. */
int th_cli_diff_bisect(struct th_diff *diff);

#endif
