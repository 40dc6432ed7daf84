/*
 * Provides functions of this host with two sites, or one, for the tests of live events: m:both/1,
 * m:shown/1 with an export entry only, and m:hidden/1 without one. A stand-in replaces the site in
 * machine code: its kinds of breakpoints are the same, but reading a word replaces the jump.
 */
#ifndef SITED_H
#define SITED_H

#include "alive.h"

#include "host/code/code.h"

enum { BOTH, SHOWN, HIDDEN, SITED_FUNCTIONS };

struct sited {
    struct th_traceable_function live;
    struct th_export entry;
};

extern struct sited sited_functions[SITED_FUNCTIONS];

/* Begins all functions. sited_end() ends and releases them; without a begin, it returns at once. */
void sited_begin(void);
void sited_end(void);

/* Initializes a function of arity 1 with an export entry if EXPORTED, a site in machine code if
 * NATIVE. If both are false, the function gets a virtual site when it begins.
 * Order: begin the function after sited_init(), end it before sited_release(). */
void sited_init(struct sited *sited, th_term module, const char *name, bool exported, bool native);
void sited_release(struct sited *sited);

/* Returns the kinds for which a site of the function is armed, TH_BP_GLOBAL and TH_BP_LOCAL. A
 * virtual site counts as both. */
uint32_t sited_armed(const struct sited *sited);

/* Return requests of one call, at either site. */
struct sited_wants {
    struct th_live_requests exported, local;
};

/* Makes PROCESS (may be NULL) call the function. EXTERNAL: from another module. */
void sited_call(struct th_live_tracee *process, const struct sited *sited, th_term argument,
                bool external, struct sited_wants *wants);

/* Ends the call, which returns VALUE. */
void sited_return(struct th_live_tracee *process, const struct sited *sited,
                  struct sited_wants *wants, th_term value);

#endif
