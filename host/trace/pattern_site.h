/*
 * What a pattern does at the sites of one function, and why it can do nothing there. Inner header
 * of trace/.
 *
 * Where a function has two sites, global breakpoints are at its export entry and all others in its
 * machine code. A setting is cut in two there, and both are done by one change: so LOCAL takes the
 * place of GLOBAL at one instant, and the other way round, as it does at a single site.
 */
#ifndef TH_PATTERN_SITE_H
#define TH_PATTERN_SITE_H

#include "functions.h"
#include "pattern.h"

/* True if PATTERN is about functions of that name. */
bool th_trace_pattern_concerns(const struct th_pattern *pattern, const struct th_mfa *name);

/* The kinds that SETTING clears besides those that it names, of a function that can have all. */
uint32_t th_trace_pattern_excluded(const struct th_bp_setting *setting);

/* Adds to CHANGE what can be done of SETTING, whose kinds may be TH_PATTERN_EITHER and which has no
 * site, to FUNCTION; false: nothing. RECORDED: for the calls of recordings. */
bool th_trace_pattern_set_at(struct th_change *change, const struct th_function_sites *function,
                             const struct th_bp_setting *setting, bool recorded);

/* Adds to CHANGE, of sites that no call can reach, what SETTING says of local calls to FUNCTION,
 * whose native site has come with newer code. Not what is met at its export entry already: whoever
 * traces calls from outside goes on to do so there, and hears of no call twice. */
void th_trace_pattern_set_at_local(struct th_change *change,
                                   const struct th_function_sites *function,
                                   const struct th_bp_setting *setting);

/* A pattern that is set is refused where this host has functions that it is for, and none of them
 * can have such breakpoints: who asks for local calls is not to wait for them in vain. A global
 * pattern that takes away SESSION's other breakpoints of such functions is not refused. Under the
 * lock. */
enum th_status th_trace_pattern_check_sites(const struct th_session *session,
                                            const struct th_pattern *pattern, uint32_t kinds);

#endif
