/* External terms that have no parts: atoms, numbers, bit strings, identifiers, exports. */
#include "etf_encoder.h"

#include "atom.h"
#include "make.h"
#include "utf8.h"

/* Of what NEW_PORT_EXT has room for, the part that OTP writes so. */
enum { OLD_PORT_MAX = (1 << 28) - 1 };

enum th_status th_etf_too_large(const char *what, size_t size, const char *unit)
{
    return th_error_raise(TH_FAILED, "no external term has room for a %s of %zu %s", what, size,
                          unit);
}

/* A name in Latin-1, from UTF-8 that has no character above 255. */
static void add_latin1(struct th_etf_encoder *e, const struct th_atom_name *name)
{
    unsigned char *to = th_etf_reserve(e, name->characters);
    uint32_t c = 0;

    for (size_t i = 0; i < name->bytes; e->out->size++) {
        i += th_utf8_get(name->text + i, name->bytes - i, &c);
        *to++ = (unsigned char)c;
    }
}

static void write_atom(struct th_etf_encoder *e, const struct th_atom_name *name)
{
    bool latin1 = name->latin1 && !e->utf8_atoms;

    if (latin1)
        th_etf_tag16(e, TH_ETF_ATOM, name->characters);
    else if (name->bytes <= UINT8_MAX)
        th_etf_tag8(e, TH_ETF_SMALL_ATOM_UTF8, name->bytes);
    else
        th_etf_tag16(e, TH_ETF_ATOM_UTF8, name->bytes);
    if (latin1 && name->bytes != name->characters)
        add_latin1(e, name);
    else
        th_etf_add(e, name->text, name->bytes);
}

enum th_status th_etf_write_atom(struct th_etf_encoder *e, th_term atom)
{
    const struct th_atom_name *name = th_atom_name(atom);

    if (!name)
        return th_error_raise(TH_FAILED, "there is no atom %u", th_atom_index(atom));
    write_atom(e, name);
    return TH_OK;
}

/* The bytes of a magnitude, from its limbs. */
static void write_limbs(struct th_etf_encoder *e, const uint64_t *limbs, size_t count,
                        bool negative)
{
    size_t bytes = 8 * count - (size_t)__builtin_clzll(limbs[count - 1]) / 8;
    unsigned char *to;

    if (bytes <= UINT8_MAX)
        th_etf_tag8(e, TH_ETF_SMALL_BIG, (unsigned)bytes);
    else
        th_etf_tag32(e, TH_ETF_LARGE_BIG, bytes);
    to = th_etf_reserve(e, 1 + 8 * count);
    *to++ = negative;
    for (size_t i = 0; i < count; i++, to += 8) {
        uint64_t limb = htole64(limbs[i]);
        memcpy(to, &limb, sizeof limb);
    }
    e->out->size += 1 + bytes;
}

static enum th_status write_big(struct th_etf_encoder *e, th_term t)
{
    const uint64_t *limbs;
    uint64_t scratch;
    size_t count;
    bool negative;

    th_get_limbs(t, &scratch, &limbs, &count, &negative);
    if (count > UINT32_MAX / 8)
        return th_etf_too_large("integer", 8 * count, "bytes");
    write_limbs(e, limbs, count, negative);
    return TH_OK;
}

static void write_small(struct th_etf_encoder *e, th_term t)
{
    int64_t i = th_small_value(t);
    uint64_t limb = i < 0 ? -(uint64_t)i : (uint64_t)i;

    if (i >= 0 && i <= UINT8_MAX)
        th_etf_tag8(e, TH_ETF_SMALL_INTEGER, (unsigned)i);
    else if (i >= INT32_MIN && i <= INT32_MAX)
        th_etf_tag32(e, TH_ETF_INTEGER, (uint32_t)i);
    else
        write_limbs(e, &limb, 1, i < 0);
}

static void write_float(struct th_etf_encoder *e, th_term t)
{
    unsigned char *to = th_etf_reserve(e, 9);
    double f = th_float_value(t);
    uint64_t bits;

    memcpy(&bits, &f, sizeof bits);
    to[0] = TH_ETF_NEW_FLOAT;
    th_etf_put64(to + 1, bits);
    e->out->size += 9;
}

static enum th_status write_bits(struct th_etf_encoder *e, th_term t)
{
    const unsigned char *data;
    size_t bits, bytes;

    th_get_bits(t, &data, &bits);
    bytes = bits / 8 + (bits % 8 != 0);
    if (bytes > UINT32_MAX)
        return th_etf_too_large("binary", bytes, "bytes");
    if (bits % 8 == 0) {
        th_etf_tag32(e, TH_ETF_BINARY, bytes);
        th_etf_add(e, data, bytes);
        return TH_OK;
    }
    th_etf_tag32(e, TH_ETF_BIT_BINARY, bytes);
    th_buffer_add_byte(e->out, bits % 8);
    th_etf_add(e, data, bytes);
    e->out->data[e->out->size - 1] &= (unsigned char)(0xFF00u >> bits % 8);
    return TH_OK;
}

/* The node's atom; *CREATION gets what belongs to it. */
static enum th_status write_node(struct th_etf_encoder *e, th_term node, uint32_t *creation)
{
    if (node == TH_NONE) {
        node = e->here.node;
        *creation = e->here.creation;
    }
    return th_etf_write_atom(e, node);
}

static enum th_status write_pid(struct th_etf_encoder *e, th_term t)
{
    struct th_pid_parts pid;
    enum th_status status;

    th_get_pid(t, &pid);
    th_buffer_add_byte(e->out, TH_ETF_NEW_PID);
    status = write_node(e, pid.node, &pid.creation);
    th_etf_add32(e, pid.number);
    th_etf_add32(e, pid.serial);
    th_etf_add32(e, pid.creation);
    return status;
}

static enum th_status write_port(struct th_etf_encoder *e, th_term t)
{
    struct th_port_parts port;
    enum th_status status;
    bool wide;

    th_get_port(t, &port);
    wide = port.id > OLD_PORT_MAX || e->utf8_atoms;
    th_buffer_add_byte(e->out, wide ? TH_ETF_V4_PORT : TH_ETF_NEW_PORT);
    status = write_node(e, port.node, &port.creation);
    if (wide)
        th_etf_add32(e, (uint32_t)(port.id >> 32));
    th_etf_add32(e, (uint32_t)port.id);
    th_etf_add32(e, port.creation);
    return status;
}

static enum th_status write_reference(struct th_etf_encoder *e, th_term t)
{
    struct th_ref_parts ref;
    enum th_status status;

    th_get_ref(t, &ref);
    if (ref.magic && e->saving)
        e->saving(t);
    th_etf_tag16(e, TH_ETF_NEWER_REFERENCE, ref.count);
    status = write_node(e, ref.node, &ref.creation);
    th_etf_add32(e, ref.creation);
    for (size_t i = 0; i < ref.count; i++)
        th_etf_add32(e, ref.words[i]);
    return status;
}

static enum th_status write_export(struct th_etf_encoder *e, th_term t)
{
    th_term module, function;
    uint32_t arity;
    enum th_status status;

    th_get_export(t, &module, &function, &arity);
    th_buffer_add_byte(e->out, TH_ETF_EXPORT);
    status = th_etf_write_atom(e, module);
    if (status == TH_OK)
        status = th_etf_write_atom(e, function);
    write_small(e, th_small(arity));
    return status;
}

static enum th_status no_term(th_term t)
{
    return th_error_raise(TH_FAILED, "the word %#llx is no term", (unsigned long long)t);
}

enum th_status th_etf_write_boxed(struct th_etf_encoder *e, th_term t)
{
    if (!th_is_boxed(t))
        return no_term(t);
    switch (th_term_subtag(t)) {
    case TH_POS_BIG:
    case TH_NEG_BIG:
        return write_big(e, t);
    case TH_REF:
        return write_reference(e, t);
    case TH_FLOAT:
        write_float(e, t);
        return TH_OK;
    case TH_EXPORT:
        return write_export(e, t);
    case TH_SHARED_BINARY:
    case TH_HEAP_BINARY:
    case TH_SUB_BINARY:
        return write_bits(e, t);
    case TH_EXTERNAL_PID:
        return write_pid(e, t);
    case TH_EXTERNAL_PORT:
        return write_port(e, t);
    default:
        return no_term(t);
    }
}

enum th_status th_etf_write_immediate(struct th_etf_encoder *e, th_term t)
{
    if (th_is_small(t))
        write_small(e, t);
    else if (th_is_atom(t))
        return th_etf_write_atom(e, t);
    else if (t == TH_NIL)
        th_buffer_add_byte(e->out, TH_ETF_NIL);
    else if (th_is_local_pid(t))
        return write_pid(e, t);
    else if (th_is_local_port(t))
        return write_port(e, t);
    else
        return no_term(t);
    return TH_OK;
}
