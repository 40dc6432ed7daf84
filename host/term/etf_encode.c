/*
 * Writes external terms, byte for byte as OTP 25 does (with utf8_atoms: OTP 26), so that terms of a
 * recording are written back as they were.
 *
 * No recursion: a frame has the next part, a stack keeps the outer frames.
 */
#include "atom.h"
#include "etf.h"
#include "etf_tags.h"
#include "make.h"
#include "map.h"
#include "stack.h"
#include "utf8.h"

#include "host/base/buffer.h"

enum { STRING_MAX = 0xFFFF, NEAR_FRAMES = 32 };

/*
 * A container that is being written. Its parts are STEP, TURN - STEP, STEP, ... words apart; for a
 * list, SLOT is the cell of the next part.
 */
struct frame {
    const th_term *slot;
    size_t left;
    ptrdiff_t step;
    int turn;
    bool list;
    size_t patch; /* a fun: position of its size field; 0: none */
};

struct encoder {
    struct th_buffer *out;
    struct th_etf_node here; /* node is never 0 */
    bool utf8_atoms;
    void (*saving)(th_term magic);
    struct th_stack stack; /* frames of the containers around the current one */
    struct frame near[NEAR_FRAMES];
};

/* Makes room for BYTES bytes; the caller adds the bytes that it fills to the size. */
static inline unsigned char *reserve(struct encoder *e, size_t bytes)
{
    struct th_buffer *out = e->out;

    return out->capacity - out->size < bytes ? th_buffer_reserve(out, bytes)
                                             : out->data + out->size;
}

/* Write a tag and the number that follows it. */
static inline void tag8(struct encoder *e, unsigned tag, unsigned x)
{
    unsigned char *to = reserve(e, 2);

    to[0] = (unsigned char)tag;
    to[1] = (unsigned char)x;
    e->out->size += 2;
}

static inline void tag16(struct encoder *e, unsigned tag, size_t x)
{
    unsigned char *to = reserve(e, 3);

    to[0] = (unsigned char)tag;
    th_etf_put16(to + 1, (uint16_t)x);
    e->out->size += 3;
}

static inline void tag32(struct encoder *e, unsigned tag, size_t x)
{
    unsigned char *to = reserve(e, 5);

    to[0] = (unsigned char)tag;
    th_etf_put32(to + 1, (uint32_t)x);
    e->out->size += 5;
}

static inline void etf_encode_add(struct encoder *e, const void *data, size_t bytes)
{
    if (bytes > 0)
        memcpy(reserve(e, bytes), data, bytes);
    e->out->size += bytes;
}

static inline void add32(struct encoder *e, uint32_t x)
{
    th_etf_put32(reserve(e, 4), x);
    e->out->size += 4;
}

/* --- Terms without parts ---------------------------------------------------------------------- */

/* The largest port number that OTP writes as NEW_PORT_EXT. */
enum { OLD_PORT_MAX = (1 << 28) - 1 };

/* Raises the error for a WHAT with SIZE units, more than 32 bits can count. */
__attribute__((cold)) static enum th_status too_large(const char *what, size_t size,
                                                      const char *unit)
{
    return th_error_raise(TH_FAILED, "a %s of %zu %s does not fit into an external term", what,
                          size, unit);
}

static enum th_status write_atom(struct encoder *e, th_term atom)
{
    const struct th_atom_name *name = th_atom_name(atom);
    bool latin1;
    uint32_t c = 0;

    if (!name)
        return th_error_raise(TH_FAILED, "there is no atom %u", th_atom_index(atom));
    latin1 = name->latin1 && !e->utf8_atoms;
    if (latin1)
        tag16(e, TH_ETF_ATOM, name->characters);
    else if (name->bytes <= UINT8_MAX)
        tag8(e, TH_ETF_SMALL_ATOM_UTF8, name->bytes);
    else
        tag16(e, TH_ETF_ATOM_UTF8, name->bytes);
    if (!latin1 || name->bytes == name->characters) {
        etf_encode_add(e, name->text, name->bytes);
        return TH_OK;
    }
    reserve(e, name->characters);
    for (size_t i = 0; i < name->bytes;) {
        i += th_utf8_get(name->text + i, name->bytes - i, &c);
        e->out->data[e->out->size++] = (unsigned char)c;
    }
    return TH_OK;
}

/* Writes an integer that is not 0, as the bytes of its magnitude. */
static enum th_status write_limbs(struct encoder *e, th_term t)
{
    struct th_limbs n;
    size_t bytes;
    unsigned char *to;

    th_get_limbs(t, &n);
    if (n.count > UINT32_MAX / 8)
        return too_large("integer", 8 * n.count, "bytes");
    bytes = 8 * n.count - (size_t)__builtin_clzll(n.limbs[n.count - 1]) / 8;
    if (bytes <= UINT8_MAX)
        tag8(e, TH_ETF_SMALL_BIG, (unsigned)bytes);
    else
        tag32(e, TH_ETF_LARGE_BIG, bytes);
    to = reserve(e, 1 + 8 * n.count);
    *to++ = n.negative;
    for (size_t i = 0; i < n.count; i++, to += 8) {
        uint64_t limb = htole64(n.limbs[i]);
        memcpy(to, &limb, sizeof limb);
    }
    e->out->size += 1 + bytes;
    return TH_OK;
}

static void write_small(struct encoder *e, th_term t)
{
    int64_t i = th_small_value(t);

    if (i >= 0 && i <= UINT8_MAX)
        tag8(e, TH_ETF_SMALL_INTEGER, (unsigned)i);
    else if (i >= INT32_MIN && i <= INT32_MAX)
        tag32(e, TH_ETF_INTEGER, (uint32_t)i);
    else
        write_limbs(e, t);
}

static enum th_status write_bits(struct encoder *e, th_term t)
{
    const unsigned char *data;
    size_t bits, bytes;

    data = th_bits_data(t);
    bits = th_bits_size(t);
    bytes = bits / 8 + (bits % 8 != 0);
    if (bytes > UINT32_MAX)
        return too_large("binary", bytes, "bytes");
    if (bits % 8 == 0) {
        tag32(e, TH_ETF_BINARY, bytes);
        etf_encode_add(e, data, bytes);
        return TH_OK;
    }
    tag32(e, TH_ETF_BIT_BINARY, bytes);
    th_buffer_add_byte(e->out, bits % 8);
    etf_encode_add(e, data, bytes);
    e->out->data[e->out->size - 1] &= (unsigned char)(0xFF00u >> bits % 8);
    return TH_OK;
}

/* Writes the node's atom; *CREATION gets the creation of this node if NODE is this node. */
static enum th_status write_node(struct encoder *e, th_term node, uint32_t *creation)
{
    if (node == TH_NONE) {
        node = e->here.node;
        *creation = e->here.creation;
    }
    return write_atom(e, node);
}

static enum th_status write_pid_or_port(struct encoder *e, th_term t)
{
    struct th_pid_parts pid;
    struct th_port_parts port;
    enum th_status status;
    unsigned tag = TH_ETF_NEW_PID;

    if (th_get_pid(t, &pid)) {
        port =
            (struct th_port_parts){pid.node, pid.creation, (uint64_t)pid.number << 32 | pid.serial};
    } else {
        th_get_port(t, &port);
        tag = port.id > OLD_PORT_MAX || e->utf8_atoms ? TH_ETF_V4_PORT : TH_ETF_NEW_PORT;
    }
    th_buffer_add_byte(e->out, (unsigned char)tag);
    status = write_node(e, port.node, &port.creation);
    if (tag != TH_ETF_NEW_PORT)
        add32(e, (uint32_t)(port.id >> 32));
    add32(e, (uint32_t)port.id);
    add32(e, port.creation);
    return status;
}

static enum th_status write_reference(struct encoder *e, th_term t)
{
    struct th_ref_parts ref;
    enum th_status status;

    th_get_ref(t, &ref);
    if (ref.magic && e->saving)
        e->saving(t);
    tag16(e, TH_ETF_NEWER_REFERENCE, ref.count);
    status = write_node(e, ref.node, &ref.creation);
    add32(e, ref.creation);
    for (size_t i = 0; i < ref.count; i++)
        add32(e, ref.words[i]);
    return status;
}

static enum th_status write_export(struct encoder *e, th_term t)
{
    const th_term *words = th_term_box(t);
    enum th_status status;

    th_buffer_add_byte(e->out, TH_ETF_EXPORT);
    status = write_atom(e, words[1]);
    if (status == TH_OK)
        status = write_atom(e, words[2]);
    write_small(e, words[3]);
    return status;
}

static enum th_status no_term(th_term t)
{
    return th_error_raise(TH_FAILED, "the word %#llx is not a term", (unsigned long long)t);
}

static enum th_status write_boxed(struct encoder *e, th_term t)
{
    if (!th_is_boxed(t))
        return no_term(t);
    switch (th_term_subtag(t)) {
    case TH_POS_BIG:
    case TH_NEG_BIG:
        return write_limbs(e, t);
    case TH_REF:
        return write_reference(e, t);
    case TH_FLOAT:
        th_buffer_add_byte(e->out, TH_ETF_NEW_FLOAT);
        th_etf_put64(reserve(e, 8), th_term_box(t)[1]);
        e->out->size += 8;
        return TH_OK;
    case TH_EXPORT:
        return write_export(e, t);
    case TH_SHARED_BINARY:
    case TH_HEAP_BINARY:
    case TH_SUB_BINARY:
        return write_bits(e, t);
    case TH_EXTERNAL_PID:
    case TH_EXTERNAL_PORT:
        return write_pid_or_port(e, t);
    default:
        return no_term(t);
    }
}

static enum th_status write_immediate(struct encoder *e, th_term t)
{
    if (th_is_small(t))
        write_small(e, t);
    else if (th_is_atom(t))
        return write_atom(e, t);
    else if (t == TH_NIL)
        th_buffer_add_byte(e->out, TH_ETF_NIL);
    else if (th_is_local_pid(t) || th_is_local_port(t))
        return write_pid_or_port(e, t);
    else
        return no_term(t);
    return TH_OK;
}

/* --- Terms with parts ------------------------------------------------------------------------- */

static struct frame etf_encode_run_of(const th_term *slot, size_t parts)
{
    return (struct frame){.slot = slot, .left = parts, .step = 1, .turn = 2};
}

/* Opens a list. A list of up to STRING_MAX bytes has no parts but the bytes. */
static enum th_status etf_encode_open_list(struct encoder *e, th_term t, struct frame *f)
{
    bool string = true;
    size_t count = 0;
    unsigned char *to;
    th_term tail;

    for (tail = t; th_is_list(tail); tail = th_cell(tail)[1]) {
        th_term head = th_cell(tail)[0];
        string = string && th_is_small(head) && head >> 4 <= UINT8_MAX;
        count++;
    }
    if (!string || tail != TH_NIL || count > STRING_MAX) {
        if (count > UINT32_MAX)
            return too_large("list", count, "elements");
        tag32(e, TH_ETF_LIST, count);
        *f = (struct frame){.slot = th_cell(t), .left = count, .list = true};
        return TH_OK;
    }
    tag16(e, TH_ETF_STRING, count);
    to = reserve(e, count);
    for (size_t i = 0; i < count; i++, t = th_cell(t)[1])
        to[i] = (unsigned char)th_small_value(th_cell(t)[0]);
    e->out->size += count;
    *f = etf_encode_run_of(NULL, 0);
    return TH_OK;
}

/* Opens a fun. Its size comes first, and is known last. The parts from the old index on are
 * contiguous. */
static enum th_status etf_encode_open_fun(struct encoder *e, th_term t, struct frame *f)
{
    struct th_fun_parts fun;
    size_t patch = e->out->size + 1;

    th_get_fun(t, &fun);
    tag32(e, TH_ETF_NEW_FUN, 0);
    th_buffer_add_byte(e->out, (unsigned char)fun.arity);
    etf_encode_add(e, fun.unique, sizeof fun.unique);
    add32(e, fun.index);
    add32(e, (uint32_t)fun.free_count);
    *f = etf_encode_run_of(fun.free - 3, fun.free_count + 3);
    f->patch = patch;
    return write_atom(e, fun.module);
}

/* Writes a list or a boxed term, or its beginning; *F is the frame of the rest. */
static enum th_status write_pointed(struct encoder *e, th_term t, struct frame *f)
{
    struct frame around = *f;
    enum th_status status = TH_OK;
    size_t count;

    if (th_is_list(t)) {
        status = etf_encode_open_list(e, t, f);
    } else if (th_is_tuple(t)) {
        count = th_tuple_arity(t);
        if (count > UINT32_MAX)
            return too_large("tuple", count, "elements");
        if (count <= UINT8_MAX)
            tag8(e, TH_ETF_SMALL_TUPLE, (unsigned)count);
        else
            tag32(e, TH_ETF_LARGE_TUPLE, count);
        *f = etf_encode_run_of(th_tuple_elements(t), count);
    } else if (th_is_map(t)) {
        bool large = th_map_size(t) > TH_MAP_SMALL; /* from the last pair on, as OTP does */

        count = th_map_size(t);
        tag32(e, TH_ETF_MAP, count); /* at most UINT32_MAX */
        *f = (struct frame){.slot = th_map_keys(t) + (large ? count - 1 : 0),
                            .left = 2 * count,
                            .step = (ptrdiff_t)th_map_stride(t),
                            .turn = large ? -1 : 1};
    } else if (th_term_is(t, TH_FUN)) {
        status = etf_encode_open_fun(e, t, f);
    } else {
        return write_boxed(e, t);
    }
    *(struct frame *)th_stack_push(&e->stack, sizeof around) = around;
    return status;
}

static enum th_status write_term(struct encoder *e, th_term t)
{
    struct frame f = etf_encode_run_of(&t, 1);
    enum th_status status = TH_OK;

    while (status == TH_OK) {
        if (f.left > 0) {
            th_term part = f.slot[0];

            f.left--;
            if (!f.list) {
                f.slot += f.step;
                f.step = f.turn - f.step;
            } else if (f.left > 0) {
                f.slot = th_cell(f.slot[1]);
            } else {
                f = etf_encode_run_of(&f.slot[1], 1);
            }
            status = th_is_immediate(part) ? write_immediate(e, part) : write_pointed(e, part, &f);
            continue;
        }
        if (f.patch > 0) {
            size_t size = e->out->size - f.patch;

            if (size > UINT32_MAX)
                return too_large("fun", size, "bytes");
            th_etf_put32(e->out->data + f.patch, (uint32_t)size);
        }
        if (e->stack.depth == 0)
            break;
        f = *(struct frame *)th_stack_top(&e->stack, sizeof f);
        e->stack.depth--;
    }
    return status;
}

enum th_status th_etf_encode(struct th_buffer *out, th_term t, bool versioned,
                             const struct th_etf_options *options)
{
    struct encoder e; /* not cleared: most of it is frames */
    size_t before = out->size;
    enum th_status status;

    e.out = out;
    e.here = options->here;
    if (e.here.node == TH_NONE)
        e.here = (struct th_etf_node){TH_AM(nonode), 0};
    e.utf8_atoms = options->utf8_atoms;
    e.saving = options->saving;
    th_stack_begin(&e.stack, e.near, NEAR_FRAMES);
    if (versioned)
        th_buffer_add_byte(out, TH_ETF_VERSION);
    status = write_term(&e, t);
    th_stack_end(&e.stack);
    if (status != TH_OK)
        out->size = before;
    return status;
}
