/* Connections to logs, and lists of the recordings in them. */
#include "log_stream.h"

#include "host/base/memory.h"
#include "host/library/find.h"

#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static const char prefix[] = "tracehost";

enum th_status th_replay_log_engine(const struct tracehost_log_engine **engine)
{
    void *found;
    enum th_status status = th_library_beside_symbol(
        "tracehost_nats.so", "this tracehost was built without libnats (Debian: libnats-dev)",
        "tracehost_nats", TH_MALFORMED, &found);

    *engine = found;
    return status == TH_OK ? TH_OK : th_error_context("logs of NATS are not available");
}

static char *subject_of_stream(const char *stream, const char *kind)
{
    return th_printf("%s.%s.%s.*", prefix, stream, kind);
}

char *th_replay_log_subject(const char *subject, const char *id)
{
    return th_printf("%.*s%s", (int)strlen(subject) - 1, subject, id);
}

void th_replay_log_close(struct th_log *log)
{
    if (log->engine)
        log->engine->close(&log->client);
    for (int i = 0; i < TRACEHOST_LOG_SUBJECTS; i++)
        th_free(log->subjects[i]);
    *log = (struct th_log){0};
}

/* Raises the client's reason. */
static enum th_status log_fails(const struct th_log *log)
{
    return th_error_raise(TH_MALFORMED, "%s", log->client.why);
}

/* Checks the files that NAME gives, for which libnats has no clear message. Errors: TH_MALFORMED. */
static enum th_status check_credentials(const struct th_log_name *name)
{
    const char *files[] = {name->creds, name->ca, name->cert, name->key};

    for (size_t i = 0; i < sizeof files / sizeof files[0]; i++)
        if (files[i] && access(files[i], R_OK) != 0)
            return th_error_raise(TH_MALFORMED, "cannot read %s: %s", files[i], strerror(errno));
    return TH_OK;
}

enum th_status th_replay_log_open(const struct th_log_name *name, bool make, struct th_log *log)
{
    struct tracehost_log_server server = {
        .url = name->url,
        .host = name->host,
        .tls = name->tls,
        .creds = name->creds,
        .ca = name->ca,
        .cert = name->cert,
        .key = name->key,
    };
    enum tracehost_log_result result;
    sigset_t all, before;

    *log = (struct th_log){0};
    if (th_replay_log_engine(&log->engine) != TH_OK || check_credentials(name) != TH_OK)
        return TH_MALFORMED;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before); /* the client's threads take no signals */
    result = log->engine->open(&log->client, &server);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    log->silent = result == TRACEHOST_LOG_AGAIN;
    if (result != TRACEHOST_LOG_DONE)
        return log_fails(log);
    if (!name->stream)
        return TH_OK;
    log->subjects[0] = subject_of_stream(name->stream, "records");
    log->subjects[1] = subject_of_stream(name->stream, "world");
    result =
        log->engine->find(&log->client, name->stream, (const char *const *)log->subjects, make);
    log->silent = log->starting = result == TRACEHOST_LOG_AGAIN;
    return result == TRACEHOST_LOG_DONE ? TH_OK : log_fails(log);
}

/* --- Lists ------------------------------------------------------------------------------------- */

struct found_names {
    struct found_name {
        char *name;
        uint64_t messages, sequence;
    } * items;
    size_t count, capacity;
};

static void add_found_name(void *context, const char *name, uint64_t messages)
{
    struct found_names *found = context;

    TH_ARRAY_GROW(found->items, found->count, found->capacity);
    found->items[found->count++] =
        (struct found_name){.name = th_strdup(name), .messages = messages};
}

static void free_names(struct found_names *found)
{
    for (size_t i = 0; i < found->count; i++)
        th_free(found->items[i].name);
    th_free(found->items);
}

static int by_sequence(const void *a, const void *b)
{
    const struct found_name *x = a, *y = b;

    return (x->sequence > y->sequence) - (x->sequence < y->sequence);
}

/* Visits the recording of SUBJECT. */
static void sum_up_recording(struct th_log *log, const char *stream, const struct found_name *found,
                             th_log_visitor *visit, void *context)
{
    struct th_log_summary summary = {
        .stream = stream,
        .recording = strrchr(found->name, '.') + 1,
        .messages = found->messages,
        .sequence = found->sequence,
    };
    struct tracehost_log_message message;

    if (log->engine->get(&log->client, stream, found->name, 0, &message) != TRACEHOST_LOG_DONE)
        return; /* it was deleted meanwhile */
    summary.readable = th_replay_log_read_heads(log->engine, &message, &summary.last) == TH_OK;
    th_error_clear();
    visit(context, &summary);
    log->engine->release(&message);
}

enum th_status th_replay_log_recordings(struct th_log *log, const char *stream,
                                        th_log_visitor *visit, void *context)
{
    char *pattern = subject_of_stream(stream, "records");
    struct found_names found = {0};
    enum tracehost_log_result result =
        log->engine->list(&log->client, stream, pattern, add_found_name, &found);

    for (size_t i = 0; i < found.count && result == TRACEHOST_LOG_DONE; i++) {
        struct tracehost_log_message message;
        result = log->engine->get(&log->client, stream, found.items[i].name, 1, &message);
        if (result != TRACEHOST_LOG_DONE)
            break;
        found.items[i].sequence = message.sequence;
        log->engine->release(&message);
    }
    if (result == TRACEHOST_LOG_DONE && found.count > 1)
        qsort(found.items, found.count, sizeof *found.items, by_sequence);
    for (size_t i = 0; i < found.count && result == TRACEHOST_LOG_DONE; i++)
        sum_up_recording(log, stream, &found.items[i], visit, context);
    if (result == TRACEHOST_LOG_DONE && found.count == 0)
        visit(context, &(struct th_log_summary){.stream = stream});
    free_names(&found);
    th_free(pattern);
    return result == TRACEHOST_LOG_DONE || result == TRACEHOST_LOG_NONE ? TH_OK : log_fails(log);
}

enum th_status th_replay_log_list(const struct th_log_name *name, th_log_visitor *visit,
                                  void *context)
{
    struct found_names streams = {0};
    struct th_log log;
    enum th_status status = th_replay_log_open(name, false, &log);

    if (status == TH_OK && name->stream)
        status = th_replay_log_recordings(&log, name->stream, visit, context);
    else if (status == TH_OK && log.engine->list(&log.client, NULL, NULL, add_found_name,
                                                 &streams) != TRACEHOST_LOG_DONE)
        status = log_fails(&log);
    for (size_t i = 0; i < streams.count && status == TH_OK; i++) {
        char *subjects[] = {subject_of_stream(streams.items[i].name, "records"),
                            subject_of_stream(streams.items[i].name, "world")};
        if (log.engine->find(&log.client, streams.items[i].name, (const char *const *)subjects,
                             false) == TRACEHOST_LOG_DONE)
            status = th_replay_log_recordings(&log, streams.items[i].name, visit, context);
        th_free(subjects[0]);
        th_free(subjects[1]);
    }
    free_names(&streams);
    th_replay_log_close(&log);
    return status;
}

/* --- Choice ------------------------------------------------------------------------------------- */

static void list_recording(void *context, const struct th_log_summary *summary)
{
    struct th_buffer *list = context;

    if (summary->recording)
        th_buffer_printf(list, "%s%s", list->size ? " " : "", summary->recording);
}

/* Raises which recordings there are to choose from: LIST, with blanks between. */
static enum th_status raise_choice(const struct th_log_name *name, struct th_buffer *list)
{
    const char *text = th_buffer_text(list);

    if (list->size == 0)
        return th_error_raise(TH_MALFORMED, "the stream %s has no recordings", name->stream);
    th_error_raise(TH_MALFORMED, "the recordings, the oldest first: %s", text);
    if (name->recording)
        return th_error_context("the stream %s has no recording %s", name->stream, name->recording);
    return th_error_context("the stream %s has several recordings: give ?recording=ID or "
                            "?recording=last; `tracehost streams` lists them",
                            name->stream);
}

enum th_status th_replay_log_refuse_choice(struct th_log *log, const struct th_log_name *name)
{
    struct th_buffer list = {0};
    enum th_status status = th_replay_log_recordings(log, name->stream, list_recording, &list);

    if (status == TH_OK)
        status = raise_choice(name, &list);
    th_buffer_free(&list);
    return status;
}

enum th_status th_replay_log_choose(struct th_log *log, const struct th_log_name *name,
                                    char **recording)
{
    struct th_buffer list = {0};
    bool latest = name->recording && strcmp(name->recording, "last") == 0;
    const char *chosen = latest ? NULL : name->recording, *blank;
    enum th_status status = TH_OK;

    *recording = NULL;
    if (!chosen) {
        status = th_replay_log_recordings(log, name->stream, list_recording, &list);
        chosen = th_buffer_text(&list);
        blank = strrchr(chosen, ' ');
        if (status == TH_OK && (list.size == 0 || (blank && !latest)))
            status = raise_choice(name, &list);
        chosen = blank ? blank + 1 : chosen;
    }
    if (status == TH_OK)
        *recording = th_strdup(chosen);
    th_buffer_free(&list);
    return status;
}
