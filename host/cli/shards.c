#include "shards.h"

#include "interrupt.h"
#include "replaying.h"
#include "share_process.h"
#include "share_source.h"
#include "workers.h"

#include "host/base/buffer.h"
#include "host/base/memory.h"
#include "host/library/load.h"
#include "host/process/process.h"
#include "host/replay/player.h"
#include "host/replay/reader.h"
#include "host/trace/live/live.h"
#include "host/trace/recorded/recordings.h"
#include "host/trace/session.h"
#include "host/trace/share.h"
#include "host/trace/tags.h"

#include <errno.h>
#include <string.h>
#include <unistd.h>

struct th_shards {
    size_t count, own; /* number of shares; that of this process */
    const struct th_share_source *source;
    void *context;                          /* of SOURCE */
    const struct th_share_process *process; /* this one, in a child */
    uint64_t records;                       /* of all shares; 0: unknown */
    /* In the parent: results by share, struct sent, then the identifiers seen, then the saved terms. The
     * first is the parent's, and empty. */
    struct th_buffer *results;
    struct th_tracing *tracing;
    struct th_reader *reader;
    struct th_player_options *options;
    struct th_player_counts *counts;
    unsigned past; /* time of an event before the share, in percent of one in it; 0: not played */
    bool begun;    /* in a child: the share has begun */
    off_t printed; /* in a child: bytes printed before the share, as by all processes */
    struct th_share_counts before;  /* in a child: counts at the beginning of the share */
    struct th_player_counts passed; /* likewise */
    /* In the parent: the number of shares whose results it has; 0 before the end of its own. */
    size_t merged;
    bool failed; /* a merge has failed; the cause is in the chain */
};

/* The beginning of a child's results. */
struct sent {
    bool sound;                             /* the share can be merged */
    struct th_player_counts counts, passed; /* at the end and at the beginning of the share */
    struct th_share_counts before, after;
    size_t seen, libraries; /* identifiers that follow; saved terms behind them, each after its
                               size */
};

/* The source of `replay --shards`. */
struct children {
    size_t count, own;
    struct th_share_process *items; /* by share */
    uint64_t size;                  /* of the stream, in bytes */
};

/* --- Options and streams that cannot be shared ------------------------------------------------ */

enum th_status th_cli_shards_check_options(const struct th_replaying *replay, const char *option)
{
    const struct {
        bool given;
        const char *option, *why;
    } rows[] = {
        {replay->streams.count > 1, "several streams", "play each stream by itself"},
        {replay->trace.control, "--control", "its commands would reach one share alone"},
        {replay->trace.watch, "--watch", "the new tracer would get one share alone"},
        {replay->trace.top, "--top", "the view would show one share alone"},
        {replay->check, "--check", "it watches one process alone"},
        {replay->play.probes, "--probes", "probes must be hit in the order of the records"},
        {replay->wall_clock, "--clock=wall", "shares are played at the same time"},
        {replay->play.calls.least_ns, "--min-duration", "a call may end in another share"},
        {replay->play.calls.most_deep, "--depth", "a share does not know the open calls before"},
        {replay->play.max_events.set, "--max-events", "a share does not know the events before"},
        {replay->play.max_records.set, "--max-records", "a share does not know where it ends"},
    };

    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++)
        if (rows[i].given)
            return th_error_raise(TH_USAGE, "%s cannot be used with %s: %s", option, rows[i].option,
                                  rows[i].why);
    for (size_t i = 0; i < replay->trace.sessions.count; i++) {
        const struct th_control_session_option *session = &replay->trace.sessions.items[i];
        if (session->patterns.count)
            return th_error_raise(TH_USAGE,
                                  "%s cannot be used with -p: patterns need the calls that are "
                                  "open where a share begins",
                                  option);
        if (session->chosen)
            return th_error_raise(TH_USAGE,
                                  "%s cannot be used with %s: a share does not know which "
                                  "tracees have inherited their flags",
                                  option, session->chosen);
        if (session->flag_list && session->flags & TH_FLAG_STRICT_MONOTONIC)
            return th_error_raise(TH_USAGE,
                                  "%s cannot be used with --flags=strict_monotonic_timestamp: a "
                                  "share does not know the numbers before",
                                  option);
    }
    return TH_OK;
}

/* Finds the size of the stream. A stream that cannot be read is reported when it is played. */
static enum th_status check_stream(const char *name, uint64_t *size)
{
    struct th_reader *reader;
    const struct th_reader_info *info;
    enum th_status status = TH_OK;
    size_t files;

    *size = 0;
    if (th_replay_reader_reads_once(name, &files))
        return th_error_raise(TH_USAGE, "--shards needs a file, which can be read at several "
                                        "places: record the stream with tracehost convert");
    if (th_replay_reader_open(name, NULL, &reader) != TH_OK) {
        th_error_clear();
        return TH_OK;
    }
    info = th_replay_reader_info(reader);
    if (info->compressed)
        status =
            th_error_raise(TH_USAGE, "--shards needs a plain file, which can be read at several "
                                     "places: decompress the file");
    else if (strcmp(info->format, "trace-port") != 0)
        status = th_error_raise(TH_USAGE, "--shards needs a trace-port file: convert the JSON "
                                          "lines with tracehost convert");
    else if (strcmp(info->file, info->name) != 0 || info->note)
        status = th_error_raise(TH_USAGE, "--shards needs a single file: join the wrap set with "
                                          "tracehost convert");
    *size = info->size;
    th_replay_reader_close(reader);
    return status;
}

/* --- Step 1 ----------------------------------------------------------------------------------- */

struct th_shards *th_cli_shards_make(size_t count, size_t own,
                                     const struct th_share_process *process, uint64_t records,
                                     const struct th_share_source *source, void *context)
{
    struct th_shards *made = th_alloc_zero(sizeof *made);

    *made = (struct th_shards){.count = count,
                               .own = own,
                               .source = source,
                               .context = context,
                               .process = process,
                               .records = records,
                               .results = th_alloc_zero(count * sizeof *made->results)};
    if (own)
        th_trace_share_begin();
    return made;
}

static void end_children(void *context, int status)
{
    struct children *children = context;

    if (children->own)
        _exit(status ? status : TH_FAILED); /* its tracers must not write their output */
    for (size_t i = 1; i < children->count; i++)
        th_cli_share_process_end(&children->items[i]);
    children->count = 0;
}

static bool receive_child(void *context, size_t share, struct th_buffer *data)
{
    struct children *children = context;

    return th_cli_share_process_receive(&children->items[share], data);
}

/* A share is smaller than the one before, so that all end at about the same time: each process
 * first passes over the events before its share, or plays them, which takes some time, too. */
static uint64_t begin_of_child(void *context, const struct th_reader *reader, size_t share,
                               unsigned past)
{
    const struct children *children = context;
    const double rest = past ? 1 - past / 100.0 : 7.0 / 8;
    double part = 1, before = 0, all = 0;

    (void)reader;
    for (size_t k = 0; k < children->count; k++, part *= rest) {
        before += k < share ? part : 0;
        all += part;
    }
    return (uint64_t)((double)children->size * (before / all));
}

static const struct th_share_source children_source = {
    .option = "--shards",
    .receive = receive_child,
    .begin_of = begin_of_child,
    .end = end_children,
};

enum th_status th_cli_shards_fork(struct th_replaying *replay, struct th_shards **shards)
{
    static struct children children;
    enum th_status status;
    uint64_t size = 0;

    *shards = NULL;
    if (replay->join || replay->merge)
        return th_cli_workers_begin(replay, shards);
    if (replay->shards < 2)
        return TH_OK;
    status = th_cli_shards_check_options(replay, children_source.option);
    if (status == TH_OK)
        status = check_stream(replay->streams.items[0], &size);
    if (status != TH_OK || size == 0)
        return status;
    children.count = (size_t)replay->shards;
    children.items = th_alloc_zero(children.count * sizeof *children.items);
    children.size = size;
    for (size_t i = 1; i < children.count && children.own == 0; i++) {
        bool child;
        if (!th_cli_share_process_fork(&children.items[i], &child)) {
            th_error_raise(TH_FAILED, "%s", strerror(errno));
            status = th_error_context("cannot make %zu processes for --shards", children.count);
            children.count = i + 1;
            end_children(&children, status);
            return status;
        }
        children.own = child ? i : 0;
    }
    *shards = th_cli_shards_make(children.count, children.own, &children.items[children.own], 0,
                                 &children_source, &children);
    return TH_OK;
}

/* Returns the library of session I; NULL if an earlier session has the same, or there is none. */
static struct th_library *library_of(const struct th_tracing *tracing, size_t i)
{
    struct th_library *library = th_trace_session_library(th_trace_session(tracing, i));

    for (size_t before = 0; before < i; before++)
        if (th_trace_session_library(th_trace_session(tracing, before)) == library)
            return NULL;
    return library;
}

enum th_status th_cli_shards_check(const struct th_shards *shards, const struct th_tracing *tracing)
{
    bool past = false;

    for (size_t i = 0; shards && i < th_trace_sessions(tracing); i++) {
        const struct th_session *session = th_trace_session(tracing, i);
        struct th_library *library = th_trace_session_library(session);
        if (library && !th_library_can_merge(library))
            return th_error_raise(TH_USAGE,
                                  "%s cannot be used with the tracer '%s': it has no save() and "
                                  "merge(); replay without %s",
                                  shards->source->option, th_trace_session_name(session),
                                  shards->source->option);
        past |= library && th_library_past(library);
    }
    if (shards && shards->source->is_far && th_trace_share_has_files())
        return th_error_raise(TH_USAGE,
                              "%s cannot be used with tracers that write while events come: their "
                              "files do not pass to other machines",
                              shards->source->option);
    if (shards && shards->source->prepare)
        return shards->source->prepare(shards->context, past);
    return TH_OK;
}

/* --- Step 3 ----------------------------------------------------------------------------------- */

static void add_seen(void *context, th_term id)
{
    th_buffer_add(context, &id, sizeof id);
}

/* Appends the saved terms. False if a tracer cannot save. */
static bool add_saved(const struct th_tracing *tracing, struct th_buffer *out, size_t *count)
{
    for (size_t i = 0; i < th_trace_sessions(tracing); i++) {
        struct th_library *library = library_of(tracing, i);
        size_t begin = out->size, size = 0;
        if (!library)
            continue;
        th_buffer_add(out, &size, sizeof size);
        if (th_library_save(library, out) != TH_OK)
            return false;
        size = out->size - begin - sizeof size;
        memcpy(out->data + begin, &size, sizeof size);
        ++*count;
    }
    return true;
}

/* Returns whether the share had only events that its parent need not see. */
static bool is_sound(const struct th_shards *shards)
{
    const struct th_player_counts *counts = shards->counts;
    const struct th_live_counts live = th_live_counts(shards->tracing);

    return th_trace_share_is_alone(shards->tracing) && !th_trace_share_is_spoiled() &&
           !counts->malformed && !counts->damages && !counts->interrupted &&
           !th_process_mail_dropped() && !live.suppressed && !live.strangers;
}

static __attribute__((noreturn)) void deliver_share(struct th_shards *shards)
{
    struct sent *sent = th_alloc_zero(sizeof *sent);
    struct th_buffer data = {0};

    th_buffer_add(&data, sent, sizeof *sent);
    sent->sound = shards->begun && is_sound(shards) && th_process_world_each_seen(add_seen, &data);
    sent->seen = (data.size - sizeof *sent) / sizeof(th_term);
    sent->counts = *shards->counts;
    sent->passed = shards->passed;
    sent->before = shards->before;
    th_trace_share_counts(shards->tracing, &sent->after);
    sent->sound = sent->sound && add_saved(shards->tracing, &data, &sent->libraries);
    sent->sound &= th_cli_share_process_printed(shards->process) == shards->printed &&
                   !(shards->source->is_far && th_trace_share_has_files());
    memcpy(data.data, sent, sizeof *sent);
    if (shards->source->deliver)
        shards->source->deliver(shards->context, &data);
    th_cli_share_process_send(shards->process, &data, 0);
}

enum th_status th_cli_shards_deliver(struct th_shards *shards)
{
    if (shards && shards->own)
        deliver_share(shards);
    return shards && shards->failed ? th_error_status() : TH_OK;
}

/* --- Step 4 ----------------------------------------------------------------------------------- */

/* Returns whether RESULTS, which may come from another machine, have the parts that SENT counts. */
static bool has_parts(const struct sent *sent, size_t size)
{
    const unsigned char *p = (const unsigned char *)(sent + 1);
    size_t left = size - sizeof *sent, saved;

    if (sent->seen > left / sizeof(th_term))
        return false;
    p += sent->seen * sizeof(th_term);
    left -= sent->seen * sizeof(th_term);
    for (size_t i = 0; i < sent->libraries; i++) {
        if (left < sizeof saved)
            return false;
        memcpy(&saved, p, sizeof saved);
        if (saved > left - sizeof saved)
            return false;
        p += sizeof saved + saved;
        left -= sizeof saved + saved;
    }
    return left == 0;
}

bool th_cli_shards_is_sound(const struct th_buffer *results)
{
    const struct sent *sent = (const struct sent *)results->data;

    return results->size >= sizeof *sent && sent->sound && has_parts(sent, results->size);
}

bool th_cli_shards_is_interrupted(const struct th_buffer *results)
{
    return results->size >= sizeof(struct sent) &&
           ((const struct sent *)results->data)->counts.interrupted;
}

static uint64_t records_of(const struct sent *sent)
{
    return sent->counts.records - sent->passed.records;
}

/* Waits for the results of all shares. False if they cannot be merged. */
static bool receive_shares(struct th_shards *shards)
{
    uint64_t records = shards->counts->records;
    size_t libraries = 0;

    for (size_t i = 0; i < th_trace_sessions(shards->tracing); i++)
        libraries += library_of(shards->tracing, i) != NULL;
    for (size_t i = 1; i < shards->count; i++) {
        struct th_buffer *results = &shards->results[i];
        if (!shards->source->receive(shards->context, i, results) ||
            !th_cli_shards_is_sound(results) ||
            ((const struct sent *)results->data)->libraries != libraries)
            return false;
        records += records_of((const struct sent *)results->data);
    }
    return !shards->records || records == shards->records;
}

static void add_times(struct th_time_span *to, const struct th_time_span *from)
{
    if (!from->known)
        return;
    if (!to->known || from->first < to->first)
        to->first = from->first;
    if (!to->known || from->last > to->last)
        to->last = from->last;
    to->known = true;
}

/* Adds the host's counts of a share. */
static void add_counts_of_share(struct th_shards *shards, const struct sent *sent,
                                struct th_recording *recording)
{
    struct th_player_counts *to = shards->counts;
    const struct th_player_counts *from = &sent->counts, *before = &sent->passed;
    const struct th_player_counts more = {.records = records_of(sent),
                                          .lost = from->lost - before->lost,
                                          .gaps = from->gaps - before->gaps};
    const th_term *seen = (const th_term *)(sent + 1);

    to->records += more.records;
    to->played += from->played - before->played;
    to->told += from->told - before->told;
    to->skipped += from->skipped - before->skipped;
    to->untimed += from->untimed - before->untimed;
    to->drops += from->drops - before->drops;
    to->lost += more.lost;
    to->gaps += more.gaps;
    for (int i = 0; i < 2; i++)
        add_times(&to->skipped_times[i], &from->skipped_times[i]);
    for (size_t i = 0; i < sent->seen; i++)
        th_process_world_see(seen[i]);
    th_trace_share_add(shards->tracing, &sent->after, &sent->before);
    th_replay_reader_count(shards->reader, more.records, more.lost, more.gaps);
    th_recorded_streams_count(&recording->records, more.records);
    th_recorded_streams_count(&recording->lost, more.lost);
    th_recorded_streams_count(&recording->gaps, more.gaps);
}

static enum th_status merge_share(struct th_shards *shards, const struct th_buffer *results,
                                  struct th_recording *recording)
{
    const struct sent *sent = (const struct sent *)results->data;
    const unsigned char *p = (const unsigned char *)(sent + 1) + sent->seen * sizeof(th_term);
    enum th_status status = TH_OK;
    size_t size;

    add_counts_of_share(shards, sent, recording);
    for (size_t i = 0; i < th_trace_sessions(shards->tracing) && status == TH_OK; i++) {
        struct th_library *library = library_of(shards->tracing, i);
        if (!library)
            continue;
        memcpy(&size, p, sizeof size);
        status = th_library_merge(library, p + sizeof size, size);
        p += sizeof size + size;
    }
    return status;
}

size_t th_cli_shards_merged(const struct th_shards *shards)
{
    return shards && shards->merged ? shards->merged : 1;
}

/* --- Step 2 ----------------------------------------------------------------------------------- */

static uint64_t begin_of(const struct th_shards *shards, size_t share)
{
    return shards->source->begin_of(shards->context, shards->reader, share, shards->past);
}

/* Sets th_tracer_past of all tracers to NOW. Returns the largest of their values before. */
static unsigned set_past(const struct th_tracing *tracing, unsigned char now)
{
    unsigned most = 0;

    for (size_t i = 0; i < th_trace_sessions(tracing); i++) {
        struct th_library *library = library_of(tracing, i);
        unsigned char *past = library ? th_library_past(library) : NULL;
        if (past) {
            most = *past > most ? *past : most > 0 ? most : 1;
            *past = now;
        }
    }
    return most < 100 ? most : 99;
}

/* Ends the reader behind the share. */
static void limit_to_share(struct th_shards *shards)
{
    bool last = shards->own + 1 == shards->count;

    th_replay_reader_limit(shards->reader, last ? 0 : begin_of(shards, shards->own + 1));
}

void th_cli_shards_limit(struct th_shards *shards, struct th_tracing *tracing,
                         struct th_reader *reader, struct th_player_options *options,
                         struct th_player_counts *counts)
{
    shards->tracing = tracing;
    shards->reader = reader;
    shards->options = options;
    shards->counts = counts;
    shards->past = set_past(tracing, shards->own > 0);
    shards->begun = shards->own == 0 || !shards->past;
    if (shards->own)
        shards->printed = th_cli_share_process_printed(shards->process);
    th_trace_share_counts(tracing, &shards->before);
    if (!shards->begun) {
        th_replay_reader_limit(reader, begin_of(shards, shards->own));
        options->past = !options->from.set && !options->to.set && !options->verify &&
                        th_trace_share_takes_past(tracing);
        return;
    }
    options->begin_at = begin_of(shards, shards->own);
    limit_to_share(shards);
}

/* Begins a share whose tracers have got the events before. False if the share has begun. */
static bool begin_share(struct th_shards *shards)
{
    struct th_buffer dropped = {0};
    size_t count = 0;

    if (shards->begun)
        return false;
    if (shards->source->branch && !shards->source->branch(shards->context, shards->reader)) {
        th_replay_reader_limit(shards->reader, begin_of(shards, shards->own));
        return true;
    }
    if (!is_sound(shards) || !add_saved(shards->tracing, &dropped, &count))
        return false;
    th_buffer_free(&dropped);
    set_past(shards->tracing, 0);
    shards->options->past = false;
    shards->passed = *shards->counts;
    shards->printed = th_cli_share_process_printed(shards->process);
    th_trace_share_counts(shards->tracing, &shards->before);
    limit_to_share(shards);
    shards->begun = true;
    return true;
}

bool th_cli_shards_passes_on(struct th_shards *shards)
{
    if (!shards->own || !shards->begun || !shards->source->branch)
        return false;
    if (!shards->source->branch(shards->context, shards->reader)) {
        shards->options->begin_at = begin_of(shards, shards->own);
        return true;
    }
    shards->printed = th_cli_share_process_printed(shards->process);
    return false;
}

bool th_cli_shards_has_more(struct th_shards *shards, struct th_recording *recording)
{
    bool sound;

    if (shards->own)
        return begin_share(shards);
    if (shards->merged)
        return false;
    shards->merged = 1;
    sound = th_trace_share_is_alone(shards->tracing) && receive_shares(shards);
    if (!sound) {
        shards->source->end(shards->context, TH_OK);
        th_replay_reader_limit(shards->reader, 0);
        return !th_cli_interrupt_came();
    }
    while (shards->merged < shards->count && !shards->failed)
        shards->failed =
            merge_share(shards, &shards->results[shards->merged++], recording) != TH_OK;
    return false;
}

bool th_cli_shards_is_child(const struct th_shards *shards)
{
    return shards && shards->own > 0;
}

/* --- The end ---------------------------------------------------------------------------------- */

void th_cli_shards_end(struct th_shards *shards, int status)
{
    if (!shards)
        return;
    shards->source->end(shards->context, status);
    for (size_t i = 1; i < shards->count; i++)
        th_buffer_free(&shards->results[i]);
    th_free(shards->results);
    th_free(shards);
}
