/* The stacks that were seen, as a tree: a node for each function as called from its parent. */
#ifndef TRACER_TREE_H
#define TRACER_TREE_H

#include "local.h"
#include "stack.h"

enum { TREE_MOST = 1 << 20 };

/* Node 0 is above all, and its children are processes: {their pid, name or 0, 0}. */
struct node {
    struct mfa mfa;
    uint32_t parent; /* a smaller number than its own */
    uint64_t own;    /* nanoseconds */
    uint64_t calls;
    bool deep; /* of calls too deep in the stack to be told apart by it; its parent is not */
};

/* Start it as {0}. */
struct tree {
    struct node *nodes;
    uint32_t used, size;
    uint32_t *places; /* hash table with open addressing: numbers of nodes, 0 is free */
    uint32_t places_size;
    /* Calls for which there was no node any more, and those for which there was no memory: they
     * count for their callers. */
    uint64_t lost, starved;
};

/* The child of PARENT that is MFA, made if it is not there yet; PARENT itself if that cannot be. */
TRACER_LOCAL uint32_t tree_child(struct tree *tree, uint32_t parent, const struct mfa *mfa);

/* FRAME has come on top of STACK, that of the process whose node is ROOT: sets its mark to its
 * node, and counts the call there. Deep in the stack it counts for who called. */
TRACER_LOCAL void tree_enter(struct tree *tree, uint32_t root, const struct stack *stack,
                             struct frame *frame);

/* When no more events come. TOLD: of the end of calls, so that there were stacks; what is deep in
 * them counts for who called. Else makes all functions of a process its children, with what is
 * their own anywhere in it. */
TRACER_LOCAL void tree_settle(struct tree *tree, bool told);

TRACER_LOCAL void tree_free(struct tree *tree);

#endif
