/* An evaluation with a host of its own: module `t` has echo/1, raise/1 and count/0; messages come
 * from a mailbox. */
#ifndef TH_EVALUATING_H
#define TH_EVALUATING_H

#include "host/cli/cli.h"

struct evaluating {
    struct th_evaluation e;
    struct th_host_process *process;
    struct th_message *arrived;
    int calls;
    bool interrupted;
    char *output; /* what flush() and b() wrote */
    size_t output_size;
    FILE *out;
};

void evaluating_start(struct evaluating *t);
void evaluating_end(struct evaluating *t);

/* Evaluates all forms of TEXT. Appends for each its value, or the exception as it is printed, and a
 * new line; what cannot be read as "unreadable: " and why. The result is valid until the next. */
const char *evaluating_say(struct evaluating *t, const char *text);

#endif
