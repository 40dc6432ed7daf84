/* The kinds of breakpoints. A function has, for each session, one breakpoint that is of any of them
 * at once; but LOCAL and GLOBAL exclude each other, and trace/ has GLOBAL exclude all others where
 * a BEAM does. */
#ifndef TH_BREAKPOINT_KIND_H
#define TH_BREAKPOINT_KIND_H

enum th_bp_kind {
    TH_BP_LOCAL = 0x01,  /* each call is traced */
    TH_BP_GLOBAL = 0x02, /* each external call is traced */
    TH_BP_META = 0x04,   /* each call by whomever is traced, by a tracer of its own */
    TH_BP_COUNT = 0x08,  /* call_count: calls are counted */
    TH_BP_TIME = 0x10,   /* call_time: calls and time, by process */
    TH_BP_MEMORY = 0x20, /* call_memory: calls and words allocated, by process */
};

enum {
    TH_BP_TRACING = TH_BP_LOCAL | TH_BP_GLOBAL | TH_BP_META,
    TH_BP_COUNTING = TH_BP_COUNT | TH_BP_TIME | TH_BP_MEMORY,
    TH_BP_ALL = TH_BP_TRACING | TH_BP_COUNTING,

    /* A breakpoint has a flag for each kind that it is of and one, this much higher, for each of
     * them that is active. One that is paused keeps its match specification and its counters and
     * costs nothing. */
    TH_BP_ACTIVE_SHIFT = 8,
};

#endif
