/*
 * Who was ever seen in this world, and who has ended: two bits an identifier.
 *
 * One thread writes, the one that the world belongs to; any thread reads, without a lock. Inside
 * process/ only.
 *
 * Identifiers are handed out in sequence, so the low bits of their number choose a bit in a page
 * and the rest finds the page: in an array for the first TH_LIFE_DIRECT pages of pids and of ports,
 * which are all that most recordings have; by a hash for others.
 */
#ifndef TH_LIFE_H
#define TH_LIFE_H

#include "host/term/term.h"

#include <stdatomic.h>

enum th_life { TH_LIFE_SEEN, TH_LIFE_ENDED, TH_LIFE_FACTS };

enum { TH_LIFE_PAGE_BITS = 256, TH_LIFE_DIRECT = 4096 };

struct th_life_page {
    uint64_t key;              /* of one found by hash */
    struct th_life_page *next; /* in the list of all; used by who writes */
    /* Relaxed: a bit stands for itself, nothing else is read because of it. */
    _Atomic uint64_t bits[TH_LIFE_FACTS][TH_LIFE_PAGE_BITS / 64];
};

/* Of pids, and of ports. Release: the page is clear; acquire. */
extern struct th_life_page *_Atomic th_life_direct[2][TH_LIFE_DIRECT];

/* Where the bits of an identifier are. */
struct th_life_place {
    uint64_t page; /* for a direct one below TH_LIFE_DIRECT */
    uint32_t bit;
    bool port;
};

/* ID is a local pid or port. The number and serial of a pid, where no bits but the usual are in
 * use, lie side by side in its word; where others are, the place is beyond the direct ones. */
static inline struct th_life_place th_life_place(th_term id)
{
    bool port = th_is_local_port(id);
    uint64_t number = port ? th_local_port_id(id) : id >> 35 | (id & 0x7FFFFFFF0) << 28;

    return (struct th_life_place){number / TH_LIFE_PAGE_BITS, number % TH_LIFE_PAGE_BITS, port};
}

/* Notes FACT of ID, a local pid or port. True if it is new. */
bool th_life_note(th_term id, enum th_life fact);

/* The page of a place that is not direct; NULL: there is none. Any thread. */
const struct th_life_page *th_life_find(struct th_life_place place);

/* Whether ID, a local pid or port, is known to have ended. Any thread. */
static inline bool th_life_ended(th_term id)
{
    struct th_life_place place = th_life_place(id);
    const struct th_life_page *page;

    if (__builtin_expect(place.page < TH_LIFE_DIRECT, 1))
        page = atomic_load_explicit(&th_life_direct[place.port][place.page], memory_order_acquire);
    else
        page = th_life_find(place);
    return page &&
           atomic_load_explicit(&page->bits[TH_LIFE_ENDED][place.bit / 64], memory_order_relaxed) >>
                   place.bit % 64 &
               1;
}

/* Forgets everything. */
void th_life_reset(void);

#endif
