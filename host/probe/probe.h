/*
 * The face of probe/: the USDT probes of provider `erlang`. Any room may include this header, which
 * depends on no other room.
 *
 *     if (TH_PROBE_ENABLED(message__send)) {
 *         ... make the texts and sizes ...
 *         TH_PROBE(message__send, sender, receiver, size, label, previous, current);
 *     }
 *
 * or TH_PROBE() alone: its arguments are evaluated only if the probe is enabled. The probes, with
 * their arguments and types, are in plugin_api/probe_table.h.
 *
 * Cost: a probe that nobody watches costs a comparison with its semaphore and a branch that is not
 * taken; its NOP is behind the branch. A probe is one function (notes.c), however many places it
 * fires from: so the probe has one note, and its arguments are where the calling convention puts
 * them.
 *
 * Thread: any. Firing neither blocks nor allocates, unless the host's own watcher (below) does.
 * Owner: texts must be valid during the call; NULL is none.
 *
 * With TH_NO_PROBES defined the macros are empty: for measuring the cost of the probes.
 */
#ifndef TH_PROBE_H
#define TH_PROBE_H

#include "plugin_api/probe_table.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { TH_PROBE_TEXT = 256 /* bytes of a text, with its 0; longer texts are cut */ };

typedef const char *th_probe_string;
typedef int th_probe_int;
typedef uint32_t th_probe_uint32;
typedef int64_t th_probe_int64;

#define TH_PROBE_PARAMETER(type, name) th_probe_##type name

/*
 * Declares the two symbols of a probe.
 *
 * erlang_NAME_semaphore: the number of watchers. Watchers write it from outside: the kernel for
 * perf and bpftrace, gdb, SystemTap. Inside the host only watcher.c writes it. The semaphore orders
 * no other data: a new watcher sees the first hits a little after its start.
 *
 * th_probe_NAME(): fires the probe, whether or not it is watched.
 */
#define TH_PROBE_DECLARE(name, fires, where, ...)                        \
    extern unsigned short erlang_##name##_semaphore                      \
        __attribute__((section(".probes"), visibility("hidden")));       \
    void th_probe_##name(TH_PROBE_EACH(TH_PROBE_PARAMETER, __VA_ARGS__)) \
        __attribute__((visibility("hidden")));

TH_PROBES(TH_PROBE_DECLARE)

/* A comparison with memory and a jump, which take no register; for an atomic load, compilers would
 * use a register. */
#ifdef TH_NO_PROBES
#define TH_PROBE_ENABLED(name) 0
#elif defined(__x86_64__)
#define TH_PROBE_ENABLED(name)                        \
    __extension__({                                   \
        __label__ watched, done;                      \
        bool is_watched = false;                      \
        __asm__ goto("cmpw $0, %0\n\tjne %l1"         \
                     :                                \
                     : "m"(erlang_##name##_semaphore) \
                     : "cc"                           \
                     : watched);                      \
        goto done;                                    \
    watched:                                          \
        is_watched = true;                            \
    done:                                             \
        is_watched;                                   \
    })
#else
#define TH_PROBE_ENABLED(name) \
    __builtin_expect(__atomic_load_n(&erlang_##name##_semaphore, __ATOMIC_RELAXED) != 0, 0)
#endif

#define TH_PROBE(name, ...)               \
    do {                                  \
        if (TH_PROBE_ENABLED(name))       \
            th_probe_##name(__VA_ARGS__); \
    } while (0)

/* --- The probes as data ----------------------------------------------------------------------- */

#define TH_PROBE_ID(name, fires, where, ...) TH_PROBE_##name,
enum th_probe_id { TH_PROBES(TH_PROBE_ID) TH_PROBE_COUNT_OF_ALL };

enum th_probe_type { TH_PROBE_string, TH_PROBE_int, TH_PROBE_uint32, TH_PROBE_int64 };
enum th_probe_fires { TH_PROBE_FIRES_live, TH_PROBE_FIRES_replay, TH_PROBE_FIRES_never };

struct th_probe {
    const char *name;
    enum th_probe_fires fires;
    const char *where; /* where it fires, or why it never does */
    unsigned count;    /* of arguments */
    const struct th_probe_argument {
        enum th_probe_type type;
        const char *name;
    } * arguments;
    unsigned short *semaphore;
};

extern const struct th_probe th_probe_probes[TH_PROBE_COUNT_OF_ALL];

/* The row of the probe NAME, spelled as in notes; NULL: no such probe. */
const struct th_probe *th_probe_find(const char *name);

/* Return the C name of TYPE, such as "uint32_t", and its size in bytes, as in the probe's note: the
 * size of a signed type is negative. */
const char *th_probe_type_name(enum th_probe_type type);
int th_probe_type_size(enum th_probe_type type);

/* --- The host as its own watcher -------------------------------------------------------------- */

union th_probe_value {
    const char *string;
    int64_t integer;
};

/* A watcher, called when PROBE was hit, in the thread that hit it. VALUES has one element per
 * argument, valid during the call. The thread may hold locks of the host: the watcher may call no
 * room but base/. */
typedef void (*th_probe_watcher)(const struct th_probe *probe, const union th_probe_value *values);

/* Sets the watcher of the whole process, NULL: none. WATCHER is called for each hit of a probe
 * whose semaphore is not 0, whichever watcher raised it. Hits under way may still reach the former
 * watcher. */
void th_probe_watch(th_probe_watcher watcher);

/* Adds, or removes, one watcher of PROBE. */
void th_probe_raise(const struct th_probe *probe);
void th_probe_lower(const struct th_probe *probe);

/* True if PROBE's name matches PATTERN, of `*`, `?` and `[...]`. */
bool th_probe_matches(const struct th_probe *probe, const char *pattern);

#endif
