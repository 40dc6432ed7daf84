/*
 * Decodes all payloads of the recordings in samples/, written by real nodes, and encodes them to
 * the same bytes.
 */
#include "host/term/term.h"
#include "tests/support/assertions.h"

#include <fnmatch.h>
#include <ftw.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#define FOLDER "samples/recordings"

enum { HEADER = 5 };

static struct th_buffer stream;
static th_env env;
static size_t files, records;

static void read_stream(const char *path)
{
    FILE *file = fopen(path, "rb");
    size_t got;

    assert_non_null(file);
    stream.size = 0;
    do {
        got = fread(th_buffer_reserve(&stream, 65536), 1, 65536, file);
        stream.size += got;
    } while (got > 0);
    fclose(file);
}

/* Gets the payload of the record at *AT and moves *AT behind it; NULL for a drop. Returns false at
 * the end, or if the stream is truncated. */
static bool next_record(size_t *at, const unsigned char **payload, size_t *size)
{
    const unsigned char *header = stream.data + *at;

    if (stream.size - *at < HEADER)
        return false;
    *size = (size_t)header[1] << 24 | header[2] << 16 | header[3] << 8 | header[4];
    if (header[0] == 1) {
        *payload = NULL;
        *at += HEADER;
        return true;
    }
    assert_int_equal(header[0], 0);
    if (stream.size - *at - HEADER < *size)
        return false;
    *payload = header + HEADER;
    *at += HEADER + *size;
    return true;
}

static th_term decode(const unsigned char *payload, size_t size,
                      const struct th_etf_options *options)
{
    size_t used = 0;
    th_term t;

    if (th_etf_decode(&env, payload, size, true, options, &t, &used) != TH_OK)
        fail_msg("%s", th_error_link(0));
    assert_int_equal(used, size);
    return t;
}

/* Returns the node of the first tracee; decoded for another node, the pid contains the node. */
static struct th_etf_node recorded_node(void)
{
    const struct th_etf_options elsewhere = {.here = {th_atom("else@where"), 1}};
    const unsigned char *payload;
    struct th_pid_parts pid = {0};
    struct th_port_parts port = {0};
    size_t at = 0;
    size_t size;
    th_term t;

    if (!next_record(&at, &payload, &size) || !payload)
        return (struct th_etf_node){0};
    t = decode(payload, size, &elsewhere);
    if (th_get_pid(th_tuple_elements(t)[1], &pid))
        return (struct th_etf_node){pid.node, pid.creation};
    th_get_port(th_tuple_elements(t)[1], &port);
    return (struct th_etf_node){port.node, port.creation};
}

static void check_record(const unsigned char *payload, size_t size,
                         const struct th_etf_options *options)
{
    static struct th_buffer out;
    th_term t = decode(payload, size, options);

    out.size = 0;
    assert_int_equal(th_etf_encode(&out, t, true, options), TH_OK);
    assert_int_equal(out.size, size);
    assert_memory_equal(out.data, payload, size);
    assert_int_equal(th_etf_skip(payload + 1, size - 1), size - 1);
    th_env_clear(&env);
}

static size_t check_stream(const char *path)
{
    struct th_etf_options options = {0};
    const unsigned char *payload;
    size_t count = 0;
    size_t at = 0;
    size_t size;

    read_stream(path);
    options.here = recorded_node();
    for (; next_record(&at, &payload, &size); count++)
        if (payload)
            check_record(payload, size, &options);
    files++;
    records += count;
    return count;
}

/* Returns the total that OTP counted, from NAME.counts.txt. */
static size_t counted(const char *path)
{
    char name[256];
    size_t total = 0;
    FILE *file;

    snprintf(name, sizeof name, "%.*s.counts.txt", (int)(strrchr(path, '.') - path), path);
    file = fopen(name, "r");
    assert_non_null(file);
    assert_int_equal(fscanf(file, "%*s %zu", &total), 1);
    fclose(file);
    return total;
}

static int visit(const char *path, const struct stat *status, int kind)
{
    (void)status;
    (void)kind;
    if (fnmatch("*.trace", path, 0) == 0 && check_stream(path) != counted(path))
        fail_msg("%s: not as many records as OTP found", path);
    return 0;
}

static void recordings_are_written_as_they_were_read(void **state)
{
    (void)state;
    assert_int_equal(ftw(FOLDER, visit, 8), 0);
    assert_order(files, >=, 27);
    print_message("%zu records of %zu files\n", records, files);
}

static void wrapped_files_are_written_as_they_were_read(void **state)
{
    size_t count = 0;

    (void)state;
    for (int i = 1; i <= 4; i++) {
        char path[64];
        snprintf(path, sizeof path, FOLDER "/wrap/w%d.log", i);
        count += check_stream(path);
    }
    assert_int_equal(count, counted(FOLDER "/wrap/wrapset.log"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(recordings_are_written_as_they_were_read),
        cmocka_unit_test(wrapped_files_are_written_as_they_were_read),
    };
    int failed;

    th_env_init(&env, TH_ENV_PLAIN);
    failed = cmocka_run_group_tests(tests, NULL, NULL);
    th_env_release(&env);
    th_buffer_free(&stream);
    return failed;
}
