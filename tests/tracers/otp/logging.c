/*
 * Logs each callback, so that the callbacks of a real BEAM and of tracehost can be compared line by
 * line.
 *
 * The state is a map:
 *   log      the file that gets the lines, a binary
 *   port     a port of trace_file_drv, which gets each event as the tuple that erl_tracer makes; so
 *            the driver records the very events that were logged, in the same order
 *   answers  #{Tag => Answer} of the enabled callbacks; default: trace. The answers of a list are
 *            used in turn, again and again.
 *   results  #{Tag => Result} of the trace callbacks; default: ok
 * The answer or result `badarg` raises an exception.
 *
 * A line has the callback, the tag, the result of enif_self() (nobody, tracee or other), and, as
 * external terms in hexadecimal, all arguments but the tag and the state: the tracee; for trace
 * callbacks also the term, the options and the time that they request.
 *
 * Other libraries of this kind define LOGGING_SLOTS, their callbacks, and include this file.
 */
#include <erl_nif.h>

#include "../../../plugin_api/erl_tracer.h"

#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#ifndef LOGGING_SLOTS
#define LOGGING_SLOTS TH_TRACER_SLOTS
#endif

/* Puts lines, records and answers from lists in one order across threads. */
static ErlNifMutex *order;

/* Number of answers taken from lists, for the last written log. Guarded by `order`. */
static char latest_log[PATH_MAX];
static unsigned asked;

static ERL_NIF_TERM atom(ErlNifEnv *env, const char *name)
{
    return enif_make_atom(env, name);
}

/* Returns map[name], or 0. */
static ERL_NIF_TERM find(ErlNifEnv *env, ERL_NIF_TERM map, const char *name)
{
    ERL_NIF_TERM value;

    return enif_get_map_value(env, map, atom(env, name), &value) ? value : 0;
}

/* --- Lines ------------------------------------------------------------------------------------ */

static void add_term(ErlNifEnv *env, FILE *line, ERL_NIF_TERM term)
{
    ErlNifBinary bytes;

    if (!enif_term_to_binary(env, term, &bytes)) {
        fputs(" ?", line);
        return;
    }
    fputc(' ', line);
    for (size_t i = 0; i < bytes.size; i++)
        fprintf(line, "%02x", bytes.data[i]);
    enif_release_binary(&bytes);
}

static const char *self(ErlNifEnv *env, ERL_NIF_TERM tracee)
{
    ErlNifPid pid;

    if (!enif_self(env, &pid))
        return "nobody";
    return enif_is_identical(enif_make_pid(env, &pid), tracee) ? "tracee" : "other";
}

/* Opens the file for each line: nothing needs a flush or a close, and no line is lost. */
static void append(ErlNifEnv *env, ERL_NIF_TERM state, const char *line, size_t size)
{
    ERL_NIF_TERM log = find(env, state, "log");
    ErlNifBinary path;
    int file;

    if (!log || !enif_inspect_binary(env, log, &path) || path.size >= sizeof latest_log)
        return;
    if (strlen(latest_log) != path.size || memcmp(latest_log, path.data, path.size) != 0) {
        memcpy(latest_log, path.data, path.size);
        latest_log[path.size] = 0;
        asked = 0;
    }
    file = open(latest_log, O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC, 0666);
    if (file < 0 || write(file, line, size) != (ssize_t)size) {
        perror(latest_log);
        abort();
    }
    close(file);
}

/* terms[0] is the tag, terms[1] the tracee. */
static void write_line(ErlNifEnv *env, const char *callback, ERL_NIF_TERM state,
                       const ERL_NIF_TERM terms[], int count)
{
    char tag[256] = "?", *text;
    size_t size;
    FILE *line = open_memstream(&text, &size);

    enif_get_atom(env, terms[0], tag, sizeof tag, ERL_NIF_LATIN1);
    fprintf(line, "%s %s %s", callback, tag, self(env, terms[1]));
    for (int i = 1; i < count; i++)
        add_term(env, line, terms[i]);
    fputc('\n', line);
    fclose(line);
    append(env, state, text, size);
    free(text);
}

/* --- Records ---------------------------------------------------------------------------------- */

/* Returns the time that KIND requests; *COMPARABLE lacks the parts that differ between hosts. */
static ERL_NIF_TERM read_time(ErlNifEnv *env, ERL_NIF_TERM kind, ERL_NIF_TERM *comparable)
{
    if (enif_is_identical(kind, atom(env, "timestamp")))
        return *comparable = enif_now_time(env);
    if (enif_is_identical(kind, atom(env, "cpu_timestamp")))
        return *comparable = enif_cpu_time(env);
    *comparable = enif_make_int64(env, enif_monotonic_time(ERL_NIF_NSEC));
    if (enif_is_identical(kind, atom(env, "monotonic")))
        return *comparable;
    return enif_make_tuple2(env, *comparable,
                            enif_make_unique_integer(env, ERL_NIF_UNIQUE_MONOTONIC));
}

/* Builds {trace | trace_ts, Tracee, Tag, Term [, Extra] [, MatchSpecResult] [, SchedulerId] [,
 * Time]} or {seq_trace, Label, Info [, Time]}. */
static ERL_NIF_TERM trace_tuple(ErlNifEnv *env, const ERL_NIF_TERM argv[], ERL_NIF_TERM time)
{
    static const char *const optional[] = {"extra", "match_spec_result", "scheduler_id"};
    ERL_NIF_TERM elements[8], value;
    unsigned count = 0;

    if (enif_is_identical(argv[0], atom(env, "seq_trace"))) {
        elements[count++] = argv[0];
        elements[count++] = argv[2];
    } else {
        elements[count++] = atom(env, time ? "trace_ts" : "trace");
        elements[count++] = argv[2];
        elements[count++] = argv[0];
    }
    elements[count++] = argv[3];
    for (int i = 0; i < 3; i++)
        if ((value = find(env, argv[4], optional[i])))
            elements[count++] = value;
    if (time)
        elements[count++] = time;
    return enif_make_tuple_from_array(env, elements, count);
}

static void record(ErlNifEnv *env, ERL_NIF_TERM state, ERL_NIF_TERM tuple)
{
    ERL_NIF_TERM to = find(env, state, "port");
    ErlNifBinary bytes;
    ErlNifPort port;

    if (!to)
        return;
    if (!enif_get_local_port(env, to, &port) || !enif_term_to_binary(env, tuple, &bytes) ||
        !enif_port_command(env, &port, NULL, enif_make_binary(env, &bytes)))
        append(env, state, "not recorded\n", 13);
}

/* --- Callbacks -------------------------------------------------------------------------------- */

/* Returns the value for TAG in the state's map KIND, else OTHERWISE. */
static ERL_NIF_TERM choose(ErlNifEnv *env, ERL_NIF_TERM state, const char *kind, ERL_NIF_TERM tag,
                           const char *otherwise)
{
    ERL_NIF_TERM map = find(env, state, kind), chosen, rest;
    unsigned length;

    if (!map || !enif_get_map_value(env, map, tag, &chosen))
        return atom(env, otherwise);
    if (enif_get_list_length(env, chosen, &length) && length > 0) {
        rest = chosen;
        for (unsigned i = asked++ % length + 1; i > 0; i--)
            enif_get_list_cell(env, rest, &chosen, &rest);
    }
    if (enif_is_identical(chosen, atom(env, "badarg")))
        return enif_make_badarg(env);
    return chosen;
}

static ERL_NIF_TERM log_enabled(ErlNifEnv *env, const char *callback, const ERL_NIF_TERM argv[])
{
    const ERL_NIF_TERM terms[] = {argv[0], argv[2]};
    ERL_NIF_TERM answer;

    enif_mutex_lock(order);
    write_line(env, callback, argv[1], terms, 2);
    answer = choose(env, argv[1], "answers", argv[0], "trace");
    enif_mutex_unlock(order);
    return answer;
}

static ERL_NIF_TERM log_trace(ErlNifEnv *env, const char *callback, const ERL_NIF_TERM argv[])
{
    ERL_NIF_TERM terms[] = {argv[0], argv[2], argv[3], argv[4], 0};
    ERL_NIF_TERM kind = find(env, argv[4], "timestamp"), time = 0, result;

    enif_mutex_lock(order);
    if (kind)
        time = read_time(env, kind, &terms[4]);
    write_line(env, callback, argv[1], terms, time ? 5 : 4);
    record(env, argv[1], trace_tuple(env, argv, time));
    result = choose(env, argv[1], "results", argv[0], "ok");
    enif_mutex_unlock(order);
    return result;
}

#define X(name, arity, group)                                                               \
    static ERL_NIF_TERM logging_##name(ErlNifEnv *env, int argc, const ERL_NIF_TERM argv[]) \
    {                                                                                       \
        return argc == 3 ? log_enabled(env, #name, argv) : log_trace(env, #name, argv);     \
    }
LOGGING_SLOTS(X)
#undef X

static ErlNifFunc functions[] = {
#define X(name, arity, group) {#name, arity, logging_##name, 0},
    LOGGING_SLOTS(X)
#undef X
};

static int load(ErlNifEnv *env, void **priv_data, ERL_NIF_TERM load_info)
{
    (void)env, (void)priv_data, (void)load_info;
    order = enif_mutex_create("logging");
    return order == NULL;
}

static void unload(ErlNifEnv *env, void *priv_data)
{
    (void)env, (void)priv_data;
    enif_mutex_destroy(order);
}

ERL_NIF_INIT(logging, functions, load, NULL, NULL, unload)
