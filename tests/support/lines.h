/* Texts of stack traces, for tests that are about other things than lines. */
#ifndef LINES_H
#define LINES_H

#include <stdlib.h>
#include <string.h>

/* Makes [] of each [{file,"x.c"},{line,17}] in TEXT, in its place. */
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
