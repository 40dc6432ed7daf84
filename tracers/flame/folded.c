/*
 * Writes folded stacks. A path is written from the one before it: the line is cut back to the
 * nearest node that both have, then the names above that node are added. The name of a function is
 * formatted once. Many lines go to the file at once.
 */
#include "flame.h"

enum { AT_ONCE = 1 << 16 /* bytes */ };

struct folded {
    const struct tree *tree;
    const struct tracees *labels;
    struct line out;   /* lines for the file */
    struct line line;  /* path of the node `at` */
    size_t *ends;      /* of a node on that path: end of its name in the line; else 0 */
    uint32_t at;       /* 0: no path yet */
    struct tree names; /* a node for each name: `own` is its place in `texts`, `calls` its size */
    struct line texts;
};

void node_name(struct line *line, const struct tracees *labels, const struct node *node)
{
    const struct tracee *tracee;

    line_start(line);
    if (node->parent) {
        line_add_function(line, node->mfa.module, node->mfa.function, node->mfa.arity);
        return;
    }
    tracee = tracees_find(labels, node->mfa.module);
    if (node->mfa.function)
        line_add_name(line, node->mfa.function);
    if (node->mfa.function || (tracee && tracee_add_label(line, tracee)))
        line_add(line, " ");
    line_add(line, "%#T", node->mfa.module);
}

/* Formats a name without semicolons and line ends, which belong to the format. */
static void format_name(struct folded *folded, const struct node *node, struct node *known)
{
    static const struct mark marks[] = {{';', ","}, {'\n', " "}, {0, "\xEF\xBF\xBD"}};
    struct line name;

    node_name(&name, folded->labels, node);
    known->own = folded->texts.used;
    line_add_marked(&folded->texts, name.text, name.used, SIZE_MAX, marks);
    known->calls = folded->texts.used - known->own;
    line_drop(&name);
}

/* Adds the names from the nearest node on the path up to that of node NUMBER. */
static void add_names(struct folded *folded, uint32_t number)
{
    const struct node *node = &folded->tree->nodes[number];
    struct node *known;
    uint32_t name;

    if (folded->ends[number])
        return;
    if (node->parent) {
        add_names(folded, node->parent);
        line_add_bytes(&folded->line, ";", 1);
    }
    name = tree_child(&folded->names, 0, &node->mfa);
    if (!name)
        return; /* no memory */
    known = &folded->names.nodes[name];
    if (!known->calls)
        format_name(folded, node, known);
    line_add_bytes(&folded->line, folded->texts.text + known->own, known->calls);
    folded->ends[number] = folded->line.used;
}

/* Makes the line the path of node NUMBER. A parent has a smaller number than its children. */
static void go_to_node(struct folded *folded, uint32_t number)
{
    const struct node *nodes = folded->tree->nodes;
    uint32_t other = number;

    while (folded->at != other)
        if (folded->at > other) {
            folded->ends[folded->at] = 0;
            folded->at = nodes[folded->at].parent;
        } else {
            other = nodes[other].parent;
        }
    folded->line.used = folded->ends[other];
    folded->at = number;
    add_names(folded, number);
}

static void write_out(struct line *out, FILE *file)
{
    line_write(out->text, out->used, file);
    out->used = 0;
}

/* Writes the path with the amount OWN. */
static void write_path(struct folded *folded, uint64_t own, FILE *file)
{
    struct line *out = &folded->out;
    char digits[24], *first = digits + sizeof digits;

    *--first = '\n';
    for (; own; own /= 10)
        *--first = (char)('0' + own % 10);
    *--first = ' ';
    if (out->used > AT_ONCE)
        write_out(out, file);
    line_add_bytes(out, folded->line.text, folded->line.used);
    line_add_bytes(out, first, (size_t)(digits + sizeof digits - first));
}

bool draw_folded(const struct drawing *drawing)
{
    struct folded folded = {.tree = drawing->tree, .labels = drawing->labels};
    uint32_t used = drawing->tree->used;
    bool complete;

    folded.ends = calloc(used + !used, sizeof *folded.ends);
    line_start(&folded.out);
    line_start(&folded.line);
    line_start(&folded.texts);
    for (uint32_t i = 1; folded.ends && i < used; i++) {
        uint64_t own = node_own(drawing, &drawing->tree->nodes[i]);
        if (own == 0)
            continue;
        go_to_node(&folded, i);
        if (!folded.ends[i] || folded.line.short_of_memory || folded.texts.short_of_memory ||
            folded.out.short_of_memory)
            break;
        write_path(&folded, own, drawing->file);
    }
    complete = folded.ends && !folded.names.starved && !folded.line.short_of_memory &&
               !folded.texts.short_of_memory && !folded.out.short_of_memory;
    if (!folded.out.short_of_memory)
        write_out(&folded.out, drawing->file);
    line_drop(&folded.out);
    line_drop(&folded.line);
    line_drop(&folded.texts);
    tree_free(&folded.names);
    free(folded.ends);
    return complete;
}
