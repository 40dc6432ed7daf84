#include "name_list.h"

#include "host/base/base.h"

#include <string.h>

void th_library_names_take(struct th_names *names, char *name)
{
    TH_ARRAY_GROW(names->items, names->count, names->capacity);
    names->items[names->count++] = name;
}

void th_library_names_add(struct th_names *names, const char *name)
{
    th_library_names_take(names, th_strdup(name));
}

bool th_library_names_contain(const struct th_names *names, const char *name)
{
    for (size_t i = 0; i < names->count; i++)
        if (strcmp(names->items[i], name) == 0)
            return true;
    return false;
}

char *th_library_names_join(const struct th_names *names, size_t limit)
{
    struct th_buffer text = {0};
    size_t shown = names->count > limit ? limit : names->count;

    for (size_t i = 0; i < shown; i++) {
        bool last = i + 1 == names->count;
        th_buffer_add_text(&text, i == 0 ? "" : last ? " and " : ", ");
        th_buffer_add_text(&text, names->items[i]);
    }
    if (names->count > shown)
        th_buffer_printf(&text, " and %zu more", names->count - shown);
    th_buffer_text(&text);
    return (char *)text.data;
}

void th_library_names_free(struct th_names *names)
{
    for (size_t i = 0; i < names->count; i++)
        th_free(names->items[i]);
    th_free(names->items);
    *names = (struct th_names){0};
}
