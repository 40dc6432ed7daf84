#include "thread.h"

#include "memory.h"

#include <signal.h>
#include <stdlib.h>

int th_thread_start(pthread_t *thread, const pthread_attr_t *attributes,
                    void *(*run)(void *context), void *context)
{
    sigset_t all, before;
    int error;

    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    error = pthread_create(thread, attributes, run, context);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    return error;
}

/* --- Memory of one thread --------------------------------------------------------------------- */

struct block {
    struct block *next; /* of the same thread */
    void **place;
    _Alignas(max_align_t) unsigned char memory[];
};

static pthread_once_t once = PTHREAD_ONCE_INIT;
static pthread_key_t blocks_of_thread; /* value: the thread's first block */

/* If the destructor of another key allocates after this, pthreads calls this destructor once
 * more. */
static void free_blocks(void *first)
{
    struct block *block = first;

    while (block) {
        struct block *next = block->next;
        *block->place = NULL;
        free(block);
        block = next;
    }
}

static void make_block_key(void)
{
    if (pthread_key_create(&blocks_of_thread, free_blocks) != 0)
        th_give_up("no thread-specific key is left");
}

void *th_thread_memory(void **place, size_t size)
{
    struct block *block = calloc(1, sizeof *block + size);

    if (!block)
        return NULL;
    pthread_once(&once, make_block_key);
    block->place = place;
    block->next = pthread_getspecific(blocks_of_thread);
    if (pthread_setspecific(blocks_of_thread, block) != 0) {
        free(block);
        return NULL;
    }
    return *place = block->memory;
}
