/*
 * Functions of this host with two sites, or one of them, for the tests of live events: m:both/1,
 * m:shown/1, which has an export entry alone, and m:hidden/1, which has none.
 *
 * The site in machine code is one that stands for it: it has the same breakpoints, and is met as a
 * word is read.
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

/* Begins the functions. Ends them, if they have not been ended yet. */
void sited_begin(void);
void sited_end(void);

/* Makes one of arity 1 that is not begun; EXPORTED, NATIVE: which sites it has; neither: a virtual
 * one, once it is begun. Lets go of them, once it is ended. */
void sited_init(struct sited *sited, th_term module, const char *name, bool exported, bool native);
void sited_release(struct sited *sited);

/* Those of its sites that are armed, as TH_BP_GLOBAL and TH_BP_LOCAL; a virtual one is both. */
uint32_t sited_armed(const struct sited *sited);

/* What is wanted of the ends of a call, at the one site and at the other. */
struct sited_wants {
    struct th_live_requests exported, local;
};

/* PROCESS (NULL: none) calls it; EXTERNAL: from another module. */
void sited_call(struct th_live_tracee *process, const struct sited *sited, th_term argument,
                bool external, struct sited_wants *wants);

/* It returns VALUE. */
void sited_return(struct th_live_tracee *process, const struct sited *sited,
                  struct sited_wants *wants, th_term value);

#endif
