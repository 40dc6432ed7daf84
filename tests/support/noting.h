/*
 * Sessions whose breakpoints note what they are asked, for the tests of breakpoint/: as text, and
 * in order.
 */
#ifndef NOTING_H
#define NOTING_H

#include "host/breakpoint/breakpoint.h"

/* Something that is shared: a match specification, a tracer. */
struct th_shared *thing_create(int number);

/* How many things and sessions there are that have not ended. */
int things_alive(void);

/* Waits until only COUNT of them are left, a while at most: a change lets go of what it was handed
 * after its turn is over, as the next one may have begun. False if it is another number then. */
bool things_remain(int count);

struct noting {
    struct th_bp_session session; /* the first member */
    char name;
    uint32_t answer;                                        /* of `call` and `meta` */
    void (*act)(struct noting *noting, struct th_hit *hit); /* in them; NULL: nothing */
    struct th_account *account;
    struct th_account_frame frame; /* the latest that was entered */
    struct th_account_reading reading;
};

/* The caller's share; noting_end() gives it back and has all its breakpoints removed. */
struct noting *noting_create(char name);
void noting_end(struct noting *noting);

/*
 * A call that meets breakpoints of KINDS,: what was noted of it, for example
 * "A local 7, B meta 0". The number is that of the match specification, 0 for none. *ASKED (NULL:
 * not wanted) gets what the hit returned. Valid until the next; one thread.
 */
const char *note_call(struct th_site *site, uint32_t kinds, uint32_t *asked);

/* A virtual site. Sites are not dropped. */
struct th_site *new_site(void);

/* Makes one setting; the spec has the given number, 0: none. */
void set_kinds(struct th_site *site, struct noting *noting, uint32_t kinds, int spec);
void clear_kinds(struct th_site *site, struct noting *noting, uint32_t kinds);

/* Makes the settings, as one change, and tells what it cost. */
struct th_change_counts make_settings(const struct th_bp_setting *settings, size_t count);

/* Waits, for a minute at most, until the site is armed or not. False: it is not. */
bool wait_for_site(struct th_site *site, bool armed);

#endif
