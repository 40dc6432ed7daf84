/*
 * Reads and writes the external term format.
 * Source: "External Term Format" in the ERTS User's Guide.
 *
 * Input is untrusted: every read is bounded; nesting uses an explicit stack, up to TH_ETF_DEPTH;
 * sizes are compared with the number of input bytes before memory is allocated. So memory is
 * proportional to the input (compressed terms: to `inflate_limit`). Decoding never makes the
 * process fail.
 *
 * The decoder accepts all terms that OTP's binary_to_term() accepts, with all old tags, and refuses
 * the terms that binary_to_term() refuses, such as duplicate keys in a map, floats that are not
 * finite, atoms over 255 characters, and creations too large for old tags. Differences: identifiers
 * of "this node" may have any numbers, since its tables had their own sizes; a reference without
 * words and an arity over 32 bits are refused. FUN_EXT (gone since OTP 23), LOCAL_EXT and
 * ATOM_CACHE_REF are refused.
 */
#ifndef TH_ETF_H
#define TH_ETF_H

#include "env.h"

#include "host/base/error.h"

struct th_buffer;

enum { TH_ETF_DEPTH = 1 << 20 };

/*
 * The node that counts as "this node": its pids, ports and references are read as local ones, and
 * local ones are written with its name. NODE 0: the host itself, written as nonode@nohost, creation
 * 0.
 */
struct th_etf_node {
    th_term node; /* an atom, or 0 */
    uint32_t creation;
};

struct th_etf_options {
    struct th_etf_node here;
    bool safe;       /* refuses atoms that do not exist yet */
    bool utf8_atoms; /* writes SMALL_ATOM_UTF8_EXT and ATOM_UTF8_EXT for all atoms, and V4_PORT_EXT
                        for all ports, as OTP 26 on; false: ATOM_EXT for Latin-1 and NEW_PORT_EXT
                        for numbers of 28 bits, as before */
    /* For callers that make magic references (make.h): SAVING is called for each one that is
     * written; FINDING makes the one of this node that has WORDS, or returns TH_NONE for a plain
     * reference. NULL: magic references are written, or read, as plain ones. */
    void (*saving)(th_term magic);
    th_term (*finding)(th_env *env, const uint32_t words[], size_t count);
    size_t inflate_limit; /* the most bytes of an inflated term; 0: 256 MiB */
};

/*
 * Decodes one term from SIZE bytes; if VERSIONED, the version byte 131 comes first. *USED gets the
 * number of bytes of the term.
 * Errors: TH_MALFORMED with a cause, which names the byte unless the term is compressed or empty;
 * TH_FAILED if the system refuses memory. Parts of the term stay in ENV until it is cleared.
 */
enum th_status th_etf_decode(th_env *env, const unsigned char *data, size_t size, bool versioned,
                             const struct th_etf_options *options, th_term *term, size_t *used);

/*
 * Decodes the most frequent term of a trace, {Atom, Atom, SmallInteger}, unversioned, by a fast
 * path. Returns the number of its bytes; 0 if DATA holds another term or th_etf_decode() must check
 * it.
 * Errors: raises none. If the result is 0, ENV is unchanged; the thread's chain of errors may be
 * cleared.
 */
size_t th_etf_decode_mfa(th_env *env, const unsigned char *data, size_t size, th_term *term);

/* Appends the encoding of T, with the version byte if VERSIONED.
 * Errors: TH_FAILED only for a term that the format cannot represent; OUT is unchanged then. */
enum th_status th_etf_encode(struct th_buffer *out, th_term t, bool versioned,
                             const struct th_etf_options *options);

/*
 * Returns the number of bytes of the unversioned term at DATA without decoding it; 0 if the term is
 * damaged or cut off. Checks the structure, not the content. Depth has no limit and no cost. For
 * every term that th_etf_decode() accepts, both functions agree.
 */
size_t th_etf_skip(const unsigned char *data, size_t size);

/*
 * Returns the number of bytes of COUNT unversioned terms at DATA, if th_etf_decode() would decode
 * each of them within the thread's memory budget, and they have no identifiers of nodes other than this one and its peers. Makes
 * no term and takes no memory. 0: th_etf_decode() must decide; the terms may be damaged, large or
 * of a rare kind. The one difference: atoms of skipped terms are not created, so a full atom table
 * is no error.
 * Errors: raises none; the thread's chain of errors may be cleared.
 */
size_t th_etf_skip_sound(const unsigned char *data, size_t size, size_t count,
                         const struct th_etf_options *options);

#endif
