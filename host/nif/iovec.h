/*
 * What the vectors of I/O lists and of queues share. Inner header of nif/.
 *
 * ref_bins[i] is the struct th_binary that iov[i] lies in, or NULL for bytes of a term's own. What
 * the vector holds is said by `flags`.
 */
#ifndef TH_NIF_IOVEC_H
#define TH_NIF_IOVEC_H

enum {
    TH_IOVEC_OF_CALLER = 1, /* the structure is the library's own */
    TH_IOVEC_OWNS = 2       /* a share of each binary, and its arrays: enif_free_iovec() ends it */
};

#endif
