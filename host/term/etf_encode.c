/*
 * Writing external terms, byte for byte as OTP 25 does (with utf8_atoms: OTP 26), so that what was
 * read from a recording is written as it stood there.
 *
 * Without recursion: a frame says which part comes next, a stack keeps the frames around it.
 */
#include "etf_encoder.h"

#include "atom.h"
#include "make.h"
#include "map.h"

enum { STRING_MAX = 0xFFFF, NEAR_FRAMES = 32 };

/*
 * A container being written. Its parts stand STEP, TURN - STEP, STEP, ... words apart; those of a
 * list in its cells, SLOT being the cell of the next one.
 */
struct frame {
    const th_term *slot;
    size_t left;
    ptrdiff_t step;
    int turn;
    bool list;
    size_t patch; /* a fun: where its size goes; 0: none */
};

struct nesting {
    struct th_etf_encoder base;
    struct frame *frames; /* of the containers around the one being written */
    size_t depth, capacity;
    struct frame near[NEAR_FRAMES];
};

static void push(struct nesting *n, const struct frame *f)
{
    if (n->depth == n->capacity) {
        struct frame *more = th_alloc(2 * n->capacity * sizeof *more);
        memcpy(more, n->frames, n->capacity * sizeof *more);
        if (n->frames != n->near)
            th_free(n->frames);
        n->frames = more;
        n->capacity *= 2;
    }
    n->frames[n->depth++] = *f;
}

static struct frame run_of(const th_term *slot, size_t parts)
{
    return (struct frame){.slot = slot, .left = parts, .step = 1, .turn = 2};
}

/* Appends COUNT bytes, the heads of the cells from T on. */
static void write_string(struct th_etf_encoder *e, th_term t, size_t count)
{
    unsigned char *to;

    th_etf_tag16(e, TH_ETF_STRING, count);
    to = th_etf_reserve(e, count);
    for (size_t i = 0; i < count; i++, t = th_cell(t)[1])
        to[i] = (unsigned char)th_small_value(th_cell(t)[0]);
    e->out->size += count;
}

static bool is_byte(th_term t)
{
    return th_is_small(t) && t >> 4 <= UINT8_MAX;
}

static enum th_status open_list(struct th_etf_encoder *e, th_term t, struct frame *f)
{
    bool string = true;
    size_t count = 0;
    th_term tail;

    for (tail = t; th_is_list(tail); tail = th_cell(tail)[1]) {
        string = string && is_byte(th_cell(tail)[0]);
        count++;
    }
    if (string && tail == TH_NIL && count <= STRING_MAX) {
        write_string(e, t, count);
        *f = run_of(NULL, 0);
        return TH_OK;
    }
    if (count > UINT32_MAX)
        return th_etf_too_large("list", count, "elements");
    th_etf_tag32(e, TH_ETF_LIST, count);
    *f = (struct frame){.slot = th_cell(t), .left = count, .list = true};
    return TH_OK;
}

static enum th_status open_tuple(struct th_etf_encoder *e, th_term t, struct frame *f)
{
    size_t arity = th_tuple_arity(t);

    if (arity > UINT32_MAX)
        return th_etf_too_large("tuple", arity, "elements");
    if (arity <= UINT8_MAX)
        th_etf_tag8(e, TH_ETF_SMALL_TUPLE, (unsigned)arity);
    else
        th_etf_tag32(e, TH_ETF_LARGE_TUPLE, arity);
    *f = run_of(th_tuple_elements(t), arity);
    return TH_OK;
}

/* A large map is written from its last pair to the first, as OTP does. */
static enum th_status open_map(struct th_etf_encoder *e, th_term t, struct frame *f)
{
    size_t count = th_map_size(t);

    th_etf_tag32(e, TH_ETF_MAP, count); /* at most UINT32_MAX */
    *f = (struct frame){
        .slot = th_map_keys(t), .left = 2 * count, .step = (ptrdiff_t)th_map_stride(t), .turn = 1};
    if (count > TH_MAP_SMALL) {
        f->slot += count - 1;
        f->turn = -1;
    }
    return TH_OK;
}

/* The size comes first, and is known last. The parts from the old index on stand in a row. */
static enum th_status open_fun(struct th_etf_encoder *e, th_term t, struct frame *f)
{
    struct th_fun_parts fun;
    size_t patch = e->out->size + 1;

    th_get_fun(t, &fun);
    th_etf_tag32(e, TH_ETF_NEW_FUN, 0);
    th_buffer_add_byte(e->out, (unsigned char)fun.arity);
    th_etf_add(e, fun.unique, sizeof fun.unique);
    th_etf_add32(e, fun.index);
    th_etf_add32(e, (uint32_t)fun.free_count);
    *f = run_of(fun.free - 3, fun.free_count + 3);
    f->patch = patch;
    return th_etf_write_atom(e, fun.module);
}

/* Writes a list or a boxed term, or its beginning; then *F tells the rest. */
static enum th_status write_pointed(struct nesting *n, th_term t, struct frame *f)
{
    struct th_etf_encoder *e = &n->base;
    struct frame around = *f;
    enum th_status status;

    if (th_is_list(t))
        status = open_list(e, t, f);
    else if (th_is_tuple(t))
        status = open_tuple(e, t, f);
    else if (th_is_map(t))
        status = open_map(e, t, f);
    else if (th_term_is(t, TH_FUN))
        status = open_fun(e, t, f);
    else
        return th_etf_write_boxed(e, t);
    push(n, &around);
    return status;
}

static th_term next_part(struct frame *f)
{
    th_term t = f->slot[0];

    f->left--;
    if (!f->list) {
        f->slot += f->step;
        f->step = f->turn - f->step;
    } else if (f->left > 0) {
        f->slot = th_cell(f->slot[1]);
    } else {
        *f = run_of(&f->slot[1], 1);
    }
    return t;
}

static enum th_status close_fun(struct th_etf_encoder *e, const struct frame *f)
{
    size_t size = e->out->size - f->patch;

    if (size > UINT32_MAX)
        return th_etf_too_large("fun", size, "bytes");
    th_etf_put32(e->out->data + f->patch, (uint32_t)size);
    return TH_OK;
}

static enum th_status write_term(struct nesting *n, th_term t)
{
    struct frame f = run_of(&t, 1);
    enum th_status status = TH_OK;

    while (status == TH_OK) {
        if (f.left > 0) {
            th_term part = next_part(&f);
            status = th_is_immediate(part) ? th_etf_write_immediate(&n->base, part)
                                           : write_pointed(n, part, &f);
            continue;
        }
        if (f.patch > 0)
            status = close_fun(&n->base, &f);
        if (n->depth == 0)
            break;
        f = n->frames[--n->depth];
    }
    return status;
}

enum th_status th_etf_encode(struct th_buffer *out, th_term t, bool versioned,
                             const struct th_etf_options *options)
{
    struct th_etf_node here = options->here;
    struct nesting n;
    size_t before = out->size;
    enum th_status status;

    if (here.node == TH_NONE)
        here = (struct th_etf_node){TH_AM(nonode), 0};
    n.base = (struct th_etf_encoder){out, here, options->utf8_atoms, options->saving};
    n.frames = n.near;
    n.depth = 0;
    n.capacity = NEAR_FRAMES;
    if (versioned)
        th_buffer_add_byte(out, TH_ETF_VERSION);
    status = write_term(&n, t);
    if (n.frames != n.near)
        th_free(n.frames);
    if (status != TH_OK)
        out->size = before;
    return status;
}
