/*
 * A window is the part of a recording that a statement asks for: a reader may skip each record that the window does not take. The window
 * may take too much, as SQLite tests each row again, and never too little.
 */
#ifndef TH_SQL_WINDOW_H
#define TH_SQL_WINDOW_H

#include "host/base/hash.h"
#include "host/trace/event.h"

/* A set of immediate terms. */
struct th_sql_set {
    bool bounded;          /* false: all terms are taken */
    bool open;             /* stays unbounded: some text can stand for any term */
    th_term only;          /* the element, if there is one */
    struct th_table items; /* the elements, if there are several */
};

/* Bits of th_sql_window.tags behind those of the trace tags. */
enum { TH_SQL_TAG_DROP = TH_TAG_COUNT, TH_SQL_TAG_OTHER };
_Static_assert(TH_SQL_TAG_OTHER < 64, "tags do not fit");

struct th_sql_window {
    int64_t from_ns, to_ns;               /* both included; if `timed` */
    uint64_t first, last;                 /* numbers of records, both included */
    uint64_t tags;                        /* bits by tag */
    bool timed;                           /* records without a time are not taken */
    struct th_sql_set tracees;            /* tracees of unknown nodes are always taken */
    struct th_sql_set modules, functions; /* atoms */
    int64_t least_arity, most_arity;
    struct th_sql_set recordings; /* small integers: indices of recordings */
};

/* Begins a window that takes all. */
void th_sql_window_begin(struct th_sql_window *window);
void th_sql_window_free(struct th_sql_window *window);

/* Adds an element, not TH_NONE. */
void th_sql_set_add(struct th_sql_set *set, th_term element);

static inline bool th_sql_set_takes(const struct th_sql_set *set, th_term element)
{
    return !set->bounded || set->open || set->only == element ||
           (set->items.count > 0 && th_hash_table_get(&set->items, element));
}

/* Makes the set hold the tracee, atom or tag that TEXT, of SIZE bytes, names in a row; nothing if no row can
 * have TEXT. */
void th_sql_window_tracee(struct th_sql_set *set, const char *text, size_t size);
void th_sql_window_name(struct th_sql_set *set, const char *text, size_t size);
uint64_t th_sql_window_tag(const char *text, size_t size);

/* Returns the bit of EVENT's tag in th_sql_window.tags, as the record says. */
static inline uint64_t th_sql_window_tag_of(const struct th_event *event)
{
    unsigned tag = event->kind <= TH_EVENT_SEQ_TRACE ? (unsigned)event->tag
                   : event->kind == TH_EVENT_DROP    ? TH_SQL_TAG_DROP
                                                     : TH_SQL_TAG_OTHER;

    return UINT64_C(1) << tag;
}

/* Returns whether the window may take EVENT, of which nothing but the begin is known. */
static inline bool th_sql_window_may_take(const struct th_sql_window *window,
                                          const struct th_event *event)
{
    uint64_t other = UINT64_C(1) << TH_SQL_TAG_OTHER;

    /* A damaged record has the tag `other`, and no tracee. */
    if (!(window->tags & (other | th_sql_window_tag_of(event))) || event->number < window->first)
        return false;
    return !window->tracees.bounded || event->kind == TH_EVENT_DROP ||
           (event->tracee != TH_NONE &&
            (!th_is_immediate(event->tracee) || th_sql_set_takes(&window->tracees, event->tracee)));
}

/* Returns whether the window takes the function, and the time. */
static inline bool th_sql_window_takes_function(const struct th_sql_window *window,
                                                const struct th_mfa *function)
{
    return th_sql_set_takes(&window->functions, function->function) &&
           th_sql_set_takes(&window->modules, function->module) &&
           function->arity >= window->least_arity && function->arity <= window->most_arity;
}

static inline bool th_sql_window_takes_time(const struct th_sql_window *window,
                                            const struct th_event_time *time)
{
    return !window->timed ||
           (time->kind != TH_TIME_NONE && time->ns >= window->from_ns && time->ns <= window->to_ns);
}

#endif
