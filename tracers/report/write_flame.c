/* Writes the tree of stacks, without stacks that are too narrow to be seen. */
#include "page.h"

struct drawn {
    struct tree tree;
    uint64_t *totals, *own;
    uint32_t *numbers; /* number on the page; of a merged node, the number of the node that contains
                          it */
    bool calls;
};

/* Returns the root of a process. All processes that are not on the page share one root, function 0
 * and module 0. */
static struct mfa root_of(const struct report *report, const struct node *node)
{
    return tracees_find(&report->processes, node->mfa.module) ? node->mfa : (struct mfa){0};
}

/* Copies the report's tree, with these roots. False if there is no memory. */
static bool gather(struct report *report, struct tree *tree)
{
    const struct tree *all = &report->stacks;
    uint32_t *places = calloc(all->used + 1, sizeof *places);
    struct mfa mfa;

    for (uint32_t i = 1; places && i < all->used; i++) {
        const struct node *node = &all->nodes[i];
        mfa = node->parent ? node->mfa : root_of(report, node);
        places[i] = tree_child(tree, places[node->parent], &mfa);
        if (!tree->size)
            break;
        tree->nodes[places[i]].own += node->own;
        tree->nodes[places[i]].calls += node->calls;
    }
    free(places);
    return places && (all->used < 2 || tree->size);
}

static void add_up(struct drawn *drawn)
{
    const struct tree *tree = &drawn->tree;

    for (uint32_t i = tree->used; i-- > 0;) {
        drawn->own[i] = drawn->calls ? tree->nodes[i].calls : tree->nodes[i].own;
        drawn->totals[i] += drawn->own[i];
        if (i > 0)
            drawn->totals[tree->nodes[i].parent] += drawn->totals[i];
    }
}

/* Children have larger numbers than their parents: so a node that is merged has received everything
 * before it is merged itself. */
static void merge(struct writing *writing, struct drawn *drawn)
{
    const struct tree *tree = &drawn->tree;
    uint32_t used = 1;

    for (uint32_t i = tree->used; i-- > 1;) {
        uint64_t total = drawn->totals[i];
        if (total && total >= drawn->totals[0] / NARROWEST)
            continue;
        drawn->own[tree->nodes[i].parent] += drawn->own[i];
        drawn->totals[i] = 0;
        writing->narrow += total > 0;
    }
    for (uint32_t i = 1; i < tree->used; i++)
        drawn->numbers[i] = drawn->totals[i] ? used++ : 0;
}

static long name_of(struct writing *writing, const struct node *node)
{
    if (node->parent)
        return name_number(&writing->names, &(struct count){.module = node->mfa.module,
                                                            .function = node->mfa.function,
                                                            .arity = node->mfa.arity});
    if (!node->mfa.module)
        return -1;
    return -2 - process_number(tracees_find(&writing->report->processes, node->mfa.module));
}

static void write_nodes(struct writing *writing, const struct drawn *drawn)
{
    const struct tree *tree = &drawn->tree;

    fprintf(writing->file, "{\"unit\":\"%s\",\"nodes\":[\n[0,-1,%" PRIu64 "]",
            drawn->calls ? "calls" : "ns", drawn->own[0]);
    for (uint32_t i = 1; i < tree->used; i++)
        if (drawn->totals[i])
            fprintf(writing->file, ",\n[%" PRIu32 ",%ld,%" PRIu64 "]",
                    drawn->numbers[tree->nodes[i].parent], name_of(writing, &tree->nodes[i]),
                    drawn->own[i]);
    fprintf(writing->file, "],\"narrow\":%" PRIu64 "}", writing->narrow);
}

static bool has_time(const struct report *report)
{
    for (uint32_t i = 1; report->clock.timed && i < report->stacks.used; i++)
        if (report->stacks.nodes[i].own)
            return true;
    return false;
}

void write_flame(struct writing *writing)
{
    struct report *report = writing->report;
    struct drawn drawn = {.calls = !has_time(report)};
    bool good;
    size_t size;

    tree_settle(&report->stacks, report->told);
    good = gather(report, &drawn.tree);
    size = drawn.tree.used + 1;
    drawn.totals = calloc(size, sizeof *drawn.totals);
    drawn.own = calloc(size, sizeof *drawn.own);
    drawn.numbers = calloc(size, sizeof *drawn.numbers);
    if (good && drawn.totals && drawn.own && drawn.numbers) {
        add_up(&drawn);
        merge(writing, &drawn);
        write_nodes(writing, &drawn);
    } else {
        report->lost++;
        fputs("{\"unit\":\"ns\",\"nodes\":[[0,-1,0]],\"narrow\":0}", writing->file);
    }
    free(drawn.totals);
    free(drawn.own);
    free(drawn.numbers);
    tree_free(&drawn.tree);
}
