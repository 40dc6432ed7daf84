/* {Atom, Atom, SmallInteger} without what it takes to follow nested terms. */
#include "etf_decoder.h"

enum { LEAST = 2 + 2 * 2 + 2 /* bytes of such a term: a tuple's tag, empty atoms, an integer */ };

static inline bool is_usual_atom(const unsigned char *tag)
{
    return tag[0] == TH_ETF_ATOM || tag[0] == TH_ETF_SMALL_ATOM_UTF8;
}

size_t th_etf_decode_mfa(th_env *env, const unsigned char *data, size_t size, th_term *term)
{
    struct th_etf_decoder d = {.data = data, .end = data + size, .cache = th_etf_cache()};
    const unsigned char *at = data + 2;
    th_term atoms[2], *words;

    if (size < LEAST || data[0] != TH_ETF_SMALL_TUPLE || data[1] != 3)
        return 0;
    for (int i = 0; i < 2; i++) {
        if (th_etf_left(&d, at) < 3 || !is_usual_atom(at))
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
