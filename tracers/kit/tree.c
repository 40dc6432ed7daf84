#include "tree.h"

#include "past.h"

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

/* As tree_child(), by the hash table. */
static uint32_t find_child(struct tree *tree, uint32_t parent, const struct mfa *mfa)
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

/* Programs repeat themselves: after a node mostly comes the one that came last time, and the look-up of
 * another one in a large table misses the caches. */
uint32_t tree_child(struct tree *tree, uint32_t parent, const struct mfa *mfa)
{
    uint32_t child = tree->used ? tree->nodes[tree->latest].then : 0;

    if (!child || tree->nodes[child].parent != parent || !mfa_same(&tree->nodes[child].mfa, mfa)) {
        child = find_child(tree, parent, mfa);
        if (tree->used)
            tree->nodes[tree->latest].then = child;
    }
    tree->latest = child;
    return child;
}

/* Marks FRAME, number DEPTH from 1 on of those that are drawn; UNDER is the node below. */
static void mark_frame(struct tree *tree, uint32_t under, size_t depth, struct frame *frame)
{
    if (tree->nodes[under].deep)
        under = tree->nodes[under].parent;
    frame->mark = tree_child(tree, under, &frame->mfa);
    if (frame->mark != under && depth > STACK_DRAWN)
        tree->nodes[frame->mark].deep = true;
}

void tree_enter(struct tree *tree, uint32_t root, const struct stack *stack, struct frame *frame)
{
    const struct frame *below = frame;

    while (below > stack->frames && (--below)->gone)
        ;
    mark_frame(tree, below == frame || below->gone ? root : below->mark, stack->shown, frame);
    tree->nodes[frame->mark].calls++;
}

void tree_mark(struct tree *tree, uint32_t root, const struct stack *stack)
{
    uint32_t under = root;
    size_t depth = 0;

    for (size_t i = 0; i < stack->used; i++)
        if (!stack->frames[i].gone) {
            mark_frame(tree, under, ++depth, &stack->frames[i]);
            under = stack->frames[i].mark;
        }
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
        flat.nodes[to].doubtful |= node->doubtful;
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
        parent->doubtful |= node->doubtful;
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

/* --- Shares --- */

/* A node in the binary of a saved tree. */
struct saved_node {
    uint64_t own, calls;
    uint32_t parent;
    uint32_t name : 30; /* number of its function or process in the list of names */
    uint32_t deep : 1, doubtful : 1;
};

/* The names of the nodes, each once: {Pid or Module, Function or Name or 0, Arity}. */
static ERL_NIF_TERM save_names(ErlNifEnv *env, const struct tree *names)
{
    ERL_NIF_TERM list = enif_make_list(env, 0);

    for (uint32_t i = names->used; i-- > 1;)
        list = enif_make_list_cell(env, past_save_mfa(env, &names->nodes[i].mfa), list);
    return list;
}

ERL_NIF_TERM tree_save(ErlNifEnv *env, const struct tree *tree)
{
    struct tree names = {0};
    ERL_NIF_TERM binary, list;
    unsigned char *bytes;
    size_t count = tree->used ? tree->used - 1 : 0;

    bytes = enif_make_new_binary(env, count * sizeof(struct saved_node), &binary);
    for (uint32_t i = 1; i < tree->used && bytes; i++) {
        const struct node *node = &tree->nodes[i];
        struct saved_node saved = {.own = node->own,
                                   .calls = node->calls,
                                   .parent = node->parent,
                                   .name = tree_child(&names, 0, &node->mfa),
                                   .deep = node->deep,
                                   .doubtful = node->doubtful};
        memcpy(bytes + (i - 1) * sizeof saved, &saved, sizeof saved);
    }
    list = save_names(env, &names);
    if ((count && !bytes) || tree->lost || tree->starved || names.starved)
        list = 0;
    tree_free(&names);
    return list ? enif_make_tuple2(env, list, binary) : 0;
}

/* Returns the next process behind node AFTER; makes one if there is none. 0: no memory. */
static uint32_t take_process(struct tree *tree, uint32_t after, const struct mfa *name)
{
    uint32_t number = after + 1;

    while (number < tree->used && tree->nodes[number].parent)
        number++;
    if (number >= tree->used)
        number = tree_child(tree, 0, &(struct mfa){name->module, 0, 0});
    if (number)
        tree->nodes[number].mfa = *name;
    return number;
}

/* Adds SAVED. NUMBERS: numbers in TREE of the saved nodes before. Returns its number; 0: there is no
 * memory. */
static uint32_t take_node(struct tree *tree, const uint32_t *numbers, uint32_t *process,
                          const struct saved_node *saved, const struct mfa *name)
{
    uint32_t under = numbers[saved->parent], number;
    uint64_t lost = tree->lost, starved = tree->starved;

    if (!saved->parent) {
        number = *process = take_process(tree, *process, name);
    } else {
        number = tree_child(tree, under, name);
        if (number == under)
            tree->lost = lost + saved->calls;
    }
    if (!number || tree->starved != starved)
        return 0;
    tree->nodes[number].own += saved->own;
    tree->nodes[number].calls += saved->calls;
    tree->nodes[number].deep |= saved->deep && number != under;
    tree->nodes[number].doubtful |= saved->doubtful;
    return number;
}

/* Reads the list of names. NULL if it is damaged, or there is no memory. */
static struct mfa *take_names(ErlNifEnv *env, ERL_NIF_TERM list, unsigned *count)
{
    struct mfa *names = NULL;
    ERL_NIF_TERM head;

    if (!enif_get_list_length(env, list, count) || !(names = calloc(*count + 1, sizeof *names)))
        return NULL;
    for (unsigned i = 1; enif_get_list_cell(env, list, &head, &list); i++)
        if (!past_take_mfa(env, head, &names[i])) {
            free(names);
            return NULL;
        }
    return names;
}

bool tree_take(ErlNifEnv *env, struct tree *tree, ERL_NIF_TERM saved)
{
    const ERL_NIF_TERM *elements;
    struct saved_node node;
    struct mfa *names = NULL;
    uint32_t *numbers = NULL, process = 0;
    ErlNifBinary bytes;
    unsigned count = 0;
    size_t nodes = 0, i = 0;
    int size;

    if (enif_get_tuple(env, saved, &size, &elements) && size == 2 &&
        enif_inspect_binary(env, elements[1], &bytes)) {
        nodes = bytes.size / sizeof node;
        names = take_names(env, elements[0], &count);
        numbers = calloc(nodes + 1, sizeof *numbers);
    }
    for (; names && numbers && i < nodes; i++) {
        memcpy(&node, bytes.data + i * sizeof node, sizeof node);
        if (node.parent > i || node.name == 0 || node.name > count)
            break;
        numbers[i + 1] = take_node(tree, numbers, &process, &node, &names[node.name]);
        if (!numbers[i + 1])
            break;
    }
    free(numbers);
    free(names);
    return names && numbers && i == nodes;
}
