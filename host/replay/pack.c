#include "pack.h"

#include "host/base/buffer.h"
#include "host/base/memory.h"

#include <zlib.h>
#include <zstd.h>

enum { ROOM = 64 * 1024, GZIP_WINDOW = 15 + 16, GZIP_MEMORY = 8 /* as zlib.h has it */ };

struct th_pack {
    ZSTD_CCtx *zstd; /* NULL: gzip */
    z_stream gzip;
};

static const struct {
    int level, most;
} levels[] = {
    [TH_COMPRESSION_NONE] = {0, 0},
    [TH_COMPRESSION_GZIP] = {6, 9},
    [TH_COMPRESSION_ZSTD] = {1, 19},
};

int th_replay_pack_level(enum th_compression compression)
{
    return levels[compression].level;
}

int th_replay_pack_level_most(enum th_compression compression)
{
    return levels[compression].most;
}

static enum th_status pack_lacks_memory(void)
{
    return th_error_raise(TH_FAILED, "there is no memory to compress with");
}

enum th_status th_replay_pack_begin(enum th_compression compression, int level,
                                    struct th_pack **pack)
{
    struct th_pack *made = th_alloc_zero(sizeof *made);
    bool begun;

    if (!level)
        level = levels[compression].level;
    if (compression == TH_COMPRESSION_ZSTD) {
        made->zstd = ZSTD_createCCtx();
        begun = made->zstd &&
                !ZSTD_isError(ZSTD_CCtx_setParameter(made->zstd, ZSTD_c_compressionLevel, level)) &&
                !ZSTD_isError(ZSTD_CCtx_setParameter(made->zstd, ZSTD_c_checksumFlag, 1));
    } else {
        begun = deflateInit2(&made->gzip, level, Z_DEFLATED, GZIP_WINDOW, GZIP_MEMORY,
                             Z_DEFAULT_STRATEGY) == Z_OK;
    }
    *pack = begun ? made : NULL;
    if (begun)
        return TH_OK;
    th_replay_pack_free(made);
    return pack_lacks_memory();
}

static enum th_status pack_zstd(struct th_pack *pack, const void *data, size_t size,
                                enum th_pack_how how, struct th_buffer *out)
{
    static const ZSTD_EndDirective directives[] = {[TH_PACK_MORE] = ZSTD_e_continue,
                                                   [TH_PACK_FLUSH] = ZSTD_e_flush,
                                                   [TH_PACK_END] = ZSTD_e_end};
    ZSTD_inBuffer in = {data, size, 0};
    size_t left = 1;

    while (how == TH_PACK_MORE ? in.pos < in.size : left > 0) {
        ZSTD_outBuffer to = {th_buffer_reserve(out, ROOM), ROOM, 0};
        left = ZSTD_compressStream2(pack->zstd, &to, &in, directives[how]);
        if (ZSTD_isError(left))
            return pack_lacks_memory();
        out->size += to.pos;
    }
    return TH_OK;
}

static enum th_status pack_gzip(struct th_pack *pack, const void *data, size_t size,
                                enum th_pack_how how, struct th_buffer *out)
{
    static const int flushes[] = {
        [TH_PACK_MORE] = Z_NO_FLUSH, [TH_PACK_FLUSH] = Z_SYNC_FLUSH, [TH_PACK_END] = Z_FINISH};
    z_stream *gzip = &pack->gzip;

    gzip->next_in = (unsigned char *)(uintptr_t)data; /* zlib does not change the bytes */
    gzip->avail_in = (unsigned)size;
    do {
        gzip->next_out = th_buffer_reserve(out, ROOM);
        gzip->avail_out = ROOM;
        if (deflate(gzip, flushes[how]) == Z_STREAM_ERROR)
            return th_error_raise(TH_FAILED, "zlib cannot go on");
        out->size += ROOM - gzip->avail_out;
    } while (gzip->avail_out == 0 || gzip->avail_in > 0);
    return TH_OK;
}

enum th_status th_replay_pack_add(struct th_pack *pack, const void *data, size_t size,
                                  enum th_pack_how how, struct th_buffer *out)
{
    return pack->zstd ? pack_zstd(pack, data, size, how, out)
                      : pack_gzip(pack, data, size, how, out);
}

void th_replay_pack_free(struct th_pack *pack)
{
    if (!pack)
        return;
    ZSTD_freeCCtx(pack->zstd);
    deflateEnd(&pack->gzip);
    th_free(pack);
}
