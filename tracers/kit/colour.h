/* Colours of lines, by SGR escape sequences. */
#ifndef TRACER_COLOUR_H
#define TRACER_COLOUR_H

#include "line.h"

#include <stdbool.h>

/* Parameter of an SGR escape sequence. */
#define PLAIN "0"
#define DIM "2"
#define RED "31"
#define GREEN "32"
#define YELLOW "33"
#define BLUE "34"
#define MAGENTA "35"
#define CYAN "36"

/* Adds the sequence for CODE if colours are WANTED. */
static inline void line_colour(struct line *line, bool wanted, const char *code)
{
    if (wanted)
        line_add(line, "\033[%sm", code);
}

#endif
