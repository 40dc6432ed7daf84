/*
 * Draws the flame graph as SVG: callers below, callees on top of them, or the other way round, each
 * as wide as its amount.
 *
 * A frame narrower than NARROWEST of the whole is left out, with the frames on top of it, and the
 * picture shows the number of such frames; there is no other limit for the size of the file. The
 * class of a frame is its function's colour by module, k and a number, and by own amount, h and a
 * level; picture/flame.js uses the other attributes.
 */
#include "../kit/picture.h"
#include "flame.h"

#include <inttypes.h>

enum {
    WIDTH = 1200,
    MARGIN = 10,
    ROW = 18,
    HEAD = PICTURE_BAR + 8,
    NARROWEST = 20000,
    LEVELS = 10
};

struct box {
    uint64_t total, x;
    uint64_t before; /* total in the other recording of a differential graph */
    uint64_t next;   /* left edge of the next child */
    unsigned depth;
    uint32_t number;   /* number among the boxes that are shown */
    uint32_t function; /* number of its node in `functions` */
    bool shown;
};

struct picture {
    const struct drawing *drawing;
    struct box *boxes;
    struct tree functions; /* a node for each function that is shown: `own` is its own amount */
    uint64_t most;         /* own amount of the function with the most */
    unsigned deepest;
    uint32_t narrow; /* frames not shown */
};

static void add_up(struct picture *picture)
{
    const struct tree *tree = picture->drawing->tree;
    struct box *boxes = picture->boxes;

    for (uint32_t i = tree->used; i-- > 0;) {
        boxes[i].total += node_own(picture->drawing, &tree->nodes[i]);
        if (picture->drawing->before)
            boxes[i].before += picture->drawing->before[i];
        if (i == 0)
            break;
        boxes[tree->nodes[i].parent].total += boxes[i].total;
        boxes[tree->nodes[i].parent].before += boxes[i].before;
    }
}

/* Children have larger numbers than their parents. */
static void lay_out(struct picture *picture)
{
    const struct tree *tree = picture->drawing->tree;
    struct box *boxes = picture->boxes, *box, *parent;
    uint32_t shown = 1;

    boxes[0].shown = true;
    for (uint32_t i = 1; i < tree->used; i++) {
        box = &boxes[i];
        parent = &boxes[tree->nodes[i].parent];
        box->depth = parent->depth + 1;
        box->shown = parent->shown && box->total && box->total >= boxes[0].total / NARROWEST;
        if (!box->shown) {
            picture->narrow++;
            continue;
        }
        box->number = shown++;
        box->x = box->next = parent->next;
        parent->next += box->total;
        if (box->depth > picture->deepest)
            picture->deepest = box->depth;
    }
}

/* Sums own amounts by function. */
static void add_functions(struct picture *picture)
{
    const struct tree *tree = picture->drawing->tree;
    struct node *function;

    for (uint32_t i = 1; i < tree->used; i++) {
        struct box *box = &picture->boxes[i];
        if (!box->shown || !tree->nodes[i].parent)
            continue;
        box->function = tree_child(&picture->functions, 0, &tree->nodes[i].mfa);
        if (!box->function)
            continue;
        function = &picture->functions.nodes[box->function];
        function->own += node_own(picture->drawing, &tree->nodes[i]);
        if (function->own > picture->most)
            picture->most = function->own;
    }
}

/* Returns the level of the function's own amount, from 0 to LEVELS - 1: the root of its part of the
 * greatest one. */
static unsigned level_of(const struct picture *picture, uint32_t function)
{
    double part = (double)picture->functions.nodes[function].own / (double)picture->most;
    unsigned level = LEVELS - 1;

    while (level && part * (LEVELS - 1) * (LEVELS - 1) < level * level)
        level--;
    return level;
}

static uint32_t add_to_hash(uint32_t sum, const char *text, size_t size)
{
    for (size_t i = 0; i < size; i++)
        sum = (sum ^ (unsigned char)text[i]) * 16777619;
    return sum;
}

/* Writes warm colours, the same in all pictures: a hue for each module, a lightness for each
 * function; kit/picture/names.js computes the same. */
static void draw_colours(const struct picture *picture)
{
    struct line name, module;
    uint32_t hue, sum;

    fputs("<style>\n", picture->drawing->file);
    for (uint32_t i = 1; i < picture->functions.used; i++) {
        const struct mfa *mfa = &picture->functions.nodes[i].mfa;
        line_start(&module);
        line_add_name(&module, mfa->module);
        line_start(&name);
        line_add_function(&name, mfa->module, mfa->function, mfa->arity);
        hue = add_to_hash(2166136261, module.text, module.used);
        sum = add_to_hash(hue, name.text + module.used, name.used - module.used);
        fprintf(picture->drawing->file, ".k%" PRIu32 "{fill:hsl(%u,%u%%,%u%%)}\n", i,
                (hue >> 8) % 60, 70 + hue % 25, 54 + (sum >> 16) % 20);
        line_drop(&name);
        line_drop(&module);
    }
    fputs("</style>\n", picture->drawing->file);
}

/* Adds the colour of a change: red for growth, blue for shrinkage, the stronger the larger a part of
 * the larger amount the change is. */
static void add_change(struct line *line, const struct box *box)
{
    uint64_t larger = box->total > box->before ? box->total : box->before;
    uint64_t change = larger - (box->total > box->before ? box->before : box->total);
    unsigned part = larger ? (unsigned)(38.0 * (double)change / (double)larger) : 0;

    line_add(line, " style=\"fill:hsl(%u,%u%%,%u%%)\"", box->total > box->before ? 5 : 215,
             part ? 85 : 0, 90 - part);
}

static void draw_box(const struct picture *picture, uint32_t i)
{
    const struct drawing *drawing = picture->drawing;
    const struct node *node = &drawing->tree->nodes[i];
    const struct box *box = &picture->boxes[i];
    uint64_t all = picture->boxes[0].total;
    double scale = (double)WIDTH / (all ? (double)all : 1.0);
    unsigned row = drawing->icicle ? box->depth : picture->deepest - box->depth;
    struct line line, name;

    line_start(&line);
    line_add(&line, "<g class=\"f k%u", (unsigned)box->function);
    if (box->function)
        line_add(&line, " h%u", level_of(picture, box->function));
    line_add(&line, "%s\" data-p=\"%u\" data-w=\"%llu\" data-o=\"%llu\" data-n=\"%llu\"",
             node->doubtful ? " doubtful" : "", (unsigned)picture->boxes[node->parent].number,
             (unsigned long long)box->total, (unsigned long long)node_own(drawing, node),
             (unsigned long long)node->calls);
    if (drawing->before)
        line_add(&line, " data-b=\"%llu\"", (unsigned long long)box->before);
    line_add(&line, "><title>");
    if (drawing->names) {
        line_start(&name);
        line_add(&name, "%s", drawing->names[node->mfa.module]);
    } else {
        node_name(&name, drawing->labels, node);
    }
    if (i == 0)
        line_add(&line, "all");
    else
        line_add_xml(&line, name.text, name.used, 500);
    line_drop(&name);
    line_add(&line, "</title><rect x=\"%.1f\" y=\"%u\" width=\"%.1f\" height=\"%d\"",
             MARGIN + (double)box->x * scale, HEAD + row * ROW,
             i == 0 ? WIDTH : (double)box->total * scale, ROW - 1);
    if (drawing->before)
        add_change(&line, box);
    line_add(&line, "/></g>");
    line_end(&line, drawing->file);
}

/* Adds the lines of the bar about what the picture does not show, or does not know. */
static void add_notes(struct line *line, const struct picture *picture)
{
    const struct drawing *drawing = picture->drawing;

    if (!drawing->told && drawing->tree->used > 1)
        line_add(line, "<span id=\"untold\" class=\"note bad\">\342\232\240 no ends of calls were "
                       "recorded: each call lasts until the next one</span>");
    if (drawing->untimed && !drawing->calls)
        line_add(
            line,
            "<span id=\"untimed\" class=\"note bad\">\342\232\240 events without a time stamp, "
            "which got the time of their arrival: %" PRIu64 "</span>",
            drawing->untimed);
    if (drawing->doubtful)
        line_add(line,
                 "<span id=\"doubt\" class=\"note bad\" title=\"" STACK_DOUBTFUL "; " STACK_CURE
                 "\">\342\232\240 doubtful returns: %" PRIu64 " (dashed edges)</span>",
                 drawing->doubtful);
    if (picture->narrow)
        line_add(line,
                 "<span id=\"narrow\" class=\"note\">%" PRIu32
                 " frame%s too narrow to be shown</span>",
                 picture->narrow, picture->narrow == 1 ? " is" : "s are");
}

static void draw_all(const struct picture *picture)
{
    const struct drawing *drawing = picture->drawing;
    struct line attributes, notes;

    line_start(&attributes);
    line_start(&notes);
    line_add(&attributes, " class=\"%s\" data-unit=\"%s\" data-order=\"%s\" data-recursion=\"%s\"",
             drawing->before   ? "differential"
             : drawing->by_own ? "own"
                               : "",
             drawing->calls ? "calls" : "ns", drawing->icicle ? "icicle" : "flame",
             drawing->one ? "one" : "each");
    add_notes(&notes, picture);
    picture_begin(drawing->file, WIDTH + 2 * MARGIN, HEAD + (picture->deepest + 1) * ROW + MARGIN,
                  attributes.text,
                  drawing->calls ? "Flame graph: calls by stack"
                                 : "Flame graph: own time by stack");
    if (!drawing->before)
        draw_colours(picture);
    for (uint32_t i = 0; i < drawing->tree->used; i++)
        if (picture->boxes[i].shown)
            draw_box(picture, i);
    picture_bar(
        drawing->file, WIDTH + 2 * MARGIN,
        "<button id=\"all\" type=\"button\" disabled=\"\">all: Esc</button>"
        "<button id=\"recursion\" type=\"button\" aria-pressed=\"false\" title=\"merge calls of "
        "a function inside its own calls\">merge recursion</button>"
        "<button id=\"hue\" type=\"button\"></button>",
        notes.used ? notes.text : "");
    picture_end(drawing->file);
    line_drop(&notes);
    line_drop(&attributes);
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
    add_up(&picture);
    lay_out(&picture);
    add_functions(&picture);
    if (!picture.functions.starved)
        draw_all(&picture);
    free(picture.boxes);
    tree_free(&picture.functions);
    return !picture.functions.starved;
}
