/* Atoms of external terms, through the cache that etf_decoder.h describes. */
#include "etf_decoder.h"

#include "host/base/base.h"
#include "utf8.h"

/* Threads that have no memory for a cache share this one, which stays empty. */
static struct th_etf_cached no_cache[1 << TH_ETF_CACHE_BITS];

struct th_etf_cached *th_etf_cache(void)
{
    static _Thread_local void *own;
    struct th_etf_cached *cache = own;

    if (!cache)
        cache = th_thread_memory(&own, sizeof no_cache);
    return cache ? cache : no_cache;
}

static struct th_etf_name name_key(const unsigned char *name, size_t bytes)
{
    unsigned char padded[TH_ETF_CACHE_NAME] = {0};
    struct th_etf_name key;

    if (bytes <= TH_ETF_CACHE_NAME) {
        memcpy(padded, name, bytes);
        return th_etf_short_name(padded, bytes);
    }
    memcpy(&key.first, name, sizeof key.first);
    memcpy(&key.last, name + bytes - sizeof key.last, sizeof key.last);
    return key;
}

/* The ends are the same; is the rest? A name in the cache is in ASCII, so that it stands in the
 * table as it came. */
static bool is_whole_name(const struct th_etf_cached *place, const unsigned char *name,
                          size_t bytes)
{
    return bytes <= TH_ETF_CACHE_NAME ||
           memcmp(th_atom_name(th_etf_cached_atom(place))->text, name, bytes) == 0;
}

static th_term look_up(const struct th_etf_decoder *d, const char *name, size_t bytes, bool utf8)
{
    if (d->safe)
        return utf8 ? th_atom_existing_utf8(name, bytes) : th_atom_existing_latin1(name, bytes);
    return utf8 ? th_atom_utf8(name, bytes) : th_atom_latin1(name, bytes);
}

/* TH_NONE if there is no such atom. */
static th_term find_atom(const struct th_etf_decoder *d, const unsigned char *name, size_t bytes,
                         bool utf8)
{
    struct th_etf_name key = name_key(name, bytes);
    struct th_etf_cached *place = th_etf_cache_place(d, key);
    th_term atom;

    if (th_etf_cache_has(place, key, bytes) && is_whole_name(place, name, bytes))
        return th_etf_cached_atom(place);
    atom = look_up(d, (const char *)name, bytes, utf8);
    if (atom != TH_NONE && d->cache != no_cache &&
        th_atom_name(atom)->bytes == th_atom_name(atom)->characters)
        *place = (struct th_etf_cached){key, th_atom_index(atom), (uint32_t)bytes + 1};
    return atom;
}

static const unsigned char *no_atom(const struct th_etf_decoder *d, const unsigned char *tag,
                                    const unsigned char *name, size_t bytes, bool utf8)
{
    size_t characters = bytes;

    if (utf8 && !th_utf8_count((const char *)name, bytes, &characters))
        return th_etf_fault(d, tag, "the atom's name is not valid UTF-8");
    if (characters > TH_ATOM_CHARACTERS)
        return th_etf_fault(d, tag, "the atom's name has %zu characters, more than %d", characters,
                            TH_ATOM_CHARACTERS);
    if (d->safe)
        return th_etf_fault(d, tag, "there is no atom of this name yet, and none may be made");
    return th_etf_fault(d, tag, "the atom table is full: it has %zu atoms", th_atom_count());
}

const unsigned char *th_etf_read_atom(struct th_etf_decoder *d, const unsigned char *tag,
                                      th_term *atom)
{
    bool utf8 = tag[0] == TH_ETF_SMALL_ATOM_UTF8 || tag[0] == TH_ETF_ATOM_UTF8;
    const unsigned char *name = tag + th_etf_shapes[tag[0]].head;
    size_t bytes;

    if (!utf8 && tag[0] != TH_ETF_ATOM && tag[0] != TH_ETF_SMALL_ATOM)
        return th_etf_fault(d, tag, "an atom must stand here");
    if (th_etf_left(d, tag) < th_etf_shapes[tag[0]].head)
        return th_etf_cut_off(d, tag);
    bytes = name - tag == 3 ? th_etf_get16(tag + 1) : tag[1];
    if (th_etf_left(d, name) < bytes)
        return th_etf_cut_off(d, tag);
    *atom = find_atom(d, name, bytes, utf8);
    if (*atom == TH_NONE)
        return no_atom(d, tag, name, bytes, utf8);
    return name + bytes;
}
