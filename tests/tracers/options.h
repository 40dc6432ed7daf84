/* What a test and tests/tracers/options.c tell each other. */
#ifndef OPTIONS_H
#define OPTIONS_H

#include <erl_nif.h>

/* The library gets its address as load info: the small integer address / 16. */
struct options {
    _Alignas(16) int answer; /* of load() */
    unsigned set;            /* a bit, 1 << option, for each option that load() sets */
    int results[4];          /* of setting them, by option */
    int again[4];            /* of setting them once more */
    int by_other, without, unknown, later; /* what must fail; `later` is set by call() */
    void (*halted)(void *private_data);    /* called by the callbacks, with what they were given */
    void (*left)(void *private_data);
    void (*unloaded)(void *private_data);
};

#endif
