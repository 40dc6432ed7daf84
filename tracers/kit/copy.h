/* Copies files. */
#ifndef TRACER_COPY_H
#define TRACER_COPY_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

/* Copies LEFT bytes of FROM to TO, fewer if FROM ends before. False if FROM cannot be read. */
static inline bool share_copy(FILE *from, FILE *to, uint64_t left)
{
    char bytes[16384];
    size_t size = 1;

    for (; left > 0 && size > 0; left -= size) {
        size = fread(bytes, 1, left < sizeof bytes ? left : sizeof bytes, from);
        fwrite(bytes, 1, size, to);
    }
    return !ferror(from);
}

#endif
