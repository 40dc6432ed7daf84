#include "tree.h"

static uint32_t place_of(const struct tree *tree, uint32_t parent, const struct mfa *mfa)
{
    uint64_t sum = (mfa->module >> 4) * 0x2545F491 + (mfa->function >> 4) * 31 + mfa->arity +
                   (uint64_t)parent * 0x85EBCA6B;
    uint32_t place = (uint32_t)(sum * 0x9E3779B97F4A7C15 >> 32) & (tree->places_size - 1);
    const struct node *node;

    for (; tree->places[place]; place = (place + 1) & (tree->places_size - 1)) {
        node = &tree->nodes[tree->places[place]];
        if (node->parent == parent && mfa_same(&node->mfa, mfa))
            break;
    }
    return place;
}

/* Makes room for twice as many nodes; at most half of the places are used. */
static bool grow(struct tree *tree)
{
    uint32_t size = tree->size ? 2 * tree->size : 256;
    struct node *nodes = size <= TREE_MOST ? realloc(tree->nodes, size * sizeof *nodes) : NULL;
    uint32_t *places = nodes ? calloc(2 * (size_t)size, sizeof *places) : NULL;

    if (nodes)
        tree->nodes = nodes;
    if (!places)
        return false;
    free(tree->places);
    tree->places = places;
    tree->places_size = 2 * size;
    tree->size = size;
    if (tree->used == 0)
        tree->nodes[tree->used++] = (struct node){0};
    for (uint32_t i = 1; i < tree->used; i++)
        places[place_of(tree, nodes[i].parent, &nodes[i].mfa)] = i;
    return true;
}

uint32_t tree_child(struct tree *tree, uint32_t parent, const struct mfa *mfa)
{
    uint32_t place = tree->size ? place_of(tree, parent, mfa) : 0;

    if (tree->size && tree->places[place])
        return tree->places[place];
    if (tree->used == tree->size) {
        if (!grow(tree)) {
            ++*(2 * tree->size > TREE_MOST ? &tree->lost : &tree->starved);
            return parent;
        }
        place = place_of(tree, parent, mfa);
    }
    tree->nodes[tree->used] = (struct node){.mfa = *mfa, .parent = parent};
    tree->places[place] = tree->used;
    return tree->used++;
}

void tree_enter(struct tree *tree, uint32_t root, const struct stack *stack, struct frame *frame)
{
    const struct frame *below = frame;
    uint32_t under;

    while (below > stack->frames && (--below)->gone)
        ;
    under = below == frame || below->gone ? root : below->mark;
    if (tree->nodes[under].deep)
        under = tree->nodes[under].parent;
    frame->mark = tree_child(tree, under, &frame->mfa);
    if (frame->mark != under && stack->shown > STACK_DRAWN)
        tree->nodes[frame->mark].deep = true;
    tree->nodes[frame->mark].calls++;
}

static void flatten(struct tree *tree)
{
    struct tree flat = {0};
    uint32_t *processes = calloc(tree->used + !tree->used, sizeof *processes), to;
    struct node *node;

    /* A parent comes before its children, so its process is known already. */
    for (uint32_t i = 1; processes && i < tree->used; i++) {
        node = &tree->nodes[i];
        processes[i] = node->parent ? processes[node->parent] : tree_child(&flat, 0, &node->mfa);
        if (!flat.nodes)
            break;
        to = node->parent ? tree_child(&flat, processes[i], &node->mfa) : processes[i];
        flat.nodes[to].own += node->own;
        flat.nodes[to].calls += node->calls;
    }
    flat.starved += !processes && tree->used;
    free(processes);
    flat.lost += tree->lost;
    flat.starved += tree->starved;
    tree_free(tree);
    *tree = flat;
}

static void fold_deep(struct tree *tree)
{
    for (uint32_t i = 1; i < tree->used; i++) {
        struct node *node = &tree->nodes[i], *parent = &tree->nodes[node->parent];
        if (!node->deep)
            continue;
        parent->own += node->own;
        parent->calls += node->calls;
        node->own = node->calls = 0;
    }
}

void tree_settle(struct tree *tree, bool told)
{
    if (told)
        fold_deep(tree);
    else if (tree->used)
        flatten(tree);
}

void tree_free(struct tree *tree)
{
    free(tree->nodes);
    free(tree->places);
}
