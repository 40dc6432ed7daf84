/*
 * SVG pictures for browsers: kit/picture/ has the parts of script and style that all pictures have,
 * TRACER/picture/ the others. The build inserts both as page_js and page_css.
 */
#ifndef TRACER_PICTURE_H
#define TRACER_PICTURE_H

#include <stdio.h>

extern const char page_css[], page_js[];

enum { PICTURE_BAR = 64 /* height of the bar in pixels, until the script has measured the bar */ };

/* Writes the head of a picture. ATTRIBUTES of the root are for the script. */
static inline void picture_begin(FILE *file, unsigned width, unsigned height,
                                 const char *attributes, const char *title)
{
    fprintf(file,
            "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n"
            "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"%u\" height=\"%u\" "
            "viewBox=\"0 0 %u %u\"%s>\n<title>%s</title>\n<style><![CDATA[\n%s]]></style>\n",
            width, height, width, height, attributes, title, page_css);
}

/* Writes the bar, with elements of the search; picture/search.js uses them. BUTTONS and NOTES are
 * XHTML. */
static inline void picture_bar(FILE *file, unsigned width, const char *buttons, const char *notes)
{
    fprintf(
        file,
        "<foreignObject id=\"bar\" x=\"0\" y=\"0\" width=\"%u\" height=\"%d\">"
        "<div class=\"bar\" xmlns=\"http://www.w3.org/1999/xhtml\">"
        "<input id=\"search\" type=\"search\" placeholder=\"search: /\" "
        "aria-label=\"search, a regular expression\" title=\"a regular expression; Enter or n: the "
        "next hit, Shift+Enter or N: the one before\"/>"
        "<button id=\"up\" type=\"button\" hidden=\"\"></button>"
        "<button id=\"down\" type=\"button\" hidden=\"\"></button>"
        "<button id=\"clear\" type=\"button\" disabled=\"\">reset search</button>"
        "%s<span id=\"told\" role=\"status\"></span>%s</div></foreignObject>\n",
        width, PICTURE_BAR, buttons, notes);
}

static inline void picture_end(FILE *file)
{
    fprintf(file, "<script><![CDATA[\n%s]]></script>\n</svg>\n", page_js);
}

#endif
