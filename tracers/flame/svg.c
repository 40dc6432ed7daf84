/*
 * Draws the flame graph as SVG: callers below, callees on top of them, each as wide as its amount.
 *
 * A frame narrower than NARROWEST of the whole is left out, with the frames on top of it, and the
 * picture shows the number of such frames; there is no other limit for the size of the file.
 */
#include "flame.h"
#include "script.h"

#include <inttypes.h>

enum { WIDTH = 1200, MARGIN = 10, ROW = 18, HEAD = 40, NARROWEST = 20000 };

struct box {
    uint64_t total, x;
    uint64_t before; /* total in the other recording of a differential graph */
    uint64_t next;   /* left edge of the next child */
    unsigned depth;
    bool shown;
};

struct picture {
    const struct drawing *drawing;
    struct box *boxes;
    unsigned deepest;
    uint32_t narrow; /* frames not shown */
};

/* Children have larger numbers than their parents. */
static void lay_out(struct picture *picture)
{
    const struct tree *tree = picture->drawing->tree;
    struct box *boxes = picture->boxes, *box, *parent;

    for (uint32_t i = tree->used; i-- > 0;) {
        boxes[i].total += node_own(picture->drawing, &tree->nodes[i]);
        if (picture->drawing->before)
            boxes[i].before += picture->drawing->before[i];
        if (i == 0)
            break;
        boxes[tree->nodes[i].parent].total += boxes[i].total;
        boxes[tree->nodes[i].parent].before += boxes[i].before;
    }
    boxes[0].shown = true;
    for (uint32_t i = 1; i < tree->used; i++) {
        box = &boxes[i];
        parent = &boxes[tree->nodes[i].parent];
        box->x = box->next = parent->next;
        parent->next += box->total;
        box->depth = parent->depth + 1;
        box->shown = parent->shown && box->total && box->total >= boxes[0].total / NARROWEST;
        picture->narrow += !box->shown;
        if (box->shown && box->depth > picture->deepest)
            picture->deepest = box->depth;
    }
}

/* Adds an amount with its unit: "12.345678 ms" or "7 calls". */
static void add_amount(struct line *line, const struct drawing *drawing, uint64_t amount)
{
    if (drawing->calls)
        line_add(line, "%llu call%s", (unsigned long long)amount, amount == 1 ? "" : "s");
    else
        line_add(line, "%llu.%06llu ms", (unsigned long long)(amount / 1000000),
                 (unsigned long long)(amount % 1000000));
}

/* Adds the name, a line end, and the numbers. */
static void add_title(struct line *line, const struct picture *picture, uint32_t number)
{
    const struct node *node = &picture->drawing->tree->nodes[number];
    const struct box *box = &picture->boxes[number];
    uint64_t all = picture->boxes[0].total;
    struct line name;

    if (picture->drawing->names) {
        line_start(&name);
        line_add(&name, "%s", picture->drawing->names[node->mfa.module]);
    } else {
        node_name(&name, picture->drawing->labels, node);
    }
    if (number == 0)
        line_add(line, "all");
    else
        line_add_xml(line, name.text, name.used, 500);
    line_drop(&name);
    line_add(line, "\n");
    add_amount(line, picture->drawing, box->total);
    line_add(line, ", %.2f%% of all", all ? 100.0 * (double)box->total / (double)all : 100.0);
    if (picture->drawing->before) {
        line_add(line, ", before ");
        add_amount(line, picture->drawing, box->before);
    }
    if (!node->parent)
        return;
    line_add(line, ", ");
    add_amount(line, picture->drawing, node_own(picture->drawing, node));
    line_add(line, " own");
    if (!picture->drawing->calls)
        line_add(line, ", %llu call%s", (unsigned long long)node->calls,
                 node->calls == 1 ? "" : "s");
}

/* Adds the colour of a change: red for growth, blue for shrinkage, the stronger the larger a part of
 * the larger amount the change is. */
static void add_colour_of_change(struct line *line, const struct box *box)
{
    uint64_t larger = box->total > box->before ? box->total : box->before;
    uint64_t change = larger - (box->total > box->before ? box->before : box->total);
    unsigned part = larger ? (unsigned)(38.0 * (double)change / (double)larger) : 0;

    line_add(line, "hsl(%u,%u%%,%u%%)", box->total > box->before ? 5 : 215, part ? 85 : 0,
             96 - part);
}

/* Adds a warm colour, the same for all functions of a module in all pictures; processes are grey.
 */
static void add_colour(struct line *line, const struct node *node)
{
    uint32_t sum = 2166136261;
    struct line name;

    if (!node->parent) {
        line_add(line, "#c8c8c8");
        return;
    }
    line_start(&name);
    line_add(&name, "%#T", node->mfa.module);
    for (size_t i = 0; i < name.used; i++)
        sum = (sum ^ (unsigned char)name.text[i]) * 16777619;
    line_drop(&name);
    line_add(line, "hsl(%u,%u%%,%u%%)", (sum >> 8) % 60, 70 + sum % 25, 58 + (sum >> 16) % 14);
}

static void draw_box(const struct picture *picture, uint32_t number)
{
    const struct box *box = &picture->boxes[number];
    double scale =
        (double)WIDTH / (picture->boxes[0].total ? (double)picture->boxes[0].total : 1.0);
    double width = number == 0 ? WIDTH : (double)box->total * scale;
    double x = MARGIN + (double)box->x * scale;
    unsigned y = HEAD + (picture->deepest - box->depth) * ROW;
    struct line line;

    line_start(&line);
    line_add(&line, "<g class=\"f\" role=\"button\" tabindex=\"%d\"", number == 0 ? 0 : -1);
    line_add(&line, " data-x=\"%llu\" data-w=\"%llu\" data-d=\"%u\"><title>",
             (unsigned long long)box->x, (unsigned long long)box->total, box->depth);
    add_title(&line, picture, number);
    line_add(&line, "</title><rect x=\"%.1f\" y=\"%u\" width=\"%.1f\" height=\"%d\" fill=\"", x, y,
             width, ROW - 1);
    if (picture->drawing->before)
        add_colour_of_change(&line, box);
    else
        add_colour(&line, &picture->drawing->tree->nodes[number]);
    line_add(&line, "\"/><text x=\"%.1f\" y=\"%u\"></text></g>", x + 3, y + 13);
    line_end(&line, picture->drawing->file);
}

static void draw_all(const struct picture *picture)
{
    FILE *file = picture->drawing->file;
    unsigned height = HEAD + (picture->deepest + 1) * ROW + 30;
    const struct tree *tree = picture->drawing->tree;

    fprintf(file,
            "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n"
            "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"%d\" height=\"%u\" viewBox=\"0 0 %d "
            "%u\" "
            "data-width=\"%d\" data-margin=\"%d\">\n<title>Flame graph: %s by stack</title>\n"
            "<style>\n%s</style>\n",
            WIDTH + 2 * MARGIN, height, WIDTH + 2 * MARGIN, height, WIDTH, MARGIN,
            picture->drawing->calls ? "calls" : "own time", style);
    fprintf(
        file,
        "<foreignObject x=\"%d\" y=\"6\" width=\"260\" height=\"28\">"
        "<div xmlns=\"http://www.w3.org/1999/xhtml\">"
        "<input id=\"search\" type=\"search\" placeholder=\"search: /\" aria-label=\"search\"/> "
        "<button id=\"reset\" type=\"button\" disabled=\"\">all: Esc</button></div>"
        "</foreignObject>\n<text id=\"told\" x=\"%d\" y=\"%u\" role=\"status\"></text>\n",
        MARGIN, MARGIN, height - 10);
    for (uint32_t i = 0; i < tree->used; i++)
        if (picture->boxes[i].shown)
            draw_box(picture, i);
    if (picture->narrow)
        fprintf(file,
                "<text id=\"narrow\" x=\"%d\" y=\"24\" text-anchor=\"end\">%" PRIu32
                " frames are too narrow to be shown</text>\n",
                WIDTH + MARGIN, picture->narrow);
    if (picture->drawing->doubtful)
        fprintf(file,
                "<text id=\"doubt\" x=\"%d\" y=\"%u\" text-anchor=\"end\">\342\232\240 doubtful "
                "returns: %" PRIu64 "<title>" STACK_DOUBTFUL "; " STACK_CURE "</title></text>\n",
                WIDTH + MARGIN, height - 10, picture->drawing->doubtful);
    fprintf(file, "<script><![CDATA[\n%s]]></script>\n</svg>\n", script);
}

bool draw_svg(const struct drawing *drawing)
{
    static struct node whole;
    struct tree none = {.nodes = &whole, .used = 1};
    struct drawing used = *drawing;
    struct picture picture = {.drawing = &used};

    if (!used.tree->used)
        used.tree = &none;
    picture.boxes = calloc(used.tree->used, sizeof *picture.boxes);
    if (!picture.boxes)
        return false;
    lay_out(&picture);
    draw_all(&picture);
    free(picture.boxes);
    return true;
}
