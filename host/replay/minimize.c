#include "minimize.h"

#include "host/base/memory.h"

#include <stdlib.h>
#include <string.h>

enum { GALLOP = 4 };

/* --- Units ------------------------------------------------------------------------------------ */

/* The test holds for the COUNT units. Those before `first` are needed; those from `first` up to
 * `end` are undecided. */
struct search {
    size_t *units, count;
    size_t first, end;
    /* For each unit, the number of units from which it was dropped alone in vain; 0: none. Sets
     * only shrink, so equal numbers mean equal sets. */
    size_t *tested;
    size_t *tried; /* the units of a trial */
    const struct th_replay_trials *trials;
};

/* Drops the units from FROM up to TO if the test holds without them. Units behind the place where
 * the test held are dropped, too. */
static bool drop_units(struct search *s, size_t from, size_t to)
{
    size_t dropped = to - from, left = s->count - dropped, needed;

    if (s->trials->stopped && *s->trials->stopped)
        return false;
    memcpy(s->tried, s->units, from * sizeof *s->units);
    memcpy(s->tried + from, s->units + to, (s->count - to) * sizeof *s->units);
    needed = s->trials->trial(s->trials->context, s->tried, left);
    if (needed == 0) {
        if (dropped == 1)
            s->tested[from] = s->count;
        return false;
    }
    memmove(s->units + from, s->units + to, (s->count - to) * sizeof *s->units);
    memmove(s->tested + from, s->tested + to, (s->count - to) * sizeof *s->tested);
    s->end -= s->end >= to ? dropped : 0;
    s->count = needed < left ? needed : left;
    if (s->end >= s->count)
        s->end = s->count - 1;
    if (s->first > s->end)
        s->first = s->end;
    return true;
}

/* Drops all of the region but its last KEPT units, if the test holds without the others. */
static bool keep_last(struct search *s, size_t kept)
{
    return drop_units(s, s->first, s->end - kept);
}

/* Steps (b) and (c), after a trial without the region has failed. If no units were cut behind the
 * region meanwhile, the last trial that failed was of all units but the one that is needed. */
static void find_needed_unit(struct search *s)
{
    size_t fails = 0, kept = 1, middle, last = s->units[s->count - 1];

    while (kept < s->end - s->first && !keep_last(s, kept)) {
        fails = kept;
        kept *= GALLOP;
    }
    while (fails + 1 < s->end - s->first) {
        middle = fails + (s->end - s->first - fails) / 2;
        if (!keep_last(s, middle))
            fails = middle;
    }
    if (s->first == s->end)
        return;
    if (s->units[s->count - 1] == last)
        s->tested[s->first] = s->count;
    s->first++;
}

/* The last pass: no unit can be dropped alone. */
static void drop_single_units(struct search *s, bool keeps_last)
{
    bool changed;

    do {
        changed = false;
        for (size_t i = s->count - keeps_last; i-- > 0;)
            if (i < s->count - keeps_last && s->tested[i] != s->count)
                changed |= drop_units(s, i, i + 1);
    } while (changed && s->count > 0);
}

size_t th_replay_minimize_units(size_t units[], size_t count, bool keeps_last,
                                const struct th_replay_trials *trials)
{
    struct search s = {.units = units, .count = count, .trials = trials};

    if (count == 0)
        return 0;
    s.tested = th_alloc_zero(count * sizeof *s.tested);
    s.tried = th_alloc(count * sizeof *s.tried);
    s.end = count - 1;
    while (s.first < s.end && !keep_last(&s, 0)) {
        find_needed_unit(&s);
        while (s.first < s.end && !drop_units(&s, s.first, s.first + 1))
            s.first++;
    }
    drop_single_units(&s, keeps_last);
    th_free(s.tested);
    th_free(s.tried);
    return s.count;
}

/* --- Classes of records ----------------------------------------------------------------------- */

struct member {
    uint64_t class;
    size_t place; /* in the records */
};

struct class_search {
    const size_t *records;
    size_t count;
    size_t *unit_of; /* for each record, the unit of its class */
    bool *kept;      /* for each unit */
    size_t *tried, needed;
    const struct th_replay_trials *trials;
};

static int compare_members(const void *a, const void *b)
{
    const struct member *x = a, *y = b;

    if (x->class != y->class)
        return x->class < y->class ? -1 : 1;
    return x->place < y->place ? -1 : x->place > y->place;
}

static int compare_places(const void *a, const void *b)
{
    const struct member *x = a, *y = b;

    return x->place < y->place ? -1 : x->place > y->place;
}

/* Lists the records of the units at *TRIED. */
static size_t list_records(struct class_search *c, const size_t units[], size_t count)
{
    size_t listed = 0;

    memset(c->kept, 0, c->count * sizeof *c->kept);
    for (size_t i = 0; i < count; i++)
        c->kept[units[i]] = true;
    for (size_t i = 0; i < c->count; i++)
        if (c->kept[c->unit_of[i]])
            c->tried[listed++] = c->records[i];
    return listed;
}

/* The records behind the crash are cut when the units are final. */
static size_t try_classes(void *context, const size_t units[], size_t count)
{
    struct class_search *c = context;
    size_t needed = c->trials->trial(c->trials->context, c->tried, list_records(c, units, count));

    if (needed > 0)
        c->needed = needed;
    return needed > 0 ? count : 0;
}

/* Numbers the classes by their last records. Returns how many there are. */
static size_t number_classes(struct class_search *c, const struct th_replay_classes classes[],
                             enum th_replay_class kind)
{
    struct member *members = th_alloc(c->count * sizeof *members);
    struct member *lasts =
        th_alloc(c->count * sizeof *lasts); /* class: index of its first member */
    size_t count = 0;

    for (size_t i = 0; i < c->count; i++)
        members[i] = (struct member){classes[c->records[i]].of[kind], i};
    qsort(members, c->count, sizeof *members, compare_members);
    for (size_t i = 0, first = 0; i < c->count; i++)
        if (i + 1 == c->count || members[i + 1].class != members[i].class) {
            lasts[count++] = (struct member){first, members[i].place};
            first = i + 1;
        }
    qsort(lasts, count, sizeof *lasts, compare_places);
    for (size_t unit = 0; unit < count; unit++) {
        size_t i = lasts[unit].class;
        do
            c->unit_of[members[i].place] = unit;
        while (members[i++].place != lasts[unit].place);
    }
    th_free(members);
    th_free(lasts);
    return count;
}

/* Cuts the classes of one kind. Returns the number of records that are left. */
static size_t cut_classes(struct class_search *c, size_t records[],
                          const struct th_replay_classes classes[], enum th_replay_class kind)
{
    const struct th_replay_trials trials = {try_classes, c, c->trials->stopped};
    size_t units = number_classes(c, classes, kind), left = c->count;
    size_t *kept;

    c->needed = 0;
    if (units > 1) {
        kept = th_alloc(units * sizeof *kept);
        for (size_t i = 0; i < units; i++)
            kept[i] = i;
        units = th_replay_minimize_units(kept, units, true, &trials);
        left = list_records(c, kept, units);
        memcpy(records, c->tried, left * sizeof *records);
        th_free(kept);
    }
    return c->needed > 0 && c->needed < left ? c->needed : left;
}

size_t th_replay_minimize_records(size_t records[], size_t count,
                                  const struct th_replay_classes classes[],
                                  const struct th_replay_trials *trials)
{
    struct class_search c = {.records = records, .trials = trials};

    if (count == 0)
        return 0;
    c.unit_of = th_alloc(count * sizeof *c.unit_of);
    c.kept = th_alloc(count * sizeof *c.kept);
    c.tried = th_alloc(count * sizeof *c.tried);
    for (int kind = 0; kind < TH_REPLAY_CLASSES; kind++) {
        c.count = count;
        count = cut_classes(&c, records, classes, (enum th_replay_class)kind);
    }
    th_free(c.unit_of);
    th_free(c.kept);
    th_free(c.tried);
    return th_replay_minimize_units(records, count, true, trials);
}
