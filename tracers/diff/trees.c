/*
 * Compares call trees: rule 6 of diff.h.
 *
 * A difference has a place: twice the number of the first call that it concerns, in its own side; a
 * different outcome comes after all calls that the call has made. So the difference with the least
 * place happened first.
 */
#include "diff.h"

#include <stdlib.h>
#include <string.h>

/* --- Woods --- */

/* Links the calls of a process, or of a caller, in their order. */
static void link_calls(struct woods *woods, bool flat)
{
    const struct side *side = woods->side;

    for (size_t i = side->calls_used; i-- > 0;) {
        const struct call *call = &side->calls[i];
        uint32_t parent = flat ? 0 : call->parent;
        uint32_t *list = parent ? &woods->first[parent - 1] : &woods->roots[call->process];
        woods->next[i] = *list;
        *list = (uint32_t)i + 1;
        if (woods->last[i] < i)
            woods->last[i] = (uint32_t)i;
        if (parent && woods->last[parent - 1] < woods->last[i])
            woods->last[parent - 1] = woods->last[i];
    }
}

/* CLASSES: of each process, a number that its partner has, too; NULL: pids are left aside. */
void woods_hash(struct woods *woods, const uint64_t *classes)
{
    const struct side *side = woods->side;

    for (size_t i = 0; i < side->identifiers_used && classes; i++) {
        const struct identifier *one = &side->identifiers[i];
        uint64_t *sum = one->of_outcome ? &woods->outward[one->call] : &woods->inward[one->call];
        *sum += mix(one->position, classes[one->process]);
    }
    for (size_t i = side->calls_used; i-- > 0;) {
        const struct call *call = &side->calls[i];
        uint64_t hash = mix(side->functions[call->function].hash, call->arguments);
        hash = mix(mix(hash, call->outcome), call->end);
        hash = mix(mix(hash, woods->inward[i]), woods->outward[i]);
        for (uint32_t callee = woods->first[i]; callee; callee = woods->next[callee - 1])
            hash = mix(hash, woods->hashes[callee - 1]);
        woods->hashes[i] = hash;
    }
}

bool woods_build(struct comparison *comparison)
{
    comparison->flat = !comparison->sides[0].side->told || !comparison->sides[1].side->told;
    for (size_t i = 0; i < 2; i++) {
        struct woods *woods = &comparison->sides[i];
        size_t calls = woods->side->calls_used + 1, parties = woods->side->parties_used + 1;
        woods->first = calloc(calls, sizeof *woods->first);
        woods->next = calloc(calls, sizeof *woods->next);
        woods->last = calloc(calls, sizeof *woods->last);
        woods->hashes = calloc(calls, sizeof *woods->hashes);
        woods->inward = calloc(calls, sizeof *woods->inward);
        woods->outward = calloc(calls, sizeof *woods->outward);
        woods->roots = calloc(parties, sizeof *woods->roots);
        woods->partner = calloc(parties, sizeof *woods->partner);
        if (!woods->first || !woods->next || !woods->last || !woods->hashes || !woods->inward ||
            !woods->outward || !woods->roots || !woods->partner)
            return false;
        link_calls(woods, comparison->flat);
        woods_hash(woods, NULL);
    }
    return true;
}

void woods_free(struct woods *woods)
{
    free(woods->first);
    free(woods->next);
    free(woods->last);
    free(woods->hashes);
    free(woods->inward);
    free(woods->outward);
    free(woods->roots);
    free(woods->partner);
}

/* --- Differences --- */

struct couple {
    uint32_t before, after;
};

struct walk {
    struct comparison *comparison;
    const struct woods *a, *b;
    struct couple *waiting; /* pairs whose calls are still to be compared */
    size_t waiting_used, waiting_size;
    uint32_t *lists[2]; /* calls that are aligned */
    size_t lists_size[2];
    uint32_t *left[2]; /* those of them without a partner */
    size_t left_used[2], left_size[2];
    bool starved;
};

static bool is_earlier(const struct difference *a, const struct difference *b)
{
    return a->place != b->place ? a->place < b->place : a->depth > b->depth;
}

static void add_difference(struct walk *walk, enum kind kind, uint32_t before, uint32_t after)
{
    struct comparison *comparison = walk->comparison;
    const struct woods *woods = before ? walk->a : walk->b;
    uint32_t number = (before ? before : after) - 1;
    bool at_end = kind == KIND_RESULT || kind == KIND_EXCEPTION;
    struct difference one = {
        .kind = kind,
        .before = before,
        .after = after,
        .place = at_end ? 2 * (uint64_t)woods->last[number] + 1 : 2 * (uint64_t)number,
        .depth = number,
    };
    size_t i = comparison->shown_used;

    comparison->counts[kind]++;
    if (i == SHOWN_MOST && !is_earlier(&one, &comparison->shown[i - 1]))
        return;
    i -= i == SHOWN_MOST;
    for (; i > 0 && is_earlier(&one, &comparison->shown[i - 1]); i--)
        comparison->shown[i] = comparison->shown[i - 1];
    comparison->shown[i] = one;
    comparison->shown_used += comparison->shown_used < SHOWN_MOST;
}

static const struct call *call_of(const struct woods *woods, uint32_t call)
{
    return &woods->side->calls[call - 1];
}

static bool same_function(const struct woods *a, uint32_t before, const struct woods *b,
                          uint32_t after)
{
    return a->side->functions[call_of(a, before)->function].hash ==
           b->side->functions[call_of(b, after)->function].hash;
}

static bool same_arguments(const struct woods *a, uint32_t before, const struct woods *b,
                           uint32_t after)
{
    return call_of(a, before)->arguments == call_of(b, after)->arguments &&
           a->inward[before - 1] == b->inward[after - 1];
}

static bool same_tree(const struct walk *walk, uint32_t before, uint32_t after)
{
    return walk->a->hashes[before - 1] == walk->b->hashes[after - 1];
}

static void leave(struct walk *walk, size_t side, uint32_t call)
{
    if (!make_room(&walk->left[side], walk->left_used[side], &walk->left_size[side],
                   sizeof **walk->left, CALLS_MOST))
        walk->starved = true;
    else
        walk->left[side][walk->left_used[side]++] = call;
}

static void compare_outcomes(struct walk *walk, uint32_t before, uint32_t after)
{
    const struct call *a = call_of(walk->a, before), *b = call_of(walk->b, after);

    if (a->end == END_UNKNOWN || b->end == END_UNKNOWN)
        walk->comparison->undecided += a->end != b->end;
    else if (a->end != b->end)
        add_difference(walk,
                       a->end == END_ERROR || b->end == END_ERROR ? KIND_EXCEPTION : KIND_RESULT,
                       before, after);
    else if (a->outcome != b->outcome ||
             walk->a->outward[before - 1] != walk->b->outward[after - 1])
        add_difference(walk, a->end == END_ERROR ? KIND_EXCEPTION : KIND_RESULT, before, after);
}

/* A loop of tail calls is one inside the other. If CALL, of the side WITHIN, is missing in such a loop,
 * one of its callees takes the place of OTHER, and the end is the same. Returns this callee; 0: none. */
static uint32_t callee_in_place(const struct woods *within, uint32_t call,
                                const struct woods *woods, uint32_t other)
{
    const struct call *one = call_of(within, call), *two = call_of(woods, other);
    uint32_t callee = within->first[call - 1];

    if (one->end != two->end || one->outcome != two->outcome)
        return 0;
    while (callee && (!same_function(within, callee, woods, other) ||
                      !same_arguments(within, callee, woods, other)))
        callee = within->next[callee - 1];
    return callee;
}

/* BEFORE and AFTER, calls of one function, take the same place. */
static void couple_calls(struct walk *walk, uint32_t before, uint32_t after)
{
    uint32_t callee;

    while (!same_arguments(walk->a, before, walk->b, after)) {
        if ((callee = callee_in_place(walk->a, before, walk->b, after))) {
            add_difference(walk, KIND_DROPPED, before, 0);
            before = callee;
        } else if ((callee = callee_in_place(walk->b, after, walk->a, before))) {
            add_difference(walk, KIND_NEW, 0, after);
            after = callee;
        } else {
            add_difference(walk, KIND_ARGUMENTS, before, after);
            break;
        }
    }
    if (same_tree(walk, before, after))
        return;
    compare_outcomes(walk, before, after);
    if (!make_room(&walk->waiting, walk->waiting_used, &walk->waiting_size, sizeof *walk->waiting,
                   CALLS_MOST))
        walk->starved = true;
    else
        walk->waiting[walk->waiting_used++] = (struct couple){before, after};
}

/* --- Alignment --- */

/* Couples calls of one function in the order of the N calls A and the M calls B, the others are
 * left. */
static void couple_functions(struct walk *walk, const uint32_t *a, size_t n, const uint32_t *b,
                             size_t m)
{
    size_t j = 0;

    for (size_t i = 0; i < n; i++) {
        size_t k = j;
        while (k < m && !same_function(walk->a, a[i], walk->b, b[k]))
            k++;
        if (k == m) {
            leave(walk, 0, a[i]);
            continue;
        }
        for (; j < k; j++)
            leave(walk, 1, b[j]);
        couple_calls(walk, a[i], b[j++]);
    }
    for (; j < m; j++)
        leave(walk, 1, b[j]);
}

/* The same, but calls with equal arguments first. N and M are at most 2 * WINDOW. */
static void couple_gap(struct walk *walk, const uint32_t *a, size_t n, const uint32_t *b, size_t m)
{
    size_t i0 = 0, j0 = 0;

    for (size_t i = 0; i < n; i++) {
        size_t k = j0;
        while (k < m && (!same_function(walk->a, a[i], walk->b, b[k]) ||
                         !same_arguments(walk->a, a[i], walk->b, b[k])))
            k++;
        if (k == m)
            continue;
        couple_functions(walk, a + i0, i - i0, b + j0, k - j0);
        couple_calls(walk, a[i], b[k]);
        i0 = i + 1;
        j0 = k + 1;
    }
    couple_functions(walk, a + i0, n - i0, b + j0, m - j0);
}

/* Finds the nearest equal trees: skips *I calls of A and *J calls of B. Without any within WINDOW
 * skips one of each; near the ends, all. */
static void find_equal(const struct walk *walk, const uint32_t *a, size_t n, const uint32_t *b,
                       size_t m, size_t *i, size_t *j)
{
    for (size_t d = 1; d <= 2 * WINDOW && d < n + m; d++)
        for (size_t k = d > WINDOW ? d - WINDOW : 0; k <= d && k <= WINDOW; k++)
            if (k < n && d - k < m && same_tree(walk, a[k], b[d - k])) {
                *i = k;
                *j = d - k;
                return;
            }
    *i = n <= WINDOW && m <= WINDOW ? n : 1;
    *j = n <= WINDOW && m <= WINDOW ? m : 1;
}

static void align(struct walk *walk, const uint32_t *a, size_t n, const uint32_t *b, size_t m)
{
    size_t i = 0, j = 0, skip_a, skip_b;

    while (i < n && j < m) {
        if (same_tree(walk, a[i], b[j])) {
            i++;
            j++;
            continue;
        }
        find_equal(walk, a + i, n - i, b + j, m - j, &skip_a, &skip_b);
        couple_gap(walk, a + i, skip_a, b + j, skip_b);
        i += skip_a;
        j += skip_b;
    }
    for (; i < n; i++)
        leave(walk, 0, a[i]);
    for (; j < m; j++)
        leave(walk, 1, b[j]);
}

struct remaining {
    uint64_t hash;
    uint32_t side, call;
};

static int compare_remaining(const void *left, const void *right)
{
    const struct remaining *a = left, *b = right;

    if (a->hash != b->hash)
        return a->hash < b->hash ? -1 : 1;
    if (a->side != b->side)
        return a->side < b->side ? -1 : 1;
    return a->call < b->call ? -1 : a->call > b->call;
}

/* Reports the calls without a partner; equal ones of both sides have changed places. */
static void report_left(struct walk *walk)
{
    size_t count = walk->left_used[0] + walk->left_used[1], to;
    struct remaining *all = count ? calloc(count, sizeof *all) : NULL;

    if (count && !all) {
        walk->starved = true;
        return;
    }
    for (size_t side = 0, at = 0; side < 2; side++)
        for (size_t i = 0; i < walk->left_used[side]; i++) {
            uint32_t call = walk->left[side][i];
            const struct woods *woods = side ? walk->b : walk->a;
            all[at++] = (struct remaining){woods->hashes[call - 1], (uint32_t)side, call};
        }
    if (count)
        qsort(all, count, sizeof *all, compare_remaining);
    for (size_t from = 0, middle, k; from < count; from = to) {
        for (to = from; to < count && all[to].hash == all[from].hash;)
            to++;
        for (middle = from; middle < to && all[middle].side == 0;)
            middle++;
        for (k = 0; from + k < middle && middle + k < to; k++)
            add_difference(walk, KIND_ORDER, all[from + k].call, all[middle + k].call);
        for (size_t i = from + k; i < middle; i++)
            add_difference(walk, KIND_DROPPED, all[i].call, 0);
        for (size_t i = middle + k; i < to; i++)
            add_difference(walk, KIND_NEW, 0, all[i].call);
    }
    free(all);
    walk->left_used[0] = walk->left_used[1] = 0;
}

/* Copies the list that begins with FIRST. Returns its length. */
static size_t take_list(struct walk *walk, size_t side, uint32_t first)
{
    const struct woods *woods = side ? walk->b : walk->a;
    size_t used = 0;

    for (uint32_t call = first; call; call = woods->next[call - 1]) {
        if (!make_room(&walk->lists[side], used, &walk->lists_size[side], sizeof **walk->lists,
                       CALLS_MOST)) {
            walk->starved = true;
            break;
        }
        walk->lists[side][used++] = call;
    }
    return used;
}

static void compare_lists(struct walk *walk, uint32_t before, uint32_t after)
{
    size_t n = take_list(walk, 0, before), m = take_list(walk, 1, after);

    align(walk, walk->lists[0], n, walk->lists[1], m);
    report_left(walk);
}

/* Compares the calls of two processes. */
static void compare_processes(struct walk *walk, uint32_t before, uint32_t after)
{
    compare_lists(walk, walk->a->roots[before], walk->b->roots[after]);
    while (walk->waiting_used > 0 && !walk->starved) {
        struct couple couple = walk->waiting[--walk->waiting_used];
        compare_lists(walk, walk->a->first[couple.before - 1], walk->b->first[couple.after - 1]);
    }
}

/* Hashes again, now with pids: processes that are a pair have one class, all others have class 0. */
static bool hash_with_pids(struct comparison *comparison)
{
    for (size_t i = 0; i < 2; i++) {
        struct woods *woods = &comparison->sides[i];
        size_t count = woods->side->parties_used;
        uint64_t *classes = calloc(count + 1, sizeof *classes);
        if (!classes)
            return false;
        for (size_t k = 0; k < count; k++)
            classes[k] = !woods->partner[k] ? 0 : i == 0 ? k + 1 : woods->partner[k];
        woods_hash(woods, classes);
        free(classes);
    }
    return true;
}

bool compare_trees(struct comparison *comparison)
{
    struct walk walk = {
        .comparison = comparison, .a = &comparison->sides[0], .b = &comparison->sides[1]};
    bool enough = hash_with_pids(comparison);

    for (uint32_t k = 0; enough && k < walk.a->side->parties_used; k++)
        if (walk.a->partner[k])
            compare_processes(&walk, k, walk.a->partner[k] - 1);
    for (size_t i = 0; i < 2; i++) {
        free(walk.lists[i]);
        free(walk.left[i]);
    }
    free(walk.waiting);
    return enough && !walk.starved;
}
