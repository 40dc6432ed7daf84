/*
 * A growable run of bytes: text being built, input being read.
 *
 * Start it as `struct th_buffer b = {0}`; th_buffer_free() ends it. One thread at a time.
 */
#ifndef TH_BUFFER_H
#define TH_BUFFER_H

#include "memory.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

struct th_buffer {
    unsigned char *data; /* NULL while capacity is 0 */
    size_t size;         /* bytes in use */
    size_t capacity;
    bool may_fail; /* if there is no memory to grow, what is there is lost, and FAILED is set */
    bool failed;
};

/* Makes room for MORE bytes after data[size] and returns the place; size stays. */
unsigned char *th_buffer_reserve(struct th_buffer *b, size_t more);

/* The same for what is read, from the budget of memory.h: false, with an error raised, if that is
 * exceeded. What is added then has room. */
bool th_buffer_try(struct th_buffer *b, size_t more);

void th_buffer_add(struct th_buffer *b, const void *data, size_t size);
void th_buffer_add_byte(struct th_buffer *b, unsigned char byte);
void th_buffer_add_text(struct th_buffer *b, const char *text);
/* Adds nothing if FORMAT cannot be printed, as a wide character of no encoding. */
void th_buffer_printf(struct th_buffer *b, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

/* The end of the word that follows a count. */
static inline const char *th_log_plural(uint64_t count)
{
    return count == 1 ? "" : "s";
}

/* The content as a string: a 0 byte is put after the last byte, not counted in size. */
const char *th_buffer_text(struct th_buffer *b);

/* Likewise, but the string is the caller's, who frees it with th_free(); B is empty. */
char *th_buffer_take_text(struct th_buffer *b);

/* Frees the memory; B is empty and can be used again. */
void th_buffer_free(struct th_buffer *b);

/*
 * Grows an array of any type for one more element. ITEMS is the array pointer (NULL at first),
 * COUNT the elements in use, CAPACITY an lvalue with the elements there is room for.
 */
#define TH_ARRAY_GROW(items, count, capacity)                                    \
    ((count) < (capacity) ? (void)0                                              \
                          : (void)((capacity) = (capacity) ? 2 * (capacity) : 8, \
                                   (items) = th_realloc((items), (capacity) * sizeof *(items))))

/* How many of the COUNT items at ITEMS, of SIZE bytes each, have a number up to LIMIT: each begins
 * with that number, a uint64_t, and they ascend by it. */
static inline size_t th_base_count_up_to(const void *items, size_t count, size_t size,
                                         uint64_t limit)
{
    size_t low = 0, high = count;

    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (*(const uint64_t *)((const char *)items + middle * size) <= limit)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

#endif
