/*
 * The probes: for each a semaphore, a function with a NOP in it, and a note with the addresses of
 * both and the places of the arguments at the NOP (<sys/sdt.h>). An outside watcher puts a
 * breakpoint on the NOP and increments the semaphore.
 */
#include "watcher.h"

#define _SDT_HAS_SEMAPHORES 1
#define SDT_USE_VARIADIC 1
#include <sys/sdt.h>

/* NAME must remain a token of its own until it is in the note; the arguments must be expanded. */
#define PROBE(name, ...) STAP_PROBEV(erlang, name, __VA_ARGS__)
#define NAME(type, name) name

#define VALUE_string(name) \
    {                      \
        .string = name     \
    }
#define VALUE_int(name) \
    {                   \
        .integer = name \
    }
#define VALUE_uint32(name) \
    {                      \
        .integer = name    \
    }
#define VALUE_int64(name) \
    {                     \
        .integer = name   \
    }
#define VALUE(type, name) VALUE_##type(name)

#define DEFINE(name, fires, where, ...)                                                \
    unsigned short erlang_##name##_semaphore;                                          \
    __attribute__((noinline, cold)) void th_probe_##name(                              \
        TH_PROBE_EACH(TH_PROBE_PARAMETER, __VA_ARGS__))                                \
    {                                                                                  \
        th_probe_watcher watcher;                                                      \
        PROBE(name, TH_PROBE_EACH(NAME, __VA_ARGS__));                                 \
        if ((watcher = th_probe_watcher_now())) {                                      \
            const union th_probe_value values[] = {TH_PROBE_EACH(VALUE, __VA_ARGS__)}; \
            watcher(&th_probe_probes[TH_PROBE_##name], values);                        \
        }                                                                              \
    }

TH_PROBES(DEFINE)

/* --- The probes as data ----------------------------------------------------------------------- */

#define ARGUMENT(type, name)   \
    {                          \
        TH_PROBE_##type, #name \
    }
#define ARGUMENTS(name, fires, where, ...)                          \
    static const struct th_probe_argument arguments_of_##name[] = { \
        TH_PROBE_EACH(ARGUMENT, __VA_ARGS__)};
TH_PROBES(ARGUMENTS)

#define ROW(name, fires, where, ...) \
    {#name,                          \
     TH_PROBE_FIRES_##fires,         \
     where,                          \
     TH_PROBE_COUNT(__VA_ARGS__),    \
     arguments_of_##name,            \
     &erlang_##name##_semaphore},
const struct th_probe th_probe_probes[TH_PROBE_COUNT_OF_ALL] = {TH_PROBES(ROW)};
