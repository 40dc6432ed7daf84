/* Drawings of flame. */
#ifndef FLAME_FLAME_H
#define FLAME_FLAME_H

#include "../kit/escape.h"
#include "../kit/tracees.h"
#include "../kit/tree.h"

#include <stdio.h>

struct drawing {
    ErlNifEnv *env;
    FILE *file;
    struct tree *tree;
    const struct tracees *labels;
    bool calls;        /* draws calls, not time */
    uint64_t doubtful; /* doubtful returns; see ../stack.h */
    /* For a differential graph, else NULL: each node's own amount in the other recording, and the
     * texts of which a node's `mfa.module` is the index. */
    const uint64_t *before;
    const char *const *names;
};

/* Starts LINE with a process's label, if there is one, and pid, or with M:F/A. */
TRACER_LOCAL void node_name(struct line *line, const struct tracees *labels,
                            const struct node *node);

/* Writes a line for each stack with an own amount, as stack collapsing scripts do. False if there is
 * no memory for all lines. */
TRACER_LOCAL bool draw_folded(const struct drawing *drawing);

/* Writes a picture for browsers. False if there is no memory for it. */
TRACER_LOCAL bool draw_svg(const struct drawing *drawing);

/* Returns the node's own amount of the drawn unit. */
static inline uint64_t node_own(const struct drawing *drawing, const struct node *node)
{
    return drawing->calls ? node->calls : node->own;
}

#endif
