/*
 * Matches processes: rule 5 of diff.h. A generation is the number of ancestors that a side knows. The
 * generations are matched one after the other, so that the partners of all parents are known.
 */
#include "diff.h"

#include <stdlib.h>
#include <string.h>

/* A process that waits for a partner. */
struct candidate {
    uint64_t key;  /* equal for processes that may be a pair */
    uint64_t tree; /* hash of its calls, pids left aside, or more; 0 if any are a pair */
    uint32_t side, order, number;
};

/* By what the processes of one key become pairs. */
enum likeness { BY_MENTIONS, BY_TREE, BY_ORDER, LIKENESSES };

struct matching {
    struct comparison *comparison;
    uint32_t *generation[2];
    uint32_t *order[2]; /* numbers of processes, sorted by generation */
    uint64_t *trees[2];
    uint64_t *mentions[2]; /* hashes of the places at which pids of a process stand */
    struct candidate *candidates;
};

static const struct side *side_of(const struct matching *matching, size_t i)
{
    return matching->comparison->sides[i].side;
}

static void pair(struct comparison *comparison, uint32_t before, uint32_t after)
{
    comparison->sides[0].partner[before] = after + 1;
    comparison->sides[1].partner[after] = before + 1;
}

/* --- Generations --- */

/* Sets the generation of process I and of its ancestors. A circle of parents, which no node records,
 * is cut. */
static void find_generation(const struct side *side, uint32_t *generation, uint32_t i)
{
    uint32_t length = 0, at = i;

    while (generation[at] == UINT32_MAX) {
        generation[at] = UINT32_MAX - 1; /* on the way */
        length++;
        if (!side->parties[at].parent || generation[side->parties[at].parent - 1] == UINT32_MAX - 1)
            break;
        at = side->parties[at].parent - 1;
    }
    length += generation[at] < UINT32_MAX - 1 ? generation[at] : (uint32_t)-1;
    for (at = i; generation[at] == UINT32_MAX - 1; at = side->parties[at].parent - 1) {
        generation[at] = length--;
        if (!side->parties[at].parent)
            break;
    }
}

/* Sorts the processes by generation, and keeps their order in each. False if there is no memory. */
static bool sort_generations(struct matching *matching, size_t i)
{
    const struct side *side = side_of(matching, i);
    uint32_t count = (uint32_t)side->parties_used;
    uint32_t *generation = matching->generation[i], *starts = calloc(count + 2, sizeof *starts);

    if (!starts)
        return false;
    memset(generation, 0xFF, count * sizeof *generation);
    for (uint32_t k = 0; k < count; k++)
        find_generation(side, generation, k);
    for (uint32_t k = 0; k < count; k++)
        starts[generation[k] + 1]++;
    for (uint32_t k = 0; k < count; k++)
        starts[k + 1] += starts[k];
    for (uint32_t k = 0; k < count; k++)
        matching->order[i][starts[generation[k]]++] = k;
    free(starts);
    return true;
}

/* --- Candidates --- */

enum pass { BY_NAME, BY_PARENT_AND_CALL, BY_PARENT, BY_CALL, PASSES };

/* Returns the key of process K in PASS; 0: it takes no part. */
static uint64_t key_of(const struct matching *matching, size_t i, uint32_t k, enum pass pass)
{
    const struct side *side = side_of(matching, i);
    const struct party *party = &side->parties[k];
    uint64_t parent = 0, call = 0;

    if (pass == BY_NAME)
        return party->name;
    if (party->parent) { /* the pair is named by its process in the first side */
        uint32_t partner = matching->comparison->sides[i].partner[party->parent - 1];
        parent = !partner ? 0 : i == 0 ? party->parent : partner;
    }
    if (party->first)
        call = side->functions[side->calls[party->first - 1].function].hash;
    if (!party->calls && !party->parent && !party->entry)
        return 0; /* only mentioned */
    return mix(mix(mix(pass, pass == BY_CALL ? 0 : parent), party->entry),
               pass == BY_PARENT ? 0 : call) |
           1;
}

static int compare_candidates(const void *left, const void *right)
{
    const struct candidate *a = left, *b = right;

    if (a->key != b->key)
        return a->key < b->key ? -1 : 1;
    if (a->tree != b->tree)
        return a->tree < b->tree ? -1 : 1;
    if (a->side != b->side)
        return a->side < b->side ? -1 : 1;
    if (a->order != b->order)
        return a->order < b->order ? -1 : 1;
    return a->number < b->number ? -1 : a->number > b->number;
}

/* Pairs the candidates with equal keys and trees, COUNT in all, in their order. */
static void pair_sorted(struct matching *matching, size_t count)
{
    struct candidate *candidates = matching->candidates;

    qsort(candidates, count, sizeof *candidates, compare_candidates);
    for (size_t from = 0, middle, to; from < count; from = to) {
        for (to = from; to < count && candidates[to].key == candidates[from].key &&
                        candidates[to].tree == candidates[from].tree;)
            to++;
        for (middle = from; middle < to && candidates[middle].side == 0;)
            middle++;
        for (size_t k = 0; from + k < middle && middle + k < to; k++)
            pair(matching->comparison, candidates[from + k].number, candidates[middle + k].number);
    }
}

/* Returns the hash by which process K is alike to its partner. */
static uint64_t likeness_of(const struct matching *matching, size_t i, uint32_t k,
                            enum likeness likeness)
{
    if (likeness == BY_ORDER)
        return 0;
    return likeness == BY_TREE ? matching->trees[i][k]
                               : mix(matching->trees[i][k], matching->mentions[i][k]);
}

/* Makes pairs of the processes at the places FROM to TO of each side's order that have none. */
static void match_places(struct matching *matching, const size_t from[2], const size_t to[2],
                         enum pass pass, enum likeness likeness)
{
    size_t count = 0, before = 0;

    for (size_t i = 0; i < 2; i++) {
        before = count;
        for (size_t at = from[i]; at < to[i]; at++) {
            uint32_t k = matching->order[i][at];
            bool paired = matching->comparison->sides[i].partner[k];
            uint64_t key = paired ? 0 : key_of(matching, i, k, pass);
            if (key)
                matching->candidates[count++] = (struct candidate){
                    .key = key,
                    .tree = likeness_of(matching, i, k, likeness),
                    .side = (uint32_t)i,
                    .order = side_of(matching, i)->parties[k].order,
                    .number = k,
                };
        }
        if (count == before)
            return;
    }
    pair_sorted(matching, count);
}

static void match_generation(struct matching *matching, const size_t from[2], const size_t to[2])
{
    for (enum pass pass = BY_PARENT_AND_CALL; pass < PASSES; pass++)
        for (enum likeness likeness = BY_MENTIONS; likeness < LIKENESSES; likeness++)
            match_places(matching, from, to, pass, likeness);
}

static void match_all(struct matching *matching)
{
    size_t counts[2], from[2] = {0, 0}, to[2];

    for (size_t i = 0; i < 2; i++)
        counts[i] = side_of(matching, i)->parties_used;
    match_places(matching, from, counts, BY_NAME, BY_ORDER);
    for (uint32_t generation = 0; from[0] < counts[0] && from[1] < counts[1]; generation++) {
        for (size_t i = 0; i < 2; i++)
            for (to[i] = from[i]; to[i] < counts[i] &&
                                  matching->generation[i][matching->order[i][to[i]]] == generation;)
                to[i]++;
        match_generation(matching, from, to);
        memcpy(from, to, sizeof from);
    }
}

/* Sets the hashes of each process's trees, and of the terms that have its pid. */
static void hash_processes(const struct woods *woods, uint64_t *trees, uint64_t *mentions)
{
    const struct side *side = woods->side;

    for (size_t k = 0; k < side->identifiers_used; k++) {
        const struct identifier *one = &side->identifiers[k];
        const struct call *call = &side->calls[one->call];
        mentions[one->process] += mix(mix(one->position, side->functions[call->function].hash),
                                      one->of_outcome ? call->outcome : call->arguments);
    }
    for (size_t k = 0; k < woods->side->parties_used; k++) {
        trees[k] = 0;
        for (uint32_t call = woods->roots[k]; call; call = woods->next[call - 1])
            trees[k] = mix(trees[k], woods->hashes[call - 1]);
    }
}

static void count_processes(struct comparison *comparison)
{
    for (size_t i = 0; i < 2; i++) {
        const struct woods *woods = &comparison->sides[i];
        for (size_t k = 0; k < woods->side->parties_used; k++) {
            bool calls = woods->side->parties[k].calls;
            comparison->unmatched[i] += calls && !woods->partner[k];
            comparison->matched += i == 0 && woods->partner[k];
        }
    }
}

bool match_processes(struct comparison *comparison)
{
    struct matching matching = {.comparison = comparison};
    size_t counts[2];
    bool enough = true;

    for (size_t i = 0; i < 2; i++) {
        counts[i] = side_of(&matching, i)->parties_used;
        matching.generation[i] = calloc(counts[i] + 1, sizeof **matching.generation);
        matching.order[i] = calloc(counts[i] + 1, sizeof **matching.order);
        matching.trees[i] = calloc(counts[i] + 1, sizeof **matching.trees);
        matching.mentions[i] = calloc(counts[i] + 1, sizeof **matching.mentions);
        enough &= matching.generation[i] && matching.order[i] && matching.trees[i] &&
                  matching.mentions[i];
    }
    matching.candidates = calloc(counts[0] + counts[1] + 1, sizeof *matching.candidates);
    enough &= matching.candidates != NULL;
    for (size_t i = 0; i < 2 && enough; i++) {
        enough = sort_generations(&matching, i);
        hash_processes(&comparison->sides[i], matching.trees[i], matching.mentions[i]);
    }
    if (enough) {
        match_all(&matching);
        count_processes(comparison);
    }
    for (size_t i = 0; i < 2; i++) {
        free(matching.generation[i]);
        free(matching.order[i]);
        free(matching.trees[i]);
        free(matching.mentions[i]);
    }
    free(matching.candidates);
    return enough;
}
