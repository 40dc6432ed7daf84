/* The tree of all stacks: a node for each function as called from its parent. */
#ifndef TRACER_TREE_H
#define TRACER_TREE_H

#include "local.h"
#include "stack.h"

enum { TREE_MOST = 1 << 20 };

/* Node 0 is the root; its children are processes: {pid, name or 0, 0}. */
struct node {
    struct mfa mfa;
    uint32_t parent; /* a smaller number than the node's own */
    uint32_t then;   /* the child that was looked up after this one; 0: none yet */
    uint64_t own;    /* own time in nanoseconds */
    uint64_t calls;
    bool deep; /* of calls deeper than STACK_DRAWN, which count for the parent; the parent is not
                  deep */
    bool doubtful; /* the recording does not show when one of its calls ended */
};

/* Initialised with {0}. */
struct tree {
    struct node *nodes;
    uint32_t used, size;
    uint32_t latest;  /* the node that was looked up last */
    uint32_t *places; /* hash table with open addressing: numbers of nodes; 0: free */
    uint32_t places_size;
    /* Calls beyond TREE_MOST nodes, and calls without memory for a node: they count for their
     * callers. */
    uint64_t lost, starved;
};

/* Returns the child MFA of PARENT, made if necessary; PARENT itself if that is impossible. */
TRACER_LOCAL uint32_t tree_child(struct tree *tree, uint32_t parent, const struct mfa *mfa);

/* Handles FRAME, pushed on STACK, the stack of the process with the node ROOT: sets FRAME's mark to
 * its node, and counts the call there. A call deep in the stack counts for its caller. */
TRACER_LOCAL void tree_enter(struct tree *tree, uint32_t root, const struct stack *stack,
                             struct frame *frame);

/* Sets the marks of the frames of STACK, which was pushed without tree_enter(); counts no calls. */
TRACER_LOCAL void tree_mark(struct tree *tree, uint32_t root, const struct stack *stack);

/*
 * For a share of a recording. tree_save() returns the tree as a term, 0 if the tree is not complete.
 * tree_take() adds the tree of the next share: TREE becomes that of both, with its nodes in the
 * order of their first calls. Processes correspond by their order, as a share has all processes of
 * the shares before it, and TREE gets their latest names. False if SAVED is damaged, or there is no
 * memory.
 */
TRACER_LOCAL ERL_NIF_TERM tree_save(ErlNifEnv *env, const struct tree *tree);
TRACER_LOCAL bool tree_take(ErlNifEnv *env, struct tree *tree, ERL_NIF_TERM saved);

/* Completes the tree after the last event. TOLD: ends of calls were reported, so that the stacks
 * are known; then the figures of deep nodes are added to their callers. If not, all functions of a
 * process become children of the process, each with the sum of its own figures. */
TRACER_LOCAL void tree_settle(struct tree *tree, bool told);

TRACER_LOCAL void tree_free(struct tree *tree);

#endif
