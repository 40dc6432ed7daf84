#include "memory.h"

#include <errno.h>
#include <malloc.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

_Thread_local struct th_memory_budget th_memory_budget = {SIZE_MAX, SIZE_MAX};

static _Thread_local unsigned long allocations;
static atomic_bool given_up; /* relaxed: orders no other data */

/* --- The reserve ------------------------------------------------------------------------------ */

enum { ALIGNED = 64 /* bytes: alignment of pieces and of their contents */ };

/* A piece of the reserve, of BYTES bytes with this head. */
struct piece {
    _Alignas(ALIGNED) size_t bytes;
    bool used;
    _Alignas(ALIGNED) unsigned char content[];
};

/* The address of the reserve, once the host is a library. The address before lies where no memory
 * can be. Relaxed: threads pass pieces of the reserve on as they pass on any memory. */
static unsigned char *_Atomic reserve = (unsigned char *)-(uintptr_t)TH_MEMORY_RESERVE;
static pthread_mutex_t reserve_lock = PTHREAD_MUTEX_INITIALIZER; /* guards the reserve */
static atomic_size_t reserve_used; /* bytes; relaxed: a count; written under the lock */
static atomic_bool lasting;        /* relaxed: no other data depends on it */

_Thread_local bool th_memory_refused;

static unsigned char *reserve_at(void)
{
    return atomic_load_explicit(&reserve, memory_order_relaxed);
}

bool th_memory_last(void)
{
    void *at = MAP_FAILED;

    if (th_memory_lasts())
        return true;
    pthread_mutex_lock(&reserve_lock);
    if (!th_memory_lasts())
        at = mmap(NULL, TH_MEMORY_RESERVE, PROT_READ | PROT_WRITE,
                  MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (at != MAP_FAILED) {
        atomic_store_explicit(&reserve, at, memory_order_relaxed);
        atomic_store_explicit(&lasting, true, memory_order_relaxed);
    }
    pthread_mutex_unlock(&reserve_lock);
    return th_memory_lasts();
}

bool th_memory_lasts(void)
{
    return atomic_load_explicit(&lasting, memory_order_relaxed);
}

static bool is_reserve(const void *memory)
{
    return (uintptr_t)memory - (uintptr_t)reserve_at() < TH_MEMORY_RESERVE;
}

static struct piece *piece_of(void *memory)
{
    return (struct piece *)((unsigned char *)memory - offsetof(struct piece, content));
}

/* Takes the first piece that has room: the reserve is used rarely, and for little. */
static void *take_piece(size_t size)
{
    size_t bytes = (sizeof(struct piece) + size + ALIGNED - 1) / ALIGNED * ALIGNED;
    unsigned char *at = reserve_at(), *end = at + TH_MEMORY_RESERVE;
    struct piece *piece = (struct piece *)at;

    if (size > TH_MEMORY_RESERVE)
        return NULL;
    if (piece->bytes == 0)
        piece->bytes = TH_MEMORY_RESERVE;
    for (; at < end; at += piece->bytes) {
        piece = (struct piece *)at;
        if (piece->used)
            continue;

        /* Join the piece with the free pieces behind it. */
        while (at + piece->bytes < end && !((struct piece *)(at + piece->bytes))->used)
            piece->bytes += ((struct piece *)(at + piece->bytes))->bytes;

        if (piece->bytes < bytes)
            continue;
        if (piece->bytes - bytes >= sizeof *piece) {
            *(struct piece *)(at + bytes) = (struct piece){.bytes = piece->bytes - bytes};
            piece->bytes = bytes;
        }
        piece->used = true;
        atomic_fetch_add_explicit(&reserve_used, piece->bytes, memory_order_relaxed);
        return piece->content;
    }
    return NULL;
}

static void *take_reserve(size_t size)
{
    void *memory;

    if (!th_memory_lasts())
        return NULL;
    pthread_mutex_lock(&reserve_lock);
    memory = take_piece(size);
    pthread_mutex_unlock(&reserve_lock);
    return memory;
}

static void give_reserve(void *memory)
{
    struct piece *piece = piece_of(memory);

    pthread_mutex_lock(&reserve_lock);
    piece->used = false;
    atomic_fetch_sub_explicit(&reserve_used, piece->bytes, memory_order_relaxed);
    pthread_mutex_unlock(&reserve_lock);
}

bool th_memory_is_short(void)
{
    return atomic_load_explicit(&reserve_used, memory_order_relaxed) > TH_MEMORY_RESERVE / 2;
}

/* --- Allocation ------------------------------------------------------------------------------- */

static _Noreturn void give_up_for(size_t size)
{
    if (size)
        th_give_up("out of memory (%zu bytes wanted)", size);
    th_give_up("out of memory");
}

/* Returns MEMORY, or SIZE bytes of the reserve if MEMORY is NULL. */
static void *checked_memory(void *memory, size_t size)
{
    allocations++;
    if (__builtin_expect(!memory, 0) && !(memory = take_reserve(size)))
        give_up_for(size);
    return memory;
}

void *th_alloc(size_t size)
{
    return checked_memory(malloc(size ? size : 1), size);
}

void *th_alloc_zero(size_t size)
{
    void *memory = checked_memory(calloc(1, size ? size : 1), size);

    return is_reserve(memory) ? memset(memory, 0, size) : memory;
}

void *th_alloc_aligned(size_t alignment, size_t size)
{
    size_t whole = (size + alignment - 1) / alignment * alignment;
    void *memory = aligned_alloc(alignment, whole);

    if (!memory && alignment > ALIGNED)
        give_up_for(size);
    return checked_memory(memory, whole);
}

/* Moves OLD into, within or out of the reserve; NULL: there is no room. */
static void *move_memory(void *old, size_t size)
{
    size_t old_size = !old              ? 0
                      : is_reserve(old) ? piece_of(old)->bytes - offsetof(struct piece, content)
                                        : malloc_usable_size(old);
    void *memory = is_reserve(old) ? malloc(size) : NULL;

    if (!memory)
        memory = take_reserve(size);
    if (!memory || !old)
        return memory;
    memcpy(memory, old, old_size < size ? old_size : size);
    th_free(old);
    return memory;
}

void *th_realloc(void *old, size_t size)
{
    void *memory = is_reserve(old) ? NULL : realloc(old, size);

    allocations++;
    if (!memory && !(memory = move_memory(old, size)))
        give_up_for(size);
    return memory;
}

char *th_strdup(const char *text)
{
    size_t size = strlen(text) + 1;

    return memcpy(th_alloc(size), text, size);
}

char *th_printf(const char *format, ...)
{
    va_list args;
    char *text;

    va_start(args, format);
    text = th_vprintf(format, args);
    va_end(args);
    return text;
}

char *th_vprintf(const char *format, va_list args)
{
    va_list again;
    char *text;
    int length;

    va_copy(again, args);
    length = vsnprintf(NULL, 0, format, args);
    if (length < 0)
        give_up_for(0);
    text = th_alloc((size_t)length + 1);
    vsnprintf(text, (size_t)length + 1, format, again);
    va_end(again);
    return text;
}

void th_free(void *memory)
{
    if (__builtin_expect(is_reserve(memory), 0))
        give_reserve(memory);
    else
        free(memory);
}

/* --- Memory for input ------------------------------------------------------------------------- */

enum th_status th_memory_refuse(size_t size)
{
    if (!th_memory_lasts())
        give_up_for(size);
    th_memory_refused = true;
    return size ? th_error_raise(TH_FAILED, "out of memory (%zu bytes wanted)", size)
                : th_error_raise(TH_FAILED, "out of memory");
}

bool th_memory_take(size_t bytes)
{
    if (bytes > th_memory_budget.left) {
        th_error_raise(TH_MALFORMED,
                       "the event needs more memory than the limit of %zu bytes (--max-memory)",
                       th_memory_budget.most);
        return false;
    }
    th_memory_budget.left -= bytes;
    return true;
}

void th_memory_give(size_t bytes)
{
    size_t taken = th_memory_budget.most - th_memory_budget.left;

    th_memory_budget.left += bytes < taken ? bytes : taken;
}

/* Returns MEMORY, of SIZE bytes; handles a refusal if MEMORY is NULL. */
static void *tried_memory(void *memory, size_t size)
{
    allocations++;
    if (!memory)
        th_memory_refuse(size);
    return memory;
}

void *th_may_realloc(void *old, size_t size)
{
    return tried_memory(is_reserve(old) ? move_memory(old, size) : realloc(old, size), size);
}

void *th_try_alloc(size_t size)
{
    void *memory = NULL;

    if (th_memory_take(size) && !(memory = tried_memory(malloc(size), size)))
        th_memory_give(size);
    return memory;
}

void *th_try_realloc(void *old, size_t old_size, size_t size)
{
    void *memory = NULL;

    if (th_memory_take(size - old_size) && !(memory = th_may_realloc(old, size)))
        th_memory_give(size - old_size);
    return memory;
}

void th_try_free(void *memory, size_t size)
{
    th_memory_give(size);
    th_free(memory);
}

void th_give_up(const char *format, ...)
{
    static _Thread_local bool ending; /* exit handlers may lack memory, too */
    va_list args;

    if (atomic_exchange_explicit(&given_up, true, memory_order_relaxed) && !ending)
        for (;;)
            pause(); /* another thread ends the program, and only one may */
    ending = true;
    fputs("tracehost: ", stderr);
    va_start(args, format);
    vfprintf(stderr, format, args);
    va_end(args);
    fputc('\n', stderr);
    exit(TH_FAILED);
}

void th_give_up_if_lacking(const char *what)
{
    int error = errno;

    if (error != ENOMEM && error != EMFILE && error != ENFILE)
        return;
    if (!th_memory_lasts())
        th_give_up("%s: %s", what, strerror(error));
    th_memory_refused = true;
    th_error_raise(TH_FAILED, "%s: %s", what, strerror(error));
    errno = error;
}

bool th_has_given_up(void)
{
    return atomic_load_explicit(&given_up, memory_order_relaxed);
}

unsigned long th_alloc_count(void)
{
    return allocations;
}
