/* Shared by a test and tests/tracers/options.c. */
#ifndef OPTIONS_H
#define OPTIONS_H

#include <erl_nif.h>

/* The library gets the address as load info: the small integer address / 16. */
struct options {
    _Alignas(16) int answer; /* result of load() */
    unsigned set;            /* a bit, 1 << option, for each option that load() sets */
    int results[4];          /* of setting an option, by option */
    int again[4];            /* of setting it again */
    int by_other, without, unknown, later; /* results that must be errors; call() writes `later` */
    void (*halted)(void *private_data);    /* called by the callbacks, with their argument */
    void (*left)(void *private_data);
    void (*unloaded)(void *private_data);
};

#endif
