/*
 * Addresses tcp://HOST:PORT, and connecting to them.
 *
 * HOST is a name, an IPv4 address, or an IPv6 address in brackets; PORT a number.
 */
#ifndef TH_TCP_H
#define TH_TCP_H

#include "host/base/base.h"

#include <stdbool.h>
#include <stdint.h>

enum { TH_TCP_CONNECT_MS = 10000 /* for looking up and connecting, unless told otherwise */ };

struct addrinfo;

struct th_tcp_address {
    char *host, *port;
};

/* True if NAME begins as such an address does: then it means nothing else. */
bool th_replay_tcp_is_address(const char *name);

/* Takes NAME apart; TH_MALFORMED with what is wrong with it. th_replay_tcp_free() in any case. */
enum th_status th_replay_tcp_parse(const char *name, struct th_tcp_address *address);
void th_replay_tcp_free(struct th_tcp_address *address);

/*
 * Connects within MILLISECONDS, trying in turn all addresses that the name has. The descriptor does
 * not block, and its end is noticed (within two minutes) also if the other machine just vanishes.
 * TH_MALFORMED with the cause: refused, unknown, too late... TH_END, without a cause, as soon as
 * *STOP (NULL: never) is not 0; it is looked at twice a second and when a signal comes.
 */
enum th_status th_replay_tcp_connect(const struct th_tcp_address *address, const volatile int *stop,
                                     int milliseconds, int *fd);

/* Whether *STOP (NULL: never) tells to end. Relaxed: it stands for itself. */
static inline bool th_replay_tcp_stopped(const volatile int *stop)
{
    return stop && __atomic_load_n(stop, __ATOMIC_RELAXED);
}

/* Milliseconds to wait in one go, until *STOP is looked at again: to DEADLINE, rounded up, or half
 * a second. */
int th_replay_tcp_patience(int64_t deadline);

/* Waits until DEADLINE (th_clock_real_monotonic()), half a second at most; shorter if a signal
 * comes. False if *STOP is not 0. */
bool th_replay_tcp_pause(const volatile int *stop, int64_t deadline);

/* --- Looking up (lookup.c) -------------------------------------------------------------------- */

/*
 * The addresses that a host's name has, without being deaf meanwhile. *FOUND is for freeaddrinfo().
 * DEADLINE is by th_clock_real_monotonic(). TH_MALFORMED with the cause; TH_END, without one, as
 * soon as *STOP is not 0. An answer that comes later than that is taken by a thread of its own,
 * which forgets it.
 */
enum th_status th_replay_lookup(const struct th_tcp_address *address, const volatile int *stop,
                                int64_t deadline, struct addrinfo **found);

#endif
