/*
 * Reads a recording record by record, without host or tracer, and prints each as its original term.
 * Continues behind damaged parts, and prints their places.
 *
 *     read_stream STREAM [N]       the first N records
 */
#include <tracehost.h>

#include <inttypes.h>
#include <stdlib.h>

static int fail(void)
{
    tracehost_error_print(stderr, "read_stream");
    return tracehost_error_status();
}

static int show(tracehost_stream *stream, const struct tracehost_record *record, ErlNifEnv *env)
{
    ERL_NIF_TERM term;

    if (tracehost_stream_get_term(stream, env, &term) != TRACEHOST_OK)
        return fail();
    /* The functions of the NIF API are available, enif_get_tuple() and all others. */
    enif_fprintf(stdout, "%" PRIu64 " at byte %" PRIu64 ": %T\n", record->number, record->position,
                 term);
    enif_clear_env(env);
    return 0;
}

int main(int argc, char **argv)
{
    uint64_t most = argc > 2 ? strtoull(argv[2], NULL, 10) : UINT64_MAX;
    struct tracehost_record record = {.size = sizeof record};
    struct tracehost_stream_info info = {.size = sizeof info};
    enum tracehost_status status = TRACEHOST_OK;
    ErlNifEnv *env = enif_alloc_env();
    tracehost_stream *stream;
    int worst = 0;

    if (argc < 2) {
        fputs("usage: read_stream STREAM [N]\n", stderr);
        return TRACEHOST_USAGE;
    }
    if (tracehost_stream_open(argv[1], NULL, &stream) != TRACEHOST_OK)
        return fail();
    while (record.number < most) {
        status = tracehost_stream_next(stream, &record);
        if (status == TRACEHOST_END)
            break;
        if (status != TRACEHOST_OK || show(stream, &record, env) != 0)
            worst = fail();
    }
    if (tracehost_stream_get_info(stream, &info) != TRACEHOST_OK)
        return fail();
    fflush(stdout);
    fprintf(stderr, "%s: %" PRIu64 " records, %" PRIu64 " of %" PRIu64 " bytes\n", info.format,
            info.records, info.bytes, info.all_bytes);
    tracehost_stream_close(stream);
    enif_free_env(env);
    return worst;
}
