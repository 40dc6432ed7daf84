/* Reads the records of a recording that a cursor's scan takes. */
#include "table.h"

#include "host/base/memory.h"
#include "host/trace/note.h"

enum { LOOKS = 1024 }; /* records between looks at the flag that ends the statement */

enum th_status th_sql_scan_open(struct th_sql_cursor *cursor)
{
    const struct th_sql_options *options = cursor->options;
    const struct th_reader_options how = {.scheduler_id = options->scheduler_id,
                                          .max_memory = options->max_memory,
                                          .stop = options->stop};

    cursor->over = cursor->told = false;
    cursor->event = (struct th_event){0};
    return th_replay_reader_open(options->recordings[cursor->recording], &how, &cursor->reader);
}

static bool window_wants(void *context, const struct th_mfa *function)
{
    return th_sql_window_takes_function(context, function);
}

void th_sql_scan_select(struct th_sql_cursor *cursor)
{
    struct th_sql_window *scan = &cursor->scan;
    const uint64_t all = (UINT64_C(1) << TH_TAG_COUNT) - 1, none = UINT64_C(1) << 63;
    struct th_reader_selection selection = {.tags = scan->tags & all, .context = scan};
    const struct th_sql_limit *tracees = &scan->limits[TH_SQL_ASKS_TRACEE];
    const struct th_sql_limit *time = &scan->limits[TH_SQL_ASKS_TIME];
    size_t position = 0, count = tracees->items.count + 1;
    th_term *words = th_alloc(count * sizeof *words);
    struct th_slot *slot;

    if (time->bounded) {
        selection.from = (struct th_time_bound){.set = true, .ns = time->least};
        selection.to = (struct th_time_bound){.set = true, .ns = time->most};
    }
    selection.tags = selection.tags == all ? 0 : selection.tags ? selection.tags : none;
    if (tracees->bounded && !tracees->open) {
        selection.tracees = words;
        if (tracees->only != TH_NONE)
            words[selection.tracee_count++] = tracees->only;
        while ((slot = th_hash_table_next(&tracees->items, &position)))
            words[selection.tracee_count++] = slot->key;
    }
    if (th_sql_window_asks_function(scan))
        selection.is_wanted = window_wants;
    th_replay_reader_select(cursor->reader, &selection, NULL);
    th_free(words);
}

/* Reports the damage in the thread's chain, and clears it. */
static __attribute__((cold)) void report_damage(struct th_sql_cursor *cursor)
{
    const struct th_sql_options *options = cursor->options;
    const char *links[TH_ERROR_LINKS + 1] = {0};
    struct th_error_chain chain;
    struct th_sql_damage damage = {.recording = options->recordings[cursor->recording],
                                   .file = th_replay_reader_info(cursor->reader)->file,
                                   .record = th_replay_reader_info(cursor->reader)->records,
                                   .status = th_error_status(),
                                   .links = links};

    th_error_save(&chain);
    th_error_clear();
    for (size_t i = 0; i < chain.count; i++)
        links[i] = chain.links[chain.count - 1 - i];
    if (options->damaged)
        options->damaged(options->context, &damage);
    else
        sqlite3_log(SQLITE_WARNING, "tracehost: %s: %s", damage.file, links[0]);
}

void th_sql_scan_tell(struct th_sql_cursor *cursor, const char *text, uint64_t count)
{
    const struct th_sql_options *options = cursor->options;
    const char *name = options->recordings[cursor->recording];
    struct th_buffer line = {0};

    if (!count || cursor->told)
        return;
    cursor->told = true;
    th_buffer_printf(&line, "%s: %llu", text, (unsigned long long)count);
    if (options->notice)
        options->notice(options->context, name, th_buffer_text(&line));
    else
        sqlite3_log(SQLITE_NOTICE, "tracehost: %s: %s", name, th_buffer_text(&line));
    th_buffer_free(&line);
}

/* Handles a record that is no sound message. Returns whether it is a row: a note of a running node, or a
 * damaged record that is a term. */
static __attribute__((cold)) bool is_other(struct th_sql_cursor *cursor)
{
    struct th_event *event = &cursor->event;
    struct th_note note;
    struct th_error_chain cause;

    if (event->kind == TH_EVENT_OTHER && th_trace_note(event, &cursor->env, &note))
        return event->source->whole(event, &cursor->env, &cursor->whole) == TH_OK;
    if (event->kind == TH_EVENT_OTHER && th_error_status() == TH_OK)
        th_error_raise(TH_MALFORMED, "the record is not a trace message");
    th_error_save(&cause);
    th_error_clear();
    if (event->source->whole(event, &cursor->env, &cursor->whole) == TH_OK) {
        th_error_raise(TH_PARTIAL, "%s", cause.links[0]);
        th_error_context("record %llu at byte %llu is damaged, and has the tag `other`",
                         (unsigned long long)event->number, (unsigned long long)event->position);
        report_damage(cursor);
        return true;
    }
    th_error_context("record %llu at byte %llu was skipped", (unsigned long long)event->number,
                     (unsigned long long)event->position);
    report_damage(cursor);
    return false;
}

/* Makes the place where records are lost a drop, for a table that pairs records. Returns whether it is one. */
static __attribute__((cold)) bool is_loss(struct th_sql_cursor *cursor, enum th_status status)
{
    if (status != TH_PARTIAL || cursor->table->in_order ||
        !(cursor->scan.tags & UINT64_C(1) << TH_SQL_TAG_DROP))
        return false;
    cursor->event.kind = TH_EVENT_DROP;
    cursor->sound = true;
    return true;
}

/* Checks the record. Returns whether it is a row, or a part of one. */
static bool is_taken(struct th_sql_cursor *cursor)
{
    struct th_event *event = &cursor->event;
    uint64_t tag;

    cursor->sound =
        event->kind == TH_EVENT_DROP ||
        (event->kind <= TH_EVENT_SEQ_TRACE && th_replay_flat_is_sound(event, &cursor->env, true));
    if (!cursor->sound && !is_other(cursor))
        return false;
    tag = cursor->sound ? th_sql_window_tag_of(event) : UINT64_C(1) << TH_SQL_TAG_OTHER;
    return cursor->scan.tags & tag;
}

enum th_status th_sql_scan_next(struct th_sql_cursor *cursor)
{
    const volatile int *stop = cursor->options->stop;
    enum th_status status;

    for (;;) {
        th_env_clear(&cursor->env);
        if (stop && cursor->event.number % LOOKS == 0 &&
            __atomic_load_n(stop, __ATOMIC_RELAXED)) /* a flag without data */
            return TH_FAILED;
        status = th_replay_reader_next(cursor->reader, &cursor->event);
        if (status == TH_END ||
            (int64_t)cursor->event.number > cursor->scan.limits[TH_SQL_ASKS_RECORD].most)
            return TH_END;
        if (status != TH_OK)
            report_damage(cursor);
        if (status != TH_OK
                ? is_loss(cursor, status)
                : th_sql_window_may_take(&cursor->scan, &cursor->event) && is_taken(cursor))
            return TH_OK;
        if (th_memory_refused)
            return th_error_raise(TH_FAILED, "the system refuses memory");
    }
}
