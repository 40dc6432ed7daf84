/*
 * Every function that tracehost offers to plugins and tracers beyond the NIF API, once.
 *
 *     TH_MODULE_FUNCTIONS(X) calls X(group, type, name, (parameters)) for each.
 *
 * Each group is a macro of its own, with its contract before it. From this list come the
 * declarations in nif_module.h, which tells how they are used, the host's table of functions that a
 * library may import, and what it exports. The types are erl_nif.h's: a list that is only asked for
 * names needs none of them. What nif_functions.h says of environments, success and threads holds
 * here as well.
 */
#ifndef TH_MODULE_FUNCTIONS_H
#define TH_MODULE_FUNCTIONS_H

/* A table: one row a function. */
/* clang-format off */

#define TH_MODULE_FUNCTIONS(X) \
    TH_MODULE_TRACING(X)

/*
 * For tracers.
 *
 * th_disarm() is for a callback that is asked whether a call is to be traced: `enabled_call`, or
 * `enabled` with the tag `call` in a tracer without it. It says that the tracer has seen enough of
 * the function that is called: its breakpoint is paused, for this session and this kind of
 * breakpoint (tracing or meta), until a pattern is set or restarted there. Calls of the function
 * cost the tracer nothing then. It takes effect soon, not at once: what many callbacks ask for is
 * done in one change, and calls that come before it still ask. The answer of the callback counts as
 * ever for the call at hand.
 *
 * ENV is the callback's. 1: it will be done. 0: there is no breakpoint to be paused, as it is
 * another callback, or the session takes calls as they were recorded, without patterns. Then
 * nothing happens.
 */
#define TH_MODULE_TRACING(X) \
    X(tracing, int, th_disarm, (ErlNifEnv *env))

/* clang-format on */

#endif
