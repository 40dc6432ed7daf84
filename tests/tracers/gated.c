/* Counts events, and joins the counts of shares. $GATED names a FIFO, which the tracer opens, if
 * it is there, and reads to its end in the event $GATED_AT (1) of its process; or it is `crash`, for a tracer that aborts there, or
 * `tell`, for one that prints a line. The state has $GATED_BULK further bytes, which a merge checks. */
#include <erl_tracer.h>

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static unsigned long events;

static unsigned long number_of(const char *name, unsigned long otherwise)
{
    const char *text = getenv(name);

    return text ? strtoul(text, NULL, 10) : otherwise;
}

static void wait_at_gate(const char *gate)
{
    FILE *fifo = fopen(gate, "re");

    if (!fifo)
        return;
    while (fgetc(fifo) != EOF)
        ;
    fclose(fifo);
}

TH_TRACER_ENABLED(generic)
{
    return TH_TRACER_ATOM(env, trace);
}

TH_TRACER_TRACE(generic)
{
    const char *gate = getenv("GATED");

    events++;
    if (!gate || events != number_of("GATED_AT", 1))
        return;
    if (strcmp(gate, "crash") == 0)
        abort();
    if (strcmp(gate, "tell") == 0)
        fputs("told\n", stderr);
    else
        wait_at_gate(gate);
}

/* Returns byte number I of the further ones: nothing that can be compressed. */
static unsigned char bulk_at(uint64_t i)
{
    i = (i + 1) * 0x9E3779B97F4A7C15u;
    return (unsigned char)((i ^ i >> 29) * 0xBF58476D1CE4E5B9u >> 56);
}

TH_TRACER_SAVE()
{
    size_t size = number_of("GATED_BULK", 0);
    ERL_NIF_TERM binary;
    unsigned char *bytes = enif_make_new_binary(env, size, &binary);

    for (size_t i = 0; i < size; i++)
        bytes[i] = bulk_at(i);
    return enif_make_tuple2(env, enif_make_uint64(env, events), binary);
}

TH_TRACER_MERGE()
{
    const ERL_NIF_TERM *elements;
    ErlNifBinary bulk;
    ErlNifUInt64 more;
    int size;

    if (!enif_get_tuple(env, saved, &size, &elements) || size != 2 ||
        !enif_get_uint64(env, elements[0], &more) || !enif_inspect_binary(env, elements[1], &bulk))
        return 1;
    for (size_t i = 0; i < bulk.size; i++)
        if (bulk.data[i] != bulk_at(i))
            return 2;
    events += more;
    return 0;
}

TH_TRACER_UNLOAD()
{
    printf("%lu events\n", events);
}
