/*
 * I/O lists as binaries.
 *
 * An I/O list is [] or a list of bytes, binaries and I/O lists whose tail may be a binary. It is
 * walked twice, to measure and to copy, with a stack of the tails that wait: depth costs memory
 * only.
 */
#include "nif.h"

#include "host/base/base.h"

struct walk {
    unsigned char *to; /* NULL: only measure */
    size_t size;
    th_term *tails;
    size_t count, capacity;
};

static void add(struct walk *walk, const unsigned char *data, size_t size)
{
    if (walk->to && size > 0)
        memcpy(walk->to + walk->size, data, size);
    walk->size += size;
}

static bool add_binary(struct walk *walk, th_term t)
{
    const unsigned char *data;
    size_t size;

    if (!th_get_bytes(t, &data, &size))
        return false;
    add(walk, data, size);
    return true;
}

static bool add_byte(struct walk *walk, th_term t)
{
    unsigned char byte = (unsigned char)th_small_value(t);

    if (!th_is_small(t) || th_small_value(t) < 0 || th_small_value(t) > 255)
        return false;
    add(walk, &byte, 1);
    return true;
}

/* Adds one list up to its first element that is a list; that one is next, the rest waits. */
static bool add_cells(struct walk *walk, th_term *list)
{
    while (th_is_list(*list)) {
        const th_term *cell = th_cell(*list);
        *list = cell[1];
        if (th_is_list(cell[0])) {
            TH_ARRAY_GROW(walk->tails, walk->count, walk->capacity);
            walk->tails[walk->count++] = cell[1];
            *list = cell[0];
        } else if (cell[0] != TH_NIL && !add_byte(walk, cell[0]) && !add_binary(walk, cell[0])) {
            return false;
        }
    }
    return *list == TH_NIL || add_binary(walk, *list);
}

static bool add_all(struct walk *walk, th_term list)
{
    bool good = add_cells(walk, &list);

    while (good && walk->count > 0) {
        list = walk->tails[--walk->count];
        good = add_cells(walk, &list);
    }
    return good;
}

/* The bytes of a list lie in the environment's heap, and are good as long as a term of it. */
static int inspect_list(ErlNifEnv *env, th_term list, ErlNifBinary *bin)
{
    struct walk walk = {0};
    bool good = add_all(&walk, list);

    if (good) {
        *bin = (ErlNifBinary){.size = walk.size};
        th_make_heap_binary(env, walk.size * 8, &bin->data);
        walk.to = bin->data;
        walk.size = 0;
        add_all(&walk, list);
    }
    th_free(walk.tails);
    return good;
}

int enif_inspect_iolist_as_binary(ErlNifEnv *env, ERL_NIF_TERM term, ErlNifBinary *bin)
{
    if (th_is_list(term) || term == TH_NIL)
        return inspect_list(env, term, bin);
    return enif_inspect_binary(env, term, bin);
}
