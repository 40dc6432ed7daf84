/*
 * nats: publishes the arguments of the callbacks as a recording in a log of NATS JetStream. Records are those of
 * trace_port.
 *
 * A program of its own publishes them: publisher.h says why, and how. In an Erlang node the module has two more
 * functions: status(State) returns {Events, Bytes, LeftOut, End}, where End is `open`, `closed` or
 * {failed, Reason}; close(State) completes the log, and returns the same. Both fail with badarg if no tracer
 * with this State began. LeftOut events are not in the log: they did not fit (full=drop), or came after the end.
 *
 * After the end `enabled` answers `remove`, so that a node traces no further.
 */
#include "publisher.h"

#include "../kit/port_message.h"
#include "../kit/settings.h"

#include <errno.h>
#include <stdlib.h>
#include <unistd.h>

const struct th_tracer_setting th_tracer_settings[] = {
    {"log", TH_SETTING_TEXT, NULL, NULL,
     "nats://HOST/NAME, with what may follow the name; see tracehost-nats(7)"},
    {"full", TH_SETTING_WORD, "wait drop", "wait",
     "what happens to an event if the window is full: it waits, or is dropped and counted"},
    {"window", TH_SETTING_NUMBER, NULL, "1048576",
     "bytes of records that may wait for the program that publishes them; less if the system "
     "permits less"},
    {"patience", TH_SETTING_TIME, NULL, "1min",
     "how long the end waits for a server that does not answer"},
    {"program", TH_SETTING_INPUT, NULL, NULL,
     "the program tracehost; bin/tracehost above this tracer without it"},
    {"recording", TH_SETTING_NUMBER, NULL, "0",
     "a number of your choice, other than that of an ended recording in the same node"},
    {NULL, 0, NULL, NULL, NULL}};

/* A log: one for each state. */
struct log {
    struct log *next;
    ErlNifEnv *env; /* of `state` */
    ERL_NIF_TERM state;
    struct publisher publisher;
    atomic_bool begun;      /* release, after publisher_start(); acquire */
    atomic_bool told;       /* its failure was reported; relaxed */
    pthread_mutex_t ending; /* of the thread that closes the log; then its lock is taken */
    bool closed;            /* under `ending` */
};

/* All logs. Any thread reads the list: an acquire load of `first` makes all behind it visible. The holder of `lock` adds
 * logs in front; they stay until the tracer is unloaded. */
static struct {
    struct log *_Atomic first;
    pthread_mutex_t lock;
    atomic_ullong lost; /* events without memory for their log; relaxed */
} logs = {.lock = PTHREAD_MUTEX_INITIALIZER};

/* --- Logs ------------------------------------------------------------------------------------- */

/* Reads the settings of STATE. Returns what is wrong with them, or NULL. */
static const char *read_settings(ErlNifEnv *env, ERL_NIF_TERM state, struct publisher *publisher)
{
    static const char scheme[] = "nats://";

    if (!output_setting(env, state, "log", publisher->log, sizeof publisher->log) ||
        strncmp(publisher->log, scheme, sizeof scheme - 1) != 0)
        return "the setting 'log' must be the name of a log, nats://HOST/NAME";
    publisher->drops = output_choice(env, state, "full") == 1;
    publisher->window = output_number(env, state, "window");
    publisher->patience = output_time(env, state, "patience");
    if (output_setting(env, state, "program", publisher->program, sizeof publisher->program))
        return access(publisher->program, X_OK) == 0 ? NULL
                                                     : "the setting 'program' must be a program";
    return publisher_find_program(publisher->program)
               ? NULL
               : "there is no bin/tracehost above this tracer: give program=FILE";
}

/* Thread: the holder of the lock. */
static struct log *add_log(ErlNifEnv *env, ERL_NIF_TERM state)
{
    struct log *log = calloc(1, sizeof *log);
    const char *fault;

    if (!log)
        return NULL;
    fault = read_settings(env, state, &log->publisher);
    if (fault) {
        output_fail(env, fault);
        free(log);
        return NULL;
    }
    pthread_mutex_init(&log->publisher.lock, NULL);
    pthread_mutex_init(&log->ending, NULL);
    log->env = enif_alloc_env();
    log->state = enif_make_copy(log->env, state);
    output_check_keys(log->env, log->state);
    log->next = atomic_load_explicit(&logs.first, memory_order_relaxed);
    atomic_store_explicit(&logs.first, log, memory_order_release);
    return log;
}

static struct log *find_log(ERL_NIF_TERM state)
{
    struct log *log = atomic_load_explicit(&logs.first, memory_order_acquire);

    while (log && log->state != state && !enif_is_identical(log->state, state))
        log = log->next;
    return log;
}

/* Returns NULL if there is no memory, or a setting is wrong, which is reported. */
static struct log *find_or_add(ErlNifEnv *env, ERL_NIF_TERM state)
{
    struct log *log = find_log(state);

    if (log)
        return log;
    pthread_mutex_lock(&logs.lock);
    log = find_log(state); /* another thread may have added it */
    if (!log)
        log = add_log(env, state);
    pthread_mutex_unlock(&logs.lock);
    return log;
}

/* Starts the program of LOG, unless that was done. */
static void begin(struct log *log)
{
    if (atomic_load_explicit(&log->begun, memory_order_acquire))
        return;
    pthread_mutex_lock(&log->publisher.lock);
    if (!atomic_load_explicit(&log->begun, memory_order_relaxed))
        publisher_start(&log->publisher);
    atomic_store_explicit(&log->begun, true, memory_order_release);
    pthread_mutex_unlock(&log->publisher.lock);
}

static bool has_begun(const struct log *log)
{
    return atomic_load_explicit(&log->begun, memory_order_acquire);
}

/* Returns whether the program of LOG has ended; reports a failure once. In a node the thread of the program
 * has reported it. */
static bool is_over(ErlNifEnv *env, struct log *log)
{
    const struct publisher *publisher = &log->publisher;

    if (!atomic_load_explicit(&publisher->ended, memory_order_acquire))
        return false;
    if (*publisher->failure && (TH_HAS(th_tracer_failed) || !publisher->runs) &&
        !atomic_exchange_explicit(&log->told, true, memory_order_relaxed))
        output_fail(env, publisher->failure);
    return true;
}

static void close_log(struct log *log)
{
    pthread_mutex_lock(&log->ending);
    if (!log->closed)
        publisher_close(&log->publisher);
    log->closed = true;
    pthread_mutex_unlock(&log->ending);
}

/* --- Callbacks -------------------------------------------------------------------------------- */

/* Returns the answer to trace_status. In tracehost the first one comes before it is known whether the events come. */
static ERL_NIF_TERM answer_status(ErlNifEnv *env, ERL_NIF_TERM state)
{
    struct log *log = find_or_add(env, state);

    if (log && !(TH_HAS(th_attach_pending) && th_attach_pending(env)))
        begin(log);
    return log && !is_over(env, log) ? TH_TRACER_ATOM(env, trace) : TH_TRACER_ATOM(env, remove);
}

TH_TRACER_ENABLED(generic)
{
    struct log *log;

    if (tag == TH_TRACER_ATOM(env, trace_status))
        return answer_status(env, state);
    if (atomic_load_explicit(&publishers_ended, memory_order_relaxed) && (log = find_log(state)) &&
        is_over(env, log)) {
        publisher_add(&log->publisher, NULL, 0);
        return TH_TRACER_ATOM(env, remove);
    }
    return TH_TRACER_ATOM(env, trace);
}

/* Counts an event that cannot become a record: its place in the log has a drop record. */
static void lose(struct log *log)
{
    atomic_fetch_add_explicit(&logs.lost, 1, memory_order_relaxed);
    publisher_add(&log->publisher, NULL, 0);
}

TH_TRACER_TRACE(generic)
{
    struct log *log = find_or_add(env, state);
    ErlNifBinary bytes;

    if (!log)
        return;
    begin(log);
    is_over(env, log);
    port_count_what_stays(env, tag);
    if (!enif_term_to_binary(env, port_message(env, tag, tracee, term, opts), &bytes)) {
        lose(log);
        return;
    }
    if (bytes.size <= UINT32_MAX)
        publisher_add(&log->publisher, bytes.data, (uint32_t)bytes.size);
    else
        lose(log);
    enif_release_binary(&bytes);
}

TH_TRACER_UNLOAD()
{
    struct log *log = atomic_load_explicit(&logs.first, memory_order_relaxed), *next;

    atomic_store_explicit(&logs.first, NULL, memory_order_relaxed);
    for (; log; log = next) {
        unsigned long long left_out = log->publisher.left_out;
        next = log->next;
        if (has_begun(log)) {
            close_log(log);
            is_over(env, log);
        }
        if (left_out)
            fprintf(stderr, "nats: events that are not in %s: %llu\n", log->publisher.log,
                    left_out);
        pthread_mutex_destroy(&log->publisher.lock);
        pthread_mutex_destroy(&log->ending);
        enif_free_env(log->env);
        free(log);
    }
    output_report_lost(env, "events", logs.lost);
    port_report_plain("nats");
}

/* --- Functions for an Erlang node ------------------------------------------------------------- */

static ERL_NIF_TERM end_term(ErlNifEnv *env, const struct publisher *publisher)
{
    char reason[sizeof publisher->failure + 2 + sizeof publisher->said];

    if (!atomic_load_explicit(&publisher->ended, memory_order_acquire))
        return TH_TRACER_ATOM(env, open);
    if (!*publisher->failure)
        return TH_TRACER_ATOM(env, closed);
    snprintf(reason, sizeof reason, "%s%s%s", publisher->failure, *publisher->said ? ": " : "",
             publisher->said);
    return enif_make_tuple2(env, enif_make_atom(env, "failed"),
                            enif_make_string(env, reason, ERL_NIF_LATIN1));
}

/* Returns {Events, Bytes, LeftOut, End}; closes the log first if CLOSE. */
static ERL_NIF_TERM describe(ErlNifEnv *env, ERL_NIF_TERM state, bool close)
{
    struct log *log = find_log(state);
    const struct publisher *publisher;

    if (!log || !has_begun(log))
        return enif_make_badarg(env);
    if (close)
        close_log(log);
    publisher = &log->publisher;
    return enif_make_tuple4(env, enif_make_uint64(env, publisher->events),
                            enif_make_uint64(env, publisher->bytes),
                            enif_make_uint64(env, publisher->left_out), end_term(env, publisher));
}

static ERL_NIF_TERM status(ErlNifEnv *env, TH_TRACER_ARG(int, argc), const ERL_NIF_TERM argv[])
{
    return describe(env, argv[0], false);
}

static ERL_NIF_TERM close_state(ErlNifEnv *env, TH_TRACER_ARG(int, argc), const ERL_NIF_TERM argv[])
{
    return describe(env, argv[0], true);
}

static ErlNifFunc callbacks[] = {{"enabled", 3, enabled, 0},
                                 {"trace", 5, trace, 0},
                                 {"status", 1, status, 0},
                                 {"close", 1, close_state, ERL_NIF_DIRTY_JOB_IO_BOUND}};
ERL_NIF_INIT(tracehost_nats, callbacks, NULL, NULL, NULL, unload)
