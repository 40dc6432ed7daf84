/*
 * trace_port: records the arguments of the callbacks, in the format of dbg:trace_port(file, ...).
 *
 * A record is an op, a size of four bytes, the highest first, and
 *
 *     op 0    SIZE bytes of external term format: the trace message, as a tracing process gets it
 *     op 1    nothing: SIZE events were lost here
 *
 * State: see ../output.h; and
 *
 *     max_events   number of records, at most; 0, the default: no limit
 *     max_bytes    likewise of bytes
 *     recording    a number that makes the state differ from that of another recording, which an
 *                  Erlang node has ended
 *
 * After a limit `enabled` answers `remove`, so that a node traces no further. The events that still
 * come are counted, in a record of op 1 at the end.
 *
 * In an Erlang node the module has two more functions: status(State) returns {Events, Bytes,
 * LeftOut, End}, where End is `open`, `events`, `bytes` or `closed`, or {failed, Reason};
 * close(State) completes and closes the file, and returns the same. Both fail with badarg if no tracer with
 * this State began.
 */
#define TRACER_DECLARES                                                                            \
    {"max_events", TH_SETTING_NUMBER, NULL, "0", "how many events are recorded at most; 0: all"},  \
        {"max_bytes", TH_SETTING_NUMBER, NULL, "0", "how many bytes are written at most; 0: all"}, \
        {"recording", TH_SETTING_NUMBER, NULL, "0",                                                \
         "a number of your choice, other than that of an ended recording in the same node"},
#define TRACER_SETTINGS read_settings
#define TRACER_RECORDS find_records
#include <stdatomic.h>
#include <stdint.h>

/* Why no more events are written. */
enum end { END_OPEN, END_EVENTS, END_BYTES, END_CLOSED };

/* The numbers are written under stdio's lock of the file; `left_out` and `end` by any thread,
 * relaxed. */
struct settings {
    unsigned max_events, max_bytes;
    uint64_t events, bytes;
    atomic_ullong left_out; /* events after the end */
    atomic_int end;         /* enum end */
};

#include "../kit/port_message.h"
#include "../kit/share.h"

static void find_records(struct output_file *file, const char *data, size_t size)
{
    const char *begin = data, *end = data + size;

    for (;;) {
        uint64_t skipped =
            file->left < (uint64_t)(end - data) ? file->left : (uint64_t)(end - data);
        data += skipped;
        file->left -= skipped;
        if (file->left)
            return;
        if (file->head_used == PORT_HEAD) {
            file->head_used = 0;
            file->ended = file->written + (data - begin);
        }
        if (data == end)
            return;
        file->head[file->head_used++] = (unsigned char)*data++;
        if (file->head_used == PORT_HEAD && file->head[0] == PORT_MESSAGE)
            file->left = (uint64_t)file->head[1] << 24 | (uint64_t)file->head[2] << 16 |
                         (uint64_t)file->head[3] << 8 | file->head[4];
    }
}

/* Events with terms that the format cannot carry. Relaxed: a count. */
static atomic_ullong dropped;

static atomic_uint ended; /* outputs with an end; relaxed */

static void read_settings(ErlNifEnv *env, ERL_NIF_TERM state, struct settings *settings)
{
    settings->max_events = output_number(env, state, "max_events");
    settings->max_bytes = output_number(env, state, "max_bytes");
}

/* Returns whether SIZE more bytes are within the limits, and after them a record that counts losses.
 * If not, the output ends.
 * Thread: the holder of stdio's lock. */
static bool has_room(struct settings *settings, uint64_t size)
{
    enum end end = atomic_load_explicit(&settings->end, memory_order_relaxed);

    if (end != END_OPEN)
        return false;
    if (settings->max_events && settings->events >= settings->max_events)
        end = END_EVENTS;
    else if (settings->max_bytes && settings->bytes + size + PORT_HEAD > settings->max_bytes)
        end = END_BYTES;
    else
        return true;
    atomic_store_explicit(&settings->end, end, memory_order_relaxed);
    atomic_fetch_add_explicit(&ended, 1, memory_order_relaxed);
    return false;
}

static void put_record(FILE *file, unsigned char op, uint32_t size, const unsigned char *data)
{
    unsigned char head[PORT_HEAD];

    port_write_head(head, op, size);
    fwrite_unlocked(head, 1, sizeof head, file);
    if (data)
        fwrite_unlocked(data, 1, size, file);
}

/* Writes a record with SIZE bytes of DATA, or without DATA; beyond a limit counts it. One call for
 * each record: records of different threads do not mix. */
static void write_record(struct output *output, unsigned char op, uint32_t size,
                         const unsigned char *data)
{
    struct settings *settings = &output->settings;
    uint64_t bytes = PORT_HEAD + (data ? (uint64_t)size : 0);

    record_begin(output->file, bytes);
    if (has_room(settings, bytes)) {
        put_record(output->file, op, size, data);
        settings->events++;
        settings->bytes += bytes;
    } else
        atomic_fetch_add_explicit(&settings->left_out, 1, memory_order_relaxed);
    record_end(output->file);
}

/* Writes COUNT, the number of events that the limits left out, unless it is 0.
 * Order: at the end of the file, once. */
static void write_left_out(struct output *output, uint64_t count)
{
    if (count)
        put_record(output->file, PORT_DROP, count < UINT32_MAX ? (uint32_t)count : UINT32_MAX,
                   NULL);
}

static void drop(struct output *output)
{
    atomic_fetch_add_explicit(&dropped, 1, memory_order_relaxed);
    write_record(output, PORT_DROP, 1, NULL);
}

/* Returns whether the output of STATE has ended; counts the event if there is one. */
static bool is_over(ErlNifEnv *env, ERL_NIF_TERM state, bool event)
{
    struct output *output = output_find(output_has_settings(env, state) ? state : 0);

    if (!output || atomic_load_explicit(&output->settings.end, memory_order_relaxed) == END_OPEN)
        return false;
    if (event)
        atomic_fetch_add_explicit(&output->settings.left_out, 1, memory_order_relaxed);
    return true;
}

TH_TRACER_ENABLED(generic)
{
    if (atomic_load_explicit(&ended, memory_order_relaxed) &&
        is_over(env, state, tag != TH_TRACER_ATOM(env, trace_status)))
        return TH_TRACER_ATOM(env, remove);
    return output_enabled(env, tag, state, TH_TRACER_ATOM(env, trace));
}

TH_TRACER_TRACE(generic)
{
    struct output *output = output_of(env, state);
    ErlNifBinary bytes;

    if (!output)
        return;
    port_count_what_stays(env, tag);
    if (!enif_term_to_binary(env, port_message(env, tag, tracee, term, opts), &bytes)) {
        output_lose();
        write_record(output, PORT_DROP, 1, NULL);
        return;
    }
    if (bytes.size <= UINT32_MAX)
        write_record(output, PORT_MESSAGE, (uint32_t)bytes.size, bytes.data);
    else
        drop(output);
    enif_release_binary(&bytes);
}

/* --- Shares ----------------------------------------------------------------------------------- */

/* Events that the format cannot carry, and limits, are counted in one process only. */
static ERL_NIF_TERM save_output(ErlNifEnv *env, struct output *output)
{
    const struct settings *settings = &output->settings;

    return dropped || port_plain || settings->max_events || settings->max_bytes
               ? 0
               : share_save_file(env, output);
}

static bool merge_output(ErlNifEnv *env, struct output *output, ERL_NIF_TERM saved)
{
    return share_merge_file(env, output, saved);
}

TH_TRACER_SAVE()
{
    return share_save(env, save_output);
}

TH_TRACER_MERGE()
{
    return share_merge(env, saved, merge_output);
}

TH_TRACER_UNLOAD()
{
    for (struct output *output = outputs.first; output; output = output->next)
        if (output->settings.end != END_CLOSED)
            write_left_out(output, output->settings.left_out);
    if (dropped)
        fprintf(stderr,
                "trace_port: events that cannot be written as a record, counted as lost: %llu\n",
                dropped);
    port_report_plain("trace_port");
    output_close_all(env);
}

/* --- Functions for an Erlang node; see ../README.md ------------------------------------------- */

static ERL_NIF_TERM end_term(ErlNifEnv *env, const struct output *output, enum end end)
{
    static const char *const names[] = {"open", "events", "bytes", "closed"};
    int error = output_file_error(output->to);

    if (!error)
        return enif_make_atom(env, names[end]);
    return enif_make_tuple2(env, enif_make_atom(env, "failed"),
                            enif_make_string(env, strerror(error), ERL_NIF_LATIN1));
}

/* Returns {Events, Bytes, LeftOut, End}; closes the file first if CLOSE. */
static ERL_NIF_TERM describe(ErlNifEnv *env, ERL_NIF_TERM state, bool close)
{
    struct output *output = output_find(output_has_settings(env, state) ? state : 0);
    uint64_t events, bytes, left_out;
    enum end end;

    if (!output || !output->to)
        return enif_make_badarg(env);
    flockfile(output->file);
    events = output->settings.events;
    bytes = output->settings.bytes;
    left_out = output->settings.left_out;
    end = output->settings.end;
    if (close && end != END_CLOSED) {
        write_left_out(output, left_out);
        ended += end == END_OPEN;
        output->settings.end = END_CLOSED;
    }
    funlockfile(output->file);
    if (close)
        output_close(output);
    return enif_make_tuple4(env, enif_make_uint64(env, events), enif_make_uint64(env, bytes),
                            enif_make_uint64(env, left_out), end_term(env, output, end));
}

static ERL_NIF_TERM status(ErlNifEnv *env, TH_TRACER_ARG(int, argc), const ERL_NIF_TERM argv[])
{
    return describe(env, argv[0], false);
}

static ERL_NIF_TERM close_file(ErlNifEnv *env, TH_TRACER_ARG(int, argc), const ERL_NIF_TERM argv[])
{
    return describe(env, argv[0], true);
}

static ErlNifFunc callbacks[] = {{"enabled", 3, enabled, 0},
                                 {"trace", 5, trace, 0},
                                 {"status", 1, status, 0},
                                 {"close", 1, close_file, ERL_NIF_DIRTY_JOB_IO_BOUND}};
ERL_NIF_INIT(tracehost_trace_port, callbacks, NULL, NULL, NULL, unload)
