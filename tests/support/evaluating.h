/* An evaluation with a host of its own: module `t` has echo/1, raise/1 and count/0; messages come
 * from a mailbox. */
#ifndef TH_EVALUATING_H
#define TH_EVALUATING_H

#include "host/cli/cli.h"

struct evaluating {
    struct th_evaluation e;
    struct th_mailbox *process;
    struct th_message *arrived;
    int calls;
    bool interrupted;
    int pauses;   /* 0, or how often it is asked for an interruption before there is one */
    char *output; /* what flush() and b() wrote */
    size_t output_size;
    FILE *out;
};

void evaluating_start(struct evaluating *t);
void evaluating_end(struct evaluating *t);

/* Evaluates all forms of TEXT. Appends for each its value, or the exception as it is printed, and a
 * new line; what cannot be read as "unreadable: " and why. The result is valid until the next. */
const char *evaluating_say(struct evaluating *t, const char *text);

/* What is evaluated, and what is then said. */
struct evaluating_row {
    const char *text, *said;
};

/* All rows, in one session; the first that says something else fails the test. */
void evaluating_say_rows(const struct evaluating_row rows[], size_t count);

#define EVALUATING_SAY(...)                                        \
    do {                                                           \
        static const struct evaluating_row rows[] = {__VA_ARGS__}; \
        evaluating_say_rows(rows, sizeof rows / sizeof rows[0]);   \
    } while (0)

#endif
