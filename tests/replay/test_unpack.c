/* Tests compressed streams: members and frames, torn and changed ones, claims, and what follows. */
#include "host/base/base.h"
#include "host/replay/pack.h"
#include "host/replay/replay_internal.h"
#include "host/replay/unpack.h"
#include "tests/support/assertions.h"

#include <errno.h>
#include <pthread.h>
#include <stddef.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <unistd.h>
#include <zstd.h>

enum { TOTAL = 300000, CUTS = 400 };

static unsigned char plain[TOTAL];
static struct th_input input;
static struct th_buffer packed, got;

static int begin(void **state)
{
    uint32_t mixed = 1;

    (void)state;
    input = (struct th_input){.fd = -1};
    for (size_t i = 0; i < TOTAL; i++) {
        mixed = mixed * 1664525 + 1013904223;
        plain[i] = (unsigned char)(i % 7 ? i / 100 : mixed >> 24);
    }
    return 0;
}

static int end(void **state)
{
    (void)state;
    th_replay_input_close(&input);
    th_buffer_free(&packed);
    th_buffer_free(&got);
    th_error_clear();
    return 0;
}

/* Appends plain[FROM] to plain[TO - 1] to `packed`, as a stream of its own. */
static void pack_part(enum th_compression compression, size_t from, size_t to)
{
    struct th_pack *pack;

    assert_int_equal(th_replay_pack_begin(compression, 0, &pack), TH_OK);
    for (size_t at = from; at < to; at += 10007) {
        size_t size = to - at < 10007 ? to - at : 10007;
        enum th_pack_how how = at % 3 ? TH_PACK_MORE : TH_PACK_FLUSH;
        assert_int_equal(th_replay_pack_add(pack, plain + at, size, how, &packed), TH_OK);
    }
    assert_int_equal(th_replay_pack_add(pack, NULL, 0, TH_PACK_END, &packed), TH_OK);
    th_replay_pack_free(pack);
}

static void skippable(size_t size)
{
    unsigned char *head = th_buffer_reserve(&packed, 8 + size);

    memset(head, 0x28, 8 + size);
    memcpy(head, "\x5A\x2A\x4D\x18", 4);
    for (int i = 0; i < 4; i++)
        head[4 + i] = (unsigned char)(size >> 8 * i);
    packed.size += 8 + size;
}

/* Reads SIZE bytes of `packed` to the end, as a file, into `got`. */
static void unpack(size_t size)
{
    int fd = memfd_create("packed", 0);

    th_replay_input_close(&input);
    assert_int_equal(write(fd, packed.data, size), size);
    assert_int_equal(lseek(fd, 0, SEEK_SET), 0);
    th_replay_input_attach(&input, fd, "packed");
    th_replay_input_begin(&input);
    got.size = 0;
    for (size_t piece = 1; th_replay_input_have(&input, 1); piece = piece * 3 % 60013 + 1) {
        size_t there;
        th_replay_input_have(&input, piece);
        there = th_replay_input_there(&input) < piece ? th_replay_input_there(&input) : piece;
        assert_int_equal(th_replay_input_position(&input), got.size);
        th_buffer_add(&got, th_replay_input_bytes(&input), there);
        th_replay_input_take(&input, there);
    }
    assert_true(input.ended);
}

static void assert_got(size_t size)
{
    assert_int_equal(got.size, size);
    assert_memory_equal(got.data, plain, size);
}

static void several_parts_are_one_stream(void **state)
{
    (void)state;
    for (int kind = TH_COMPRESSION_GZIP; kind <= TH_COMPRESSION_ZSTD; kind++) {
        packed.size = 0;
        pack_part(kind, 0, 1);
        pack_part(kind, 1, 1); /* empty */
        if (kind == TH_COMPRESSION_ZSTD)
            skippable(70000);
        pack_part(kind, 1, 100000);
        if (kind == TH_COMPRESSION_ZSTD)
            skippable(0);
        pack_part(kind, 100000, TOTAL);
        unpack(packed.size);
        assert_int_equal(input.error, 0);
        assert_got(TOTAL);
    }
}

/* As at the end of a tape. */
static void zeros_may_follow_gzip(void **state)
{
    (void)state;
    pack_part(TH_COMPRESSION_GZIP, 0, TOTAL);
    memset(th_buffer_reserve(&packed, 512), 0, 512);
    packed.size += 512;
    unpack(packed.size);
    assert_int_equal(input.error, 0);
    assert_got(TOTAL);
}

static void other_bytes_behind_are_a_fault(void **state)
{
    static const char *const faults[] = {
        [TH_COMPRESSION_GZIP] = "the compressed data (gzip) are damaged: incorrect header check",
        [TH_COMPRESSION_ZSTD] = "the compressed data (zstd) are damaged: Unknown frame descriptor",
    };

    (void)state;
    for (int kind = TH_COMPRESSION_GZIP; kind <= TH_COMPRESSION_ZSTD; kind++) {
        packed.size = 0;
        pack_part(kind, 0, TOTAL);
        th_buffer_add_text(&packed, "something else");
        unpack(packed.size);
        assert_got(TOTAL);
        assert_int_equal(input.error, EBADMSG);
        assert_string_equal(th_replay_input_fault(&input), faults[kind]);
    }
}

/* All that was compressed before the cut is read; the cut is a fault, except between parts. */
static void a_torn_stream_gives_what_it_has(void **state)
{
    static const char *const faults[] = {
        [TH_COMPRESSION_GZIP] = "the compressed data (gzip) are cut off",
        [TH_COMPRESSION_ZSTD] = "the compressed data (zstd) are cut off",
    };
    size_t middle;

    (void)state;
    for (int kind = TH_COMPRESSION_GZIP; kind <= TH_COMPRESSION_ZSTD; kind++) {
        size_t before = 0;
        packed.size = 0;
        pack_part(kind, 0, 150000);
        middle = packed.size;
        pack_part(kind, 150000, TOTAL);
        for (size_t cut = 1; cut <= CUTS; cut++) {
            size_t size = packed.size * cut / (CUTS + 1);
            if (size <= TH_UNPACK_SHOWN)
                continue;
            unpack(size);
            assert_got(got.size);
            assert_order(got.size, >=, before);
            before = got.size;
            if (size > middle)
                assert_order(got.size, >=, 150000);
            assert_int_equal(input.error, size == middle ? 0 : EBADMSG);
            if (size != middle)
                assert_string_equal(th_replay_input_fault(&input), faults[kind]);
        }
        assert_order(before, >, TOTAL - 60000);
    }
}

/* A changed byte is found, at the latest by the checksum, unless no byte of the content depends on
 * it. What comes before its block is read. */
static void a_changed_byte_is_found(void **state)
{
    size_t found = 0;

    (void)state;
    for (int kind = TH_COMPRESSION_GZIP; kind <= TH_COMPRESSION_ZSTD; kind++) {
        packed.size = 0;
        pack_part(kind, 0, TOTAL);
        for (size_t change = 1; change <= CUTS; change++) {
            unsigned char *byte = packed.data + packed.size * change / (CUTS + 1);
            *byte ^= 0x40;
            unpack(packed.size);
            *byte ^= 0x40;
            if (input.error == 0) {
                assert_got(TOTAL);
                continue;
            }
            found++;
            assert_int_equal(input.error, EBADMSG);
            if (change > CUTS / 2)
                assert_order(got.size, >, TOTAL / 4);
        }
    }
    assert_order(found, >, 2 * CUTS - 20);
}

/* A frame may claim to be of any size, and to need a window of any size. */
static void claims_take_no_memory(void **state)
{
    struct rusage before, after;
    ZSTD_CCtx *zstd = ZSTD_createCCtx();
    ZSTD_inBuffer in = {plain, 1000, 0};
    ZSTD_outBuffer out = {th_buffer_reserve(&packed, 4000), 4000, 0};

    (void)state;
    ZSTD_CCtx_setParameter(zstd, ZSTD_c_windowLog, 31);
    assert_false(ZSTD_isError(ZSTD_compressStream2(zstd, &out, &in, ZSTD_e_flush)));
    ZSTD_freeCCtx(zstd);
    packed.size = out.pos;
    getrusage(RUSAGE_SELF, &before);
    unpack(packed.size);
    getrusage(RUSAGE_SELF, &after);
    assert_int_equal(got.size, 0);
    assert_string_equal(
        th_replay_input_fault(&input),
        "the compressed data (zstd) are damaged: Frame requires too much memory for decoding");
    assert_order(after.ru_maxrss - before.ru_maxrss, <, 20000);
}

static void *write_single_bytes(void *fd)
{
    for (size_t at = 0; at < packed.size; at++)
        assert_int_equal(write(*(int *)fd, packed.data + at, 1), 1);
    close(*(int *)fd);
    return NULL;
}

/* Each byte may come alone, the first ones, too. */
static void single_bytes_are_enough(void **state)
{
    pthread_t writer;
    int ends[2];

    (void)state;
    for (int kind = TH_COMPRESSION_GZIP; kind <= TH_COMPRESSION_ZSTD; kind++) {
        packed.size = 0;
        pack_part(kind, 0, 2000);
        assert_int_equal(pipe(ends), 0);
        assert_int_equal(pthread_create(&writer, NULL, write_single_bytes, &ends[1]), 0);
        th_replay_input_close(&input);
        th_replay_input_attach(&input, ends[0], "pipe");
        th_replay_input_begin(&input);
        assert_true(th_replay_input_have(&input, 2000));
        assert_memory_equal(th_replay_input_bytes(&input), plain, 2000);
        assert_false(th_replay_input_have(&input, 2001));
        assert_int_equal(input.error, 0);
        pthread_join(writer, NULL);
    }
}

/* Bytes that only look as if, at the beginning. */
static void other_streams_stay_as_they_are(void **state)
{
    static const char *const texts[] = {"\x1F",    "\x1F\x8C", "\x28\xB5\x2F", "P", "Pack",
                                        "Z*M\x19", "{}"};

    (void)state;
    for (size_t i = 0; i < sizeof texts / sizeof texts[0]; i++) {
        packed.size = 0;
        th_buffer_add_text(&packed, texts[i]);
        unpack(packed.size);
        assert_int_equal(input.error, 0);
        assert_int_equal(got.size, packed.size);
        assert_memory_equal(got.data, packed.data, packed.size);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(several_parts_are_one_stream, begin, end),
        cmocka_unit_test_setup_teardown(zeros_may_follow_gzip, begin, end),
        cmocka_unit_test_setup_teardown(other_bytes_behind_are_a_fault, begin, end),
        cmocka_unit_test_setup_teardown(a_torn_stream_gives_what_it_has, begin, end),
        cmocka_unit_test_setup_teardown(a_changed_byte_is_found, begin, end),
        cmocka_unit_test_setup_teardown(claims_take_no_memory, begin, end),
        cmocka_unit_test_setup_teardown(single_bytes_are_enough, begin, end),
        cmocka_unit_test_setup_teardown(other_streams_stay_as_they_are, begin, end),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
