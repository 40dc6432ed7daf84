#include "fired.h"

#define _SDT_HAS_SEMAPHORES 1
#define SDT_USE_VARIADIC 1
#include <sys/sdt.h>

/* The arguments are macros until here; the name must not be one. */
#define PROBE(name, ...) STAP_PROBEV(erlang, name, __VA_ARGS__)
#define NAME(type, name) name
#define DEFINE(name, fires, where, ...)                                                      \
    unsigned short erlang_##name##_semaphore;                                                \
    __attribute__((noinline)) void probe_##name(TH_PROBE_EACH(PROBE_PARAMETER, __VA_ARGS__)) \
    {                                                                                        \
        PROBE(name, TH_PROBE_EACH(NAME, __VA_ARGS__));                                       \
    }
TH_PROBES(DEFINE)
