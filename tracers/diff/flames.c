/* Differential flame graph: both sides' stacks in one tree, drawn by flame's own picture. All
 * processes are one. */
#include "../flame/flame.h"
#include "diff.h"

#include <stdlib.h>

struct flames {
    const struct comparison *comparison;
    struct tree tree;
    uint64_t *before; /* of each node; 2 * TREE_MOST at most */
    size_t before_size;
    const char **names;
    bool calls; /* there are no times on both sides */
};

static int compare_by_hash(const void *key, const void *element)
{
    uint64_t hash = *(const uint64_t *)key;
    const struct compared *const *one = element;

    return hash < (*one)->hash ? -1 : hash > (*one)->hash;
}

static int compare_elements(const void *left, const void *right)
{
    return compare_by_hash(&(*(const struct compared *const *)left)->hash, right);
}

/* Adds AMOUNT of side I to NODE. False if there is no memory. */
static bool add_amount_of_call(struct flames *flames, size_t i, uint32_t node, uint64_t amount)
{
    while (flames->before_size < flames->tree.used) {
        size_t old = flames->before_size;
        if (!make_room(&flames->before, old, &flames->before_size, sizeof *flames->before,
                       2 * TREE_MOST))
            return false;
        for (size_t k = old; k < flames->before_size; k++)
            flames->before[k] = 0;
    }
    if (i == 0)
        flames->before[node] += amount;
    else if (flames->calls)
        flames->tree.nodes[node].calls += amount;
    else
        flames->tree.nodes[node].own += amount;
    return true;
}

/* Adds the calls of side I. INDEXES: name of each function. */
static bool add_side(struct flames *flames, size_t i, const size_t *indexes)
{
    const struct side *side = flames->comparison->sides[i].side;
    uint32_t *nodes = calloc(side->calls_used + 1, sizeof *nodes);
    uint16_t *depths = calloc(side->calls_used + 1, sizeof *depths);
    uint32_t root = tree_child(&flames->tree, 0, &(struct mfa){1, 0, 0});
    bool enough = nodes && depths && root;

    for (size_t k = 0; enough && k < side->calls_used; k++) {
        const struct call *call = &side->calls[k];
        uint32_t parent = flames->comparison->flat ? 0 : call->parent;
        struct mfa mfa = {indexes[call->function], 0, 0};
        if (parent && depths[parent - 1] >= STACK_DRAWN) { /* counts for its caller */
            nodes[k] = nodes[parent - 1];
            depths[k] = STACK_DRAWN;
        } else {
            nodes[k] = tree_child(&flames->tree, parent ? nodes[parent - 1] : root, &mfa);
            depths[k] = (uint16_t)(parent ? depths[parent - 1] + 1 : 1);
        }
        if (flames->calls || call->own != NO_TIME)
            enough = add_amount_of_call(flames, i, nodes[k], flames->calls ? 1 : call->own);
    }
    free(nodes);
    free(depths);
    return enough;
}

/* Adds both sides, whose functions have the names of SORTED. */
static bool add_sides(struct flames *flames, struct compared *const *sorted, size_t count)
{
    bool enough = true;

    for (size_t i = 0; i < 2 && enough; i++) {
        const struct side *side = flames->comparison->sides[i].side;
        size_t *indexes = calloc(side->functions_used + 1, sizeof *indexes);
        if (!indexes)
            return false;
        for (size_t k = 0; k < side->functions_used; k++) {
            struct compared *const *found = bsearch(&side->functions[k].hash, sorted, count,
                                                    sizeof(struct compared *), compare_by_hash);
            indexes[k] = (size_t)(found - sorted) + 2;
        }
        enough = add_side(flames, i, indexes);
        free(indexes);
    }
    return enough;
}

bool write_flames(ErlNifEnv *env, FILE *file, const struct comparison *comparison)
{
    const struct side *a = comparison->sides[0].side, *b = comparison->sides[1].side;
    struct flames flames = {.comparison = comparison, .calls = !a->timed || !b->timed};
    size_t count = comparison->functions_used;
    struct compared **sorted = calloc(count + 1, sizeof(struct compared *));
    struct drawing drawing = {.env = env,
                              .file = file,
                              .tree = &flames.tree,
                              .calls = flames.calls,
                              .one = true,
                              .told = !comparison->flat};
    bool enough;

    flames.names = calloc(count + 2, sizeof *flames.names);
    enough = sorted && flames.names;
    for (size_t i = 0; enough && i < count; i++)
        sorted[i] = &comparison->functions[i];
    if (enough) {
        qsort(sorted, count, sizeof(struct compared *), compare_elements);
        flames.names[0] = "all";
        flames.names[1] = "all processes";
        for (size_t i = 0; i < count; i++)
            flames.names[i + 2] = sorted[i]->name;
        enough = add_sides(&flames, sorted, count) && add_amount_of_call(&flames, 0, 0, 0);
    }
    if (enough) {
        drawing.before = flames.before;
        drawing.names = flames.names;
        drawing.doubtful = b->lost[LOST_DOUBTS];
        enough = draw_svg(&drawing);
    }
    free(sorted);
    free(flames.names);
    free(flames.before);
    tree_free(&flames.tree);
    return enough;
}
