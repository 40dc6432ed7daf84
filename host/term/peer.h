/*
 * Peers: the other nodes of a merged replay, whose pids and ports are immediates like those of this
 * node.
 *
 * A replay of several nodes on one timeline has a first node, "this node" of all terms, and up to
 * TH_PEERS_MAX peers. Tables of the host and of tracers find recorded processes by their words; a
 * peer's processes have words as well, whose highest bits are the index of the peer (word.h). All else
 * about a peer's pids and ports is as for other nodes: order, hash, external form, node/1.
 *
 * Peers are never removed, as immediates are valid for ever. A pid of a node that was made before the
 * node became a peer is a boxed term, and differs from the later word in tables and for =:=; so peers
 * are added before terms of their nodes are made.
 */
#ifndef TH_PEER_H
#define TH_PEER_H

#include "word.h"

enum { TH_PEERS_MAX = 15 };

struct th_peer {
    th_term node; /* an atom; TH_NONE: no such peer, or this node */
    uint32_t creation;
};

/* Entries 1 to TH_PEERS_MAX. An entry is written once, before its index is in any word, so the
 * owner of a word reads it without order. Entry 0 stays {0}: this node. */
extern struct th_peer th_term_peers[TH_PEERS_MAX + 1];

/* Returns the index of the peer (NODE, CREATION), which it adds if necessary; 0: the table is full.
 * NODE is an atom, and not the node that is "here" for the streams that are merged.
 * Thread: one at a time, the thread that replays. The entry is published by a release store.
 * Order: before terms of the node are made. */
unsigned th_peer_add(th_term node, uint32_t creation);

/* Returns the index of the peer (NODE, CREATION); 0: no peer.
 * Thread: any; an acquire load finds the entries complete. */
unsigned th_peer_find(th_term node, uint32_t creation);

/* Returns the index of the peer that was added last with the name NODE; 0: none.
 * Thread: any. */
unsigned th_peer_named(th_term node);

/* Returns whether INDEX is 0 or that of a peer.
 * Thread: any. */
bool th_peer_is_known(unsigned index);

#endif
