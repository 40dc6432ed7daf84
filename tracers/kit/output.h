/*
 * The output files of tracers, and the settings in their states.
 *
 * A tracer's state is a map of settings: `-t text` is #{}, `-t text,output=calls.txt,color=always`
 * is #{output => "calls.txt", color => always}; in an Erlang node the state is given as this map.
 * Any other state counts as #{}. Every tracer has the settings
 *
 *     output    the file to write to; default and "-": stdout; "NAME.gz" is compressed
 *     color     always, never, or auto: on a terminal, unless NO_COLOR is set; CLICOLOR_FORCE is
 *               stronger than that
 *
 * A tracer with more settings defines, before it includes this: TRACER_DECLARES, rows of
 * th_tracer_settings, a comma after each; `struct settings`, their values; and TRACER_SETTINGS, the
 * name of a function that reads them, once for each state, with output_choice() and the like, which
 * take words and defaults from the rows:
 *
 *     static void read_settings(ErlNifEnv *env, ERL_NIF_TERM state, struct settings *settings);
 *
 * A tracer whose file is useless until it is complete defines TRACER_WHOLE; see output_file.h. One that
 * writes while events come, but not each event by itself, defines TRACER_GATHERS.
 *
 * A tracer whose file cannot be opened is not attached. A tracer that fails to write its file
 * writes no more, and reports the failure, as a rule by the next event: in tracehost with
 * th_tracer_failed(); in an Erlang node with a line on stderr.
 */
#ifndef TRACER_OUTPUT_H
#define TRACER_OUTPUT_H

#include "line.h"
#include "output_file.h"
#include "output_flush.h"
#include "settings.h"

#include <erl_tracer.h>
#include <nif_module.h>

#include <pthread.h>

#ifndef TRACER_DECLARES
#define TRACER_DECLARES
#endif

/* tracehost refuses other settings; in an Erlang node output_check_keys() warns about them. */
const struct th_tracer_setting th_tracer_settings[] = {
    TRACER_DECLARES{"output", TH_SETTING_OUTPUT, NULL, "-",
                    "the file to write to; compressed if it ends in .gz"},
    {"color", TH_SETTING_WORD, "always never auto", "auto",
     "whether colours are used; auto: on a terminal, unless NO_COLOR is set, and everywhere if "
     "CLICOLOR_FORCE is"},
    {NULL, 0, NULL, NULL, NULL}};

#ifdef TRACER_WHOLE
#define OUTPUT_WHOLE true
#else
#define OUTPUT_WHOLE false
#endif

#if defined TRACER_WHOLE || defined TRACER_GATHERS
const char th_tracer_gathers = 1;
#endif

/* An output: one for each state. */
struct output {
    struct output *next;
    ErlNifEnv *env;     /* environment of `state` */
    ERL_NIF_TERM state; /* a copy; 0: all states without settings */
    FILE *file;
    struct output_file *to; /* shared with other outputs of the same path; NULL: `file` is stdout */
    bool colour;            /* with escape sequences for colours */
    /* Events come, or will come. Release, once `to` has begun; acquire. */
    atomic_bool begun;
    atomic_bool used; /* an event came; release after `begun`, acquire */
    atomic_bool told; /* its failure was reported; relaxed */
    void *kept;       /* data of the tracer, initially NULL */
#ifdef TRACER_SETTINGS
    struct settings settings;
#endif
};

/* All outputs. Any thread reads the list: an acquire load of `first` makes all behind it visible.
 * The holder of `lock` adds outputs in front; they stay until the tracer is unloaded. The lock also
 * protects the files. */
static struct {
    struct output *_Atomic first;
    pthread_mutex_t lock;
    struct output_file *files;
    atomic_ullong lost; /* events without memory for their output */
} outputs = {.lock = PTHREAD_MUTEX_INITIALIZER};

#ifdef TRACER_SETTINGS
static void TRACER_SETTINGS(ErlNifEnv *env, ERL_NIF_TERM state, struct settings *settings);
#endif

/* Gets the path of the state's file; "": stdout. False if its `output` is no text, or empty. STATE
 * may be 0. */
static inline bool output_path(ErlNifEnv *env, ERL_NIF_TERM state, char *path, size_t size)
{
    ERL_NIF_TERM value;

    *path = 0;
    if (!state || !enif_get_map_value(env, state, enif_make_atom(env, "output"), &value))
        return true;
    if (!output_setting(env, state, "output", path, size) || !*path)
        return false;
    if (strcmp(path, "-") == 0)
        *path = 0;
    return true;
}

static inline bool output_wants_colour(ErlNifEnv *env, ERL_NIF_TERM state, int descriptor)
{
    const char *none = getenv("NO_COLOR");
    const char *forced = getenv("CLICOLOR_FORCE");
    char how[16];

    if (state && output_setting(env, state, "color", how, sizeof how)) {
        if (strcmp(how, "always") == 0)
            return true;
        if (strcmp(how, "never") == 0)
            return false;
    }
    if (forced && *forced && strcmp(forced, "0") != 0)
        return true;
    return !(none && *none) && isatty(descriptor);
}

/* Reports that PATH cannot be written. */
static inline void output_report(ErlNifEnv *env, const char *path, int error)
{
    char text[4096 + 200];

    snprintf(text, sizeof text, "cannot write %s: %s", path, strerror(error));
    output_fail(env, text);
}

/* Finds or opens the file PATH; "" is stdout, which has a file in a share of a recording alone.
 * NULL, with errno, on failure.
 * Thread: the holder of the lock. */
static inline struct output_file *output_file_of(const char *path)
{
    struct output_file *file = outputs.files;
    int share = -1;

    while (file && (file->closed || strcmp(file->path, path) != 0))
        file = file->next;
    if (file)
        return file;
    if (!OUTPUT_WHOLE && TH_HAS(th_share_file))
        share = th_share_file(*path ? path : "-");
    if (!*path && share < 0)
        return NULL;
    file = output_file_open(path, OUTPUT_WHOLE, share);
    if (file) {
        file->next = outputs.files;
        outputs.files = file;
    }
    return file;
}

/* Adds an output. STATE is 0 or a map with settings. NULL if there is no memory, or if no file is
 * named or it cannot be opened, which is reported.
 * Thread: the holder of the lock. */
static inline struct output *output_add(ErlNifEnv *env, ERL_NIF_TERM state)
{
    char path[4096];
    struct output_file *to;
    struct output *output;

    if (!output_path(env, state, path, sizeof path)) {
        output_fail(env, "the setting 'output' must be the name of a file");
        return NULL;
    }
    to = output_file_of(path);
    if (*path && !to) {
        output_report(env, path, errno);
        return NULL;
    }
    output = calloc(1, sizeof *output);
    if (!output)
        return NULL;
    output->to = to;
    output->file = to ? to->file : stdout;
    output->env = enif_alloc_env();
    output->state = state ? enif_make_copy(output->env, state) : 0;
    if (state)
        output_check_keys(output->env, output->state);
    output->colour =
        output_wants_colour(output->env, output->state, *path ? to->descriptor : STDOUT_FILENO);
#ifdef TRACER_SETTINGS
    TRACER_SETTINGS(output->env, output->state, &output->settings);
#endif
    output->next = atomic_load_explicit(&outputs.first, memory_order_relaxed);
    atomic_store_explicit(&outputs.first, output, memory_order_release);
    return output;
}

static inline struct output *output_find(ERL_NIF_TERM state)
{
    struct output *output = atomic_load_explicit(&outputs.first, memory_order_acquire);

    while (output && output->state != state &&
           !(output->state && state && enif_is_identical(output->state, state)))
        output = output->next;
    return output;
}

/* Finds or adds an output; takes the lock only to add one. NULL as output_add(). */
static inline struct output *output_find_or_add(ErlNifEnv *env, ERL_NIF_TERM state)
{
    ERL_NIF_TERM settings = output_has_settings(env, state) ? state : 0;
    struct output *output = output_find(settings);

    if (output)
        return output;
    pthread_mutex_lock(&outputs.lock);
    output = output_find(settings); /* another thread may have added it */
    if (!output)
        output = output_add(env, settings);
    pthread_mutex_unlock(&outputs.lock);
    return output;
}

/* Counts an event that is lost for want of memory. */
static inline void output_lose(void)
{
    atomic_fetch_add_explicit(&outputs.lost, 1, memory_order_relaxed);
}

static inline void output_begin(struct output *output)
{
    if (atomic_load_explicit(&output->begun, memory_order_acquire))
        return;
    pthread_mutex_lock(&outputs.lock);
    if (output->to)
        output_file_begin(output->to);
    atomic_store_explicit(&output->begun, true, memory_order_release);
    pthread_mutex_unlock(&outputs.lock);
}

/* Returns whether OUTPUT, which has begun, has text of the same tracer in a process that died. */
static inline bool output_is_continued(const struct output *output)
{
    if (output->to)
        return output->to->continued;
    return TH_HAS(th_output_continued) && th_output_continued(NULL);
}

/* Marks OUTPUT as used by its first event. In a replay one thread flushes before it waits for more;
 * live, the time of the next event is unknown, so a thread flushes. */
static inline void output_use(ErlNifEnv *env, struct output *output)
{
    output_begin(output);
    pthread_mutex_lock(&outputs.lock);
    if (!OUTPUT_WHOLE && !(TH_HAS(th_recordings_begun) && th_recordings_begun(env) > 0))
        output_start_flushing(&outputs.lock, &outputs.files);
    atomic_store_explicit(&output->used, true, memory_order_release);
    pthread_mutex_unlock(&outputs.lock);
}

/* Returns whether its file can no longer be written, which is reported once. */
static inline bool output_has_failed(ErlNifEnv *env, struct output *output)
{
    int error = output_file_error(output->to);

    if (error && !atomic_exchange_explicit(&output->told, true, memory_order_relaxed))
        output_report(env, output->to->path, error);
    return error;
}

/* For an event: returns the output of a tracer with this state. NULL if it can no longer be
 * written, or if there is no memory, which is counted. */
static inline struct output *output_of(ErlNifEnv *env, ERL_NIF_TERM state)
{
    struct output *output = output_find_or_add(env, state);

    if (!output) {
        output_lose();
        return NULL;
    }
    if (!atomic_load_explicit(&output->used, memory_order_acquire))
        output_use(env, output);
    return output_has_failed(env, output) ? NULL : output;
}

/*
 * For `enabled` of the generic group: returns the answer to trace_status, and OTHER for all other
 * tags. The output exists from the first trace_status on, so that a tracer makes its file and its
 * report even without events.
 */
static inline ERL_NIF_TERM output_enabled(ErlNifEnv *env, ERL_NIF_TERM tag, ERL_NIF_TERM state,
                                          ERL_NIF_TERM other)
{
    struct output *output;

    if (tag != TH_TRACER_ATOM(env, trace_status))
        return other;
    output = output_find_or_add(env, state);
    if (output && !(TH_HAS(th_attach_pending) && th_attach_pending(env)))
        output_begin(output);
    return output && !output_has_failed(env, output) ? TH_TRACER_ATOM(env, trace)
                                                     : TH_TRACER_ATOM(env, remove);
}

/* Returns whether `enabled` is called for the trace_status of a tracer with this state that has
 * begun. */
static inline bool output_begins(ErlNifEnv *env, ERL_NIF_TERM tag, ERL_NIF_TERM state)
{
    struct output *output = NULL;

    if (tag == TH_TRACER_ATOM(env, trace_status))
        output = output_find(output_has_settings(env, state) ? state : 0);
    return output && atomic_load_explicit(&output->begun, memory_order_acquire);
}

/* Ends the file of OUTPUT while the tracer stays loaded; see output_file_close(). A tracer of the same
 * path then opens the path again. 0 or errno. */
static inline int output_close(struct output *output)
{
    int error = 0;

    output_begin(output);
    pthread_mutex_lock(&outputs.lock);
    pthread_mutex_lock(&output_flushing);
    if (output->to)
        error = output_file_close(output->to);
    pthread_mutex_unlock(&output_flushing);
    pthread_mutex_unlock(&outputs.lock);
    return error;
}

static inline void output_free(struct output *output)
{
    enif_free_env(output->env);
    free(output);
}

/* For unload, before anything else, when no callback runs any more. Returns the first output, after
 * removing those to stdout that never began, which have no events. */
static inline struct output *output_end(void)
{
    struct output *first = atomic_load_explicit(&outputs.first, memory_order_relaxed), *output;

    for (struct output **link = &first; (output = *link);) {
        if (output->begun || output->to) {
            link = &output->next;
            continue;
        }
        *link = output->next;
        output_free(output);
    }
    atomic_store_explicit(&outputs.first, first, memory_order_relaxed);
    return first;
}

/* For unload: abandons a file for want of memory; an existing file stays as it was. */
static inline void output_abandon(ErlNifEnv *env, struct output *output)
{
    if (output->to)
        atomic_store_explicit(&output->to->error, ENOMEM, memory_order_relaxed);
    else
        output_fail(env, "cannot keep the output: out of memory");
}

/* For unload, after anything else. Reports losses for want of memory. */
static inline void output_close_all(ErlNifEnv *env)
{
    struct output *output = atomic_load_explicit(&outputs.first, memory_order_relaxed), *next;

    output_stop_flushing();
    atomic_store_explicit(&outputs.first, NULL, memory_order_relaxed);
    output_report_lost(env, "events", atomic_load_explicit(&outputs.lost, memory_order_relaxed));
    output_report_lost(env, "parts", atomic_load_explicit(&losses, memory_order_relaxed));
    fflush(stdout);
    for (; output; output = next) {
        next = output->next;
        if (output->to)
            output->to->told |= output->told;
        output_free(output);
    }
    while (outputs.files) {
        struct output_file *file = outputs.files;
        int error;
        outputs.files = file->next;
        error = output_file_end(file);
        if (error && !file->told)
            output_report(env, file->path, error);
        free(file);
    }
}

#endif
