/*
 * Wrap sets: the files NAME<N>TAIL that dbg:trace_port(file, {Name, wrap, Tail, Size, Count})
 * writes in turn.
 *
 * N runs from 0 to Count, and again from 0. The next file is always removed before it is written,
 * so one number, the gap, is missing; the oldest file follows the gap. Before the first round is
 * complete, the gap is after the highest number. So at most one number below the highest may be
 * missing; dbg refuses any other set, and so does this file.
 *
 * Names do not prove that files belong together: rec1.trace and rec2.trace may be unrelated. So:
 *   NAME*TAIL            is a wrap set, as the user asks for it, unless a file has that very name.
 *   the name of a file   is that file alone, unless it is the first of a set (the oldest, or number
 *                        0) of at least three files that agree in where they were closed: all but
 *                        the newest have passed the same size with their last record.
 * In the second case a note tells which set is read; also if files that dbg may have written might
 * be a set and are not read as one. Nothing is combined or left out in silence.
 */
#include "record.h"
#include "replay_internal.h"

#include "host/base/buffer.h"
#include "host/base/shared.h"
#include "host/term/etf_tags.h"

#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <stdlib.h>
#include <sys/stat.h>

/* Files whose names differ only in a number. */
struct family {
    char *folder; /* with its slash, or "" */
    char *name, *tail;
    uint32_t *numbers; /* ascending */
    size_t count, capacity;
    size_t oldest; /* index in `numbers`, set by is_consistent() */
};

enum {
    DIGITS = 9,
    CLOSED_FILES = 2, /* number of closed files that must agree in a set */
    BEGINNING = 64    /* bytes that show what a file's first record is */
};

static char *copy_part(const char *text, size_t length)
{
    return th_printf("%.*s", (int)length, text);
}

static const char *base_name(const char *path)
{
    const char *slash = strrchr(path, '/');

    return slash ? slash + 1 : path;
}

static void free_family(struct family *family)
{
    th_free(family->folder);
    th_free(family->name);
    th_free(family->tail);
    th_free(family->numbers);
    *family = (struct family){0};
}

static char *file_of(const struct family *family, uint32_t number)
{
    return th_printf("%s%s%u%s", family->folder, family->name, number, family->tail);
}

/* Reads the number in a file name. Returns false if there is none, or one that dbg does not
 * write. */
static bool number_in(const struct family *family, const char *file, uint32_t *number)
{
    size_t head = strlen(family->name);
    size_t tail = strlen(family->tail);
    size_t length = strlen(file);
    size_t digits = length - head - tail;

    if (length <= head + tail || digits > DIGITS || memcmp(file, family->name, head) != 0 ||
        strcmp(file + length - tail, family->tail) != 0 || (file[head] == '0' && digits > 1))
        return false;
    for (size_t i = 0; i < digits; i++)
        if (!isdigit((unsigned char)file[head + i]))
            return false;
    *number = (uint32_t)strtoul(file + head, NULL, 10);
    return true;
}

static int ascending(const void *a, const void *b)
{
    uint32_t x = *(const uint32_t *)a;
    uint32_t y = *(const uint32_t *)b;

    return (x > y) - (x < y);
}

/* Reads the folder. */
static enum th_status collect_numbers(struct family *family)
{
    const char *path = *family->folder ? family->folder : ".";
    DIR *folder = opendir(path);
    struct dirent *entry;
    uint32_t number;

    if (!folder)
        return th_error_raise(TH_MALFORMED, "cannot open the folder %s: %s", path, strerror(errno));
    while ((entry = readdir(folder)))
        if (number_in(family, entry->d_name, &number)) {
            TH_ARRAY_GROW(family->numbers, family->count, family->capacity);
            family->numbers[family->count++] = number;
        }
    closedir(folder);
    if (family->count)
        qsort(family->numbers, family->count, sizeof *family->numbers, ascending);
    return TH_OK;
}

/* Returns true if the numbers are those of a wrap set, and finds the oldest file. MISSING (may be
 * NULL) gets the missing numbers. */
static bool is_consistent(struct family *family, struct th_buffer *missing)
{
    uint32_t expected = 0;
    uint64_t lacking = 0;

    family->oldest = 0;
    for (size_t i = 0; i < family->count; i++) {
        uint32_t number = family->numbers[i];
        if (number > expected) {
            lacking += number - expected;
            family->oldest = i;
            if (missing && number == expected + 1)
                th_buffer_printf(missing, "%s%u", missing->size ? ", " : "", expected);
            else if (missing)
                th_buffer_printf(missing, "%s%u-%u", missing->size ? ", " : "", expected,
                                 number - 1);
        }
        expected = number + 1;
    }
    return lacking <= 1;
}

static void take_family(struct th_wrap_set *set, const struct family *family)
{
    set->names = th_alloc(family->count * sizeof *set->names);
    for (size_t i = 0; i < family->count; i++) {
        char *name = file_of(family, family->numbers[(family->oldest + i) % family->count]);
        set->names[i] = th_shared_strdup(name);
        th_free(name);
    }
    set->count = family->count;
}

/* Patterns. */

static enum th_status find_pattern(const char *name, struct family *family, struct th_wrap_set *set)
{
    const char *base = base_name(name);
    const char *star = strchr(base, '*');
    struct th_buffer missing = {0};

    if (strchr(star + 1, '*'))
        return th_error_raise(
            TH_MALFORMED, "only one * is possible: it stands for the number of a wrap set's file");
    family->folder = copy_part(name, (size_t)(base - name));
    family->name = copy_part(base, (size_t)(star - base));
    family->tail = th_strdup(star + 1);
    if (collect_numbers(family) != TH_OK)
        return TH_MALFORMED;
    if (family->count == 0)
        return th_error_raise(TH_MALFORMED, "there is no file %s%s<number>%s", family->folder,
                              family->name, family->tail);
    if (is_consistent(family, &missing)) {
        take_family(set, family);
        th_buffer_free(&missing); /* it contains the gap */
        return TH_OK;
    }
    th_error_raise(TH_MALFORMED,
                   "the numbers %s are missing; a wrap set has one gap, of one number; files that "
                   "belong together in another way must be given one by one",
                   th_buffer_text(&missing));
    th_buffer_free(&missing);
    return th_error_context("the wrap set is inconsistent");
}

/* Single files. */

/* Measures a file and its last record. Returns false if the last record does not end at the end of
 * the file. */
static bool measure_file(const char *name, uint64_t *size, uint64_t *last)
{
    struct th_input input;
    bool whole = true;

    *size = *last = 0;
    if (th_replay_input_open(&input, name) != TH_OK) {
        th_error_clear();
        return false;
    }
    th_replay_input_begin(&input);
    while (whole && th_replay_input_have(&input, TH_PORT_HEAD)) {
        const unsigned char *p = th_replay_input_bytes(&input);
        size_t bytes = TH_PORT_HEAD + (p[0] == TH_PORT_MESSAGE ? th_etf_get32(p + 1) : 0);
        whole = p[0] <= TH_PORT_DROP && th_replay_input_skip(&input, bytes);
        if (whole)
            *last = bytes;
    }
    *size = th_replay_input_position(&input);
    whole = whole && th_replay_input_there(&input) == 0 && !input.error;
    th_replay_input_close(&input);
    return whole;
}

/* Returns true if one limit of size explains all files: each file but the newest passed the limit
 * with its last record, and the newest did not pass the limit before its last record. */
static bool were_closed_alike(const struct family *family)
{
    uint64_t above = 0; /* lower bound of the size, excluded */
    uint64_t upto = UINT64_MAX;

    for (size_t i = 0; i < family->count; i++) {
        bool newest = i + 1 == family->count;
        char *name = file_of(family, family->numbers[(family->oldest + i) % family->count]);
        uint64_t size, last;
        bool whole = measure_file(name, &size, &last);
        th_free(name);
        if (!whole && !newest)
            return false;
        if (size - last > above)
            above = size - last;
        if (!newest && size < upto)
            upto = size;
    }
    return above < upto;
}

/* Returns false if dbg has not written the file: its first byte begins no record, or its first
 * record is a note, with which recordings that tracehost makes begin. */
static bool may_be_of_dbg(const char *name)
{
    struct th_input input;
    struct th_raw_name kind;
    bool may = false;

    if (th_replay_input_open(&input, name) != TH_OK) {
        th_error_clear();
        return false;
    }
    th_replay_input_begin(&input);
    th_replay_input_fill(&input, BEGINNING);
    if (th_replay_input_have(&input, TH_PORT_HEAD)) {
        const unsigned char *p = th_replay_input_bytes(&input);
        const unsigned char *end = p + th_replay_input_there(&input);
        uint32_t arity;
        may = *p <= TH_PORT_DROP;
        p = *p == TH_PORT_MESSAGE ? th_replay_raw_tuple(p + TH_PORT_HEAD + 1, end, &arity) : NULL;
        may = may &&
              !(p && th_replay_raw_atom(p, end, &kind) && th_replay_raw_is(&kind, "tracehost"));
    }
    th_replay_input_close(&input);
    return may;
}

/* Finds the family by the last number in NAME in which other files differ. */
static bool find_family(const char *name, struct family *family, uint32_t *own)
{
    const char *base = base_name(name);

    for (const char *end = base + strlen(base); end > base;) {
        const char *begin = end;
        while (begin > base && isdigit((unsigned char)begin[-1]))
            begin--;
        if (begin < end) {
            family->folder = copy_part(name, (size_t)(base - name));
            family->name = copy_part(base, (size_t)(begin - base));
            family->tail = th_strdup(end);
            if (number_in(family, base, own) && collect_numbers(family) == TH_OK &&
                family->count > 1 && is_consistent(family, NULL))
                return true;
            free_family(family);
        }
        end = begin > base ? begin - 1 : base;
    }
    th_error_clear();
    return false;
}

enum th_status th_replay_wrap_find(const char *name, struct th_wrap_set *set)
{
    struct family family = {0};
    struct stat about;
    enum th_status status = TH_OK;
    bool exists = lstat(name, &about) == 0;
    uint32_t own;

    *set = (struct th_wrap_set){0};
    if (!exists && strchr(base_name(name), '*')) {
        status = find_pattern(name, &family, set);
    } else if (!exists || !S_ISREG(about.st_mode) || !find_family(name, &family, &own) ||
               !may_be_of_dbg(name)) {
        th_replay_wrap_single(name, set);
    } else if ((own == 0 || own == family.numbers[family.oldest]) && family.count > CLOSED_FILES &&
               were_closed_alike(&family)) {
        take_family(set, &family);
        set->note = th_printf("the wrap set %s%s*%s is read: %zu files, %s first", family.folder,
                              family.name, family.tail, family.count, set->names[0]);
    } else {
        th_replay_wrap_single(name, set);
        set->note = th_printf("%s alone is read; if it belongs to a wrap set, give '%s%s*%s'", name,
                              family.folder, family.name, family.tail);
    }
    free_family(&family);
    return status;
}

void th_replay_wrap_single(const char *name, struct th_wrap_set *set)
{
    *set = (struct th_wrap_set){.names = th_alloc(sizeof *set->names), .count = 1};
    set->names[0] = th_shared_strdup(name);
}

void th_replay_wrap_free(struct th_wrap_set *set)
{
    for (size_t i = 0; i < set->count; i++)
        th_shared_free(set->names[i]);
    th_free(set->names);
    th_free(set->note);
    *set = (struct th_wrap_set){0};
}
