#include "name_list.h"

#include "host/base/buffer.h"

#include <string.h>
#include <strings.h>

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

static size_t smaller(size_t a, size_t b)
{
    return a < b ? a : b;
}

/* Fills one row of the table of distances between prefixes of A and B: row[j] is the distance of
 * the first I letters of A and the first J of B. `last` is the row of I - 1, `before` of I - 2. */
static void fill_row(const char *a, size_t i, const char *b, size_t b_length, size_t *row,
                     const size_t *last, const size_t *before)
{
    row[0] = i;
    for (size_t j = 1; j <= b_length; j++) {
        row[j] = last[j - 1] + (a[i - 1] != b[j - 1]);
        row[j] = smaller(row[j], smaller(last[j], row[j - 1]) + 1);
        if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1])
            row[j] = smaller(row[j], before[j - 2] + 1);
    }
}

size_t th_library_suggest_distance(const char *a, const char *b)
{
    size_t rows[3][TH_SUGGEST_MAX + 1];
    size_t a_length = strlen(a);
    size_t b_length = strlen(b);

    if (a_length > TH_SUGGEST_MAX || b_length > TH_SUGGEST_MAX)
        return TH_SUGGEST_MAX + 1;
    for (size_t j = 0; j <= b_length; j++)
        rows[0][j] = j;
    for (size_t i = 1; i <= a_length; i++)
        fill_row(a, i, b, b_length, rows[i % 3], rows[(i + 2) % 3], rows[(i + 1) % 3]);
    return rows[a_length % 3][b_length];
}

const char *th_library_suggest_nearest(const char *name, const char *const *names, size_t count)
{
    const char *nearest = NULL;
    size_t best = strlen(name) / 3 + 1;

    for (size_t i = 0; i < count; i++) {
        size_t distance = th_library_suggest_distance(name, names[i]);
        size_t shorter = smaller(strlen(name), strlen(names[i]));
        if (distance <= TH_SUGGEST_MAX && strcasecmp(name, names[i]) == 0)
            distance = 0;
        else if (distance <= TH_SUGGEST_MAX && shorter >= 3 && memcmp(name, names[i], shorter) == 0)
            distance = smaller(distance, strlen(name) / 3);
        if (distance < best) {
            best = distance;
            nearest = names[i];
        }
    }
    return nearest;
}

char *th_library_suggest_question(const char *name, const char *const *names, size_t count)
{
    const char *nearest = th_library_suggest_nearest(name, names, count);

    return nearest ? th_printf("; did you mean '%s'?", nearest) : th_strdup("");
}
