#include "names.h"

#include <stdlib.h>
#include <string.h>

/* Returns the length of the atom at the start of TEXT; 0: none. */
static size_t atom_size(const char *text)
{
    size_t size = 1;

    if (*text != '\'')
        return strcspn(text, "'\":/ \t\r\n");
    while (text[size] && text[size] != '\'')
        size += text[size] == '\\' && text[size + 1] ? 2 : 1;
    return text[size] ? size + 1 : 0;
}

size_t name_size(const char *text, size_t *module)
{
    size_t function, digits, size;

    *module = atom_size(text);
    if (!*module || text[*module] != ':')
        return 0;
    size = *module + 1;
    function = atom_size(text + size);
    size += function;
    if (!function || text[size] != '/')
        return 0;
    digits = strspn(text + size + 1, "0123456789");
    size += 1 + digits;
    return digits && (!text[size] || strchr(" \t\r\n", text[size])) ? size : 0;
}

void names_add(struct names *names, const char *text, size_t size, const struct name *like)
{
    size_t more = names->size ? 2 * names->size : 256;
    struct name *grown;
    char *copy;

    if (names->used == names->size) {
        grown = realloc(names->names, more * sizeof *grown);
        if (!grown) {
            names->lost++;
            return;
        }
        names->names = grown;
        names->size = more;
    }
    copy = malloc(size + 1);
    if (!copy) {
        names->lost++;
        return;
    }
    memcpy(copy, text, size);
    copy[size] = 0;
    names->names[names->used] = *like;
    names->names[names->used++].text = copy;
}

size_t names_read(struct names *names, FILE *file)
{
    struct name name = {.listed = true};
    char *line = NULL, *start;
    size_t room = 0, size, count = 0;

    while (getline(&line, &room, file) >= 0) {
        start = line + strspn(line, " \t");
        size = name_size(start, &name.module);
        if (size)
            names_add(names, start, size, &name);
        count += size > 0;
    }
    free(line);
    return count;
}

static int compare(const void *a, const void *b)
{
    return strcmp(((const struct name *)a)->text, ((const struct name *)b)->text);
}

void names_sort(struct names *names)
{
    struct name *name, *last = NULL;
    size_t used = 0;

    if (names->used)
        qsort(names->names, names->used, sizeof *names->names, compare);
    for (size_t i = 0; i < names->used; i++) {
        name = &names->names[i];
        if (last && strcmp(last->text, name->text) == 0) {
            last->called |= name->called;
            last->listed |= name->listed;
            free(name->text);
            continue;
        }
        last = &names->names[used++];
        *last = *name;
    }
    names->used = used;
}

void names_free(struct names *names)
{
    for (size_t i = 0; i < names->used; i++)
        free(names->names[i].text);
    free(names->names);
}
