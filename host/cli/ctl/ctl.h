/* The declarations that the files of `tracehost ctl` share. */
#ifndef TH_CTL_H
#define TH_CTL_H

#include "host/base/error.h"

#include <jansson.h>
#include <stdio.h>

struct th_names;

struct th_ctl {
    struct th_control_client *client;
    const json_t *greeting;
    bool json;                /* answers are printed as received */
    bool gone;                /* the host has ended: no further command can be sent */
    const volatile int *stop; /* not 0: stop waiting for an answer; NULL: never stop */
};

/* Sends the command in LINE to the host and prints the answer on stdout.
 * Errors: the status and chain of the answer (with --json only the status: the answer was printed);
 * TH_FAILED if the host is gone, with ctl->gone set; TH_END if *ctl->stop became set; TH_USAGE as
 * th_ctl_split(). */
enum th_status th_ctl_do_line(struct th_ctl *ctl, const char *line);

/* Prints the chain of causes on stderr, unless STATUS is TH_OK or TH_END, and clears it. Returns
 * STATUS. */
enum th_status th_ctl_report(enum th_status status);

/* Rewrites the Erlang terms in RESULT, an answer or a part of one, as text in the chosen
 * encoding. */
void th_ctl_show_terms(json_t *result);

/* Prints RESULT, the answer to COMMAND, as text for people. Rewrites its terms first. */
void th_ctl_print(const char *command, json_t *result);

/* Runs the prompt. Errors are already reported. Returns TH_OK unless the host has ended. */
enum th_status th_ctl_prompt(struct th_ctl *ctl);

/* Adds completions of LINE, which ends at the cursor. */
struct th_completions;
void th_ctl_complete(struct th_ctl *ctl, const char *line, struct th_completions *completions);

/* Splits LINE into WORDS, as control.h expects them; an empty line or a comment (#) has none.
 * Owner: the caller frees WORDS, whatever the status.
 * Errors: TH_USAGE if a quote is not closed. */
enum th_status th_ctl_split(const char *line, struct th_names *words);

/* Tables for people, made from arrays of JSON objects; each column is as wide as its widest
 * cell. */
struct th_ctl_column {
    const char *title;
    const char *key; /* of the objects */
    bool right;      /* align the cells to the right */
    /* Returns the text of the cell for OBJECT; the caller frees the text. NULL: the value of
     * `key`. */
    char *(*text)(const json_t *object);
};

/* Prints a line of titles, and a line for each object of ROWS. The last of COLUMNS has no title. A
 * column that contains only "-" is left out. */
void th_ctl_table(const struct th_ctl_column columns[], const json_t *rows);

/* Returns VALUE as text for people: "yes" for true; the items of an array joined by commas; "-" for
 * null, false, an empty array, an object, and NULL.
 * Owner: the caller frees the text with th_free(). */
char *th_ctl_text(const json_t *value);

#endif
