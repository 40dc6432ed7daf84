/* Merges nodes of the tree, as the settings recursion and depth want. */
#include "flame.h"

/* Returns the node for a call of MFA under node UNDER of TREE. */
static uint32_t place_call(struct tree *tree, uint32_t under, const struct mfa *mfa, bool one,
                           uint32_t depth)
{
    uint32_t deep = 0;

    /* The children of node 0 are processes. */
    for (uint32_t i = under; tree->nodes[i].parent; i = tree->nodes[i].parent, deep++)
        if (one && mfa_same(&tree->nodes[i].mfa, mfa))
            return i;
    return depth && deep >= depth ? under : tree_child(tree, under, mfa);
}

void fold_tree(struct tree *tree, bool one, uint32_t depth)
{
    struct tree made = {.lost = tree->lost, .starved = tree->starved};
    uint32_t *places = one || depth ? calloc(tree->used + !tree->used, sizeof *places) : NULL, to;

    if (!one && !depth)
        return;
    if (!places) {
        tree->starved++;
        return;
    }
    for (uint32_t i = 1; i < tree->used; i++) {
        const struct node *node = &tree->nodes[i];
        to = node->parent ? place_call(&made, places[node->parent], &node->mfa, one, depth)
                          : tree_child(&made, 0, &node->mfa);
        if (!made.nodes)
            break;
        places[i] = to;
        made.nodes[to].own += node->own;
        made.nodes[to].calls += node->calls;
        made.nodes[to].doubtful |= node->doubtful;
    }
    free(places);
    tree_free(tree);
    *tree = made;
}
