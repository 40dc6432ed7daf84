#include "suggest.h"

#include "host/base/base.h"

#include <string.h>
#include <strings.h>

static size_t smaller(size_t a, size_t b)
{
    return a < b ? a : b;
}

/* One row of the table of distances between the beginnings of A and B: row[j] is that of the first
 * I letters of A and the first J of B. `last` and `before` are the rows of I - 1 and I - 2. */
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

/* True if the shorter of the two, three letters or more, is how the longer begins. */
static int begins_alike(const char *a, const char *b)
{
    size_t length = smaller(strlen(a), strlen(b));

    return length >= 3 && memcmp(a, b, length) == 0;
}

const char *th_library_suggest_nearest(const char *name, const char *const *names, size_t count)
{
    const char *nearest = NULL;
    size_t best = strlen(name) / 3 + 1;

    for (size_t i = 0; i < count; i++) {
        size_t distance = th_library_suggest_distance(name, names[i]);
        if (distance <= TH_SUGGEST_MAX && strcasecmp(name, names[i]) == 0)
            distance = 0;
        else if (distance <= TH_SUGGEST_MAX && begins_alike(name, names[i]))
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
