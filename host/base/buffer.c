#include "buffer.h"

#include <errno.h>
#include <stdarg.h>
#include <string.h>

/* The capacity of B after growth for MORE bytes. */
static size_t grown_capacity(const struct th_buffer *b, size_t more)
{
    size_t wanted = b->size + more;
    size_t doubled = b->capacity * 2 < 64 ? 64 : b->capacity * 2;

    return doubled > wanted ? doubled : wanted;
}

static void grow_buffer(struct th_buffer *b, size_t more)
{
    size_t capacity = grown_capacity(b, more);
    unsigned char *data = b->may_fail ? th_may_realloc(b->data, capacity) : NULL;

    if (b->may_fail && !data) {
        b->failed = true;
        b->size = 0;
        if (b->capacity >= more)
            return;
        capacity = more;
    }
    b->data = data ? data : th_realloc(b->data, capacity);
    b->capacity = capacity;
}

unsigned char *th_buffer_reserve(struct th_buffer *b, size_t more)
{
    if (b->capacity - b->size < more)
        grow_buffer(b, more);
    return b->data + b->size;
}

bool th_buffer_try(struct th_buffer *b, size_t more)
{
    unsigned char *data;
    size_t capacity;

    if (b->capacity - b->size >= more)
        return true;
    capacity = grown_capacity(b, more);
    data = th_try_realloc(b->data, b->capacity, capacity);
    if (!data)
        return false;
    b->data = data;
    b->capacity = capacity;
    return true;
}

void th_buffer_add(struct th_buffer *b, const void *data, size_t size)
{
    if (size == 0)
        return;
    memcpy(th_buffer_reserve(b, size), data, size);
    b->size += size;
}

void th_buffer_add_byte(struct th_buffer *b, unsigned char byte)
{
    *th_buffer_reserve(b, 1) = byte;
    b->size++;
}

void th_buffer_add_text(struct th_buffer *b, const char *text)
{
    th_buffer_add(b, text, strlen(text));
}

/* LENGTH is the result of vsnprintf(): negative, here 0, if the text cannot be printed. */
static size_t printed(int length)
{
    if (length < 0)
        th_give_up_if_lacking("cannot print");
    return length < 0 ? 0 : (size_t)length;
}

void th_buffer_printf(struct th_buffer *b, const char *format, ...)
{
    va_list args;
    va_list again;
    size_t length;

    va_start(args, format);
    va_copy(again, args);
    length = printed(vsnprintf(NULL, 0, format, args));
    th_buffer_reserve(b, length + 1);
    b->size += printed(vsnprintf((char *)b->data + b->size, length + 1, format, again));
    va_end(again);
    va_end(args);
}

const char *th_buffer_text(struct th_buffer *b)
{
    *th_buffer_reserve(b, 1) = 0;
    return (const char *)b->data;
}

char *th_buffer_take_text(struct th_buffer *b)
{
    char *text = (char *)th_buffer_reserve(b, 1) - b->size;

    text[b->size] = 0;
    *b = (struct th_buffer){0};
    return text;
}

void th_buffer_free(struct th_buffer *b)
{
    th_free(b->data);
    *b = (struct th_buffer){0};
}
