/* What flame draws. */
#ifndef FLAME_FLAME_H
#define FLAME_FLAME_H

#include "../kit/escape.h"
#include "../kit/tree.h"

#include <stdio.h>

struct drawing {
    ErlNifEnv *env;
    FILE *file;
    struct tree *tree;
    bool calls;        /* calls are drawn, not time */
    uint64_t doubtful; /* returns; see ../stack.h */
};

/* A process's name or pid, or M:F/A. Starts the line. */
TRACER_LOCAL void node_name(struct line *line, const struct node *node);

/* A line for each stack that has something of its own: what stack collapsing scripts write. */
TRACER_LOCAL void draw_folded(const struct drawing *drawing);

/* A picture for browsers. False if there is no memory for it. */
TRACER_LOCAL bool draw_svg(const struct drawing *drawing);

/* What is the node's own, of what is drawn. */
static inline uint64_t node_own(const struct drawing *drawing, const struct node *node)
{
    return drawing->calls ? node->calls : node->own;
}

#endif
