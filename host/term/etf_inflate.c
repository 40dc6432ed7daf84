/* Compressed external terms. */
#include "etf_decoder.h"

#include <zlib.h>

/* The most that deflate makes of a byte: 258 bytes, the longest match, of two bits. */
enum { DEFLATE_RATIO = 1032, SIZE_BYTES = 4, DEFAULT_LIMIT = 256 << 20 };

static enum th_status broken(const char *why)
{
    return th_error_raise(TH_MALFORMED, "compressed external term: %s", why);
}

/*
 * The stream in FROM must hold exactly SIZE bytes. zlib counts in unsigned int, which is enough:
 * the format has 32 bits for SIZE, and no more than that of the input is needed for it.
 */
static enum th_status run(const unsigned char *from, size_t from_size, unsigned char *to,
                          size_t size, size_t *used)
{
    z_stream stream = {.next_in = (unsigned char *)from,
                       .avail_in = from_size < UINT32_MAX ? (unsigned)from_size : UINT32_MAX,
                       .next_out = to,
                       .avail_out = (unsigned)size};
    int result;

    if (inflateInit(&stream) != Z_OK)
        return th_error_raise(TH_FAILED, "zlib cannot start: %s",
                              stream.msg ? stream.msg : "out of memory");
    result = inflate(&stream, Z_FINISH);
    *used = stream.total_in;
    inflateEnd(&stream);
    if (result == Z_BUF_ERROR && stream.avail_in == 0)
        return broken("cut off");
    if (result == Z_BUF_ERROR)
        return broken("it is longer than it says");
    if (result != Z_STREAM_END)
        return broken("not a zlib stream");
    if (stream.total_out != size)
        return broken("it is shorter than it says");
    return TH_OK;
}

enum th_status th_etf_inflate(const unsigned char *data, size_t size, size_t limit,
                              unsigned char **inflated, size_t *inflated_size, size_t *used)
{
    unsigned char *place;
    enum th_status status;
    size_t wanted;

    if (size < SIZE_BYTES)
        return broken("cut off");
    wanted = th_etf_get32(data);
    if (limit == 0)
        limit = DEFAULT_LIMIT;
    if (wanted > limit)
        return th_error_raise(TH_MALFORMED,
                              "compressed external term: %zu bytes inflated, the limit is %zu",
                              wanted, limit);
    if (wanted / DEFLATE_RATIO > size)
        return broken("it says that it is longer than so few bytes can inflate to");
    place = th_try_alloc(wanted + 1); /* never 0 */
    if (!place)
        return th_error_status();
    status = run(data + SIZE_BYTES, size - SIZE_BYTES, place, wanted, used);
    if (status != TH_OK) {
        th_try_free(place, wanted + 1);
        return status;
    }
    *inflated = place;
    *inflated_size = wanted;
    *used += SIZE_BYTES;
    return TH_OK;
}
