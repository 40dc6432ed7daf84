/*
 * Where the tracers of this folder write, and what else their state says.
 *
 * A tracer's state is a map of settings: `-t text` is #{}, `-t text,output=calls.txt,color=always`
 * is #{output => "calls.txt", color => always}, and in an Erlang node it is given as just that.
 * Any other state is as good as #{}. Of every tracer are
 *
 *     output    the file to write to; stdout without it, and for "-"
 *     color     always, never, or auto: on a terminal, unless NO_COLOR is set; CLICOLOR_FORCE is
 *               stronger than that
 *
 * A tracer that has more defines, before it includes this, TRACER_DECLARES: rows of
 * th_tracer_settings, a comma after each; `struct settings`, what it makes of them; and
 * TRACER_SETTINGS, the name of the function that does so, once for each state, by means of
 * output_choice() and the like, which take words and defaults from the rows:
 *
 *     static void read_settings(ErlNifEnv *env, ERL_NIF_TERM state, struct settings *settings);
 *
 * One whose file is of no use until it is complete defines TRACER_WHOLE; see output_file.h.
 *
 * A tracer whose file cannot be opened is not attached; one that cannot write it writes no more,
 * and reports that, as a rule by the next event. In tracehost that is th_tracer_failed(); in an
 * Erlang node it is a line on stderr.
 */
#ifndef TRACER_OUTPUT_H
#define TRACER_OUTPUT_H

#include "line.h"
#include "output_file.h"
#include "output_flush.h"

#include <erl_tracer.h>
#include <nif_module.h>

#include <pthread.h>

#ifndef TRACER_DECLARES
#define TRACER_DECLARES
#endif

/* tracehost refuses what is not in here; in an Erlang node output_check_keys() tells of it. */
const struct th_tracer_setting th_tracer_settings[] = {
    TRACER_DECLARES{"output", TH_SETTING_OUTPUT, NULL, "-", "the file to write to"},
    {"color", TH_SETTING_WORD, "always never auto", "auto",
     "whether colours are used; auto: on a terminal, unless NO_COLOR is set, and everywhere if "
     "CLICOLOR_FORCE is"},
    {NULL, 0, NULL, NULL, NULL}};

#ifdef TRACER_WHOLE
#define OUTPUT_WHOLE true
#else
#define OUTPUT_WHOLE false
#endif

/* One for each state that there is. */
struct output {
    struct output *next;
    ErlNifEnv *env;     /* of the state */
    ERL_NIF_TERM state; /* a copy; 0: all that set nothing */
    FILE *file;
    struct output_file *to; /* others of the same path have it, too; NULL: `file` is stdout */
    bool colour;            /* escape sequences are wanted */
    /* Events come, or will. Release, once `to` has begun; acquire. */
    atomic_bool begun;
    atomic_bool used; /* there was an event; release after `begun`, acquire */
    atomic_bool told; /* that it failed; relaxed */
    void *kept;       /* the tracer's own, NULL at first */
#ifdef TRACER_SETTINGS
    struct settings settings;
#endif
};

/* Read by any thread, which takes what `first` points to with acquire and finds all behind it
 * filled; outputs are put in front, by the holder of `lock`, and stay until the tracer is unloaded.
 * The lock guards the files, too. */
static struct {
    struct output *_Atomic first;
    pthread_mutex_t lock;
    struct output_file *files;
    atomic_ullong lost; /* events for which there was not even memory for an output */
} outputs = {.lock = PTHREAD_MUTEX_INITIALIZER};

#ifdef TRACER_SETTINGS
static void TRACER_SETTINGS(ErlNifEnv *env, ERL_NIF_TERM state, struct settings *settings);
#endif

/* False for the states that set nothing: then there is no need to look anything up. */
static inline bool output_has_settings(ErlNifEnv *env, ERL_NIF_TERM state)
{
    size_t size;

    return enif_get_map_size(env, state, &size) && size > 0;
}

/* The state's text under KEY: an atom, string, binary or integer, cut to SIZE. False if there is
 * none. */
static inline bool output_setting(ErlNifEnv *env, ERL_NIF_TERM state, const char *key, char *text,
                                  size_t size)
{
    ERL_NIF_TERM value;
    ErlNifBinary bytes;
    size_t length;

    if (!enif_get_map_value(env, state, enif_make_atom(env, key), &value))
        return false;
    if (enif_get_atom(env, value, text, (unsigned)size, ERL_NIF_LATIN1))
        return true;
    if (enif_is_number(env, value))
        return enif_snprintf(text, size, "%T", value) > 0;
    if (!enif_inspect_iolist_as_binary(env, value, &bytes))
        return false;
    length = bytes.size < size - 1 ? bytes.size : size - 1;
    memcpy(text, bytes.data, length);
    text[length] = 0;
    return true;
}

/* The path of the state's file; "": stdout. False if its `output` is no text, or empty. STATE may
 * be 0. */
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

/* The row of KEY, which has one. */
static inline const struct th_tracer_setting *output_row(const char *key)
{
    const struct th_tracer_setting *row = th_tracer_settings;

    while (strcmp(row->name, key) != 0)
        row++;
    return row;
}

/* The place of WORD among WORDS, or how many there are. */
static inline unsigned output_place(const char *words, const char *word)
{
    unsigned place = 0;

    while (*words) {
        size_t length = strcspn(words, " ");
        if (length == strlen(word) && memcmp(words, word, length) == 0)
            break;
        place++;
        words += length + strspn(words + length, " ");
    }
    return place;
}

/* The place of the state's word under KEY; of the default word, if it has none, or if it has
 * something else, which is told; as many as there are words if there is no default. STATE may be 0.
 */
static inline unsigned output_choice(ErlNifEnv *env, ERL_NIF_TERM state, const char *key)
{
    const struct th_tracer_setting *row = output_row(key);
    const char *otherwise = row->otherwise ? row->otherwise : "";
    char text[64];

    if (!state || !output_setting(env, state, key, text, sizeof text))
        return output_place(row->words, otherwise);
    if (output_place(row->words, text) < output_place(row->words, ""))
        return output_place(row->words, text);
    fprintf(stderr, "tracer: %s=%s is not known; there are %s\n", key, text, row->words);
    return output_place(row->words, otherwise);
}

/* Whether the state has a number under KEY. */
static inline bool output_has_number(ErlNifEnv *env, ERL_NIF_TERM state, const char *key,
                                     unsigned *number)
{
    ERL_NIF_TERM value;

    return state && enif_get_map_value(env, state, enif_make_atom(env, key), &value) &&
           enif_get_uint(env, value, number);
}

/* The number under KEY; the default, if it has none. */
static inline unsigned output_number(ErlNifEnv *env, ERL_NIF_TERM state, const char *key)
{
    unsigned number;

    if (output_has_number(env, state, key, &number))
        return number;
    return (unsigned)strtoul(output_row(key)->otherwise, NULL, 10);
}

/* A misspelt setting would go unnoticed in an Erlang node. */
static inline void output_check_keys(ErlNifEnv *env, ERL_NIF_TERM state)
{
    const struct th_tracer_setting *row;
    size_t known = 0, size;
    ERL_NIF_TERM value;

    for (row = th_tracer_settings; row->name; row++)
        known += !!enif_get_map_value(env, state, enif_make_atom(env, row->name), &value);
    if (!enif_get_map_size(env, state, &size) || size == known)
        return;
    fputs("tracer: a setting is unknown; there are", stderr);
    for (row = th_tracer_settings; row->name; row++)
        fprintf(stderr, " %s", row->name);
    fputc('\n', stderr);
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

/* The tracer cannot do its work, for the reason that TEXT tells. */
static inline void output_fail(ErlNifEnv *env, const char *text)
{
    if (TH_HAS(th_tracer_failed))
        th_tracer_failed(env, text);
    else
        fprintf(stderr, "tracer: %s\n", text);
}

/* PATH cannot be written. */
static inline void output_report(ErlNifEnv *env, const char *path, int error)
{
    char text[4096 + 200];

    snprintf(text, sizeof text, "cannot write %s: %s", path, strerror(error));
    output_fail(env, text);
}

/* For unload: there was no memory for COUNT of WHAT, which are missing in what was written. */
static inline void output_report_lost(ErlNifEnv *env, const char *what, uint64_t count)
{
    char text[200];

    if (!count)
        return;
    snprintf(text, sizeof text, "%s lost, out of memory: %llu", what, (unsigned long long)count);
    output_fail(env, text);
}

/* Finds or opens the file of PATH. Under the lock. NULL, with errno. */
static inline struct output_file *output_file_of(const char *path)
{
    struct output_file *file = outputs.files;

    while (file && strcmp(file->path, path) != 0)
        file = file->next;
    if (file)
        return file;
    file = output_file_open(path, OUTPUT_WHOLE);
    if (file) {
        file->next = outputs.files;
        outputs.files = file;
    }
    return file;
}

/* Under the lock. STATE is 0 or a map with settings. NULL if there is no memory, or if no file is
 * named or it cannot be opened, which is reported. */
static inline struct output *output_add(ErlNifEnv *env, ERL_NIF_TERM state)
{
    char path[4096];
    struct output_file *to = NULL;
    struct output *output;

    if (!output_path(env, state, path, sizeof path)) {
        output_fail(env, "the setting 'output' names no file");
        return NULL;
    }
    if (*path && !(to = output_file_of(path))) {
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
        output_wants_colour(output->env, output->state, to ? to->descriptor : STDOUT_FILENO);
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

/* With no lock once it is there. NULL as output_add(). */
static inline struct output *output_find_or_add(ErlNifEnv *env, ERL_NIF_TERM state)
{
    ERL_NIF_TERM settings = output_has_settings(env, state) ? state : 0;
    struct output *output = output_find(settings);

    if (output)
        return output;
    pthread_mutex_lock(&outputs.lock);
    output = output_find(settings); /* another thread may have been quicker */
    if (!output)
        output = output_add(env, settings);
    pthread_mutex_unlock(&outputs.lock);
    return output;
}

/* An event is lost for want of memory. */
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

/* The first event has come. Who replays has one thread, which flushes before it waits for more;
 * live, nobody knows when the next event comes. */
static inline void output_use(ErlNifEnv *env, struct output *output)
{
    output_begin(output);
    pthread_mutex_lock(&outputs.lock);
    if (!OUTPUT_WHOLE && !(TH_HAS(th_recordings_begun) && th_recordings_begun(env) > 0))
        output_start_flushing(&outputs.lock, &outputs.files);
    atomic_store_explicit(&output->used, true, memory_order_release);
    pthread_mutex_unlock(&outputs.lock);
}

/* Whether its file can be written no more, which is reported once. */
static inline bool output_has_failed(ErlNifEnv *env, struct output *output)
{
    int error = output_file_error(output->to);

    if (error && !atomic_exchange_explicit(&output->told, true, memory_order_relaxed))
        output_report(env, output->to->path, error);
    return error;
}

/* For an event: the output of a tracer with this state. NULL if it cannot be written any more, or
 * if there is no memory, which is counted. */
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
 * For `enabled` of the generic group: the answer for trace_status, and OTHER for all other tags.
 * The output is there from the first one on, so that a tracer has its file and its report also if
 * no event comes.
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

/* Whether `enabled` is asked for the status of a tracer with this state that has begun. */
static inline bool output_begins(ErlNifEnv *env, ERL_NIF_TERM tag, ERL_NIF_TERM state)
{
    struct output *output = NULL;

    if (tag == TH_TRACER_ATOM(env, trace_status))
        output = output_find(output_has_settings(env, state) ? state : 0);
    return output && atomic_load_explicit(&output->begun, memory_order_acquire);
}

static inline void output_free(struct output *output)
{
    enif_free_env(output->env);
    free(output);
}

/* For unload, before anything else: nobody traces any more. The first output; those to stdout that
 * never began, of which there are no events, are no more. */
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

/* For unload: there is no memory for what would be in the file, which stays as it was. */
static inline void output_abandon(ErlNifEnv *env, struct output *output)
{
    if (output->to)
        atomic_store_explicit(&output->to->error, ENOMEM, memory_order_relaxed);
    else
        output_fail(env, "no memory for what it would write");
}

/* For unload, after anything else. Reports what was lost for want of memory. */
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
