#include "native_internal.h"

#include "host/base/error.h"

#include <errno.h>
#include <linux/membarrier.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

/* Held while code is writable that usually is not. No other lock is taken under it. */
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

/* --- Making writes visible -------------------------------------------------------------------- */

static long membarrier(int command)
{
    return syscall(SYS_membarrier, command, 0, 0);
}

bool th_native_text_begin(void)
{
    return membarrier(MEMBARRIER_CMD_REGISTER_PRIVATE_EXPEDITED_SYNC_CORE) == 0;
}

/* A child of fork() may have to register again. */
static void sync_threads(void)
{
    if (membarrier(MEMBARRIER_CMD_PRIVATE_EXPEDITED_SYNC_CORE) == 0)
        return;
    if (!th_native_text_begin() || membarrier(MEMBARRIER_CMD_PRIVATE_EXPEDITED_SYNC_CORE) != 0)
        th_bug("membarrier() failed after its registration: %s", strerror(errno));
}

/* --- Writing ---------------------------------------------------------------------------------- */

static uintptr_t native_text_page_of(const struct th_text_word *word)
{
    uintptr_t size = (uintptr_t)sysconf(_SC_PAGESIZE);

    return (uintptr_t)word->word / size * size;
}

/* Makes the pages of WORDS, which have one protection, writable, or restores the protection. */
static bool protect(const struct th_text_word *words, size_t count, bool writable)
{
    int given = words[0].protection;
    uintptr_t start = native_text_page_of(&words[0]);
    uintptr_t end = native_text_page_of(&words[count - 1]) + (uintptr_t)sysconf(_SC_PAGESIZE);
    bool done = given & PROT_WRITE ||
                mprotect((void *)start, end - start, given | (writable ? PROT_WRITE : 0)) == 0;

    if (!done && !writable)
        th_bug("cannot make code read-only again: %s", strerror(errno));
    return done;
}

static int native_text_by_address(const void *a, const void *b)
{
    uintptr_t x = (uintptr_t)((const struct th_text_word *)a)->word;
    uintptr_t y = (uintptr_t)((const struct th_text_word *)b)->word;

    return (x > y) - (x < y);
}

/* Relaxed: the data for threads that run the new word was visible before, as the change has waited
 * for it; sync_threads() does the rest. The call after the store cleans caches where a processor
 * has separate ones for instructions. */
static void store_word(const struct th_text_word *word)
{
    atomic_store_explicit((_Atomic th_entry_word *)word->word, word->value, memory_order_relaxed);
    __builtin___clear_cache((char *)word->word, (char *)(word->word + 1));
}

bool th_native_text_write(struct th_text_word *words, size_t count)
{
    const uintptr_t page = (uintptr_t)sysconf(_SC_PAGESIZE);
    bool done = true;
    int error;

    if (count == 0)
        return true;
    qsort(words, count, sizeof *words, native_text_by_address);
    if (TH_NATIVE_SYNCS_BEFORE)
        sync_threads();
    pthread_mutex_lock(&lock);
    for (size_t i = 0, end; i < count && done; i = end) {
        /* The words in consecutive pages with one protection. */
        for (end = i + 1;
             end < count && words[end].protection == words[i].protection &&
             native_text_page_of(&words[end]) - native_text_page_of(&words[end - 1]) <= page;
             end++)
            ;
        done = protect(words + i, end - i, true);
        for (size_t k = i; k < end && done; k++)
            store_word(&words[k]);
        if (done)
            protect(words + i, end - i, false);
    }
    error = errno;
    pthread_mutex_unlock(&lock);
    sync_threads();
    errno = error;
    return done;
}

void th_native_text_publish(uint8_t *begin, uint8_t *end)
{
    __builtin___clear_cache((char *)begin, (char *)end);
    sync_threads();
}

bool th_native_text_can_write(const struct th_text_word *word)
{
    bool can;
    int error;

    pthread_mutex_lock(&lock);
    can = protect(word, 1, true);
    error = errno;
    if (can)
        protect(word, 1, false);
    pthread_mutex_unlock(&lock);
    errno = error;
    return can;
}
