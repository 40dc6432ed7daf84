#include "native_internal.h"
#include "native_thunk.h"

#include "host/base/memory.h"
#include "host/library/code_map.h"

#include <errno.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#ifndef MAP_FIXED_NOREPLACE
#define MAP_FIXED_NOREPLACE 0x100000
#endif

/* A block has one page of stubs, because code is executable and records are writable, and a record for
 * each stub. Sizes are in bytes; set with the first block. */
static size_t page, stubs, block_bytes;

/* The sure range of a jump, in bytes either way; and the end of a program's addresses. */
static const uintptr_t reach = TH_NATIVE_REACH, top = TH_NATIVE_TOP;

struct block {
    struct block *next;
    uint8_t *code;          /* stubs; records follow */
    struct th_native *free; /* linked by `next` */
};

static struct block *blocks;

/* --- A place ---------------------------------------------------------------------------------- */

struct place {
    uintptr_t word;
    uintptr_t address; /* the best one so far; 0: none */
};

static uintptr_t distance(uintptr_t a, uintptr_t b)
{
    return a > b ? a - b : b - a;
}

/* Takes the nearer end of the gap from START to END, if it is the best so far. */
static void consider(struct place *place, uintptr_t start, uintptr_t end)
{
    uintptr_t lowest = place->word > reach ? place->word - reach : 0;
    uintptr_t highest = place->word < top - reach ? place->word + reach : top;
    uintptr_t address;

    if (start < lowest)
        start = (lowest + page - 1) / page * page;
    if (end > highest)
        end = highest / page * page;
    if (end < start || end - start < block_bytes)
        return;
    address = end <= place->word ? end - block_bytes : start;
    if (!place->address || distance(address, place->word) < distance(place->address, place->word))
        place->address = address;
}

/* Looks at the gaps between mappings that the kernel lists, but leaves a gigabyte above the heap
 * and below the stack, which grow. */
static void find_place(struct place *place)
{
    const uintptr_t room = UINT64_C(1) << 30;
    struct th_memory memory = {0};
    uintptr_t from = 64 << 10; /* addresses below are the kernel's */

    place->address = 0;
    th_library_memory_of_process(&memory);
    for (size_t i = 0; i < memory.count; i++) {
        const struct th_memory_part *part = &memory.parts[i];
        bool is_stack = part->rights & TH_MEMORY_STACK, is_heap = part->rights & TH_MEMORY_HEAP;
        consider(place, from, part->start - (is_stack ? room : 0));
        from = part->start + part->size + (is_heap ? room : 0);
    }
    th_library_memory_free(&memory);
}

/* NULL, with errno: there is no memory. */
static uint8_t *map_near(uintptr_t word)
{
    enum { TRIES = 16 }; /* another thread may map the place first */
    struct place place = {.word = word};

    for (int i = 0; i < TRIES; i++) {
        void *memory;

        find_place(&place);
        errno = ENOMEM;
        if (!place.address)
            return NULL;
        memory = mmap((void *)place.address, block_bytes, PROT_READ | PROT_WRITE,
                      MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED_NOREPLACE, -1, 0);
        if (memory == (void *)place.address)
            return memory;
        if (memory == MAP_FAILED) {
            /* Fail loudly: functions would silently go untraced for memory that the system refuses
             * now and may grant the next time. */
            th_give_up_if_lacking("cannot map memory near machine code for breakpoints");
            if (errno != EEXIST)
                return NULL;
        } else {
            munmap(memory, block_bytes); /* an old kernel takes the address as a hint */
            errno = EEXIST;
        }
    }
    return NULL;
}

/* --- A block ---------------------------------------------------------------------------------- */

static struct th_native *record_of(const struct block *block, size_t i)
{
    return (struct th_native *)(block->code + page) + i;
}

static struct block *make_block(uintptr_t word)
{
    struct block *block;
    uint8_t *memory;

    page = (size_t)sysconf(_SC_PAGESIZE);
    stubs = page / TH_NATIVE_STUB;
    block_bytes = page + (stubs * sizeof(struct th_native) + page - 1) / page * page;
    memory = map_near(word);
    if (!memory)
        return NULL;
    block = th_alloc_zero(sizeof *block);
    block->code = memory;
    for (size_t i = stubs; i-- > 0;) {
        struct th_native *record = record_of(block, i);

        th_native_stub_write(block->code + i * TH_NATIVE_STUB, record, TH_NATIVE_THUNK);
        record->next = block->free;
        block->free = record;
    }
    if (mprotect(memory, page, PROT_READ | PROT_EXEC) != 0) {
        int error = errno;
        munmap(memory, block_bytes);
        th_free(block);
        errno = error;
        return NULL;
    }
    th_native_text_publish(memory, memory + page);
    block->next = blocks;
    return blocks = block;
}

struct th_native *th_native_near_find(const void *word, bool take)
{
    uintptr_t from = (uintptr_t)word;
    struct block *block = blocks;
    struct th_native *record;

    while (block && !(block->free && distance((uintptr_t)block->code, from) < reach &&
                      distance((uintptr_t)block->code + page, from) < reach))
        block = block->next;
    if (!block && !(block = make_block(from)))
        return NULL;
    record = block->free;
    if (take)
        block->free = record->next;
    return record;
}

static struct block *block_of(const struct th_native *record)
{
    struct block *block = blocks;

    while (record < record_of(block, 0) || record >= record_of(block, stubs))
        block = block->next;
    return block;
}

void th_native_near_free(struct th_native *record)
{
    struct block *block = block_of(record);

    record->next = block->free;
    block->free = record;
}

uintptr_t th_native_near_stub(const struct th_native *record)
{
    struct block *block = block_of(record);

    return (uintptr_t)block->code + (size_t)(record - record_of(block, 0)) * TH_NATIVE_STUB;
}
