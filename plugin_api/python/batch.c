/* Reads records in batches, without the interpreter's lock. */
#include "binding.h"

#include <stdlib.h>

enum { MOST_ITEMS = 64 << 10, MOST_BYTES = 1 << 20 };

/* Takes one record. Returns false if the batch ends: at damage, and at the end of the stream. */
static bool read_record(struct th_python_batch *batch, tracehost_stream *stream)
{
    struct th_python_recorded *recorded = &batch->records[batch->count];
    ERL_NIF_TERM term;
    enum tracehost_status status;

    recorded->record.size = sizeof recorded->record;
    recorded->at = batch->tape.count;
    status = tracehost_stream_next(stream, &recorded->record);
    if (status == TRACEHOST_OK)
        status = tracehost_stream_get_term(stream, batch->env, &term);
    if (status == TRACEHOST_END) {
        batch->ended = true;
        return false;
    }
    if (status != TRACEHOST_OK) {
        batch->faulty = true;
        th_python_chain_take(&batch->fault, status);
        return false;
    }
    if (!th_python_flatten(&batch->tape, batch->env, term)) {
        batch->faulty = true;
        th_python_chain_set(&batch->fault, TRACEHOST_FAILED, "out of memory");
        return false;
    }
    batch->count++;
    return true;
}

void th_python_batch_read(struct th_python_batch *batch, tracehost_stream *stream)
{
    batch->count = batch->next = batch->tape.count = batch->tape.bytes = 0;
    enif_clear_env(batch->env);
    while (batch->count < batch->most && batch->tape.count < MOST_ITEMS &&
           batch->tape.bytes < MOST_BYTES && read_record(batch, stream))
        ;
}

void th_python_batch_free(struct th_python_batch *batch)
{
    if (batch->env)
        enif_free_env(batch->env);
    free(batch->records);
    free(batch->fault.links);
    th_python_tape_free(&batch->tape);
    *batch = (struct th_python_batch){0};
}
