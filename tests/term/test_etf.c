/* Tests external terms: how each tag is decoded and encoded again; refusals and their reasons. */
#include "etf_bytes.h"

struct bytes {
    const char *data;
    size_t size;
};

#define BYTES(literal)                     \
    {                                      \
        "" literal "", sizeof(literal) - 1 \
    }
#define UNIQUE "0123456789abcdef"
#define FUN_PID "X" AB "\0\0\0\5\0\0\0\1\0\0\0\3"

/* WRITTEN is term_to_binary(binary_to_term(READ)) in OTP 25; empty: the same as READ. */
static const struct {
    const char *what;
    struct bytes read, written;
} accepted[] = {
    {"small integer", BYTES("a\xFF"), BYTES("")},
    {"integer", BYTES("b\x80\0\0\0"), BYTES("")},
    {"integer for a small one", BYTES("b\0\0\0\1"), BYTES("a\1")},
    {"integer above 255", BYTES("b\0\0\1\0"), BYTES("")},
    {"bignum for a small one", BYTES("n\1\0\5"), BYTES("a\5")},
    {"bignum without bytes", BYTES("n\0\1"), BYTES("a\0")},
    {"bignum -0", BYTES("n\1\1\0"), BYTES("a\0")},
    {"any sign byte is minus", BYTES("n\1\2\5"), BYTES("b\xFF\xFF\xFF\xFB")},
    {"bignum with zeros in front", BYTES("n\x0A\0\1\2\3\4\5\6\7\x08\0\0"),
     BYTES("n\x08\0\1\2\3\4\5\6\7\x08")},
    {"large bignum for a small one", BYTES("o\0\0\0\1\1\5"), BYTES("b\xFF\xFF\xFF\xFB")},
    {"the largest small integer", BYTES("n\x08\0\xFF\xFF\xFF\xFF\xFF\xFF\xFF\7"), BYTES("")},
    {"the smallest bignum", BYTES("n\x08\0\0\0\0\0\0\0\0\x08"), BYTES("")},
    {"the smallest small integer", BYTES("n\x08\1\0\0\0\0\0\0\0\x08"), BYTES("")},
    {"five bytes", BYTES("n\5\1\0\0\0\0\1"), BYTES("")},
    {"nine bytes", BYTES("n\x09\1\1\2\3\4\5\6\7\x08\x09"), BYTES("")},
    {"float", BYTES("F\x3F\xF8\0\0\0\0\0\0"), BYTES("")},
    {"-0.0", BYTES("F\x80\0\0\0\0\0\0\0"), BYTES("")},
    {"old float", BYTES("c1.50000000000000000000e+00\0\0\0\0\0"), BYTES("F\x3F\xF8\0\0\0\0\0\0")},
    {"old float, short", BYTES("c-1.5e3\0junk\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0"),
     BYTES("F\xC0\x97\x70\0\0\0\0\0")},
    {"old float of 31 characters", BYTES("c1.50000000000000000000000000000"),
     BYTES("F\x3F\xF8\0\0\0\0\0\0")},
    {"old float with a comma", BYTES("c+1,5\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0"),
     BYTES("F\x3F\xF8\0\0\0\0\0\0")},
    {"atom", BYTES("d\0\2ok"), BYTES("")},
    {"empty atom", BYTES("d\0\0"), BYTES("")},
    {"atom of a zero byte", BYTES("d\0\1\0"), BYTES("")},
    {"small atom", BYTES("s\2ok"), BYTES("d\0\2ok")},
    {"UTF-8 atom in Latin-1", BYTES("w\2\xC3\xA9"), BYTES("d\0\1\xE9")},
    {"long UTF-8 tag", BYTES("v\0\2\xD0\xB6"), BYTES("w\2\xD0\xB6")},
    {"nil", BYTES("j"), BYTES("")},
    {"string", BYTES("k\0\3abc"), BYTES("")},
    {"empty string", BYTES("k\0\0"), BYTES("j")},
    {"list of bytes", BYTES("l\0\0\0\2a\1a\2j"), BYTES("k\0\2\1\2")},
    {"list", BYTES("l\0\0\0\2a\1d\0\1aj"), BYTES("")},
    {"improper list", BYTES("l\0\0\0\2a\1a\2a\3"), BYTES("")},
    {"a list as tail", BYTES("l\0\0\0\1d\0\1al\0\0\0\1a\2j"), BYTES("l\0\0\0\2d\0\1aa\2j")},
    {"list without elements", BYTES("l\0\0\0\0j"), BYTES("j")},
    {"list that is its tail", BYTES("l\0\0\0\0a\5"), BYTES("a\5")},
    {"empty tuple", BYTES("h\0"), BYTES("")},
    {"tuples", BYTES("h\3a\1h\2a\2h\0a\3"), BYTES("")},
    {"large tuple for a small one", BYTES("i\0\0\0\1a\1"), BYTES("h\1a\1")},
    {"empty map", BYTES("t\0\0\0\0"), BYTES("")},
    {"map, unsorted", BYTES("t\0\0\0\2a\2a\1a\1a\2"), BYTES("t\0\0\0\2a\1a\2a\2a\1")},
    {"1 and 1.0 are two keys", BYTES("t\0\0\0\2F\x3F\xF0\0\0\0\0\0\0a\1a\1a\2"),
     BYTES("t\0\0\0\2a\1a\2F\x3F\xF0\0\0\0\0\0\0a\1")},
    {"map in a map", BYTES("t\0\0\0\1t\0\0\0\0t\0\0\0\1a\1j"), BYTES("")},
    {"binary", BYTES("m\0\0\0\3\0\1\xFF"), BYTES("")},
    {"empty binary", BYTES("m\0\0\0\0"), BYTES("")},
    {"bits", BYTES("M\0\0\0\2\3\xAA\xE0"), BYTES("")},
    {"bits with others behind them", BYTES("M\0\0\0\1\3\xFF"), BYTES("M\0\0\0\1\3\xE0")},
    {"8 bits of the last byte", BYTES("M\0\0\0\1\x08\xFF"), BYTES("m\0\0\0\1\xFF")},
    {"no bits", BYTES("M\0\0\0\0\0"), BYTES("m\0\0\0\0")},
    {"pid", BYTES("X" AB "\0\0\0\5\0\0\0\1\0\0\0\7"), BYTES("")},
    {"pid, largest", BYTES("X" AB "\xFF\xFF\xFF\xFF\xFF\xFF\xFF\xFF\xFF\xFF\xFF\xFF"), BYTES("")},
    {"old pid", BYTES("g" AB "\0\0\0\5\0\0\0\1\3"), BYTES("X" AB "\0\0\0\5\0\0\0\1\0\0\0\3")},
    {"pid with the node in UTF-8", BYTES("Xw\3a@b\0\0\0\5\0\0\0\1\0\0\0\7"),
     BYTES("X" AB "\0\0\0\5\0\0\0\1\0\0\0\7")},
    {"port", BYTES("Y" AB "\x0F\xFF\xFF\xFF\0\0\0\7"), BYTES("")},
    {"port of 29 bits", BYTES("Y" AB "\x10\0\0\0\0\0\0\7"),
     BYTES("x" AB "\0\0\0\0\x10\0\0\0\0\0\0\7")},
    {"old port", BYTES("f" AB "\0\0\0\5\3"), BYTES("Y" AB "\0\0\0\5\0\0\0\3")},
    {"wide port", BYTES("x" AB "\1\2\3\4\5\6\7\x08\0\0\0\7"), BYTES("")},
    {"wide port for a narrow one", BYTES("x" AB "\0\0\0\0\0\0\0\5\0\0\0\7"),
     BYTES("Y" AB "\0\0\0\5\0\0\0\7")},
    {"reference", BYTES("Z\0\3" AB "\0\0\0\7\xFF\xFF\xFF\xFF\0\0\0\2\0\0\0\3"), BYTES("")},
    {"reference of 5 words", BYTES("Z\0\5" AB "\0\0\0\7\0\0\0\1\0\0\0\2\0\0\0\3\0\0\0\4\0\0\0\5"),
     BYTES("")},
    {"new reference", BYTES("r\0\2" AB "\3\0\3\xFF\xFF\xFF\xFF\xFF\xFF"),
     BYTES("Z\0\2" AB "\0\0\0\3\0\3\xFF\xFF\xFF\xFF\xFF\xFF")},
    {"old reference", BYTES("e" AB "\0\0\0\x09\1"), BYTES("Z\0\1" AB "\0\0\0\1\0\0\0\x09")},
    {"export", BYTES("qd\0\5listsd\0\3mapa\2"), BYTES("")},
    {"export with an odd arity", BYTES("qd\0\1ad\0\1bn\1\0\3"), BYTES("qd\0\1ad\0\1ba\3")},
    {"fun", BYTES("p\0\0\0\x39\1" UNIQUE "\0\0\0\2\0\0\0\0d\0\2mma\1a\1" FUN_PID), BYTES("")},
    {"fun that lies about its size, with free variables",
     BYTES("p\0\0\0\0\1" UNIQUE "\xFF\xFF\xFF\xFF\0\0\0\2d\0\2mmb\xFF\xFF\xFF\xFF"
           "b\x01\0\0\0" FUN_PID "h\1a\1j"),
     BYTES("p\0\0\0\x44\1" UNIQUE "\xFF\xFF\xFF\xFF\0\0\0\2d\0\2mmb\xFF\xFF\xFF\xFF"
           "b\x01\0\0\0" FUN_PID "h\1a\1j")},
};

static void terms_are_read_and_written_as_by_the_beam(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof accepted / sizeof *accepted; i++) {
        struct bytes read = accepted[i].read;
        struct bytes written = accepted[i].written.size ? accepted[i].written : read;
        if (!is_encoded(decoded(read.data, read.size), &plain, written.data, written.size))
            fail_msg("%s: written otherwise", accepted[i].what);
        assert_int_equal(th_etf_skip((const unsigned char *)read.data, read.size), read.size);
    }
}

/* binary_to_term() of OTP 25 refuses all but those marked "differs", too. */
static const struct {
    const char *why; /* a part of the cause */
    struct bytes read;
} refused[] = {
    {"truncated at byte 0", BYTES("")},
    {"byte 0, tag 98 (INTEGER_EXT): truncated after 4 bytes", BYTES("b\0\0\0")},
    {"byte 2, tag 100 (ATOM_EXT): truncated after 3 bytes", BYTES("h\1d\0\1")},
    {"truncated at byte 6, where a tag is expected", BYTES("h\1h\1h\1")},
    {"truncated at byte 2, where a tag is expected", BYTES("h\1")},
    {"tag 0: there is no such tag", BYTES("\0")},
    {"byte 2, tag 255: there is no such tag", BYTES("h\1\xFF")},
    {"tag 117: OTP 23 and later cannot read funs", BYTES("u\0\0\0\0" FUN_PID "d\0\2mma\1a\1")},
    {"tag 121: a local term", BYTES("y\0\0\0\0\0\0\0\0a\1")},
    {"tag 82: atom cache references", BYTES("R\0")},
    {"tag 80: only a whole term can be compressed", BYTES("P\0\0\0\2")},
    {"tag 131: the version byte is not allowed here", BYTES("\x83h\1")},
    {"not finite", BYTES("F\x7F\xF0\0\0\0\0\0\0")},
    {"not finite", BYTES("F\xFF\xF8\0\0\0\0\0\1")},
    {"not finite", BYTES("c1.0e400\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0")},
    {"not a float", BYTES("c1\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0")},
    {"not a float", BYTES("cinf\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0")},
    {"not a float", BYTES("c1.5x\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0")},
    {"not a float", BYTES("c1.5e+\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0")},
    {"not a float", BYTES("c.5\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0")},
    {"not valid UTF-8", BYTES("w\2\xC0\x80")},
    {"not valid UTF-8", BYTES("w\3\xED\xA0\x80")},
    {"not valid UTF-8", BYTES("v\0\1\xC3")},
    {"1 bytes cannot have 9 bits", BYTES("M\0\0\0\1\x09\xFF")},
    {"1 bytes cannot have 0 bits", BYTES("M\0\0\0\1\0\xFF")},
    {"0 bytes cannot have 1 bits", BYTES("M\0\0\0\0\1")},
    {"a key is twice", BYTES("t\0\0\0\2a\1a\1a\1a\2")},
    {"a key is twice", BYTES("t\0\0\0\2l\0\0\0\1a\1ja\1k\0\1\1a\2")},
    {"byte 7, tag 116 (MAP_EXT): a key is twice", BYTES("h\2t\0\0\0\0t\0\0\0\2d\0\1aa\1d\0\1aa\1")},
    {"parts, more than the bytes", BYTES("h\6a\1a\2")},
    {"parts, more than the bytes", BYTES("i\xFF\xFF\xFF\xFFjjjjjjj")},
    {"parts, more than the bytes", BYTES("l\0\0\0\7jjj")},
    {"parts, more than the bytes", BYTES("t\0\0\0\4jjj")},
    {"truncated", BYTES("m\xFF\xFF\xFF\xFFx")},
    {"truncated", BYTES("k\0\2x")},
    {"truncated", BYTES("n\2\0\1")},
    {"truncated", BYTES("o\0\0\0\2\0\1")},
    {"an atom is expected here", BYTES("Xa\1\0\0\0\5\0\0\0\1\0\0\0\7")},
    {"byte 0, tag 88 (NEW_PID_EXT): truncated", BYTES("X" AB "\0\0\0\5\0\0\0\1\0\0\0")},
    {"byte 0, tag 88 (NEW_PID_EXT): truncated", BYTES("X")},
    {"the creation is 4, more than 3", BYTES("g" AB "\0\0\0\5\0\0\0\1\4")},
    {"the creation is 4, more than 3", BYTES("f" AB "\0\0\0\5\4")},
    {"the creation is 4, more than 3", BYTES("e" AB "\0\0\0\5\4")},
    {"the creation is 4, more than 3", BYTES("r\0\1" AB "\4\0\0\0\1")},
    {"the first word is 262144", BYTES("r\0\1" AB "\1\0\4\0\0")},
    {"the first word is 262144", BYTES("e" AB "\0\4\0\0\1")},
    {"1 to 5 words, not 6", BYTES("Z\0\6" AB "\0\0\0\7"
                                  "012345678901234567890123")},
    {"1 to 5 words, not 0", BYTES("Z\0\0" AB "\0\0\0\7")}, /* differs */
    {"the fun's arity", BYTES("qd\0\1ad\0\1bb\xFF\xFF\xFF\xFF")},
    {"the fun's arity", BYTES("qd\0\1ad\0\1bj")},
    {"the fun's arity", BYTES("qd\0\1ad\0\1bn\5\0\0\0\0\0\1")}, /* differs */
    {"an atom is expected here", BYTES("qd\0\1aa\1a\1")},
    {"byte 0, tag 113 (EXPORT_EXT): truncated", BYTES("qd\0\1a")},
    {"256 free variables",
     BYTES("p\0\0\0\0\1" UNIQUE "\0\0\0\2\0\0\1\0d\0\2mma\1a\1" FUN_PID "jjjj")},
    {"an atom is expected here",
     BYTES("p\0\0\0\0\1" UNIQUE "\0\0\0\2\0\0\0\0a\1a\1a\1" FUN_PID "jjjjj")},
    {"the fun's old index", BYTES("p\0\0\0\0\1" UNIQUE "\0\0\0\2\0\0\0\0d\0\2mmja\1" FUN_PID)},
    {"the fun's old index", BYTES("p\0\0\0\0\1" UNIQUE "\0\0\0\2\0\0\0\0d\0\2mma\1j" FUN_PID)},
    {"the fun's creator", BYTES("p\0\0\0\0\1" UNIQUE "\0\0\0\2\0\0\0\0d\0\2mma\1a\1j")},
};

static void malformed_terms_are_refused_with_the_cause(void **state)
{
    th_term t = TH_NONE;
    size_t used;

    (void)state;
    for (size_t i = 0; i < sizeof refused / sizeof *refused; i++) {
        struct bytes read = refused[i].read;
        assert_int_equal(decode(read.data, read.size, &plain, &t, &used), TH_MALFORMED);
        assert_term_equal(t, TH_NONE);
        if (!strstr(th_error_link(0), refused[i].why))
            fail_msg("row %zu: \"%s\" instead of \"%s\"", i, th_error_link(0), refused[i].why);
    }
}

static void every_truncated_term_is_refused(void **state)
{
    th_term t;
    size_t used;

    (void)state;
    for (size_t i = 0; i < sizeof accepted / sizeof *accepted; i++)
        for (size_t size = 0; size < accepted[i].read.size; size++) {
            const char *data = accepted[i].read.data;
            assert_int_equal(decode(data, size, &plain, &t, &used), TH_MALFORMED);
            assert_int_equal(th_etf_skip((const unsigned char *)data, size), 0);
        }
}

static void bytes_after_the_term_are_not_read(void **state)
{
    th_term t;
    size_t used;

    (void)state;
    assert_int_equal(decode("h\1a\1junk", 8, &plain, &t, &used), TH_OK);
    assert_int_equal(used, 4);
    assert_int_equal(th_etf_skip((const unsigned char *)"h\1a\1junk", 8), 4);
}

static void the_version_byte_is_required_on_request(void **state)
{
    struct th_buffer out = {0};
    size_t used = 0;
    th_term t;

    (void)state;
    assert_int_equal(th_etf_decode(&env,
                                   (const unsigned char *)"\x83"
                                                          "a\1",
                                   3, true, &plain, &t, &used),
                     TH_OK);
    assert_int_equal(used, 3);
    assert_term_equal(t, th_small(1));
    assert_int_equal(th_etf_encode(&out, t, true, &plain), TH_OK);
    assert_int_equal(out.size, 3);
    assert_memory_equal(out.data,
                        "\x83"
                        "a\1",
                        3);
    th_buffer_free(&out);

    assert_int_equal(th_etf_decode(&env, (const unsigned char *)"a\1", 2, true, &plain, &t, &used),
                     TH_MALFORMED);
    assert_string_equal(th_error_link(0), "external term: begins with byte 97 instead of 131");
    assert_int_equal(th_etf_decode(&env, (const unsigned char *)"", 0, true, &plain, &t, &used),
                     TH_MALFORMED);
    assert_int_equal(th_etf_decode(&env,
                                   (const unsigned char *)"\x83"
                                                          "h\1"
                                                          "b",
                                   4, true, &plain, &t, &used),
                     TH_MALFORMED);
    assert_string_equal(th_error_link(0),
                        "external term, byte 3, tag 98 (INTEGER_EXT): truncated after 1 bytes");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(terms_are_read_and_written_as_by_the_beam),
        TEST(malformed_terms_are_refused_with_the_cause),
        TEST(every_truncated_term_is_refused),
        TEST(bytes_after_the_term_are_not_read),
        TEST(the_version_byte_is_required_on_request),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
