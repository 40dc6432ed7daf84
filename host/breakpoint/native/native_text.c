#include "native_internal.h"

#include "host/base/base.h"

#include <errno.h>
#include <link.h>
#include <linux/membarrier.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

/* Held while memory is writable that usually is not. No other lock is taken under it. */
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

/* --- Where it is ------------------------------------------------------------------------------ */

struct search {
    uintptr_t address;
    struct th_text_segment *found;
};

static int protection_of(uint32_t flags)
{
    return (flags & PF_R ? PROT_READ : 0) | (flags & PF_W ? PROT_WRITE : 0) |
           (flags & PF_X ? PROT_EXEC : 0);
}

/* (Under the loader's lock, of which the thread sanitizer does not know.) */
__attribute__((no_sanitize("thread"))) static int look_into(struct dl_phdr_info *info, size_t size,
                                                            void *context)
{
    struct search *search = context;

    (void)size;
    for (size_t i = 0; i < info->dlpi_phnum; i++) {
        const ElfW(Phdr) *header = &info->dlpi_phdr[i];
        uintptr_t start = info->dlpi_addr + header->p_vaddr;
        if (header->p_type != PT_LOAD || search->address < start ||
            search->address - start >= header->p_memsz)
            continue;
        *search->found = (struct th_text_segment){start, start + header->p_memsz,
                                                  protection_of(header->p_flags)};
        return 1;
    }
    return 0;
}

bool th_native_text_find_segment(uintptr_t address, struct th_text_segment *segment)
{
    return dl_iterate_phdr(look_into, &(struct search){address, segment}) != 0;
}

/* --- All threads see it ----------------------------------------------------------------------- */

static long membarrier(int command)
{
    return syscall(SYS_membarrier, command, 0, 0);
}

bool th_native_text_begin(void)
{
    return membarrier(MEMBARRIER_CMD_REGISTER_PRIVATE_EXPEDITED_SYNC_CORE) == 0;
}

/* A child of fork() may have to ask again. */
static void sync_threads(void)
{
    if (membarrier(MEMBARRIER_CMD_PRIVATE_EXPEDITED_SYNC_CORE) == 0)
        return;
    if (!th_native_text_begin() || membarrier(MEMBARRIER_CMD_PRIVATE_EXPEDITED_SYNC_CORE) != 0)
        th_bug("membarrier() is refused that was promised: %s", strerror(errno));
}

/* --- Writing ---------------------------------------------------------------------------------- */

static uintptr_t page_size(void)
{
    return (uintptr_t)sysconf(_SC_PAGESIZE);
}

static uintptr_t page_of(const struct th_text_word *word)
{
    return (uintptr_t)word->word / page_size() * page_size();
}

/* How many of WORDS are in one run of pages with one protection. */
static size_t run_of(const struct th_text_word *words, size_t count)
{
    size_t n = 1;

    while (n < count && words[n].protection == words[0].protection &&
           page_of(&words[n]) - page_of(&words[n - 1]) <= page_size())
        n++;
    return n;
}

static bool protect(const struct th_text_word *words, size_t count, int protection)
{
    uintptr_t start = page_of(&words[0]);
    uintptr_t end = page_of(&words[count - 1]) + page_size();

    return mprotect((void *)start, end - start, protection) == 0;
}

static bool open_run(const struct th_text_word *words, size_t count)
{
    int given = words[0].protection;

    return given & PROT_WRITE || protect(words, count, given | PROT_WRITE);
}

static void close_run(const struct th_text_word *words, size_t count)
{
    if (!(words[0].protection & PROT_WRITE) && !protect(words, count, words[0].protection))
        th_bug("code stays writable: %s", strerror(errno));
}

/* Relaxed: what a thread that runs the new word is to find has been there since before the change
 * waited for it, and sync_threads() does the rest. */
static bool write_run(const struct th_text_word *words, size_t count)
{
    if (!open_run(words, count))
        return false;
    for (size_t i = 0; i < count; i++)
        atomic_store_explicit((_Atomic uint64_t *)words[i].word, words[i].value,
                              memory_order_relaxed);
    close_run(words, count);
    return true;
}

static int by_address(const void *a, const void *b)
{
    uintptr_t x = (uintptr_t)((const struct th_text_word *)a)->word;
    uintptr_t y = (uintptr_t)((const struct th_text_word *)b)->word;

    return (x > y) - (x < y);
}

bool th_native_text_write(struct th_text_word *words, size_t count)
{
    bool done = true;
    int error;

    if (count == 0)
        return true;
    qsort(words, count, sizeof *words, by_address);
    pthread_mutex_lock(&lock);
    for (size_t i = 0, n; i < count && done; i += n) {
        n = run_of(words + i, count - i);
        done = write_run(words + i, n);
    }
    error = errno;
    pthread_mutex_unlock(&lock);
    sync_threads();
    errno = error;
    return done;
}

bool th_native_text_can_write(const struct th_text_word *word)
{
    bool can;
    int error;

    pthread_mutex_lock(&lock);
    can = open_run(word, 1);
    error = errno;
    if (can)
        close_run(word, 1);
    pthread_mutex_unlock(&lock);
    errno = error;
    return can;
}
