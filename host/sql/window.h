/*
 * A window is the part of a recording that a statement asks for: a reader may skip each record that the window does not take. The window
 * may take too much, as SQLite tests each row again, and never too little.
 */
#ifndef TH_SQL_WINDOW_H
#define TH_SQL_WINDOW_H

#include "host/base/hash.h"
#include "host/trace/event.h"

/* The part of records that constraints on a column restrict. */
enum th_sql_asks {
    TH_SQL_ASKS_NOTHING,
    TH_SQL_ASKS_RECORDING, /* small integers: indices of recordings */
    TH_SQL_ASKS_RECORD,    /* numbers */
    TH_SQL_ASKS_TIME,      /* nanoseconds; records without a time are not taken */
    TH_SQL_ASKS_TRACEE,    /* those of unknown nodes are always taken */
    TH_SQL_ASKS_TAG,       /* see th_sql_window.tags */
    TH_SQL_ASKS_MODULE,    /* atoms */
    TH_SQL_ASKS_FUNCTION,
    TH_SQL_ASKS_ARITY,
    TH_SQL_ASKS
};

/* A limit of numbers, or a set of immediate terms. */
struct th_sql_limit {
    bool bounded;          /* false: all are taken */
    int64_t least, most;   /* both included */
    bool open;             /* stays unbounded: some text can stand for any term */
    th_term only;          /* the element, if there is one */
    struct th_table items; /* the elements, if there are several */
};

/* Bits of th_sql_window.tags behind those of the trace tags. */
enum { TH_SQL_TAG_DROP = TH_TAG_COUNT, TH_SQL_TAG_OTHER };
_Static_assert(TH_SQL_TAG_OTHER < 64, "tags do not fit");

struct th_sql_window {
    uint64_t tags; /* bits by tag */
    struct th_sql_limit limits[TH_SQL_ASKS];
};

/* Begins a window that takes all. */
void th_sql_window_begin(struct th_sql_window *window);
void th_sql_window_free(struct th_sql_window *window);

static inline bool th_sql_window_has(const struct th_sql_window *window, enum th_sql_asks asks,
                                     int64_t number)
{
    return number >= window->limits[asks].least && number <= window->limits[asks].most;
}

static inline bool th_sql_window_takes(const struct th_sql_window *window, enum th_sql_asks asks,
                                       th_term element)
{
    const struct th_sql_limit *limit = &window->limits[asks];

    return !limit->bounded || limit->open || limit->only == element ||
           (limit->items.count > 0 && th_hash_table_get(&limit->items, element));
}

/* Adds an element, not TH_NONE, to the set. */
void th_sql_window_add(struct th_sql_window *window, enum th_sql_asks asks, th_term element);

/* Makes the set hold the tracee or atom that TEXT, of SIZE bytes, names in a row; nothing if no row can have TEXT. */
void th_sql_window_text(struct th_sql_window *window, enum th_sql_asks asks, const char *text,
                        size_t size);

/* Returns the bit of the tag TEXT; 0: there is none. */
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
    if (!(window->tags & (other | th_sql_window_tag_of(event))) ||
        (int64_t)event->number < window->limits[TH_SQL_ASKS_RECORD].least)
        return false;
    return !window->limits[TH_SQL_ASKS_TRACEE].bounded || event->kind == TH_EVENT_DROP ||
           (event->tracee != TH_NONE &&
            (!th_is_immediate(event->tracee) ||
             th_sql_window_takes(window, TH_SQL_ASKS_TRACEE, event->tracee)));
}

/* Returns whether the window takes the function, and the time. */
static inline bool th_sql_window_takes_function(const struct th_sql_window *window,
                                                const struct th_mfa *function)
{
    return th_sql_window_takes(window, TH_SQL_ASKS_FUNCTION, function->function) &&
           th_sql_window_takes(window, TH_SQL_ASKS_MODULE, function->module) &&
           th_sql_window_has(window, TH_SQL_ASKS_ARITY, function->arity);
}

static inline bool th_sql_window_takes_time(const struct th_sql_window *window,
                                            const struct th_event_time *time)
{
    return !window->limits[TH_SQL_ASKS_TIME].bounded ||
           (time->kind != TH_TIME_NONE && th_sql_window_has(window, TH_SQL_ASKS_TIME, time->ns));
}

static inline bool th_sql_window_asks_function(const struct th_sql_window *window)
{
    return window->limits[TH_SQL_ASKS_MODULE].bounded ||
           window->limits[TH_SQL_ASKS_FUNCTION].bounded ||
           window->limits[TH_SQL_ASKS_ARITY].bounded;
}

#endif
