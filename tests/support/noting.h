/*
 * Provides sessions whose breakpoints note each hit as text, in order, for the tests of
 * breakpoint/.
 */
#ifndef NOTING_H
#define NOTING_H

#include "host/breakpoint/breakpoint.h"

/* Creates a reference-counted object that stands for a match specification or a tracer. */
struct th_shared *thing_create(int number);

/* Number of things and sessions that have not ended. */
int things_alive(void);

/* Waits until COUNT things and sessions are left, ten seconds at most; false: another number. A
 * change releases its objects after its turn, when the next one may have begun. */
bool things_remain(int count);

struct noting {
    struct th_bp_session session; /* the first member */
    char name;
    uint32_t answer;                                        /* result of `call` and `meta` */
    void (*act)(struct noting *noting, struct th_hit *hit); /* runs in both; may be NULL */
    struct th_account *account;
    struct th_account_frame frame; /* the last frame that `entered` got */
    struct th_account_reading reading;
};

/* Creates a session; the caller owns a reference. noting_end() removes all of its breakpoints and
 * releases the reference. */
struct noting *noting_create(char name);
void noting_end(struct noting *noting);

/*
 * Calls the function of SITE with breakpoints of KINDS relevant, and returns the notes, for example
 * "A local 7, B meta 0 by 3": the session, the kind, the number of the match specification (0:
 * none) and, for `meta`, that of the tracer. If ASKED is not NULL, *ASKED gets the result of the
 * hit.
 * Owner: the text is valid until the next call.
 * Thread: one thread.
 */
const char *note_call(struct th_site *site, uint32_t kinds, uint32_t *asked);

/* Creates a virtual site. The tests never drop their sites. */
struct th_site *new_site(void);

/* Sets or clears KINDS at SITE in a change of its own. SPEC is the number of the match
 * specification; 0: none. */
void set_kinds(struct th_site *site, struct noting *noting, uint32_t kinds, int spec);
void clear_kinds(struct th_site *site, struct noting *noting, uint32_t kinds);

/* Makes SETTINGS in one change and returns the change's counts. */
struct th_change_counts make_settings(const struct th_bp_setting *settings, size_t count);

/* Waits until SITE's state is ARMED, one minute at most. False if that did not happen. */
bool wait_for_site(struct th_site *site, bool armed);

#endif
