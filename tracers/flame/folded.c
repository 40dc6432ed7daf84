#include "flame.h"

void node_name(struct line *line, const struct node *node)
{
    line_start(line);
    if (!node->parent && node->mfa.function)
        line_add(line, "%#T %#T", node->mfa.function, node->mfa.module);
    else if (!node->parent)
        line_add(line, "%#T", node->mfa.module);
    else
        line_add(line, "%#T:%#T/%u", node->mfa.module, node->mfa.function, node->mfa.arity);
}

/* Adds names without semicolons and line ends, which belong to the format. */
static void add_names(struct line *line, const struct tree *tree, uint32_t number)
{
    static const struct mark marks[] = {{';', ","}, {'\n', " "}, {0, "\xEF\xBF\xBD"}};
    const struct node *node = &tree->nodes[number];
    struct line name;

    if (node->parent) {
        add_names(line, tree, node->parent);
        line_add(line, ";");
    }
    node_name(&name, node);
    line_add_marked(line, name.text, name.used, SIZE_MAX, marks);
    line_drop(&name);
}

void draw_folded(const struct drawing *drawing)
{
    const struct tree *tree = drawing->tree;
    struct line line;
    uint64_t own;

    for (uint32_t i = 1; i < tree->used; i++) {
        own = node_own(drawing, &tree->nodes[i]);
        if (own == 0)
            continue;
        line_start(&line);
        add_names(&line, tree, i);
        line_add(&line, " %llu", (unsigned long long)own);
        line_end(&line, drawing->file);
    }
}
