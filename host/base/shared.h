/*
 * Memory that outlives the process that writes it.
 *
 * A supervisor (crash/supervisor.h) maps a region and forks a worker. Data that shall be known
 * after the worker's death lies in the region, at the same address in both processes: names of
 * tracers, the event that is played, the buffers of outputs, the list of unfinished files. Without a
 * region the functions below use the heap.
 *
 * The worker writes, the supervisor reads after the worker's death. Each worker has a region. A child that a library forks in
 * the worker gets a copy of the region, so that nothing of the child reaches the supervisor.
 */
#ifndef TH_SHARED_H
#define TH_SHARED_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

struct th_kept;
struct th_unfinished;

/* Size of a page that th_self (self/self.h) fills: the largest one that a system of the machine may have.
 * Kernels for arm64 have pages of 4, 16 or 64 KiB. */
#ifdef __aarch64__
enum { TH_SHARED_PAGE = 64 << 10 };
#else
enum { TH_SHARED_PAGE = 4 << 10 };
#endif

/* Start of the region. */
struct th_shared_region {
    uint64_t mark;                    /* a number that no other memory has by chance */
    pid_t worker;                     /* written by the worker before any other code runs */
    struct th_unfinished *unfinished; /* output.h: files to remove */
    void *crash;                      /* crash/: what is known of the worker's end */
    /* crash/: position of the worker, see th_crash_set_place(). Written by the worker's main thread,
     * release: output that was sent before belongs to earlier places. The supervisor acquires. */
    _Atomic uint64_t place;
};

/* The region that the process uses; NULL: none. */
extern struct th_shared_region *th_shared_here;

/* Maps a region and makes a pair of sockets: SOCKETS[0] for the supervisor, SOCKETS[1] for the
 * worker. Errors: returns false, with nothing changed, if the system refuses either. */
bool th_shared_begin(int sockets[2]);

/* Makes the process, which has just been forked, the worker. SOCKET is SOCKETS[1]. */
void th_shared_work(int socket);

/* Unmaps REGION. Order: no pointer into it is used later.
 * Process: the supervisor, or a worker that has inherited the region of another. */
void th_shared_end(struct th_shared_region *region);

/* Returns whether the SIZE bytes at ADDRESS lie in REGION. */
bool th_shared_holds(const struct th_shared_region *region, const void *address, size_t size);

/* Allocates SIZE bytes of zeros in the region; if it is full or missing, by th_alloc_zero(). Owner:
 * the caller frees the memory by th_shared_free(). Thread: any. */
void *th_shared_alloc(size_t size) __attribute__((malloc, returns_nonnull, alloc_size(1)));

/* Copies TEXT likewise. */
char *th_shared_strdup(const char *text) __attribute__((malloc, returns_nonnull));

/* As th_shared_alloc(). Returns NULL if the region is full or missing. */
void *th_shared_try_alloc(size_t size) __attribute__((malloc, alloc_size(1)));

/* Frees MEMORY, which may be NULL. Thread: any. */
void th_shared_free(void *memory);

/* Moves the TH_SHARED_PAGE bytes at PAGE, which is a page of its own, into the region: the page
 * keeps address and content. th_shared_page_leave() moves it back into private memory. Errors:
 * returns false, with nothing changed, if there is no region or no place, or if the system's pages
 * are larger. Thread: any, for a page that only the calling thread uses. */
bool th_shared_page_enter(void *page);
void th_shared_page_leave(void *page);

/* Returns a page of zeros in the region for the caller to write to; NULL: there is no region or no
 * place. th_shared_page_give() returns the page, which may be NULL. Thread: any. */
void *th_shared_page_take(void);
void th_shared_page_give(void *page);

/* Calls VISIT with each page that has a place in REGION, in ascending order of places. A page that
 * has left is all zeros. Thread: the supervisor. */
void th_shared_pages_each(const struct th_shared_region *region,
                          void (*visit)(void *context, const void *page), void *context);

/* Returns the page at place INDEX of REGION, counted from 0; NULL: there are less places. A thread
 * gets the first free place. Thread: the supervisor. */
const void *th_shared_page_at(const struct th_shared_region *region, size_t index);

/* Sends BYTES, one message, to the supervisor, with DESCRIPTOR unless below 0. Errors: returns
 * false if the message was not sent. Thread: any; async-signal-safe. */
bool th_shared_send(const void *bytes, size_t size, int descriptor);

#endif
