/* What the files of `tracehost ctl` share. */
#ifndef TH_CTL_H
#define TH_CTL_H

#include "host/base/error.h"

#include <jansson.h>
#include <stdio.h>

struct th_names;

struct th_ctl {
    struct th_control_client *client;
    const json_t *greeting;
    bool json;                /* answers are shown as they came */
    bool gone;                /* the host is: nothing can be asked any more */
    const volatile int *stop; /* not 0: an answer is not waited for any more; NULL: it always is */
};

/* Has the host do what the words in LINE say, and shows its answer on stdout. Else the status of
 * the answer, with its chain, but for --json, where it was shown; TH_FAILED, and ctl->gone; TH_END:
 * *ctl->stop. */
enum th_status th_ctl_do_line(struct th_ctl *ctl, const char *line);

/* Tells on stderr why, unless STATUS is TH_OK or TH_END, from the chain; returns it. */
enum th_status th_ctl_report(enum th_status status);

/* The terms in RESULT, an answer or a part of one, become text in the encoding that was chosen. */
void th_ctl_show_terms(json_t *result);

/* Shows RESULT, of COMMAND, to people, with such terms. */
void th_ctl_print(const char *command, json_t *result);

/* Does what is typed at a prompt. What is wrong was told. TH_OK, unless the host went away. */
enum th_status th_ctl_prompt(struct th_ctl *ctl);

/* Completions of LINE, which ends at the cursor, for the prompt. */
struct th_completions;
void th_ctl_complete(struct th_ctl *ctl, const char *line, struct th_completions *completions);

/* Adds the words of a line, as control.h wants them; none for an empty line or a comment (#).
 * TH_USAGE: a quote does not end. WORDS are the caller's, whatever the status. */
enum th_status th_ctl_split(const char *line, struct th_names *words);

/* Tables for people, of arrays of JSON objects: columns as wide as what is in them. */
struct th_ctl_column {
    const char *title;
    const char *key; /* of the objects */
    bool right;      /* numbers end at one place */
    /* The text of the cell in OBJECT, the caller's to free; NULL: that of the value of `key`. */
    char *(*text)(const json_t *object);
};

/* A line of titles, and one for each object of ROWS; COLUMNS end with one that has no title. A
 * column that has nothing but "-" is left out. */
void th_ctl_table(const struct th_ctl_column columns[], const json_t *rows);

/* A value as people read it: "-" for null, false and nothing; texts of an array with commas. The
 * caller's to free. */
char *th_ctl_text(const json_t *value);

#endif
