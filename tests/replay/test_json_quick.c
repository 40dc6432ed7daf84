/* Tests the one-pass reader of JSON lines: the lines that it reads, those that it leaves to
 * Jansson, and equal events in both ways for changed lines. */
#include "tests/support/assertions.h"
#include "tests/replay/two_ways.h"

#include <stdint.h>
#include <stdio.h>

#define EXIT "{\"tracee\":\"<0.1.0>\",\"tag\":\"exit\",\"term\":"

/* Lines that the one-pass reader reads. Some are refused later, in both ways. */
static const char *const read_lines[] = {
    "{\"tracee\":\"<0.79.0>\",\"tag\":\"call\",\"term\":\"{m,12345678901234567890123,1}\"}",
    "{\"ts\":1795233757595492000,\"ts_kind\":\"timestamp\",\"tracee\":\"<0.79.0>\","
    "\"tag\":\"call\",\"term\":\"{compile,file,2}\"}",
    "{\"ts\":-576460750537234195,\"ts_kind\":\"strict_monotonic\",\"ts_unique\":-"
    "576460752303422489,"
    "\"tracee\":\"<0.104.0>\",\"tag\":\"call\",\"term\":\"{m,f,[[],\\\"a\\\\tb\\\",{x,<<1,2>>}]}\","
    "\"match_spec_result\":\"{m,g,1}\",\"scheduler_id\":1,\"external\":true,\"tail\":false,"
    "\"callers\":\"[{m,f,1,[]}|undefined]\"}",
    "{\"tracee\":\"#Port<0.5>\",\"tag\":\"send\",\"term\":\"'M "
    "\xC3\xBC'\",\"extra\":\"\\\"a\\\"\"}",
    "{\"tag\":\"seq_trace\",\"label\":\"{my,label}\",\"info\":\"{print,{0,1},<0.1.0>,[],x}\"}",
    "{\"drop\":2243}",
    "{\"drop\":0}",
    "{\"drop\":-0}",
    "{\"drop\":4294967296}",
    "{\"drop\":\"1\"}",
    "{\"other\":\"{no,'a message'}\"}",
    "{\"other\":{\"$etf\":\"g2QABWhlbGxv\"}}",
    "{\"other\":{\"$etf\":\"\"}}",
    "{\"other\":{\"$etf\":\"g2QABWhlbGxvAA==\"}}",
    EXIT "true}",
    EXIT "-9223372036854775808}",
    EXIT "9223372036854775807}",
    EXIT "1234567}",
    EXIT "12345678}",
    EXIT "1234567890123456}",
    EXIT "\"\"}",
    EXIT "\"{a\"}",
    EXIT "\"\xC3\xA9\xF0\x9F\x98\x80\"}",
    EXIT "\"'\\\"\\\\\\/\\b\\f\\n\\r\\t\xC3\xA9\\\"'\"}",
    EXIT "1,\"ts\":\"-5\"}",
    EXIT "1,\"ts\":\"5x\"}",
    EXIT "1,\"ts\":\"\"}",
    EXIT "1,\"ts\":\"5\\t\"}",
    EXIT "1,\"ts\":\"\\t5\"}",
    EXIT "1,\"extra\":1}",
    "{\"scheduler_id\":2,\"term\":\"{m,f,1}\",\"tag\":\"call\",\"tracee\":\"<0.1.0>\"}",
    "{\"tag\":7}",
    "{\"tag\":\"trace_status\"}",
    "{\"ts\":1,\"ts_kind\":\"timestamp\",\"tag\":\"seq_trace\",\"label\":0,\"info\":1}",
};

/* Lines that Jansson reads, or refuses. */
static const char *const left_lines[] = {
    "",
    "{",
    "{}",
    "[1]",
    " {\"drop\":1}",
    "{\"drop\":1} ",
    "{\"drop\":1}\r",
    "{\"drop\": 1}",
    "{\"drop\":1}}",
    "{\"drop\":1,}",
    "{\"drop\":1",
    "{\"drop\":01}",
    "{\"drop\":-}",
    "{\"drop\":-01}",
    "{\"drop\":1.0}",
    "{\"drop\":1e3}",
    "{\"drop\":00000000000000000001}",
    "{\"drop\":9223372036854775808}",
    "{\"drop\":-9223372036854775809}",
    "{\"drop\":18446744073709551617}",
    "{\"drop\":1,\"drop\":2}",
    "{\"dropp\":1}",
    "{\"dro\":1}",
    "{\"tracehost\":1}",
    "{\"drop\\u0000\":1}",
    "{\"match_s\":1}",
    "{\"other\":\"a\\u0000\"}",
    "{\"other\":\"a\\u0061\"}",
    "{\"other\":\"a\\x\"}",
    "{\"other\":\"a\\",
    "{\"other\":\"a\tb\"}",
    "{\"other\":\"a\x01\"}",
    "{\"other\":\"\xC0\x80\"}",
    "{\"other\":\"\xED\xA0\x80\"}",
    "{\"other\":\"\xC3\"}",
    "{\"other\":\"\xC3\\n\xA9\"}",
    "{\"other\":\"\xF4\x90\x80\x80\"}",
    "{\"other\":null}",
    "{\"other\":[1]}",
    "{\"other\":{}}",
    "{\"other\":{\"$etf\":1}}",
    "{\"other\":{\"$etf\":\"g2EF\",\"b\":1}}",
    "{\"other\":truE}",
    "{\"other\":tru",
};

enum {
    READ = sizeof read_lines / sizeof *read_lines,
    LEFT = sizeof left_lines / sizeof *left_lines
};

static bool read_both(const char *line, size_t size)
{
    bool quick;
    const char *difference = two_ways_differ(line, size, &quick);

    if (difference)
        fail_msg("%s: %.*s", difference, (int)size, line);
    return quick;
}

static void usual_lines_are_read_in_one_pass(void **state)
{
    (void)state;
    for (size_t i = 0; i < READ; i++)
        if (!read_both(read_lines[i], strlen(read_lines[i])))
            fail_msg("left: %s", read_lines[i]);
}

static void unusual_lines_are_left_to_jansson(void **state)
{
    (void)state;
    for (size_t i = 0; i < LEFT; i++)
        if (read_both(left_lines[i], strlen(left_lines[i])))
            fail_msg("read: %s", left_lines[i]);
}

static void a_longer_line_is_left_to_jansson(void **state)
{
    struct th_buffer line = {0};

    (void)state;
    th_buffer_add_text(&line, "{\"other\":\"");
    while (line.size < TH_JSON_QUICK - 2)
        th_buffer_add_byte(&line, '1');
    th_buffer_add_text(&line, "\"}");
    assert_true(read_both(th_buffer_text(&line), line.size));
    line.size -= 2;
    th_buffer_add_text(&line, "1\"}");
    assert_false(read_both(th_buffer_text(&line), line.size));
    th_buffer_free(&line);
}

/* Replaces, inserts, deletes or doubles some bytes. */
static size_t mutate(char *line, size_t size, size_t room, uint64_t *seed)
{
    static const char bytes[] = "\"\\{}[]:,.-+0123456789eE \t<>#'$abntufrl\x01\x7F\x80\xA9\xC3\xED";

    for (uint64_t left = 1 + th_hash_mix(++*seed) % 4; left > 0; left--) {
        uint64_t chance = th_hash_mix(++*seed);
        size_t at = size > 0 ? (chance >> 8) % size : 0;
        char byte = bytes[(chance >> 40) % (sizeof bytes - 1)];

        if (chance % 3 == 0 && size > 0) {
            line[at] = byte;
        } else if (chance % 3 == 1 && size < room) {
            memmove(line + at + 1, line + at, size - at);
            line[at] = chance & 1 << 7 ? byte : line[at];
            size++;
        } else if (size > 0) {
            memmove(line + at, line + at + 1, size - at - 1);
            size--;
        }
    }
    return size;
}

static void changed_lines_are_the_same_events_in_both_ways(void **state)
{
    enum { ROUNDS = 60000 };
    uint64_t seed = 1, read = 0;
    char line[1024];

    (void)state;
    for (int i = 0; i < ROUNDS; i++) {
        const char *from = i % 4 ? read_lines[(size_t)i % READ] : left_lines[(size_t)i % LEFT];
        size_t size = strlen(from);
        memcpy(line, from, size);
        read += read_both(line, mutate(line, size, sizeof line, &seed));
    }
    assert_true(read > ROUNDS / 20); /* many changes leave a line that is read in one pass */
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(usual_lines_are_read_in_one_pass),
        cmocka_unit_test(unusual_lines_are_left_to_jansson),
        cmocka_unit_test(a_longer_line_is_left_to_jansson),
        cmocka_unit_test(changed_lines_are_the_same_events_in_both_ways),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
