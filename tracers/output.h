/*
 * Where the tracers of this folder write: stdout, or the file that the key `output` of their state
 * names.
 *
 * A tracer's state is given with -t: `-t text` is #{}, `-t text,output=calls.txt,color=always` the
 * map of these keys. In an Erlang node it is the same map, #{output => "calls.txt"}. A state that is
 * no map is as good as #{}.
 *
 * Each output of a name is opened once, at its first event, and closed by output_close_all(). Any
 * thread may call.
 */
#ifndef TRACER_OUTPUT_H
#define TRACER_OUTPUT_H

#include <erl_tracer.h>

#include <errno.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

struct output {
    struct output *next;
    FILE *file;  /* stdout's own for the first */
    bool colour; /* escape sequences are wanted */
    char path[]; /* "" for stdout */
};

static pthread_mutex_t output_lock = PTHREAD_MUTEX_INITIALIZER;
static struct output *output_list; /* under output_lock; entries stay until the tracer is unloaded */

/* The state's text under KEY: a string or binary, cut to SIZE. False if there is none. */
static inline bool output_setting(ErlNifEnv *env, ERL_NIF_TERM state, ERL_NIF_TERM key, char *text,
                                  size_t size)
{
    ERL_NIF_TERM value;
    ErlNifBinary bytes;
    size_t length;

    if (!enif_get_map_value(env, state, key, &value))
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

/* color=always or never decides; else a terminal does, unless NO_COLOR is set; CLICOLOR_FORCE is
 * stronger than both. */
static inline bool output_wants_colour(ErlNifEnv *env, ERL_NIF_TERM state, FILE *file)
{
    const char *none = getenv("NO_COLOR");
    const char *forced = getenv("CLICOLOR_FORCE");
    char how[16];

    if (output_setting(env, state, TH_TRACER_ATOM(env, color), how, sizeof how)) {
        if (strcmp(how, "always") == 0)
            return true;
        if (strcmp(how, "never") == 0)
            return false;
    }
    if (forced && *forced && strcmp(forced, "0") != 0)
        return true;
    return !(none && *none) && isatty(fileno(file));
}

static inline struct output *output_open(ErlNifEnv *env, ERL_NIF_TERM state, const char *path)
{
    struct output *output = malloc(sizeof *output + strlen(path) + 1);

    if (!output)
        return NULL;
    strcpy(output->path, path);
    output->file = *path ? fopen(path, "w") : stdout;
    if (!output->file) {
        fprintf(stderr, "tracer: cannot write %s: %s; using stdout\n", path, strerror(errno));
        output->file = stdout;
    }
    output->colour = output_wants_colour(env, state, output->file);
    output->next = output_list;
    output_list = output;
    return output;
}

/* The output of a tracer with this state. NULL only if there is no memory. */
static inline struct output *output_of(ErlNifEnv *env, ERL_NIF_TERM state)
{
    struct output *output;
    char path[4096];

    if (!output_setting(env, state, TH_TRACER_ATOM(env, output), path, sizeof path))
        *path = 0;
    pthread_mutex_lock(&output_lock);
    for (output = output_list; output && strcmp(output->path, path) != 0;)
        output = output->next;
    if (!output)
        output = output_open(env, state, path);
    pthread_mutex_unlock(&output_lock);
    return output;
}

/* For unload: nobody traces any more. */
static inline void output_close_all(void)
{
    while (output_list) {
        struct output *next = output_list->next;
        if (output_list->file == stdout)
            fflush(stdout);
        else if (fclose(output_list->file) != 0)
            fprintf(stderr, "tracer: cannot write %s: %s\n", output_list->path, strerror(errno));
        free(output_list);
        output_list = next;
    }
}

#endif
