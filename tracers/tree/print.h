/* Prints calls that were held. */
#ifndef TREE_PRINT_H
#define TREE_PRINT_H

#include "../kit/tracees.h"
#include "held.h"

#include <stdio.h>

enum print_format { PRINT_TEXT, PRINT_JSON };

/* How the lines of an output look. Initialised with zeros, except the settings. */
struct print {
    FILE *file;
    enum print_format format;
    bool colour;
    bool own;                /* with a column of own times */
    bool by_process;         /* without a column of processes, under headings */
    bool running;            /* with columns of times on and off a scheduler */
    bool begun;              /* the headings were printed */
    struct tracees labelled; /* processes whose label was printed, with that label */
    ERL_NIF_TERM under;      /* process of the latest heading */
};

/* Prints the tree of number ROOT, of PROCESS. A call that is open is marked as such. */
TRACER_LOCAL void print_tree(struct print *print, const struct forest *forest, uint32_t root,
                             const struct tracee *process);

/* Forgets that the label of PROCESS was printed, if it was. */
TRACER_LOCAL void print_forget(struct print *print, ERL_NIF_TERM process);

/* Prints HELD as the end of a call that was printed as open. */
TRACER_LOCAL void print_end(struct print *print, const struct held *held,
                            const struct tracee *process);

#endif
