/* The options map of trace_X(Tag, State, Tracee, Term, Opts). */
#ifndef TH_OPTS_H
#define TH_OPTS_H

#include "event.h"

/*
 * The map for EVENT, whose terms and time are filled, under a session's FLAGS: at most extra
 * (EXTRA), match_spec_result (RESULT; TH_NONE or `true`: there is none), scheduler_id and
 * timestamp, as a BEAM would make it. The time itself is never in it. It is made in ENV, or is a
 * constant.
 */
th_term th_trace_opts_make(th_env *env, const struct th_event *event, th_term extra, th_term result,
                           uint32_t flags);

/* The same of what is live and has no event: EXTRA and RESULT are TH_NONE where there are none;
 * SCHEDULER is the process', 0: it is not told. */
th_term th_trace_opts_make_live(th_env *env, th_term extra, th_term result, unsigned scheduler,
                                uint32_t flags);

/* #{}; and the flags without which it is that. */
extern th_term th_trace_opts_empty[];
enum {
    TH_OPTS_FLAGS =
        TH_FLAGS_STAMPS | TH_FLAG_CPU_TIMESTAMP | TH_FLAG_SCHEDULER_ID | TH_FLAG_AS_RECORDED
};

/* #{extra => EXTRA} */
static inline th_term th_trace_opts_make_extra(th_env *env, th_term extra)
{
    th_term *words = th_env_take(env, 4);

    words[0] = th_header(TH_MAP, 3);
    words[1] = 1;
    words[2] = TH_AM(extra);
    words[3] = extra;
    return th_boxed(words);
}

/* th_trace_opts_make_live() for who counts instructions: most have nothing to say, or of a return
 * its value. */
static inline th_term th_trace_opts_make_quickly(th_env *env, th_term extra, th_term result,
                                                 unsigned scheduler, uint32_t flags)
{
    if (__builtin_expect(flags & TH_OPTS_FLAGS || result != TH_NONE, 0))
        return th_trace_opts_make_live(env, extra, result, scheduler, flags);
    return extra == TH_NONE ? th_boxed(th_trace_opts_empty) : th_trace_opts_make_extra(env, extra);
}

#endif
