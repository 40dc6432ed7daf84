/* What a change is made of. Inner header of breakpoint/. */
#ifndef TH_CHANGING_H
#define TH_CHANGING_H

#include "change.h"
#include "generic_bp.h"

#include "host/code/code.h"

struct th_change_item {
    /* Site NULL: all breakpoints of the session, to be cleared; session NULL: those of the site. */
    struct th_bp_setting setting;
    struct th_generic_bp *bp; /* NULL: there is none */
    uint64_t serial;          /* not 0: only if the breakpoint is of this setting */
    uint32_t ends;            /* of the site, then: if it has ended since, the setting is void */
    struct th_site *native;   /* for which the setting's site is to stand in; NULL: none */
    bool end;                 /* the session's end */
};

struct th_change {
    struct th_modification modification; /* the first member */
    void (*done)(struct th_change *change, void *context);
    void *context;
    unsigned step;
    bool of_requests; /* takes them when it has the permission */
    bool arms;        /* there are sites to be armed */
    uint64_t serial;  /* of what it sets */
    struct {
        struct th_change_item *items;
        size_t count, capacity;
    } settings;
    struct {
        struct th_generic_bp **items;
        size_t count, capacity;
    } touched; /* breakpoints that it is about, each once */
    struct {
        struct th_site **items;
        size_t count, capacity;
    } sites; /* of which the number of active breakpoints came to 0, or from 0, each once */
    struct th_change_counts counts;
};

/* With the permission: */

/* The serial number of what a change sets. */
uint64_t th_breakpoint_change_next_serial(void);

/* True if the setting is of a site that has ended since it was added. */
bool th_breakpoint_change_is_void(const struct th_change_item *item);

/* Site->active follows what is staged; if it came to 0, or from 0, the site is listed. */
void th_breakpoint_change_follow_active(struct th_change *change, struct th_site *site,
                                        uint32_t before, uint32_t after);

/* Arms, or disarms, the listed sites that are not yet; as many of one kind at once as stand
 * together. */
void th_breakpoint_change_write_sites(struct th_change *change, bool arm);

/* They are not listed any more. */
void th_breakpoint_change_unlist_sites(struct th_change *change);

/* Lets go of all that is in it, and frees it. */
void th_breakpoint_change_finish(struct th_change *change);

#endif
