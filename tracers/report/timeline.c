/*
 * The timeline: busy time and events of a process, in bins of equal width.
 *
 * A bin is 1 << shift nanoseconds wide. If a time is beyond the last of BINS bins, bins become
 * twice as wide, each made of two old ones: at once for the sum of all processes, and for each
 * process when its own bins are next used.
 */
#include "merge.h"

void bins_widen(struct bins *bins, uint32_t shift)
{
    for (; bins->shift < shift; bins->shift++) {
        uint32_t first = bins->first / 2, last = (bins->first + bins->count - 1) / 2;
        if (bins->count == 0)
            continue;
        for (uint32_t i = 0; i < bins->count; i++) {
            struct bin bin = bins->bins[i];
            uint32_t to = (bins->first + i) / 2 - first;
            bins->bins[i] = (struct bin){0};
            bins->bins[to].busy += bin.busy;
            bins->bins[to].events += bin.events;
        }
        bins->first = first;
        bins->count = last - first + 1;
    }
}

/* Makes room for the bins from FIRST to LAST. False if there is no memory. */
static bool reach(struct bins *bins, uint32_t first, uint32_t last)
{
    uint32_t begin = bins->count && bins->first < first ? bins->first : first;
    uint32_t end =
        bins->count && bins->first + bins->count > last + 1 ? bins->first + bins->count : last + 1;
    uint32_t before = bins->count ? bins->first - begin : 0;
    struct bin *grown;

    if (end - begin > bins->size) {
        uint32_t size = 2 * (end - begin) < BINS ? 2 * (end - begin) : BINS;
        grown = realloc(bins->bins, size * sizeof *grown);
        if (!grown)
            return false;
        bins->bins = grown;
        bins->size = size;
    }
    if (before)
        memmove(bins->bins + before, bins->bins, bins->count * sizeof *bins->bins);
    memset(bins->bins, 0, before * sizeof *bins->bins);
    memset(bins->bins + before + bins->count, 0,
           (end - begin - before - bins->count) * sizeof *bins->bins);
    bins->first = begin;
    bins->count = end - begin;
    return true;
}

/* Returns the bin of NOW, and raises SHIFT until NOW has one. */
static uint32_t bin_of(uint32_t *shift, int64_t now)
{
    while (now >> *shift >= BINS)
        ++*shift;
    return (uint32_t)(now >> *shift);
}

bool bins_event(struct bins *bins, uint32_t *shift, int64_t now)
{
    uint32_t bin = bin_of(shift, now > 0 ? now : 0);

    bins_widen(bins, *shift);
    if (!reach(bins, bin, bin))
        return false;
    bins->bins[bin - bins->first].events++;
    return true;
}

bool bins_busy(struct bins *bins, uint32_t *shift, int64_t from, int64_t to)
{
    uint32_t first, last;

    from = from > 0 ? from : 0;
    if (from >= to)
        return true;
    last = bin_of(shift, to - 1);
    first = (uint32_t)(from >> *shift);
    bins_widen(bins, *shift);
    if (!reach(bins, first, last))
        return false;
    for (uint32_t i = first; i <= last; i++) {
        int64_t begin = (int64_t)i << *shift, end = (int64_t)(i + 1) << *shift;
        begin = begin > from ? begin : from;
        end = end < to ? end : to;
        bins->bins[i - bins->first].busy += (uint64_t)(end - begin);
    }
    return true;
}

void bins_forget_busy(struct bins *bins)
{
    for (uint32_t i = 0; i < bins->count; i++)
        bins->bins[i].busy = 0;
}

/* --- Shares --- */

/* {Shift, First, Bins} */
ERL_NIF_TERM bins_save(ErlNifEnv *env, struct bins *bins)
{
    size_t size = bins->count * sizeof *bins->bins;
    ERL_NIF_TERM binary;
    unsigned char *bytes = enif_make_new_binary(env, size, &binary);
    ERL_NIF_TERM saved = enif_make_tuple3(env, enif_make_uint(env, bins->shift),
                                          enif_make_uint(env, bins->first), binary);

    if (size && bytes)
        memcpy(bytes, bins->bins, size);
    free(bins->bins);
    *bins = (struct bins){0};
    return bytes ? saved : 0;
}

bool bins_take(ErlNifEnv *env, ERL_NIF_TERM saved, struct bins *bins, uint32_t *shift)
{
    const ERL_NIF_TERM *elements;
    struct bins more = {0};
    ErlNifBinary bytes;
    bool room;
    int size;

    if (!enif_get_tuple(env, saved, &size, &elements) || size != 3 ||
        !enif_get_uint(env, elements[0], &more.shift) ||
        !enif_get_uint(env, elements[1], &more.first) ||
        !enif_inspect_binary(env, elements[2], &bytes))
        return false;
    more.count = (uint32_t)(bytes.size / sizeof *more.bins);
    if (more.count == 0)
        return true;
    more.bins = malloc(bytes.size);
    if (!more.bins)
        return false;
    memcpy(more.bins, bytes.data, bytes.size);
    *shift = *shift > more.shift ? *shift : more.shift;
    bins_widen(&more, *shift);
    bins_widen(bins, *shift);
    room = reach(bins, more.first, more.first + more.count - 1);
    for (uint32_t i = 0; room && i < more.count; i++) {
        struct bin *to = &bins->bins[more.first + i - bins->first];
        to->busy += more.bins[i].busy;
        to->events += more.bins[i].events;
    }
    free(more.bins);
    return room;
}
