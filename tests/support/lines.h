/* Removes source lines from stack traces, for tests of other properties. */
#ifndef LINES_H
#define LINES_H

#include <stdlib.h>
#include <string.h>

/* Replaces each [{file,"x.c"},{line,17}] in TEXT with []. */
static inline void drop_lines(char *text)
{
    static const char begin[] = "[{file,\"";
    char *from = text, *end;

    while ((from = strstr(from, begin))) {
        end = strstr(from, "}]");
        if (!end)
            return;
        memmove(from + 1, end + 1, strlen(end + 1) + 1);
        from++;
    }
}

#endif
