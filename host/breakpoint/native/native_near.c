#include "native_internal.h"
#include "native_thunk.h"

#include "host/base/memory.h"
#include "host/library/code_map.h"

#include <errno.h>
#include <string.h>
#include <sys/mman.h>

#ifndef MAP_FIXED_NOREPLACE
#define MAP_FIXED_NOREPLACE 0x100000
#endif

enum {
    STUB = 16, /* bytes */
    STUBS = 256,
    CODE = STUB * STUBS,
    RECORDS = STUBS * sizeof(struct th_native),
    BLOCK = CODE + RECORDS,
};

_Static_assert(CODE == 4096, "a page: what is executable is not writable");

/* The sure range of a jump, in bytes either way; and the end of a program's addresses. */
static const uintptr_t reach = (UINT64_C(2) << 30) - (64 << 10);
static const uintptr_t top = (UINT64_C(1) << 47) - 4096;

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
        start = (lowest + CODE - 1) / CODE * CODE;
    if (end > highest)
        end = highest / CODE * CODE;
    if (end < start || end - start < BLOCK)
        return;
    address = end <= place->word ? end - BLOCK : start;
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
        memory = mmap((void *)place.address, BLOCK, PROT_READ | PROT_WRITE,
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
            munmap(memory, BLOCK); /* an old kernel takes the address as a hint */
            errno = EEXIST;
        }
    }
    return NULL;
}

/* --- A block ---------------------------------------------------------------------------------- */

static struct th_native *record_of(const struct block *block, size_t i)
{
    return (struct th_native *)(block->code + CODE) + i;
}

static struct block *make_block(uintptr_t word)
{
    enum { LEA = 7 };
    uint8_t *memory = map_near(word);
    struct block *block;

    if (!memory)
        return NULL;
    block = th_alloc_zero(sizeof *block);
    block->code = memory;
    for (size_t i = STUBS; i-- > 0;) {
        struct th_native *record = record_of(block, i);
        uint8_t *stub = block->code + i * STUB;
        int32_t displacement = (int32_t)((uint8_t *)record - (stub + LEA));

        /* `lea RECORD(%rip),%r11; jmp *TH_NATIVE_THUNK(%r11)`, and traps. */
        memset(stub, 0xcc, STUB);
        memcpy(stub, (const uint8_t[]){0x4c, 0x8d, 0x1d}, 3);
        memcpy(stub + 3, &displacement, sizeof displacement);
        memcpy(stub + LEA, (const uint8_t[]){0x41, 0xff, 0x63, TH_NATIVE_THUNK}, 4);
        record->next = block->free;
        block->free = record;
    }
    if (mprotect(memory, CODE, PROT_READ | PROT_EXEC) != 0) {
        int error = errno;
        munmap(memory, BLOCK);
        th_free(block);
        errno = error;
        return NULL;
    }
    block->next = blocks;
    return blocks = block;
}

struct th_native *th_native_near_find(const void *word, bool take)
{
    uintptr_t from = (uintptr_t)word;
    struct block *block = blocks;
    struct th_native *record;

    while (block && !(block->free && distance((uintptr_t)block->code, from) < reach &&
                      distance((uintptr_t)block->code + CODE, from) < reach))
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

    while (record < record_of(block, 0) || record >= record_of(block, STUBS))
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

    return (uintptr_t)block->code + (size_t)(record - record_of(block, 0)) * STUB;
}
