/* Evaluates shell expressions with a host of its own: module `t` has echo/1, raise/1, count/0 and
 * stop/0; messages come from a mailbox. */
#ifndef TH_EVALUATING_H
#define TH_EVALUATING_H

#include "host/cli/cli.h"

struct evaluating {
    struct th_evaluation e;
    struct th_mailbox *process;
    struct th_message *arrived;
    int calls;
    bool interrupted;
    int pauses;   /* polls before an interruption; 0: no interruption */
    char *output; /* output of flush() and b() */
    size_t output_size;
    FILE *out;
};

void evaluating_start(struct evaluating *t);
void evaluating_end(struct evaluating *t);

/* Evaluates all forms of TEXT and returns, for each, a line with its value or its exception as
 * printed. If TEXT cannot be parsed, the result is "unreadable: " and the reason.
 * Owner: the result is valid until the next call. */
const char *evaluating_say(struct evaluating *t, const char *text);

/* A text to evaluate and the output that must follow. */
struct evaluating_row {
    const char *text, *said;
};

/* Evaluates all rows in one session. The first row with other output fails the test. */
void evaluating_say_rows(const struct evaluating_row rows[], size_t count);

#define EVALUATING_SAY(...)                                        \
    do {                                                           \
        static const struct evaluating_row rows[] = {__VA_ARGS__}; \
        evaluating_say_rows(rows, sizeof rows / sizeof rows[0]);   \
    } while (0)

#endif
