/*
 * Reads external terms.
 *
 * One pass, without recursion. A container is made with all its places when its tag is read; a
 * frame has the place of the next term. A stack keeps the frames of the outer containers, the first
 * ones in the decoder itself, so that terms of usual depth need only the environment's memory.
 *
 * Memory stays proportional to the input because parts are counted before memory is allocated. Each
 * part takes at least a byte, so all announced parts together cannot exceed the number of input
 * bytes. The rest of that number is the budget; a container that announces more is refused. (A
 * check of each container against the bytes behind it is not enough: in a chain of tuples, each may
 * announce as many parts as bytes are left, which makes memory for the square of that.)
 */
#include "atom.h"
#include "etf_decoder.h"
#include "make.h"
#include "map.h"
#include "map_internal.h"
#include "stack.h"
#include "term_internal.h"

#include "host/base/memory.h"

#include <stdarg.h>

/* The action after the last part of a container. */
enum kind {
    PLAIN,  /* none */
    LIST,   /* its tail follows */
    MAP,    /* sort and compare the keys */
    FUN,    /* check the types of the parts */
    EXPORT, /* check the arity */
};

/*
 * A container that is being filled. The places of its parts are STEP, TURN - STEP, STEP, ... words
 * apart: one word in tuples, two in lists (the heads of the cells), alternately between keys and
 * values in maps.
 */
struct frame {
    th_term *slot; /* for the next part */
    size_t left;   /* parts to come */
    ptrdiff_t step;
    int turn;
    enum kind kind;
    th_term *home;            /* the place of the container itself */
    const unsigned char *tag; /* its place in the input */
};

enum {
    NEAR_FRAMES = 32,
    MOST_FREE = 255,
    LEAF_WORDS = 16 /* upper bound for a short term without parts */
};

struct nesting {
    struct th_etf_decoder base;
    size_t budget; /* parts that may still be announced */
    struct frame opened;
    struct th_stack stack; /* frames of the containers around the current one */
    struct frame near[NEAR_FRAMES];
};

const unsigned char *th_etf_fault(const struct th_etf_decoder *d, const unsigned char *tag,
                                  const char *format, ...)
{
    const char *name = th_etf_shapes[tag[0]].name;
    char why[256];
    va_list args;

    va_start(args, format);
    vsnprintf(why, sizeof why, format, args);
    va_end(args);
    th_error_raise(TH_MALFORMED, "external term, byte %td, tag %u%s%s%s: %s", tag - d->data, tag[0],
                   name ? " (" : "", name ? name : "", name ? ")" : "", why);
    return NULL;
}

const unsigned char *th_etf_cut_off(const struct th_etf_decoder *d, const unsigned char *tag)
{
    return th_etf_fault(d, tag, "truncated after %td bytes", d->end - tag);
}

__attribute__((cold)) static const unsigned char *ends_early(const struct th_etf_decoder *d)
{
    th_error_raise(TH_MALFORMED, "external term: truncated at byte %td, where a tag is expected",
                   d->end - d->data);
    return NULL;
}

__attribute__((noinline)) static bool grow(struct nesting *n, const unsigned char *tag)
{
    if (n->stack.capacity >= TH_ETF_DEPTH)
        return th_etf_fault(&n->base, tag, "nested deeper than %d", TH_ETF_DEPTH);
    return th_stack_try_grow(&n->stack, sizeof(struct frame));
}

static inline bool etf_decode_push(struct nesting *n, const struct frame *f,
                                   const unsigned char *tag)
{
    if (n->stack.depth == n->stack.capacity && !grow(n, tag))
        return false;
    *(struct frame *)th_stack_push(&n->stack, sizeof *f) = *f;
    return true;
}

static inline bool promise(struct nesting *n, const unsigned char *tag, size_t parts)
{
    if (parts > n->budget)
        return th_etf_fault(&n->base, tag,
                            "the term has %zu parts, more than the bytes after the tag can hold",
                            parts);
    n->budget -= parts;
    return true;
}

static inline struct frame etf_decode_run_of(th_term *slot, size_t parts, enum kind kind,
                                             th_term *home, const unsigned char *tag)
{
    return (struct frame){slot, parts, 1, 2, kind, home, tag};
}

static inline bool open_tuple(struct nesting *n, const unsigned char *tag, size_t arity,
                              th_term *home, struct frame *f)
{
    th_term *words;

    if (!promise(n, tag, arity))
        return false;
    words = th_env_try(n->base.env, arity + 1);
    if (!words)
        return false;
    words[0] = th_header(TH_TUPLE, arity);
    *home = th_boxed(words);
    *f = etf_decode_run_of(words + 1, arity, PLAIN, home, tag);
    return true;
}

/* Opens a list. A list without elements is its tail. */
static const unsigned char *etf_decode_open_list(struct nesting *n, const unsigned char *tag,
                                                 th_term *home)
{
    size_t count = th_etf_get32(tag + 1);
    th_term *cells;

    if (!promise(n, tag, count + 1))
        return NULL;
    if (count == 0) {
        n->opened = etf_decode_run_of(home, 1, PLAIN, home, tag);
        return tag + 5;
    }
    cells = th_env_try(n->base.env, 2 * count);
    if (!cells)
        return NULL;
    for (size_t i = 1; i < count; i++)
        cells[2 * i - 1] = th_listed(cells + 2 * i);
    *home = th_listed(cells);
    n->opened = (struct frame){cells, count, 2, 4, LIST, home, tag};
    return tag + 5;
}

/*
 * The pairs go to words of their own, all keys before all values, as th_make_map() needs them. OTP
 * writes the pairs of a large map from the last to the first, in terms of the order in which it
 * lists and prints them; the decoder restores that order.
 */
static const unsigned char *open_map(struct nesting *n, const unsigned char *tag, th_term *home)
{
    size_t count = th_etf_get32(tag + 1);
    th_term *pairs;

    if (!promise(n, tag, 2 * count))
        return NULL;
    pairs = count > 0 ? th_env_try(n->base.env, 2 * count) : home;
    if (!pairs)
        return NULL;
    n->opened = (struct frame){pairs, 2 * count, (ptrdiff_t)count, 1, MAP, home, tag};
    if (count > TH_MAP_SMALL) {
        n->opened.slot += count - 1;
        n->opened.turn = -1;
    }
    return tag + 5;
}

static const unsigned char *etf_decode_read_name(struct nesting *n, const unsigned char *tag,
                                                 const unsigned char *at, th_term *atom)
{
    return at < n->base.end ? th_etf_read_atom_fast(&n->base, at, atom)
                            : th_etf_cut_off(&n->base, tag);
}

/* Opens a fun; word.h has its words. The decoder, like the BEAM, ignores the size field. */
static const unsigned char *etf_decode_open_fun(struct nesting *n, const unsigned char *tag,
                                                th_term *home)
{
    size_t free = th_etf_get32(tag + 26);
    const unsigned char *at;
    th_term module;
    th_term *words;

    if (free > MOST_FREE)
        return th_etf_fault(&n->base, tag, "the fun has %zu free variables, more than %d", free,
                            MOST_FREE);
    if (!promise(n, tag, free + 4))
        return NULL;
    at = etf_decode_read_name(n, tag, tag + 30, &module);
    if (!at)
        return NULL;
    words = th_env_try(n->base.env, free + 8);
    if (!words)
        return NULL;
    words[0] = th_header(TH_FUN, free + 7);
    words[1] = module;
    words[2] = tag[5] | (uint64_t)th_etf_get32(tag + 22) << 32;
    memcpy(words + 3, tag + 6, 16);
    *home = th_boxed(words);
    n->opened = etf_decode_run_of(words + 5, free + 3, FUN, home, tag);
    return at;
}

static const unsigned char *open_export(struct nesting *n, const unsigned char *tag, th_term *home)
{
    const unsigned char *at;
    th_term *words;

    if (!promise(n, tag, 3))
        return NULL;
    words = th_env_try(n->base.env, 4);
    if (!words)
        return NULL;
    words[0] = th_header(TH_EXPORT, 3);
    *home = th_boxed(words);
    at = etf_decode_read_name(n, tag, tag + 1, &words[1]);
    if (at)
        at = etf_decode_read_name(n, tag, at, &words[2]);
    n->opened = etf_decode_run_of(words + 3, 1, EXPORT, home, tag);
    return at;
}

/* Opens any container but a small tuple, with its frame in `opened`. */
__attribute__((noinline)) static const unsigned char *
open_container(struct nesting *n, const unsigned char *tag, th_term *home)
{
    switch (tag[0]) {
    case TH_ETF_LIST:
        return etf_decode_open_list(n, tag, home);
    case TH_ETF_MAP:
        return open_map(n, tag, home);
    case TH_ETF_NEW_FUN:
        return etf_decode_open_fun(n, tag, home);
    case TH_ETF_EXPORT:
        return open_export(n, tag, home);
    default:
        return open_tuple(n, tag, th_etf_get32(tag + 1), home, &n->opened) ? tag + 5 : NULL;
    }
}

__attribute__((noinline)) static bool close_container(struct th_etf_decoder *d, struct frame f)
{
    struct th_fun_parts fun;
    const th_term *keys;
    size_t count;
    int64_t arity;

    switch (f.kind) {
    case MAP:
        /* After an even number of parts, STEP is the number of pairs again, and SLOT is at the
         * first value; backwards, before the first key. */
        count = (size_t)f.step;
        keys = f.turn > 0 ? f.slot - count : f.slot + 1;
        if (!th_env_room(d->env, th_map_room(keys, count)))
            return false;
        *f.home = th_make_map(d->env, keys, keys + count, count, false);
        return *f.home != TH_NONE || th_etf_fault(d, f.tag, "a key is twice in the map");
    case FUN:
        th_get_fun(*f.home, &fun);
        if (!th_is_small(fun.old_index) || !th_is_small(fun.old_unique))
            return th_etf_fault(d, f.tag, "the fun's old index and unique value must be integers");
        return th_is_pid(fun.creator) || th_etf_fault(d, f.tag, "the fun's creator must be a pid");
    case EXPORT:
        arity = th_is_small(f.slot[-1]) ? th_small_value(f.slot[-1]) : -1;
        return (arity >= 0 && arity <= UINT32_MAX) ||
               th_etf_fault(d, f.tag, "the fun's arity must be an integer from 0 to %u",
                            UINT32_MAX);
    default:
        return true;
    }
}

/* Reads the elements of a list that are integers with TAG, of BYTES bytes each, up to the first other
 * element: long lists of integers are frequent. Returns the address behind them. */
static inline const unsigned char *read_run(const struct th_etf_decoder *d, const unsigned char *at,
                                            struct frame *f, unsigned char tag, size_t bytes)
{
    th_term *slot = f->slot;
    size_t left = f->left;

    for (; left > 0 && th_etf_left(d, at) >= bytes && at[0] == tag; at += bytes) {
        *slot = th_small(tag == TH_ETF_INTEGER ? (int32_t)th_etf_get32(at + 1) : at[1]);
        slot += 2;
        left--;
    }
    f->slot = slot;
    f->left = left;
    return at;
}

/* Reads the term at AT into ROOT. Returns the address behind the term, NULL after an error. */
static const unsigned char *etf_decode_read_term(struct nesting *n, const unsigned char *at,
                                                 th_term *root)
{
    struct th_etf_decoder *d = &n->base;
    struct frame f = etf_decode_run_of(root, 1, PLAIN, root, at);

    for (;;) {
        th_term *slot = f.slot;
        if (f.left == 0) {
            if (f.kind == LIST) {
                f = etf_decode_run_of(slot - 1, 1, PLAIN, f.home, f.tag);
                continue;
            }
            if (f.kind != PLAIN && !close_container(d, f))
                return NULL;
            if (n->stack.depth == 0)
                return at;
            f = *(struct frame *)th_stack_top(&n->stack, sizeof f);
            n->stack.depth--;
            continue;
        }
        if (at == d->end)
            return ends_early(d);
        if (th_etf_left(d, at) < th_etf_shapes[*at].head)
            return th_etf_cut_off(d, at);
        f.left--;
        f.slot += f.step;
        f.step = f.turn - f.step;
        switch (*at) {
        case TH_ETF_SMALL_INTEGER:
            *slot = th_small(at[1]);
            at += 2;
            if (f.kind == LIST)
                at = read_run(d, at, &f, TH_ETF_SMALL_INTEGER, 2);
            break;
        case TH_ETF_INTEGER:
            *slot = th_small((int32_t)th_etf_get32(at + 1));
            at += 5;
            if (f.kind == LIST)
                at = read_run(d, at, &f, TH_ETF_INTEGER, 5);
            break;
        case TH_ETF_NIL:
            *slot = TH_NIL;
            at++;
            break;
        case TH_ETF_ATOM:
        case TH_ETF_SMALL_ATOM_UTF8:
            at = th_etf_read_atom_fast(d, at, slot);
            break;
        case TH_ETF_SMALL_TUPLE:
            if (!etf_decode_push(n, &f, at) || !open_tuple(n, at, at[1], slot, &f))
                return NULL;
            at += 2;
            break;
        case TH_ETF_LARGE_TUPLE:
        case TH_ETF_LIST:
        case TH_ETF_MAP:
        case TH_ETF_NEW_FUN:
        case TH_ETF_EXPORT:
            at = etf_decode_push(n, &f, at) ? open_container(n, at, slot) : NULL;
            f = n->opened;
            break;
        default:
            at = th_env_room(d->env, LEAF_WORDS) ? th_etf_read_leaf(d, at, slot) : NULL;
            break;
        }
        if (!at)
            return NULL;
    }
}

/* Decodes the term at AT. Offsets in errors count from DATA. */
static enum th_status etf_decode_decode(th_env *env, const unsigned char *data,
                                        const unsigned char *at, size_t size,
                                        const struct th_etf_options *options, th_term *term,
                                        size_t *used)
{
    struct th_etf_node here = options->here;
    struct nesting n;
    const unsigned char *behind;
    th_term result;

    if (here.node == TH_NONE)
        here = (struct th_etf_node){TH_AM(nonode), 0};
    n.base = (struct th_etf_decoder){env,           data,           at + size,       here,
                                     options->safe, th_etf_cache(), options->finding};
    n.budget = size - (size > 0);
    th_stack_begin(&n.stack, n.near, NEAR_FRAMES);
    behind = etf_decode_read_term(&n, at, &result);
    th_stack_try_end(&n.stack, sizeof(struct frame));
    if (!behind)
        return th_error_status();
    *term = result;
    *used = (size_t)(behind - at);
    return TH_OK;
}

enum th_status th_etf_decode(th_env *env, const unsigned char *data, size_t size, bool versioned,
                             const struct th_etf_options *options, th_term *term, size_t *used)
{
    unsigned char *inflated;
    size_t lead = 1, inflated_size, packed, ignored;
    enum th_status status;

    if (!versioned)
        return etf_decode_decode(env, data, data, size, options, term, used);
    if (size == 0)
        return th_error_raise(TH_MALFORMED, "external term: there are no bytes");
    if (data[0] != TH_ETF_VERSION)
        return th_error_raise(TH_MALFORMED, "external term: begins with byte %u instead of %d",
                              data[0], TH_ETF_VERSION);
    if (size == 1 || data[1] != TH_ETF_COMPRESSED) {
        status = etf_decode_decode(env, data, data + lead, size - lead, options, term, used);
        if (status == TH_OK)
            *used += lead;
        return status;
    }

    /* Compressed. The decoder, like the BEAM, ignores inflated bytes behind the term. */
    lead = 2;
    status = th_etf_inflate(data + lead, size - lead, options->inflate_limit, &inflated,
                            &inflated_size, &packed);
    if (status != TH_OK)
        return status;
    status = etf_decode_decode(env, inflated, inflated, inflated_size, options, term, &ignored);
    th_try_free(inflated, inflated_size + 1);
    if (status != TH_OK)
        return th_error_context("in a compressed term of %zu bytes, %zu inflated", packed,
                                inflated_size);
    *used = lead + packed;
    return TH_OK;
}

/* --- The fast path for {Atom, Atom, SmallInteger} --------------------------------------------- */

enum {
    LEAST_MFA = 2 + 2 * 2 + 2 /* bytes: the tag of a tuple, two empty atoms, an integer */
};

size_t th_etf_decode_mfa(th_env *env, const unsigned char *data, size_t size, th_term *term)
{
    struct th_etf_decoder d = {.data = data, .end = data + size, .cache = th_etf_cache()};
    const unsigned char *at = data + 2;
    th_term atoms[2], *words;

    if (size < LEAST_MFA || data[0] != TH_ETF_SMALL_TUPLE || data[1] != 3)
        return 0;
    for (int i = 0; i < 2; i++) {
        if (th_etf_left(&d, at) < 3 || (at[0] != TH_ETF_ATOM && at[0] != TH_ETF_SMALL_ATOM_UTF8))
            return 0;
        at = th_etf_read_atom_fast(&d, at, &atoms[i]);
        if (!at) {
            th_error_clear();
            return 0;
        }
    }
    if (th_etf_left(&d, at) < 2 || at[0] != TH_ETF_SMALL_INTEGER)
        return 0;
    words = th_env_take(env, 4);
    words[0] = th_header(TH_TUPLE, 3);
    words[1] = atoms[0];
    words[2] = atoms[1];
    words[3] = th_small(at[1]);
    *term = th_boxed(words);
    return (size_t)(at + 2 - data);
}
