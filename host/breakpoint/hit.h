/*
 * Hits: what a call does that comes to a site which is armed.
 *
 * It takes about as long as the callbacks that it leads to: a read section, a walk along the site's
 * breakpoints, one indirect call for each that is active. No lock, no allocation, nothing but plain
 * loads, unless there is something to be counted.
 *
 * There is one hit, th_breakpoint_hit(). What most hits do there is inlined from fast_hit.h, where
 * the program is optimized; in a debug build each hit comes here.
 */
#ifndef TH_HIT_H
#define TH_HIT_H

#include <stdint.h>

struct th_bp_data;

/* What breakpoints ask of a call, those of all sessions together. From TH_HIT_OWN up bits mean what
 * trace/ wants. */
enum th_hit_asked {
    TH_HIT_RETURN = 0x01,    /* its return is to be traced */
    TH_HIT_EXCEPTION = 0x02, /* so is an exception that passes it */
    TH_HIT_ACCOUNTED =
        0x04, /* hooks->entered() was called: th_breakpoint_account_return() at its end */
    TH_HIT_REMOVE = 0x08, /* of a meta hook only: its tracer is gone */
    TH_HIT_OWN = 0x100,
};

/* The first member fills its 8 bytes: the compiler zeroes a hit with aligned stores then, from
 * which what hooks read next is forwarded. Otherwise that takes longer than all the rest. */
struct th_hit {
    void *context; /* trace/'s own */
    /* Which kinds of breakpoints this call meets: a local call no global ones, ... */
    uint32_t kinds;

    /* Filled by th_breakpoint_hit(), for the hooks: */
    struct th_site *site;
    struct th_generic_bp *breakpoint;
    const struct th_bp_data *data;
};

/*
 * Obeys the site's breakpoints, in the order in which they were added; each as a local or global
 * one, then as a meta one, then counts. Any thread, one of no scheduler as well. Hits nest.
 */
uint32_t th_breakpoint_hit(struct th_site *site, struct th_hit *hit);

/*
 * The same, where the call goes on to NEXT, another site of the function: of each session, the
 * kinds that it has at NEXT as well are left to that, also those that are paused there; LOCAL at
 * NEXT is GLOBAL here. HIT->kinds is changed.
 */
uint32_t th_breakpoint_hit_before(struct th_site *site, struct th_site *next, struct th_hit *hit);

/*
 * From inside of a hook: pauses the breakpoint that was hit, which is to say this function's for
 * this session, for KINDS; until it is restarted or set. What many hits ask for is done in one
 * change, soon, by itself; calls go on hitting until then. If the breakpoint is set or restarted
 * before that, nothing is done: it is not the one that was hit. Of HIT only `breakpoint` and `data`
 * are looked at.
 */
void th_breakpoint_disarm(struct th_hit *hit, uint32_t kinds);

#endif
