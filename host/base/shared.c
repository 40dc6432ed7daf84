/*
 * The region: one page with struct th_shared_region, the heap, the pages of threads.
 *
 * The allocator's own data are private to the worker: damage of the region cannot mislead the
 * worker, and the supervisor never allocates there.
 */
#include "shared.h"

#include "memory.h"

#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/random.h>
#include <sys/socket.h>
#include <unistd.h>

#ifdef TH_ADDRESS_SANITIZER
#include <sanitizer/lsan_interface.h>
#endif

enum {
    HEAP_BYTES = 4 << 20,
    PAGES = 512, /* limit of threads whose state the supervisor sees */
    HEAD_BYTES = TH_SHARED_PAGE,
    PAGES_AT = HEAD_BYTES + HEAP_BYTES,
    REGION_BYTES = PAGES_AT + PAGES * TH_SHARED_PAGE,
    CLASSES = 20 /* sizes of blocks: 32 bytes << class */
};

struct th_shared_region *th_shared_here;
static int to_supervisor = -1;
static bool has_left; /* a child of the worker has a copy of the part that was used at the fork */

/* A block of the heap; its memory follows. Blocks keep their class for ever. */
struct block {
    struct block *next; /* while the block is free */
    size_t class;
};

/* Guards the variables below; no lock is taken under it. */
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct block *free_blocks[CLASSES];
static size_t heap_used;
static bool taken[PAGES]; /* places that have a page */

/* The calling thread's page, NULL: none, and the number of its place. */
static _Thread_local void *own_page;
static _Thread_local size_t own_place;

/* --- The region ------------------------------------------------------------------------------- */

static char *page_place(const struct th_shared_region *region, size_t index)
{
    return (char *)region + PAGES_AT + index * TH_SHARED_PAGE;
}

/* Replaces the shared memory at ADDRESS by a private copy. Errors: returns false, with nothing
 * changed, if there is no memory. */
static bool make_private(void *address, size_t size)
{
    void *copy = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

    if (copy == MAP_FAILED)
        return false;
    memcpy(copy, address, size);
    return mremap(copy, size, size, MREMAP_MAYMOVE | MREMAP_FIXED, address) != MAP_FAILED;
}

/* In a child that a library forked: the child shares nothing with the supervisor. Other threads do
 * not exist in the child, so their pages do not matter. */
static void leave_to_parent(void)
{
    sigset_t all, before;

    if (!th_shared_here || to_supervisor < 0)
        return;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    if (!make_private(th_shared_here, HEAD_BYTES + heap_used) ||
        (own_page && !make_private(own_page, TH_SHARED_PAGE)))
        _exit(TH_FAILED); /* it would write into its parent's memory */
    own_page = NULL;
    close(to_supervisor);
    to_supervisor = -1;
    has_left = true;
    pthread_sigmask(SIG_SETMASK, &before, NULL);
}

bool th_shared_begin(int sockets[2])
{
    struct th_shared_region *region = mmap(NULL, REGION_BYTES, PROT_READ | PROT_WRITE,
                                           MAP_SHARED | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);

    if (region == MAP_FAILED)
        return false;
    if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, sockets) != 0) {
        munmap(region, REGION_BYTES);
        return false;
    }
    if (getrandom(&region->mark, sizeof region->mark, GRND_NONBLOCK) != sizeof region->mark)
        region->mark = (uintptr_t)region;
    th_shared_here = region;
    heap_used = 0;
    return true;
}

void th_shared_work(int socket)
{
    to_supervisor = socket;
    th_shared_here->worker = getpid();
    pthread_atfork(NULL, NULL, leave_to_parent);
#ifdef TH_ADDRESS_SANITIZER
    __lsan_register_root_region(th_shared_here, PAGES_AT);
#endif
}

void th_shared_end(struct th_shared_region *region)
{
    munmap(region, REGION_BYTES);
    if (th_shared_here == region)
        th_shared_here = NULL;
}

/* --- The heap --------------------------------------------------------------------------------- */

bool th_shared_holds(const struct th_shared_region *region, const void *address, size_t size)
{
    uintptr_t offset = (uintptr_t)address - (uintptr_t)region;

    return region && offset < REGION_BYTES && size <= REGION_BYTES - offset;
}

void *th_shared_try_alloc(size_t size)
{
    size_t class = 0, whole;
    struct block *block = NULL;

    if (!th_shared_here || has_left || size > HEAP_BYTES)
        return NULL;
    while ((size_t)32 << class < size + sizeof *block)
        class ++;
    whole = (size_t)32 << class;
    pthread_mutex_lock(&lock);
    if (free_blocks[class]) {
        block = free_blocks[class];
        free_blocks[class] = block->next;
    } else if (whole <= HEAP_BYTES - heap_used) {
        block = (struct block *)((char *)th_shared_here + HEAD_BYTES + heap_used);
        heap_used += whole;
    }
    pthread_mutex_unlock(&lock);
    if (!block)
        return NULL;
    block->class = class;
    return memset(block + 1, 0, size);
}

void *th_shared_alloc(size_t size)
{
    void *memory = th_shared_try_alloc(size);

    return memory ? memory : th_alloc_zero(size);
}

char *th_shared_strdup(const char *text)
{
    size_t size = strlen(text) + 1;

    return memcpy(th_shared_alloc(size), text, size);
}

void th_shared_free(void *memory)
{
    struct block *block;

    if (!th_shared_holds(th_shared_here, memory, 1)) {
        th_free(memory);
        return;
    }
    block = (struct block *)memory - 1;
    pthread_mutex_lock(&lock);
    block->next = free_blocks[block->class];
    free_blocks[block->class] = block;
    pthread_mutex_unlock(&lock);
}

/* --- Pages of threads ------------------------------------------------------------------------- */

/* Returns a free place, which is taken from now on; PAGES: none. */
static size_t take_place(void)
{
    size_t i = 0;

    pthread_mutex_lock(&lock);
    while (i < PAGES && taken[i])
        i++;
    if (i < PAGES)
        taken[i] = true;
    pthread_mutex_unlock(&lock);
    return i;
}

static void give_place(size_t place)
{
    pthread_mutex_lock(&lock);
    taken[place] = false;
    pthread_mutex_unlock(&lock);
}

/* The place is mapped a second time, at the page: an old size of 0 makes mremap() do that. */
bool th_shared_page_enter(void *page)
{
    /* Else the neighbours would move, too. */
    bool can = TH_SHARED_PAGE % sysconf(_SC_PAGESIZE) == 0;
    size_t place = can && to_supervisor >= 0 && !own_page ? take_place() : PAGES;
    sigset_t all, before;
    bool mapped;

    if (place == PAGES)
        return own_page == page;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    memcpy(page_place(th_shared_here, place), page, TH_SHARED_PAGE);
    mapped = mremap(page_place(th_shared_here, place), 0, TH_SHARED_PAGE,
                    MREMAP_MAYMOVE | MREMAP_FIXED, page) != MAP_FAILED;
    own_page = mapped ? page : NULL;
    own_place = place;
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    if (!mapped)
        give_place(place);
    return mapped;
}

void th_shared_page_leave(void *page)
{
    sigset_t all, before;
    bool left;

    if (!own_page || page != own_page)
        return;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    left = make_private(page, TH_SHARED_PAGE);
    if (left)
        memset(page_place(th_shared_here, own_place), 0, TH_SHARED_PAGE);
    own_page = NULL;
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    if (left) /* else the place stays taken */
        give_place(own_place);
}

void *th_shared_page_take(void)
{
    size_t place = to_supervisor >= 0 ? take_place() : PAGES;

    return place == PAGES ? NULL : page_place(th_shared_here, place);
}

void th_shared_page_give(void *page)
{
    if (!page)
        return;
    memset(page, 0, TH_SHARED_PAGE);
    give_place((size_t)((char *)page - page_place(th_shared_here, 0)) / TH_SHARED_PAGE);
}

void th_shared_pages_each(const struct th_shared_region *region,
                          void (*visit)(void *context, const void *page), void *context)
{
    for (size_t i = 0; i < PAGES; i++)
        visit(context, page_place(region, i));
}

const void *th_shared_page_at(const struct th_shared_region *region, size_t index)
{
    return index < PAGES ? page_place(region, index) : NULL;
}

/* --- Messages --------------------------------------------------------------------------------- */

bool th_shared_send(const void *bytes, size_t size, int descriptor)
{
    union {
        struct cmsghdr head;
        char room[CMSG_SPACE(sizeof(int))];
    } with = {0};
    struct iovec part = {(void *)(uintptr_t)bytes, size};
    struct msghdr message = {.msg_iov = &part, .msg_iovlen = 1};
    ssize_t sent;

    if (descriptor >= 0) {
        message.msg_control = with.room;
        message.msg_controllen = sizeof with.room;
        with.head = (struct cmsghdr){
            .cmsg_level = SOL_SOCKET, .cmsg_type = SCM_RIGHTS, .cmsg_len = CMSG_LEN(sizeof(int))};
        memcpy(CMSG_DATA(&with.head), &descriptor, sizeof descriptor);
    }
    do
        sent = to_supervisor < 0 ? 0 : sendmsg(to_supervisor, &message, MSG_NOSIGNAL);
    while (sent < 0 && errno == EINTR);
    return sent == (ssize_t)size;
}
