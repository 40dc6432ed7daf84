/* Tests terms as JSON values, and base64. */
#include "host/term/term.h"
#include "tests/support/assertions.h"

#include <ftw.h>
#include <fnmatch.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

static const struct th_etf_node no_node;
static th_env env;

static int start(void **state)
{
    (void)state;
    th_env_init(&env, TH_ENV_PLAIN);
    return 0;
}

static int end(void **state)
{
    (void)state;
    th_env_release(&env);
    th_error_clear();
    return 0;
}

static enum th_status read_json(const char *json, th_term *t)
{
    json_error_t error;
    json_t *value = json_loads(json, JSON_DECODE_ANY, &error);
    enum th_status status;

    if (!value)
        fail_msg("%s: %s", json, error.text);
    status = th_json_to_term(&env, value, &no_node, t);
    json_decref(value);
    return status;
}

static const char *text_of(th_term t)
{
    static struct th_buffer text;

    text.size = 0;
    th_text_print(&text, t);
    return th_buffer_text(&text);
}

/* A field, and its term as Erlang text. */
static void json_becomes_terms(void **state)
{
    static const char *const fields[][2] = {
        {"\"{ok,[1,2.5,'A b'],#{a => <<1:3>>}}\"", "{ok,[1,2.5,'A b'],#{a => <<1:3>>}}"},
        {"\"<0.79.0>\"", "<0.79.0>"},
        {"\"\\\"text\\\"\"", "\"text\""},
        {"12", "12"},
        {"-9223372036854775808", "-9223372036854775808"},
        {"1.5", "1.5"},
        {"1e3", "1.0e3"},
        {"true", "true"},
        {"false", "false"},
        {"null", "null"},
        {"[]", "[]"},
        {"{}", "#{}"},
        {"[1,\"ok\",[\"\"],{}]", "[1,<<\"ok\">>,[<<>>],#{}]"},
        {"{\"b\":1,\"a\":{\"c\":[null]}}", "#{<<\"a\">> => #{<<\"c\">> => [null]},<<\"b\">> => 1}"},
        {"{\"$etf\":\"g2EF\"}", "5"},
        {"[{\"$etf\":\"g2QAAm9r\"},\"$etf\"]", "[ok,<<\"$etf\">>]"},
        {"{\"$etf\":\"g2EF\",\"b\":1}", "#{<<\"$etf\">> => <<\"g2EF\">>,<<\"b\">> => 1}"},
    };

    (void)state;
    for (size_t i = 0; i < sizeof fields / sizeof *fields; i++) {
        th_term t = TH_NONE;
        if (read_json(fields[i][0], &t) != TH_OK)
            fail_msg("%s: %s", fields[i][0], th_error_link(0));
        assert_string_equal(text_of(t), fields[i][1]);
    }
}

static void zero_bytes_stay_in_strings(void **state)
{
    json_t *value = json_pack("[s%]", "a\0b", (size_t)3);
    const unsigned char *data;
    size_t size;
    th_term t;

    (void)state;
    assert_int_equal(th_json_to_term(&env, value, &no_node, &t), TH_OK);
    assert_true(th_get_bytes(th_cell(t)[0], &data, &size));
    assert_int_equal(size, 3);
    assert_memory_equal(data, "a\0b", 3);
    json_decref(value);
}

static void malformed_json_terms_are_refused_with_the_cause(void **state)
{
    static const struct {
        const char *json, *why;
    } wrong[] = {
        {"\"{ok\"", ""},
        {"\"\"", ""},
        {"{\"$etf\":5}", "the value of \"$etf\" must be a string"},
        {"{\"$etf\":\"g2E\"}", "base64, character 4: the text ends within a group"},
        {"{\"$etf\":\"g2E!\"}", "base64, character 4: not a character of base64"},
        {"{\"$etf\":\"\"}", "external term: there are no bytes"},
        {"{\"$etf\":\"g2EFAA==\"}", "1 bytes follow the external term"},
        {"[[{\"$etf\":\"gwA=\"}]]", "tag 0: there is no such tag"},
    };
    th_term t = TH_NONE;

    (void)state;
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        const char *why = NULL;
        assert_int_equal(read_json(wrong[i].json, &t), TH_MALFORMED);
        assert_term_equal(t, TH_NONE);
        for (size_t link = 0; th_error_link(link); link++)
            why = th_error_link(link); /* the first cause is the last link */
        if (!strstr(why, wrong[i].why))
            fail_msg("%s: \"%s\"", wrong[i].json, why);
    }
}

/* Returns COUNT nested arrays. */
static json_t *nested(int count)
{
    json_t *value = json_array();

    for (int i = 1; i < count; i++)
        value = json_pack("[o]", value);
    return value;
}

static void json_as_deep_as_jansson_allows_is_read(void **state)
{
    json_t *deep = nested(2048);
    char *text = json_dumps(deep, JSON_COMPACT);
    json_t *read = json_loads(text, 0, NULL);
    th_term t;

    (void)state;
    assert_non_null(read);
    assert_int_equal(th_json_to_term(&env, read, &no_node, &t), TH_OK);
    free(text);
    json_decref(read);
    deep = json_pack("[o]", deep);
    assert_int_equal(th_json_to_term(&env, deep, &no_node, &t), TH_MALFORMED);
    assert_string_equal(th_error_link(0), "JSON nested deeper than 2048");
    json_decref(deep);
}

/* Writes T as JSON and reads it back. */
static th_term there_and_back(th_term t, const struct th_etf_node *here, bool *as_text)
{
    struct th_buffer line = {0};
    th_term back = TH_NONE;
    json_t *read;
    char *dumped;

    assert_int_equal(th_json_add_term(&line, t, here), TH_OK);
    read = json_loads(th_buffer_text(&line), JSON_DECODE_ANY, NULL);
    assert_non_null(read);
    if (th_json_to_term(&env, read, here, &back) != TH_OK)
        fail_msg("%s: %s", th_buffer_text(&line), th_error_link(0));
    *as_text = json_is_string(read);
    /* The bytes are those that Jansson writes. */
    dumped = json_dumps(read, JSON_ENCODE_ANY | JSON_COMPACT);
    assert_string_equal(th_buffer_text(&line), dumped);
    free(dumped);
    json_decref(read);
    th_buffer_free(&line);
    return back;
}

static void terms_without_a_text_become_external_terms(void **state)
{
    const struct th_etf_node here = {th_atom("a@b"), 7};
    th_term node = th_atom("c@d");
    th_term terms[] = {
        th_make_pid(&env, node, 1, 2, 3),
        th_make_port(&env, node, 1, 2),
        th_make_tuple_of(&env, TH_AM(ok), th_make_pid(&env, node, 1, 2, 3), th_local_pid(5, 1)),
    };
    bool as_text;

    (void)state;
    for (size_t i = 0; i < sizeof terms / sizeof *terms; i++) {
        th_term back = there_and_back(terms[i], &here, &as_text);
        assert_false(as_text);
        assert_term_identical(terms[i], back);
    }
    assert_term_equal(there_and_back(th_local_pid(5, 1), &here, &as_text), th_local_pid(5, 1));
    assert_true(as_text);
}

static void a_word_that_is_no_term_is_refused(void **state)
{
    struct th_buffer out = {0};

    (void)state;
    th_buffer_add_text(&out, "before");
    assert_int_equal(th_json_add_term(&out,
                                      th_make_tuple_of(&env, TH_NONE,
                                                       th_make_pid(&env, th_atom("c@d"), 1, 2, 3)),
                                      &no_node),
                     TH_FAILED);
    assert_string_equal(th_buffer_text(&out), "before");
    th_buffer_free(&out);
}

/* Every character of ASCII, and some beyond. */
static void strings_have_the_escapes_of_jansson(void **state)
{
    char text[0x80 + 4];
    json_t *value;
    char *dumped;
    struct th_buffer out = {0};

    (void)state;
    for (int c = 0; c < 0x80; c++)
        text[c] = (char)c;
    memcpy(text + 0x80, "\xC3\xA9\xC2\x80", 4);
    value = json_stringn(text, sizeof text);
    dumped = json_dumps(value, JSON_ENCODE_ANY | JSON_COMPACT);
    th_json_add_string(&out, text, sizeof text);
    assert_string_equal(th_buffer_text(&out), dumped);
    json_decref(value);
    free(dumped);
    th_buffer_free(&out);
}

static size_t converted, texts;

static int convert_stream(const char *path, const struct stat *status, int kind)
{
    static const struct th_etf_options plain;
    unsigned char header[5];
    struct th_buffer payload = {0};
    struct th_buffer encoded = {0};
    FILE *file;

    (void)status;
    (void)kind;
    if (fnmatch("*.trace", path, 0) != 0)
        return 0;
    file = fopen(path, "rb");
    assert_non_null(file);
    while (fread(header, sizeof header, 1, file) == 1) {
        size_t used, size = (size_t)header[1] << 24 | header[2] << 16 | header[3] << 8 | header[4];
        th_term t;
        bool as_text;
        if (header[0] == 1 || fread(th_buffer_reserve(&payload, size), size, 1, file) != 1)
            continue;
        assert_int_equal(th_etf_decode(&env, payload.data, size, true, &plain, &t, &used), TH_OK);
        encoded.size = 0;
        th_etf_encode(&encoded, there_and_back(t, &no_node, &as_text), true, &plain);
        assert_int_equal(encoded.size, size);
        assert_memory_equal(encoded.data, payload.data, size);
        th_env_clear(&env);
        converted++;
        texts += as_text;
    }
    fclose(file);
    th_buffer_free(&payload);
    th_buffer_free(&encoded);
    return 0;
}

static void every_recorded_term_survives_json_byte_for_byte(void **state)
{
    (void)state;
    assert_int_equal(ftw("samples/recordings", convert_stream, 8), 0);
    assert_order(converted, >, 5000);
    print_message("%zu terms, %zu of them as text\n", converted, texts);
}

static void base64_is_encoded_and_decoded(void **state)
{
    static const char *const pairs[][2] = {
        {"", ""},
        {"f", "Zg=="},
        {"fo", "Zm8="},
        {"foo", "Zm9v"},
        {"foob", "Zm9vYg=="},
        {"fooba", "Zm9vYmE="},
        {"foobar", "Zm9vYmFy"},
        {"\xFB\xFF\xBF", "+/+/"},
    };

    (void)state;
    for (size_t i = 0; i < sizeof pairs / sizeof *pairs; i++) {
        struct th_buffer text = {0};
        struct th_buffer bytes = {0};
        th_json_base64_encode(&text, (const unsigned char *)pairs[i][0], strlen(pairs[i][0]));
        assert_string_equal(th_buffer_text(&text), pairs[i][1]);
        assert_int_equal(th_json_base64_decode(&bytes, pairs[i][1], strlen(pairs[i][1])), TH_OK);
        assert_string_equal(th_buffer_text(&bytes), pairs[i][0]);
        th_buffer_free(&text);
        th_buffer_free(&bytes);
    }
}

static void base64_in_other_than_its_one_form_is_refused(void **state)
{
    static const char *const wrong[] = {"Z",    "Zg",   "Zg=",  "Zg==Zg==", "====",   "Z===",
                                        "=Zg=", "Zh==", "Zm9=", "Zm9v\n",   "Zm 9v=", "Zm-_"};
    struct th_buffer out = {0};

    (void)state;
    th_buffer_add_text(&out, "before");
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        assert_int_equal(th_json_base64_decode(&out, wrong[i], strlen(wrong[i])), TH_MALFORMED);
        assert_string_equal(th_buffer_text(&out), "before");
    }
    th_buffer_free(&out);
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, start, end)
    const struct CMUnitTest tests[] = {
        TEST(json_becomes_terms),
        TEST(zero_bytes_stay_in_strings),
        TEST(malformed_json_terms_are_refused_with_the_cause),
        TEST(json_as_deep_as_jansson_allows_is_read),
        TEST(terms_without_a_text_become_external_terms),
        TEST(a_word_that_is_no_term_is_refused),
        TEST(strings_have_the_escapes_of_jansson),
        TEST(every_recorded_term_survives_json_byte_for_byte),
        TEST(base64_is_encoded_and_decoded),
        TEST(base64_in_other_than_its_one_form_is_refused),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
