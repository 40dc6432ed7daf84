/*
 * A growable run of bytes, for text that is built or input that is read.
 *
 * Start a buffer as `struct th_buffer b = {0}`; th_buffer_free() ends it. One thread at a time.
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
    bool may_fail; /* if growth finds no memory, the content is dropped and FAILED set */
    bool failed;
};

/* Makes room for MORE bytes after data[size] and returns the address of the room; SIZE is
 * unchanged. */
unsigned char *th_buffer_reserve(struct th_buffer *b, size_t more);

/* As th_buffer_reserve(), from the budget of memory.h, for input that is read. MORE bytes can then
 * be added without growth.
 * Errors: returns false, with an error raised, if the budget is exceeded or the system refuses
 * memory; B is unchanged. */
bool th_buffer_try(struct th_buffer *b, size_t more);

void th_buffer_add(struct th_buffer *b, const void *data, size_t size);
void th_buffer_add_byte(struct th_buffer *b, unsigned char byte);
void th_buffer_add_text(struct th_buffer *b, const char *text);
/* Adds nothing if FORMAT cannot be printed, such as a wide character that has no encoding. */
void th_buffer_printf(struct th_buffer *b, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

/* The plural ending of the word that follows a count. */
static inline const char *th_log_plural(uint64_t count)
{
    return count == 1 ? "" : "s";
}

/* Returns the content as a string: a 0 byte, which SIZE does not count, follows the last byte. */
const char *th_buffer_text(struct th_buffer *b);

/* As th_buffer_text(), but the caller owns the string and frees it with th_free(); B is empty
 * then. */
char *th_buffer_take_text(struct th_buffer *b);

/* Frees the memory; B is empty and can be used again. */
void th_buffer_free(struct th_buffer *b);

/*
 * Grows an array of any type by one element. ITEMS is the array pointer (NULL at first), COUNT the
 * number of elements in use, CAPACITY an lvalue with the number of elements that have room.
 */
#define TH_ARRAY_GROW(items, count, capacity)                                    \
    ((count) < (capacity) ? (void)0                                              \
                          : (void)((capacity) = (capacity) ? 2 * (capacity) : 8, \
                                   (items) = th_realloc((items), (capacity) * sizeof *(items))))

/* Counts the items whose number is at most LIMIT. There are COUNT items of SIZE bytes each at
 * ITEMS; each begins with its number, a uint64_t, and the numbers ascend. */
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
