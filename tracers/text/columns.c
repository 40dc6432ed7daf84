#include "columns.h"

#include "../kit/copy.h"
#include "../kit/loss.h"

#include <stdint.h>
#include <stdlib.h>

struct change {
    uint64_t offset;
    struct widths widths;
};

struct columns {
    struct change *changes;
    size_t used, size;
    uint64_t offset; /* bytes of all lines */
    bool lost;       /* a change without memory */
};

static bool add_change(struct columns *columns, struct widths widths)
{
    size_t size = columns->size ? 2 * columns->size : 16;
    struct change *changes = columns->changes;

    if (columns->used == columns->size) {
        changes = realloc(changes, size * sizeof *changes);
        if (!changes)
            return false;
        columns->changes = changes;
        columns->size = size;
    }
    changes[columns->used++] = (struct change){columns->offset, widths};
    return true;
}

void columns_add(struct columns **link, struct widths widths, size_t size)
{
    struct columns *columns = *link ? *link : calloc(1, sizeof *columns);
    const struct widths *last;

    *link = columns;
    if (!columns) {
        loss_add();
        return;
    }
    last = columns->used ? &columns->changes[columns->used - 1].widths : NULL;
    if ((!last || last->time != widths.time || last->tracee != widths.tracee) &&
        !add_change(columns, widths))
        columns->lost = true;
    columns->offset += size;
}

ERL_NIF_TERM columns_save(ErlNifEnv *env, struct columns *columns)
{
    ERL_NIF_TERM list = enif_make_list(env, 0);
    bool lost = columns && columns->lost;

    for (size_t i = columns ? columns->used : 0; i > 0; i--) {
        const struct change *change = &columns->changes[i - 1];
        list = enif_make_list_cell(env,
                                   enif_make_tuple3(env, enif_make_uint64(env, change->offset),
                                                    enif_make_uint64(env, change->widths.time),
                                                    enif_make_uint64(env, change->widths.tracee)),
                                   list);
    }
    if (columns)
        free(columns->changes);
    free(columns);
    return lost ? 0 : list;
}

/* --- Filling up ------------------------------------------------------------------------------- */

static void fill(FILE *to, size_t count)
{
    while (count-- > 0)
        putc_unlocked(' ', to);
}

/* Returns the place behind the first COUNT characters of LINE, without sequences for colours. */
static const char *behind(const char *line, const char *end, size_t count)
{
    while (line < end && count > 0) {
        if (*line == '\033')
            while (line < end && *line != 'm')
                line++;
        else
            count--;
        line++;
    }
    return line;
}

/* Writes LINE, of SIZE bytes, whose columns have the widths HAS, with the widths WIDE. */
static void write_line(const char *line, size_t size, struct widths has, struct widths wide,
                       FILE *to)
{
    const char *end = line + size, *tracee;

    fill(to, wide.time - has.time + (has.time == 0 && wide.time > 0));
    tracee = has.time ? behind(line, end, has.time + 1) : line;
    tracee += (size_t)(end - tracee) > has.tracee ? has.tracee + 1 : (size_t)(end - tracee);
    fwrite(line, 1, (size_t)(tracee - line), to);
    fill(to, wide.tracee - has.tracee);
    fwrite(tracee, 1, (size_t)(end - tracee), to);
}

/* Copies the lines of the next LEFT bytes of FROM, which have the widths HAS. */
static bool write_lines(FILE *from, uint64_t left, struct widths has, struct widths wide, FILE *to)
{
    char *line = NULL;
    size_t room = 0;
    ssize_t size;

    if (has.time == wide.time && has.tracee == wide.tracee)
        return share_copy(from, to, left);
    while (left > 0 && (size = getline(&line, &room, from)) > 0) {
        write_line(line, (size_t)size, has, wide, to);
        left -= (uint64_t)size < left ? (uint64_t)size : left;
    }
    free(line);
    return !ferror(from);
}

static bool read_change(ErlNifEnv *env, ERL_NIF_TERM term, struct change *change)
{
    ErlNifUInt64 numbers[3];
    const ERL_NIF_TERM *elements;
    int size;

    if (!enif_get_tuple(env, term, &size, &elements) || size != 3)
        return false;
    for (int i = 0; i < size; i++)
        if (!enif_get_uint64(env, elements[i], &numbers[i]))
            return false;
    *change = (struct change){numbers[0], {numbers[1], numbers[2]}};
    return true;
}

bool columns_merge(ErlNifEnv *env, FILE *from, ERL_NIF_TERM list, struct widths *widths, FILE *to)
{
    struct change change, next;
    ERL_NIF_TERM head;
    bool more = enif_get_list_cell(env, list, &head, &list);

    if (more && !read_change(env, head, &change))
        return false;
    while (more) {
        more = enif_get_list_cell(env, list, &head, &list);
        if (more && !read_change(env, head, &next))
            return false;
        if (widths->time < change.widths.time)
            widths->time = change.widths.time;
        if (widths->tracee < change.widths.tracee)
            widths->tracee = change.widths.tracee;
        if (!write_lines(from, more ? next.offset - change.offset : UINT64_MAX, change.widths,
                         *widths, to))
            return false;
        change = next;
    }
    return true;
}
