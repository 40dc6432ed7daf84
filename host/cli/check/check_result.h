/* Findings of `tracehost check` that were printed: the rule, the smallest input, and the command that
 * repeats the finding. */
#ifndef TH_CHECK_RESULT_H
#define TH_CHECK_RESULT_H

#include "check_options.h"
#include "check_page.h"

struct th_buffer;

/* A finding that is printed. INPUT and what follows are for findings of runs. */
struct th_check_shown {
    const struct th_check_found *found;
    const char
        *show; /* command that shows the finding in the file of the library; NULL: a run has it */
    const struct th_buffer *input;
    bool confirmed;          /* the finding was met twice more */
    size_t count;            /* of units in INPUT */
    const char *word, *unit; /* for a file and a unit of INPUT: "stream", "event" */
    const char *suffix;      /* of the file's name */
    void (*print)(const struct th_buffer *input); /* prints the units of a short input */
    const char *run;  /* word of --run= that repeats the finding; NULL: `call` repeats it */
    const char *call; /* options of `tracehost call`, beyond --check; NULL: `run` */
};

/* Writes the input of SHOWN, finding NUMBER from 1, to a file, if it has one, and prints the finding.
 * Errors: TH_FAILED if the file cannot be written. */
enum th_status th_check_result_print(const struct th_check_options *options,
                                     const struct th_check_shown *shown, size_t number);

/* The keys of the findings that were printed. */
enum { TH_CHECK_MOST_RESULTS = 100 };
struct th_check_known {
    uint64_t keys[TH_CHECK_MOST_RESULTS];
    size_t count;
};

/* Returns whether the finding KEY was printed, or cannot be printed any more. */
bool th_check_known_has(const struct th_check_known *known, uint64_t key);

/* Checks that the folder of --output can be written to. Errors: TH_FAILED. */
enum th_status th_check_output_check(const struct th_check_options *options);

/* A number that depends on *STATE alone, below LIMIT. Source: splitmix64, public domain. */
uint64_t th_check_pick(uint64_t *state, uint64_t limit);

#endif
