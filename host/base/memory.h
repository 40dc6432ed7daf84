/*
 * Memory: allocation that does not return when there is none.
 *
 * How much to allocate for data from outside is bounded by the callers' limits, so running out is a
 * fault of the machine: th_alloc() and th_realloc() give up. What they return is freed with
 * th_free(), never with free(). Any thread may free what another allocated.
 *
 * A library must not end the program that it is in. Once th_memory_last() was called, th_alloc()
 * and its like have a reserve, TH_MEMORY_RESERVE bytes, and give up only when that is used up, too;
 * th_memory_is_short() is asked before more is begun. What is read is not read then: the functions
 * for that below, whose sizes the input decides, never take from the reserve, and fail.
 */
#ifndef TH_MEMORY_H
#define TH_MEMORY_H

#include "error.h"

#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>

/* Defined where the address sanitizer watches over memory. */
#ifdef __SANITIZE_ADDRESS__
#define TH_ADDRESS_SANITIZER 1
#elif defined(__has_feature)
#if __has_feature(address_sanitizer)
#define TH_ADDRESS_SANITIZER 1
#endif
#endif

/* SIZE bytes, aligned to 16, not cleared. */
void *th_alloc(size_t size) __attribute__((malloc, returns_nonnull, alloc_size(1)));

/* SIZE bytes of zeros. */
void *th_alloc_zero(size_t size) __attribute__((malloc, returns_nonnull, alloc_size(1)));

/* SIZE bytes, aligned to ALIGNMENT, a power of two; not cleared. */
void *th_alloc_aligned(size_t alignment, size_t size)
    __attribute__((malloc, returns_nonnull, alloc_size(2)));

/* Grows or shrinks OLD (NULL: allocates) to SIZE bytes, which must not be 0. */
void *th_realloc(void *old, size_t size) __attribute__((returns_nonnull, alloc_size(2)));

/* Copies TEXT. */
char *th_strdup(const char *text) __attribute__((malloc, returns_nonnull));

/* A new string made from FORMAT. */
char *th_printf(const char *format, ...)
    __attribute__((malloc, returns_nonnull, format(printf, 1, 2)));
char *th_vprintf(const char *format, va_list args)
    __attribute__((malloc, returns_nonnull, format(printf, 1, 0)));

/* NULL is allowed. */
void th_free(void *memory);

/*
 * Memory for what is read: how much is asked for is decided by the input.
 *
 * `left` is what the thread may still ask for to read the event at hand, of `most` in all, in
 * bytes; SIZE_MAX where there is no limit. A reader begins it anew with each event. Room is taken
 * from it before the memory is asked for, where memory grows: room that is at hand costs nothing.
 */
struct th_memory_budget {
    size_t most, left;
};
extern _Thread_local struct th_memory_budget th_memory_budget;

static inline void th_memory_begin(size_t most)
{
    th_memory_budget = (struct th_memory_budget){most, most};
}

/* Takes BYTES of what is left. False, with TH_MALFORMED raised, if it is not that much. */
bool th_memory_take(size_t bytes);

/* Adds BYTES to what is left: they were taken for memory that has been freed again. */
void th_memory_give(size_t bytes);

/* As th_alloc(), th_realloc() of what has OLD_SIZE bytes, and th_free() of what has SIZE, from the
 * budget. NULL, with an error raised, if that is exceeded or the system has no memory: then OLD
 * stays as it is. */
void *th_try_alloc(size_t size) __attribute__((malloc, alloc_size(1)));
void *th_try_realloc(void *old, size_t old_size, size_t size) __attribute__((alloc_size(3)));
void th_try_free(void *memory, size_t size);

/* As th_realloc(), whatever the budget is; NULL, with an error raised, if the system has none. */
void *th_may_realloc(void *old, size_t size) __attribute__((alloc_size(2)));

enum { TH_MEMORY_RESERVE = 32 << 20 };

/* From now on this is a library: see above. False: there is no memory for the reserve. Any thread.
 */
bool th_memory_last(void);

bool th_memory_lasts(void);

/* More than half of the reserve is in use: nothing more should be begun. Any thread. */
bool th_memory_is_short(void);

/* The system has refused SIZE bytes (0: nobody knows how many) to whoever can do without: raises
 * TH_FAILED, and notes that the thread was refused memory. Gives up if this is no library. */
enum th_status th_memory_refuse(size_t size) __attribute__((cold));

/* The thread was refused memory since this was set to false last: what it has done meanwhile may be
 * incomplete. */
extern _Thread_local bool th_memory_refused;

/* The host cannot do without what the system refuses it, memory or a thread: says so on stderr, and
 * ends the program with TH_FAILED. Any thread; if several give up at once, one does. */
void th_give_up(const char *format, ...) __attribute__((noreturn, cold, format(printf, 1, 2)));

/* Gives up if errno is ENOMEM, EMFILE or ENFILE; in a library, raises TH_FAILED and notes that the
 * thread was refused. WHAT: the sentence up to the cause, as "cannot list the mappings". */
void th_give_up_if_lacking(const char *what);

/* The program ends by th_give_up(): no code of a library has ended it. */
bool th_has_given_up(void);

/*
 * How many times this thread has called th_alloc, th_alloc_zero or th_realloc. Tests of "nothing is
 * allocated on the event path" compare two readings.
 */
unsigned long th_alloc_count(void);

#endif
