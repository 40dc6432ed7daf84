/*
 * The probes of provider `erlang` in this library: for each a semaphore, and a function with a NOP
 * in it, so that each probe has one note, with the arguments as the calling convention places them.
 */
#ifndef USDT_FIRED_H
#define USDT_FIRED_H

#include <probe_table.h>
#include <stdint.h>

typedef const char *probe_string;
typedef int probe_int;
typedef uint32_t probe_uint32;
typedef int64_t probe_int64;

#define PROBE_PARAMETER(type, name) probe_##type name
#define PROBE_DECLARE(name, fires, where, ...)                     \
    extern unsigned short erlang_##name##_semaphore                \
        __attribute__((section(".probes"), visibility("hidden"))); \
    void probe_##name(TH_PROBE_EACH(PROBE_PARAMETER, __VA_ARGS__)) \
        __attribute__((visibility("hidden")));
TH_PROBES(PROBE_DECLARE)

/* Returns whether a tool watches the probe. Relaxed: it orders nothing. */
#define PROBE_ENABLED(name) (__atomic_load_n(&erlang_##name##_semaphore, __ATOMIC_RELAXED) != 0)

#endif
