/*
 * The external term format, both ways.
 * Source: "External Term Format" in the ERTS User's Guide.
 *
 * Input is untrusted: every read is bounded, nesting is followed with an explicit stack up to
 * TH_ETF_DEPTH, sizes are checked against the bytes that are there before anything is allocated for
 * them, so that memory stays proportional to the input (compressed terms: to `inflate_limit`).
 * Decoding never makes the process fail.
 *
 * What OTP's binary_to_term() accepts is accepted, all old tags included, and what it refuses is
 * refused: keys that come twice in a map, floats that are not finite, atoms over 255 characters,
 * creations that old tags have no room for. Differences: identifiers of "this node" may have any
 * numbers, since its tables had their own sizes; a reference without words and an arity over 32
 * bits are refused. FUN_EXT (gone since OTP 23), LOCAL_EXT and ATOM_CACHE_REF are refused.
 */
#ifndef TH_ETF_H
#define TH_ETF_H

#include "env.h"

#include "host/base/error.h"

struct th_buffer;

enum { TH_ETF_DEPTH = 1 << 20 };

/*
 * The node whose identifiers are "this node": its pids, ports and references are read as local
 * ones, and local ones are written with it. NODE 0: the host itself, written as nonode@nohost,
 * creation 0.
 */
struct th_etf_node {
    th_term node; /* an atom, or 0 */
    uint32_t creation;
};

struct th_etf_options {
    struct th_etf_node here;
    bool safe;       /* refuse atoms that do not exist yet, and what would make them */
    bool utf8_atoms; /* write: SMALL_ATOM_UTF8_EXT and ATOM_UTF8_EXT for all atoms, and V4_PORT_EXT
                        for all ports, as OTP 26 on; without it ATOM_EXT for Latin-1 and
                        NEW_PORT_EXT for numbers of 28 bits, as before */
    /* For who makes magic references (make.h) and can give them back: SAVING is told of each one
     * that is written; FINDING makes the one of this node that has these words, TH_NONE: there is
     * none, it is a plain reference. NULL: magic references are written, and read, as plain ones.
     */
    void (*saving)(th_term magic);
    th_term (*finding)(th_env *env, const uint32_t words[], size_t count);
    size_t inflate_limit; /* the most bytes that a compressed term may have; 0: 256 MiB */
};

/*
 * Decodes one term, with or without the version byte 131 as VERSIONED says, from SIZE bytes. *USED
 * gets the bytes it took. TH_MALFORMED with a cause that names the byte; then what was built so far
 * stays in ENV until it is cleared.
 */
enum th_status th_etf_decode(th_env *env, const unsigned char *data, size_t size, bool versioned,
                             const struct th_etf_options *options, th_term *term, size_t *used);

/*
 * The quick way for the most frequent term of a trace: {Atom, Atom, SmallInteger}, unversioned.
 * Returns the bytes it took, 0 if something else stands at DATA, or something that th_etf_decode()
 * must judge; then nothing has happened.
 */
size_t th_etf_decode_mfa(th_env *env, const unsigned char *data, size_t size, th_term *term);

/* Appends the encoding of T, with the version byte if VERSIONED. TH_FAILED only for a term that
 * cannot be carried. */
enum th_status th_etf_encode(struct th_buffer *out, th_term t, bool versioned,
                             const struct th_etf_options *options);

/*
 * The bytes of one unversioned term at DATA without decoding it: its structure is checked, its
 * content is not. 0 if it is damaged or cut off. Depth costs nothing here and has no limit; for
 * whatever th_etf_decode() accepts the two agree.
 */
size_t th_etf_skip(const unsigned char *data, size_t size);

#endif
