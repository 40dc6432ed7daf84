/* I/O data. A list is walked with a stack of the tails that wait: depth costs only memory. */
#include "make.h"
#include "stack.h"

enum { FIRST_TAILS = 32 };

struct walk {
    unsigned char *to; /* NULL: only count */
    size_t size;
    struct th_stack tails; /* of terms */
    th_term first[FIRST_TAILS];
};

/* Adds a binary. False for other terms. */
static bool add_binary(struct walk *walk, th_term t)
{
    const unsigned char *data;
    size_t size;

    if (!th_get_bytes(t, &data, &size))
        return false;
    if (walk->to && size > 0)
        memcpy(walk->to + walk->size, data, size);
    walk->size += size;
    return true;
}

/* Adds one list up to its first element that is a list. That element is next; the rest waits. */
static bool add_cells(struct walk *walk, th_term *list)
{
    while (th_is_list(*list)) {
        const th_term *cell = th_cell(*list);
        *list = cell[1];
        if ((cell[0] & ~(th_term)0xFF0) == TH_TAG_SMALL) { /* a byte */
            if (walk->to)
                walk->to[walk->size] = (unsigned char)th_small_value(cell[0]);
            walk->size++;
            continue;
        }
        if (th_is_list(cell[0])) {
            if (cell[1] != TH_NIL)
                *(th_term *)th_stack_push(&walk->tails, sizeof(th_term)) = cell[1];
            *list = cell[0];
        } else if (cell[0] != TH_NIL && !add_binary(walk, cell[0])) {
            return false;
        }
    }
    return *list == TH_NIL || add_binary(walk, *list);
}

static bool iodata_add_all(struct walk *walk, th_term t)
{
    bool good;

    walk->size = 0;
    th_stack_begin(&walk->tails, walk->first, FIRST_TAILS);
    good = add_cells(walk, &t);
    while (good && walk->tails.depth > 0) {
        t = *(th_term *)th_stack_top(&walk->tails, sizeof t);
        walk->tails.depth--;
        good = add_cells(walk, &t);
    }
    th_stack_end(&walk->tails);
    return good;
}

bool th_term_iodata_size(th_term t, size_t *size)
{
    struct walk walk;

    walk.to = NULL;
    if (!iodata_add_all(&walk, t))
        return false;
    *size = walk.size;
    return true;
}

void th_term_iodata_copy(th_term t, unsigned char *to)
{
    struct walk walk;

    walk.to = to;
    iodata_add_all(&walk, t);
}
