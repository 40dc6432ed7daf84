#include "peer.h"

#include <stdatomic.h>

struct th_peer th_term_peers[TH_PEERS_MAX + 1];

/* Index of the last peer. Written by the thread that adds. Release: the entries up to it are written;
 * acquire. */
static _Atomic unsigned last_peer;

unsigned th_peer_find(th_term node, uint32_t creation)
{
    unsigned index = atomic_load_explicit(&last_peer, memory_order_acquire);

    while (index > 0 &&
           (th_term_peers[index].node != node || th_term_peers[index].creation != creation))
        index--;
    return index;
}

unsigned th_peer_add(th_term node, uint32_t creation)
{
    unsigned index = th_peer_find(node, creation);

    if (index > 0)
        return index;
    index = atomic_load_explicit(&last_peer, memory_order_relaxed) + 1;
    if (index > TH_PEERS_MAX)
        return 0;
    th_term_peers[index] = (struct th_peer){node, creation};
    atomic_store_explicit(&last_peer, index, memory_order_release);
    return index;
}

unsigned th_peer_named(th_term node)
{
    unsigned index = atomic_load_explicit(&last_peer, memory_order_acquire);

    while (index > 0 && th_term_peers[index].node != node)
        index--;
    return index;
}

bool th_peer_is_known(unsigned index)
{
    return index <= atomic_load_explicit(&last_peer, memory_order_acquire);
}
