/*
 * Allocation that ends the program, rather than returns, if there is no memory.
 *
 * Limits of the callers bound how much is allocated for data from outside, so a lack of memory is a
 * fault of the machine: th_alloc() and th_realloc() give up. Their memory is freed with th_free(),
 * never with free(). Any thread may free memory that another thread allocated.
 *
 * A library must not end the program that loads it. After th_memory_last(), th_alloc() and similar
 * functions fall back on a reserve of TH_MEMORY_RESERVE bytes, and give up only when the reserve is
 * used up, too. A caller checks th_memory_is_short() before it begins more work. The functions
 * below for input, whose sizes the input decides, fail instead; they use the reserve only to resize
 * memory that lies in the reserve already.
 */
#ifndef TH_MEMORY_H
#define TH_MEMORY_H

#include "error.h"

#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>

/* Defined if the address sanitizer watches memory. */
#ifdef __SANITIZE_ADDRESS__
#define TH_ADDRESS_SANITIZER 1
#elif defined(__has_feature)
#if __has_feature(address_sanitizer)
#define TH_ADDRESS_SANITIZER 1
#endif
#endif

/* Allocates SIZE bytes, aligned to 16, not cleared. */
void *th_alloc(size_t size) __attribute__((malloc, returns_nonnull, alloc_size(1)));

/* Allocates SIZE bytes of zeros. */
void *th_alloc_zero(size_t size) __attribute__((malloc, returns_nonnull, alloc_size(1)));

/* Allocates SIZE bytes, aligned to ALIGNMENT, a power of two; not cleared. */
void *th_alloc_aligned(size_t alignment, size_t size)
    __attribute__((malloc, returns_nonnull, alloc_size(2)));

/* Grows or shrinks OLD (NULL: allocates) to SIZE bytes, which must not be 0. */
void *th_realloc(void *old, size_t size) __attribute__((returns_nonnull, alloc_size(2)));

/* Copies TEXT. */
char *th_strdup(const char *text) __attribute__((malloc, returns_nonnull));

/* Prints FORMAT into a new string. */
char *th_printf(const char *format, ...)
    __attribute__((malloc, returns_nonnull, format(printf, 1, 2)));
char *th_vprintf(const char *format, va_list args)
    __attribute__((malloc, returns_nonnull, format(printf, 1, 0)));

/* Frees MEMORY, which may be NULL. */
void th_free(void *memory);

/*
 * The budget of the calling thread for memory whose size the input decides.
 *
 * `most` is the limit for the current event, `left` the rest of it, in bytes; SIZE_MAX: no limit. A
 * reader starts the budget anew for each event. Memory that grows is taken from the budget before
 * it is allocated; the use of free capacity takes nothing.
 */
struct th_memory_budget {
    size_t most, left;
};
extern _Thread_local struct th_memory_budget th_memory_budget;

static inline void th_memory_begin(size_t most)
{
    th_memory_budget = (struct th_memory_budget){most, most};
}

/* Takes BYTES from the budget.
 * Errors: returns false, with TH_MALFORMED raised, if less is left; the budget is unchanged. */
bool th_memory_take(size_t bytes);

/* Returns BYTES to the budget, which were taken for memory that is free again. */
void th_memory_give(size_t bytes);

/* Allocate, grow and free memory as th_alloc(), th_realloc() and th_free() do, within the budget.
 * th_try_realloc(): OLD has OLD_SIZE bytes, and SIZE is not less. th_try_free(): MEMORY has SIZE
 * bytes, which return to the budget.
 * Errors: NULL, with OLD unchanged: TH_MALFORMED if the budget is exceeded, TH_FAILED if the system
 * refuses memory. After a refusal by the system the host gives up, unless the host is a library. */
void *th_try_alloc(size_t size) __attribute__((malloc, alloc_size(1)));
void *th_try_realloc(void *old, size_t old_size, size_t size) __attribute__((alloc_size(3)));
void th_try_free(void *memory, size_t size);

/* As th_realloc(), without the budget.
 * Errors: returns NULL, as th_try_realloc() does, if the system refuses memory. */
void *th_may_realloc(void *old, size_t size) __attribute__((alloc_size(2)));

enum { TH_MEMORY_RESERVE = 32 << 20 };

/* Makes the host a library from now on: maps the reserve, so that a lack of memory no longer ends
 * the program at once. Any thread.
 * Errors: returns false if there is no memory for the reserve. */
bool th_memory_last(void);

/* True after th_memory_last(). Any thread. */
bool th_memory_lasts(void);

/* True if more than half of the reserve is in use: no more work should begin. Any thread. */
bool th_memory_is_short(void);

/* Handles a refusal of SIZE bytes (0: unknown) by the system, for a caller that can do without:
 * raises TH_FAILED and sets th_memory_refused. Gives up if the host is no library. */
enum th_status th_memory_refuse(size_t size) __attribute__((cold));

/* True if the thread was refused memory since a caller last set this to false: the thread's work
 * since then may be incomplete. */
extern _Thread_local bool th_memory_refused;

/* Reports a lack of memory or threads on stderr, and ends the program with TH_FAILED.
 * Thread: any. If several threads give up at once, one ends the program and the others wait. */
void th_give_up(const char *format, ...) __attribute__((noreturn, cold, format(printf, 1, 2)));

/* Gives up if errno is ENOMEM, EMFILE or ENFILE; in a library, raises TH_FAILED and sets
 * th_memory_refused instead. WHAT is the message up to the cause, such as "cannot list the
 * mappings". */
void th_give_up_if_lacking(const char *what);

/* True if th_give_up() ends the program: no code of a library has ended it. */
bool th_has_given_up(void);

/*
 * The number of allocations of this thread by functions of this header. Tests of "nothing is
 * allocated on the event path" compare two readings.
 */
unsigned long th_alloc_count(void);

#endif
