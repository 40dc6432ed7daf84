/*
 * The addresses that a host's name has, without being deaf meanwhile.
 */
#ifndef TH_LOOKUP_H
#define TH_LOOKUP_H

#include "tcp.h"

#include <netdb.h>

/*
 * *FOUND is for freeaddrinfo(). DEADLINE is by th_clock_real_monotonic(). TH_MALFORMED with the
 * cause; TH_END, without one, as soon as *STOP is not 0. An answer that comes later than
 * that is taken by a thread of its own, which forgets it.
 */
enum th_status th_lookup(const struct th_tcp_address *address, const volatile int *stop,
                         int64_t deadline, struct addrinfo **found);

#endif
