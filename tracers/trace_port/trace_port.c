/*
 * trace_port: records the arguments of the callbacks, in the format of dbg:trace_port(file, ...).
 *
 * A record is an op, a size of four bytes, the highest first, and
 *
 *     op 0    SIZE bytes of external term format: the trace message, as a tracing process gets it
 *     op 1    nothing: SIZE events were lost here
 *
 * State: see ../output.h.
 */
#define TRACER_RECORDS find_records
#include "../kit/share.h"
#include "../kit/stamp.h"

enum { OP_MESSAGE, OP_DROP, HEAD = 5 /* bytes of op and size */ };

/* trace or seq_trace, tracee, tag, term, extra, match specification's result, scheduler, time */
enum { ELEMENTS = 8 };

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
        if (file->head_used == HEAD) {
            file->head_used = 0;
            file->ended = file->written + (data - begin);
        }
        if (data == end)
            return;
        file->head[file->head_used++] = (unsigned char)*data++;
        if (file->head_used == HEAD && file->head[0] == OP_MESSAGE)
            file->left = (uint64_t)file->head[1] << 24 | (uint64_t)file->head[2] << 16 |
                         (uint64_t)file->head[3] << 8 | file->head[4];
    }
}

/* Losses due to the format. Relaxed: counts. */
static atomic_ullong dropped; /* events with terms that the format cannot carry */
static atomic_ullong plain;   /* calls with more known facts than the format can carry */

/* Writes a record with SIZE bytes of DATA, or without DATA. One call for each record: records of
 * different threads do not mix. */
static void write_record(FILE *file, unsigned char op, uint32_t size, const unsigned char *data)
{
    const unsigned char head[HEAD] = {op, (unsigned char)(size >> 24), (unsigned char)(size >> 16),
                                      (unsigned char)(size >> 8), (unsigned char)size};

    record_begin(file, sizeof head + (data ? size : 0));
    fwrite_unlocked(head, 1, sizeof head, file);
    if (data)
        fwrite_unlocked(data, 1, size, file);
    record_end(file);
}

static ERL_NIF_TERM clock_term(ErlNifEnv *env, int64_t ns)
{
    int64_t seconds = ns / 1000000000;

    return enif_make_tuple3(env, enif_make_int64(env, seconds / 1000000),
                            enif_make_int64(env, seconds % 1000000),
                            enif_make_int64(env, ns / 1000 % 1000000));
}

/* Returns the time as the BEAM adds it to a trace message. */
static ERL_NIF_TERM stamp_term(ErlNifEnv *env, const struct stamp *stamp)
{
    ERL_NIF_TERM time;

    if (stamp->kind == STAMP_SYSTEM || stamp->kind == STAMP_CPU)
        return clock_term(env, stamp->ns);
    time = enif_make_int64(env, stamp->ns);
    return stamp->kind == STAMP_STRICT
               ? enif_make_tuple2(env, time, enif_make_int64(env, stamp->unique))
               : time;
}

static unsigned add_option(ErlNifEnv *env, ERL_NIF_TERM opts, ERL_NIF_TERM key,
                           ERL_NIF_TERM *element)
{
    return !!enif_get_map_value(env, opts, key, element);
}

/* Makes {trace, Tracee, Tag, Term, Extra, Result, Scheduler}, without those of the last three that
 * the event lacks; {trace_ts, ..., Time}; for sequential tracing {seq_trace, Label, Info}, or the
 * same with a Time. */
static ERL_NIF_TERM message(ErlNifEnv *env, ERL_NIF_TERM tag, ERL_NIF_TERM tracee,
                            ERL_NIF_TERM term, ERL_NIF_TERM opts)
{
    struct stamp stamp = stamp_take(env, opts);
    ERL_NIF_TERM elements[ELEMENTS];
    unsigned count = 2;

    elements[1] = tracee;
    if (tag == TH_TRACER_ATOM(env, seq_trace)) {
        elements[0] = tag;
        elements[count++] = term;
    } else {
        elements[0] = stamp.kind ? TH_TRACER_ATOM(env, trace_ts) : enif_make_atom(env, "trace");
        elements[count++] = tag;
        elements[count++] = term;
        count += add_option(env, opts, TH_TRACER_ATOM(env, extra), &elements[count]);
        count += add_option(env, opts, TH_TRACER_ATOM(env, match_spec_result), &elements[count]);
        count += add_option(env, opts, TH_TRACER_ATOM(env, scheduler_id), &elements[count]);
    }
    if (stamp.kind)
        elements[count++] = stamp_term(env, &stamp);
    return enif_make_tuple_from_array(env, elements, count);
}

/* Counts calls whose facts and callers have no place in a trace message. */
static void count_what_stays(ErlNifEnv *env, ERL_NIF_TERM tag)
{
    if (tag == TH_TRACER_ATOM(env, call) && TH_HAS(th_call_fact) &&
        (th_call_fact(env, TH_CALL_EXTERNAL) >= 0 || th_call_fact(env, TH_CALL_TAIL) >= 0))
        atomic_fetch_add_explicit(&plain, 1, memory_order_relaxed);
}

static void drop(struct output *output)
{
    atomic_fetch_add_explicit(&dropped, 1, memory_order_relaxed);
    write_record(output->file, OP_DROP, 1, NULL);
}

TH_TRACER_ENABLED(generic)
{
    return output_enabled(env, tag, state, TH_TRACER_ATOM(env, trace));
}

TH_TRACER_TRACE(generic)
{
    struct output *output = output_of(env, state);
    ErlNifBinary bytes;

    if (!output)
        return;
    count_what_stays(env, tag);
    if (!enif_term_to_binary(env, message(env, tag, tracee, term, opts), &bytes)) {
        output_lose();
        write_record(output->file, OP_DROP, 1, NULL);
        return;
    }
    if (bytes.size <= UINT32_MAX)
        write_record(output->file, OP_MESSAGE, (uint32_t)bytes.size, bytes.data);
    else
        drop(output);
    enif_release_binary(&bytes);
}

/* --- Shares ----------------------------------------------------------------------------------- */

/* Events that the format cannot carry are counted in one process only. */
static ERL_NIF_TERM save_output(ErlNifEnv *env, struct output *output)
{
    return dropped || plain ? 0 : share_save_file(env, output);
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
    if (dropped)
        fprintf(stderr,
                "trace_port: events that cannot be written as a record, counted as lost: %llu\n",
                dropped);
    if (plain)
        fprintf(stderr,
                "trace_port: calls written without `external`, `tail` and callers (jsonl keeps "
                "them): %llu\n",
                plain);
    output_close_all(env);
}

/* For an Erlang node; see ../README.md. */
static ErlNifFunc callbacks[] = {{"enabled", 3, enabled, 0}, {"trace", 5, trace, 0}};
ERL_NIF_INIT(trace_port, callbacks, NULL, NULL, NULL, unload)
