/* Compressed external terms. */
#include "etf_decoder.h"

#include "host/base/memory.h"

#include <zlib.h>

/* The largest ratio of deflate: 258 bytes, the longest match, from two bits. */
enum { DEFLATE_RATIO = 1032, SIZE_BYTES = 4, DEFAULT_LIMIT = 256 << 20 };

static enum th_status etf_inflate_broken(const char *why)
{
    return th_error_raise(TH_MALFORMED, "compressed external term: %s", why);
}

enum th_status th_etf_inflate(const unsigned char *data, size_t size, size_t limit,
                              unsigned char **inflated, size_t *inflated_size, size_t *used)
{
    z_stream stream = {0};
    const char *wrong = NULL;
    size_t wanted;
    int result;

    if (size < SIZE_BYTES)
        return etf_inflate_broken("truncated");
    wanted = th_etf_get32(data);
    if (limit == 0)
        limit = DEFAULT_LIMIT;
    if (wanted > limit)
        return th_error_raise(TH_MALFORMED,
                              "compressed external term: %zu bytes inflated, the limit is %zu",
                              wanted, limit);
    if (wanted / DEFLATE_RATIO > size)
        return etf_inflate_broken("its length is more than so few bytes can inflate to");
    *inflated = th_try_alloc(wanted + 1); /* never 0 */
    if (!*inflated)
        return th_error_status();
    *inflated_size = wanted;

    /* zlib counts in unsigned int, which is enough: the size has 32 bits in the format, and
     * inflating to that size needs no more input than that. */
    size -= SIZE_BYTES;
    stream.next_in = (unsigned char *)data + SIZE_BYTES;
    stream.avail_in = size < UINT32_MAX ? (unsigned)size : UINT32_MAX;
    stream.next_out = *inflated;
    stream.avail_out = (unsigned)wanted;
    if (inflateInit(&stream) != Z_OK) {
        th_try_free(*inflated, wanted + 1);
        return th_error_raise(TH_FAILED, "cannot start zlib: %s",
                              stream.msg ? stream.msg : "out of memory");
    }
    result = inflate(&stream, Z_FINISH);
    inflateEnd(&stream);
    if (result == Z_BUF_ERROR)
        wrong = stream.avail_in == 0 ? "truncated" : "its content is longer than its length";
    else if (result != Z_STREAM_END)
        wrong = "not a zlib stream";
    else if (stream.total_out != wanted)
        wrong = "its content is shorter than its length";
    if (wrong) {
        th_try_free(*inflated, wanted + 1);
        return etf_inflate_broken(wrong);
    }
    *used = SIZE_BYTES + stream.total_in;
    return TH_OK;
}
