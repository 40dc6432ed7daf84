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
    bool icicle;       /* callers are above their callees */
    bool by_own;       /* the colour shows own amounts, not modules */
    bool one;          /* frames of a recursion are merged already */
    bool told;         /* ends of calls are known */
    uint64_t doubtful; /* doubtful returns; see ../kit/stack.h */
    uint64_t untimed;  /* events without a time stamp */
    /* For a differential graph, else NULL: each node's own amount in the other recording, and the
     * texts of which a node's `mfa.module` is the index. */
    const uint64_t *before;
    const char *const *names;
};

/* Merges nodes of TREE. ONE: a call of a function that is on its stack already, directly or not,
 * counts for that function's node. DEPTH: calls deeper than that count for their callers; 0: no
 * limit. */
TRACER_LOCAL void fold_tree(struct tree *tree, bool one, uint32_t depth);

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
