/* Fuzzes compressed and packed recordings, and the index of packed ones behind its checksum. */
#include "streams.h"

#include "host/replay/packed/packed.h"

#include <zstd.h>

int LLVMFuzzerTestOneInput(const unsigned char *data, size_t size);

/* Walks through all that the index says of FRAME. */
static void walk(struct th_packed_index *index, const struct th_packed_frame *frame)
{
    struct th_packed_tracee tracee;
    struct th_packed_record record;
    struct th_packed_walk at;
    uint64_t function;

    claim(th_replay_packed_tracees(index, frame, &at), "a part that was whole is not");
    while (th_replay_packed_next_tracee(&at, &tracee))
        claim(th_is_immediate(tracee.tracee), "a tracee that is no immediate");
    th_replay_packed_functions(&at);
    while (th_replay_packed_next_function(&at, &function))
        claim(function < index->function_count, "a function without a name");
    claim(th_replay_packed_world(index, frame, &at), "a part that was whole is not");
    while (th_replay_packed_next_record(&at, &record))
        claim(record.ordinal < frame->records &&
                  record.position - frame->position + record.size <= frame->bytes,
              "a record outside of its frame");
}

/* Takes DATA for the content of a part of the index. */
static void check_index(const unsigned char *data, size_t size)
{
    struct th_packed_index index = {0};
    size_t room = ZSTD_compressBound(size);
    unsigned char *part = malloc(room);

    size = ZSTD_compress(part, room, data, size, 1);
    claim(!ZSTD_isError(size), "cannot compress");
    for (int twice = 0; twice < 2; twice++) {
        size_t before = index.count;
        if (th_replay_packed_index_add(&index, 0, part, size) == TH_OK)
            continue;
        claim(th_error_link(0) != NULL, "refused without a cause");
        claim(index.count == before, "a refused part has left frames");
        th_error_clear();
    }
    for (size_t i = 0; i < index.count; i++)
        walk(&index, &index.frames[i]);
    th_replay_packed_index_free(&index);
    free(part);
}

int LLVMFuzzerTestOneInput(const unsigned char *data, size_t size)
{
    if (size > 0 && data[0] == 'i')
        check_index(data + 1, size - 1);
    else if (size > 3 && (data[0] == 0x1F || data[0] == 0x28 || (data[0] & 0xF0) == 0x50))
        check_stream(data, size);
    return 0;
}
