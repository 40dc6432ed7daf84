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
 * A tracer that has more defines, before it includes this, TRACER_KEYS: strings, a comma after
 * each; `struct settings`, what it makes of them; and TRACER_SETTINGS, the name of the function
 * that does so, once for each state, by means of output_choice() and the like:
 *
 *     static void read_settings(ErlNifEnv *env, ERL_NIF_TERM state, struct settings *settings);
 *
 * One whose file is of no use until it is complete defines TRACER_WHOLE: then it is written beside,
 * as PATH.part, and gets its name when it is closed; but for what is no regular file, or lies in
 * /dev.
 */
#ifndef TRACER_OUTPUT_H
#define TRACER_OUTPUT_H

#include <erl_tracer.h>

#include <errno.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#ifndef TRACER_KEYS
#define TRACER_KEYS
#endif

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
    bool own_file; /* opened for this one; others of the same path may write to it too */
    bool beside;   /* as PATH.part, until it is complete */
    bool colour;   /* escape sequences are wanted */
    void *kept;    /* the tracer's own, NULL at first */
#ifdef TRACER_SETTINGS
    struct settings settings;
#endif
    char path[]; /* "" for stdout */
};

/* Read by any thread, which takes what `first` points to with acquire and finds all behind it
 * filled; outputs are put in front, by the holder of `lock`, and stay until the tracer is unloaded.
 */
static struct {
    struct output *_Atomic first;
    pthread_mutex_t lock;
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

/* The state's text under KEY: an atom, string or binary, cut to SIZE. False if there is none. */
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
    if (!enif_inspect_iolist_as_binary(env, value, &bytes))
        return false;
    length = bytes.size < size - 1 ? bytes.size : size - 1;
    memcpy(text, bytes.data, length);
    text[length] = 0;
    return true;
}

/* Which of WORDS, which NULL ends, the state has under KEY; the number `otherwise` if it has none,
 * and, with a line about it, if it has something else. STATE may be 0. */
static inline unsigned output_choice(ErlNifEnv *env, ERL_NIF_TERM state, const char *key,
                                     const char *const *words, unsigned otherwise)
{
    char text[64];
    unsigned i;

    if (!state || !output_setting(env, state, key, text, sizeof text))
        return otherwise;
    for (i = 0; words[i]; i++)
        if (strcmp(words[i], text) == 0)
            return i;
    fprintf(stderr, "tracer: %s=%s is not known; there are", key, text);
    for (i = 0; words[i]; i++)
        fprintf(stderr, " %s", words[i]);
    fputc('\n', stderr);
    return otherwise;
}

/* The number under KEY; `otherwise` as above. */
static inline unsigned output_number(ErlNifEnv *env, ERL_NIF_TERM state, const char *key,
                                     unsigned otherwise)
{
    unsigned number = otherwise;
    ERL_NIF_TERM value;

    if (state && enif_get_map_value(env, state, enif_make_atom(env, key), &value) &&
        !enif_get_uint(env, value, &number)) {
        fprintf(stderr, "tracer: %s is no number; %u is taken\n", key, otherwise);
        return otherwise;
    }
    return number;
}

/* A misspelt setting would go unnoticed. */
static inline void output_check_keys(ErlNifEnv *env, ERL_NIF_TERM state)
{
    static const char *const keys[] = {TRACER_KEYS "output", "color"};
    size_t known = 0, size;
    ERL_NIF_TERM value;

    for (size_t i = 0; i < sizeof keys / sizeof keys[0]; i++)
        known += !!enif_get_map_value(env, state, enif_make_atom(env, keys[i]), &value);
    if (!enif_get_map_size(env, state, &size) || size == known)
        return;
    fputs("tracer: a setting is unknown; there are", stderr);
    for (size_t i = 0; i < sizeof keys / sizeof keys[0]; i++)
        fprintf(stderr, " %s", keys[i]);
    fputc('\n', stderr);
}

static inline bool output_wants_colour(ErlNifEnv *env, ERL_NIF_TERM state, FILE *file)
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
    return !(none && *none) && isatty(fileno(file));
}

/* Where it is written to; SIZE must do for the path and a suffix. */
static inline void output_place(const struct output *output, char *path, size_t size)
{
    snprintf(path, size, "%s%s", output->path, output->beside ? ".part" : "");
}

/* Whether PATH is, or can be, a file that another takes the place of. */
static inline bool output_is_file(const char *path)
{
    struct stat about;

    return strncmp(path, "/dev/", 5) != 0 && (stat(path, &about) != 0 || S_ISREG(about.st_mode));
}

/* Takes the file of another output of that path, or opens it. */
static inline void output_open(struct output *output)
{
    struct output *other = atomic_load_explicit(&outputs.first, memory_order_relaxed);
    char path[4096 + sizeof ".part"];

    while (other && strcmp(other->path, output->path) != 0)
        other = other->next;
    if (other) {
        output->file = other->file;
        return;
    }
    output->beside = OUTPUT_WHOLE && output_is_file(output->path);
    output_place(output, path, sizeof path);
    output->file = *output->path ? fopen(path, "w") : stdout;
    output->own_file = *output->path && output->file;
    if (!output->file) {
        fprintf(stderr, "tracer: cannot write %s: %s; using stdout\n", output->path,
                strerror(errno));
        output->file = stdout;
    }
}

/* Under the lock. STATE is 0 or a map with settings. */
static inline struct output *output_add(ErlNifEnv *env, ERL_NIF_TERM state)
{
    char path[4096] = "";
    struct output *output;

    if (state && output_setting(env, state, "output", path, sizeof path) && !strcmp(path, "-"))
        *path = 0;
    output = calloc(1, sizeof *output + strlen(path) + 1);
    if (!output)
        return NULL;
    strcpy(output->path, path);
    output_open(output);
    output->env = enif_alloc_env();
    output->state = state ? enif_make_copy(output->env, state) : 0;
    if (state)
        output_check_keys(output->env, output->state);
    output->colour = output_wants_colour(output->env, output->state, output->file);
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

/* The output of a tracer with this state, with no lock once it is there. NULL only if there is no
 * memory. */
static inline struct output *output_of(ErlNifEnv *env, ERL_NIF_TERM state)
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

/* Whether `enabled` is asked for the tracer's status, not about an event; takes note of STATE then,
 * so that its file and its report are there also if no event comes. */
static inline bool output_asked_status(ErlNifEnv *env, ERL_NIF_TERM tag, ERL_NIF_TERM state)
{
    if (tag != TH_TRACER_ATOM(env, trace_status))
        return false;
    output_of(env, state);
    return true;
}

/* What could not be written is told, also if it was in between; then the file keeps the name that
 * it has. */
static inline void output_close_file(struct output *output)
{
    char path[4096 + sizeof ".part"];
    bool lost = ferror(output->file);

    output_place(output, path, sizeof path);
    if (fclose(output->file) != 0)
        fprintf(stderr, "tracer: cannot write %s: %s\n", output->path, strerror(errno));
    else if (lost)
        fprintf(stderr, "tracer: not all could be written to %s\n", output->path);
    else if (output->beside && rename(path, output->path) != 0)
        fprintf(stderr, "tracer: cannot write %s: %s\n", output->path, strerror(errno));
}

/* For unload: nobody traces any more. */
static inline void output_close_all(void)
{
    struct output *output = atomic_load_explicit(&outputs.first, memory_order_relaxed);

    atomic_store_explicit(&outputs.first, NULL, memory_order_relaxed);
    fflush(stdout);
    while (output) {
        struct output *next = output->next;
        if (output->own_file)
            output_close_file(output);
        enif_free_env(output->env);
        free(output);
        output = next;
    }
}

#endif
