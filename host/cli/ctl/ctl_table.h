/* Tables for people, of arrays of JSON objects: columns as wide as what is in them. */
#ifndef TH_CTL_TABLE_H
#define TH_CTL_TABLE_H

#include <jansson.h>
#include <stdbool.h>
#include <stdio.h>

struct th_ctl_column {
    const char *title;
    const char *key; /* of the objects */
    bool right;      /* numbers end at one place */
    /* The text of the cell in OBJECT, the caller's to free; NULL: that of the value of `key`. */
    char *(*text)(const json_t *object);
};

/* A line of titles, and one for each object of ROWS; COLUMNS end with one that has no title. A
 * column that has nothing but "-" is left out. */
void th_ctl_table(const struct th_ctl_column columns[], const json_t *rows, FILE *out);

/* A value as people read it: "-" for null, false and nothing; texts of an array with commas. The
 * caller's to free. */
char *th_ctl_text(const json_t *value);

#endif
