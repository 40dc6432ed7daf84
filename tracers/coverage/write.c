#include "write.h"

#include "../kit/escape.h"

void write_text(FILE *file, const struct module *module)
{
    const struct name *name = module->names;

    for (size_t i = 0; i < module->count; i++)
        fprintf(file, "%s   %s\n", name[i].called ? "called" : "never ", name[i].text);
    fprintf(file, "         %zu ", module->called);
    if (module->listed)
        fprintf(file, "of %zu ", module->count);
    fprintf(file, "function%s of %.*s\n",
            (module->listed ? module->count : module->called) == 1 ? "" : "s", (int)name->module,
            name->text);
}

static void write_list(FILE *file, const struct module *module, bool called)
{
    const char *before = "[";
    struct line line;

    for (size_t i = 0; i < module->count; i++) {
        const char *text = module->names[i].text;
        if (module->names[i].called != called)
            continue;
        line_start(&line);
        line_add(&line, "%s\"", before);
        line_add_json(&line, text, strlen(text), SIZE_MAX);
        line_add(&line, "\"");
        fwrite(line.text, 1, line.used, file);
        line_drop(&line);
        before = ",";
    }
    fputs(*before == '[' ? "[]" : "]", file);
}

void write_json(FILE *file, const struct module *module)
{
    struct line line;

    line_start(&line);
    line_add(&line, "%s\n{\"module\":\"", module->first ? "" : ",");
    line_add_json(&line, module->names->text, module->names->module, SIZE_MAX);
    line_add(&line, "\",\"called\":");
    fwrite(line.text, 1, line.used, file);
    line_drop(&line);
    write_list(file, module, true);
    fputs(",\"never\":", file);
    if (module->listed)
        write_list(file, module, false);
    else
        fputs("null", file);
    fputc('}', file);
}

/* Each function is on a line of its own: lcov skips files without lines, and newer versions merge
 * functions of one line. */
void write_lcov(FILE *file, const struct module *module)
{
    const struct name *name = module->names;

    fprintf(file, "TN:\nSF:%.*s\n", (int)name->module, name->text);
    for (size_t i = 0; i < module->count; i++)
        fprintf(file, "FN:%zu,%s\n", i + 1, name[i].text);
    for (size_t i = 0; i < module->count; i++)
        fprintf(file, "FNDA:%d,%s\n", name[i].called, name[i].text);
    fprintf(file, "FNF:%zu\nFNH:%zu\n", module->count, module->called);
    for (size_t i = 0; i < module->count; i++)
        fprintf(file, "DA:%zu,%d\n", i + 1, name[i].called);
    fprintf(file, "LF:%zu\nLH:%zu\nend_of_record\n", module->count, module->called);
}
