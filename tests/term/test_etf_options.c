/* Tests options of external terms: atoms, the node that is "this node", and others. */
#include "etf_bytes.h"

/* The same bytes are local in one recording and foreign in another. */
static void identifiers_of_this_node_are_local(void **state)
{
    struct th_etf_options here = {.here = {th_atom("a@b"), 7}};
    static const char pid[] = "X" AB "\0\0\0\5\0\0\0\1\0\0\0\7";
    static const char port[] = "Y" AB "\0\0\0\5\0\0\0\7";
    static const char ref[] = "Z\0\1" AB "\0\0\0\7\0\0\0\1";
    struct th_ref_parts parts;
    th_term t;
    size_t used;

    (void)state;
    assert_int_equal(decode(pid, sizeof pid - 1, &here, &t, &used), TH_OK);
    assert_term_equal(t, th_local_pid(5, 1));
    assert_encoded(t, &here, pid, sizeof pid - 1);
    assert_int_equal(decode(port, sizeof port - 1, &here, &t, &used), TH_OK);
    assert_term_equal(t, th_local_port(5));
    assert_encoded(t, &here, port, sizeof port - 1);
    assert_int_equal(decode(ref, sizeof ref - 1, &here, &t, &used), TH_OK);
    assert_true(th_get_ref(t, &parts));
    assert_term_equal(parts.node, TH_NONE);
    assert_encoded(t, &here, ref, sizeof ref - 1);

    here.here.creation = 8;
    assert_int_equal(decode(pid, sizeof pid - 1, &here, &t, &used), TH_OK);
    assert_true(th_term_is(t, TH_EXTERNAL_PID));
    assert_encoded(t, &here, pid, sizeof pid - 1);
}

static void this_node_is_nonode_unless_set(void **state)
{
    static const char pid[] = "Xd\0\15nonode@nohost\0\0\0\5\0\0\0\1\0\0\0\0";
    static const char large[] = "Xd\0\15nonode@nohost\x10\0\0\5\0\0\0\1\0\0\0\0";
    th_term t = DECODED(pid);

    (void)state;
    assert_term_equal(t, th_local_pid(5, 1));
    assert_encoded(t, &plain, pid, sizeof pid - 1);
    t = DECODED(large);
    assert_true(th_term_is(t, TH_EXTERNAL_PID));
    assert_encoded(t, &plain, large, sizeof large - 1);
}

static void all_atom_tags_give_the_same_atom(void **state)
{
    (void)state;
    assert_term_equal(DECODED("d\0\2ok"), TH_AM(ok));
    assert_term_equal(DECODED("s\2ok"), TH_AM(ok));
    assert_term_equal(DECODED("v\0\2ok"), TH_AM(ok));
    assert_term_equal(DECODED("w\2ok"), TH_AM(ok));
    assert_int_equal(DECODED("d\0\1\xE9"), DECODED("w\2\xC3\xA9"));
    assert_int_not_equal(DECODED("d\0\2\xC3\xA9"), DECODED("w\2\xC3\xA9"));
    assert_int_not_equal(DECODED("d\0\2a\0"), DECODED("d\0\1a"));
}

/* Each length, each name twice in a row and between others: found in the table, then in the cache.
 * Names above 16 bytes differ only in the middle. */
static void atoms_of_every_length_are_read_and_written(void **state)
{
    unsigned char term[3 + TH_ATOM_CHARACTERS] = "d";
    th_term first[TH_ATOM_CHARACTERS + 1];

    (void)state;
    for (int round = 0; round < 3; round++)
        for (size_t length = 0; length <= TH_ATOM_CHARACTERS; length++) {
            th_term t;
            memset(term + 3, 'x', length);
            term[2] = (unsigned char)length;
            t = decoded(term, 3 + length);
            assert_term_equal(t, th_atom_latin1((const char *)term + 3, length));
            assert_term_equal(decoded(term, 3 + length), t);
            if (round == 0)
                first[length] = t;
            assert_term_equal(t, first[length]);
            if (length > 16) {
                term[3 + length / 2] = 'y';
                assert_int_not_equal(decoded(term, 3 + length), t);
            }
        }
}

static void atoms_that_are_too_long_are_refused(void **state)
{
    struct th_buffer latin1 = {0};
    struct th_buffer utf8 = {0};
    th_term t;
    size_t used;

    (void)state;
    th_buffer_add(&latin1, "d\1\0", 3);
    for (int i = 0; i < 256; i++)
        th_buffer_add_byte(&latin1, 'a');
    assert_int_equal(decode(latin1.data, latin1.size, &plain, &t, &used), TH_MALFORMED);
    assert_non_null(strstr(th_error_link(0), "the atom's name has 256 characters, more than 255"));

    th_buffer_add(&utf8, "v\1\xFE", 3); /* 255 characters of two bytes */
    for (int i = 0; i < 255; i++)
        th_buffer_add_text(&utf8, "\xD0\xB6");
    t = decoded(utf8.data, utf8.size);
    assert_encoded(t, &plain, utf8.data, utf8.size);
    utf8.data[1] = 2; /* followed by another character */
    utf8.data[2] = 0;
    th_buffer_add_text(&utf8, "\xD0\xB6");
    assert_int_equal(decode(utf8.data, utf8.size, &plain, &t, &used), TH_MALFORMED);
    th_buffer_free(&latin1);
    th_buffer_free(&utf8);
}

static void the_option_safe_refuses_new_atoms_only(void **state)
{
    const struct th_etf_options safe = {.safe = true};
    size_t atoms = th_atom_count();
    th_term t;
    size_t used;

    (void)state;
    assert_int_equal(decode("d\0\2ok", 5, &safe, &t, &used), TH_OK);
    assert_int_equal(decode("d\0\3\xE9zz", 6, &safe, &t, &used), TH_MALFORMED);
    assert_int_equal(decode("h\2d\0\2okw\6unseen", 15, &safe, &t, &used), TH_MALFORMED);
    assert_string_equal(th_error_link(0),
                        "external term, byte 7, tag 119 (SMALL_ATOM_UTF8_EXT): there is no atom of "
                        "this name, and no atom may be created");
    assert_int_equal(th_atom_count(), atoms);
    assert_term_equal(DECODED("w\6unseen"), th_atom("unseen"));
    assert_int_equal(decode("w\6unseen", 8, &safe, &t, &used), TH_OK);
}

static void the_option_utf8_atoms_writes_atoms_as_otp_26_does(void **state)
{
    const struct th_etf_options utf8 = {.utf8_atoms = true};
    struct th_buffer out = {0};
    char name[2 * 128];
    th_term t;

    (void)state;
    assert_encoded(TH_AM(ok), &utf8, "w\2ok", 4);
    assert_encoded(DECODED("d\0\1\xE9"), &utf8, "w\2\xC3\xA9", 4);
    assert_encoded(DECODED("X" AB "\0\0\0\5\0\0\0\1\0\0\0\7"), &utf8,
                   "Xw\3a@b\0\0\0\5\0\0\0\1\0\0\0\7", 18);
    assert_encoded(DECODED("Y" AB "\0\0\0\5\0\0\0\7"), &utf8, "xw\3a@b\0\0\0\0\0\0\0\5\0\0\0\7",
                   18);
    for (size_t i = 0; i < sizeof name; i += 2)
        memcpy(name + i, "\xC3\xA9", 2);
    t = th_atom_utf8(name, sizeof name);
    assert_int_equal(th_etf_encode(&out, t, false, &utf8), TH_OK);
    assert_int_equal(out.size, 3 + sizeof name);
    assert_memory_equal(out.data, "v\1\0", 3);
    th_buffer_free(&out);
}

static void words_that_are_no_terms_cannot_be_written(void **state)
{
    struct th_buffer out = {0};
    th_term words[3] = {th_header(TH_TUPLE, 2), TH_AM(ok), TH_NONE};

    (void)state;
    th_buffer_add_text(&out, "before");
    assert_int_equal(th_etf_encode(&out, TH_NONE, true, &plain), TH_FAILED);
    assert_int_equal(th_etf_encode(&out, th_boxed(words), true, &plain), TH_FAILED);
    words[2] = (th_term)TH_ATOM_LIMIT << 6 | TH_TAG_ATOM;
    assert_int_equal(th_etf_encode(&out, th_boxed(words), true, &plain), TH_FAILED);
    words[2] = words[0];
    assert_int_equal(th_etf_encode(&out, th_boxed(words), true, &plain), TH_FAILED);
    assert_int_equal(out.size, strlen("before"));
    th_buffer_free(&out);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(identifiers_of_this_node_are_local),
        TEST(this_node_is_nonode_unless_set),
        TEST(all_atom_tags_give_the_same_atom),
        TEST(atoms_of_every_length_are_read_and_written),
        TEST(atoms_that_are_too_long_are_refused),
        TEST(the_option_safe_refuses_new_atoms_only),
        TEST(the_option_utf8_atoms_writes_atoms_as_otp_26_does),
        TEST(words_that_are_no_terms_cannot_be_written),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
