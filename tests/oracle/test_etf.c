/*
 * Compares external terms with a real BEAM: the terms of terms.erl are encoded to the same bytes;
 * damaged ones (damage.erl) are refused alike, or decoded to the same terms.
 */
#include "host/term/term.h"
#include "tests/support/assertions.h"
#include "tests/support/beam.h"

#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static struct th_etf_options plain; /* options for a BEAM's encoding */
static struct th_buffer terms, damaged;
static th_env env;

static void read_file(struct th_buffer *to, const char *folder, const char *name)
{
    char *path = th_printf("%s/%s", folder, name);
    FILE *in = fopen(path, "rb");

    assert_non_null(in);
    while (!feof(in))
        to->size += fread(th_buffer_reserve(to, 65536), 1, 65536, in);
    fclose(in);
    th_free(path);
}

/* Makes a BEAM write both files. */
static int start(void **state)
{
    char folder[] = "/tmp/etf-XXXXXX";
    char *command;

    (void)state;
    assert_non_null(mkdtemp(folder));
    command = th_printf("cd tests/oracle && erlc -o %s terms.erl damage.erl && cd %s && "
                        "erl -noshell -eval 'terms:write(\"terms\"), "
                        "damage:write(\"terms\", \"damaged\"), halt().'",
                        folder, folder);
    assert_int_equal(system(command), 0);
    plain.utf8_atoms = beam_is_later();
    th_free(command);
    read_file(&terms, folder, "terms");
    read_file(&damaged, folder, "damaged");
    command = th_printf("rm -r %s", folder);
    assert_int_equal(system(command), 0);
    th_free(command);
    th_env_init(&env, TH_ENV_PLAIN);
    return 0;
}

static int end(void **state)
{
    (void)state;
    th_env_release(&env);
    th_buffer_free(&terms);
    th_buffer_free(&damaged);
    return 0;
}

static const unsigned char *take(struct th_buffer *file, size_t *at, size_t bytes)
{
    assert_in_range(bytes, 0, file->size - *at);
    *at += bytes;
    return file->data + *at - bytes;
}

static uint32_t take_number(struct th_buffer *file, size_t *at)
{
    const unsigned char *bytes = take(file, at, 4);

    return (uint32_t)bytes[0] << 24 | (uint32_t)bytes[1] << 16 | (uint32_t)bytes[2] << 8 | bytes[3];
}

static void terms_are_written_as_the_beam_writes_them(void **state)
{
    struct th_buffer out = {0};
    size_t at = 0;
    size_t count = take_number(&terms, &at);

    (void)state;
    for (size_t i = 0; i < count; i++) {
        size_t size = take_number(&terms, &at);
        const unsigned char *data = take(&terms, &at, size);
        size_t used;
        th_term t;
        if (th_etf_decode(&env, data, size, true, &plain, &t, &used) != TH_OK)
            fail_msg("term %zu: %s", i, th_error_link(0));
        assert_int_equal(used, size);
        assert_int_equal(th_etf_skip(data + 1, size - 1), size - 1);
        out.size = 0;
        assert_int_equal(th_etf_encode(&out, t, true, &plain), TH_OK);
        if (out.size != size || memcmp(out.data, data, size) != 0)
            fail_msg("term %zu is written otherwise", i);
        th_env_clear(&env);
        take(&terms, &at, 8); /* its hash, and the index of the first identical term */
    }
    th_buffer_free(&out);
}

/* True for the two errors that OTP 25 accepts; see etf.h. */
static bool differs_on_purpose(void)
{
    return strstr(th_error_link(0), "a reference has 1 to 5 words, not 0") ||
           strstr(th_error_link(0), "the fun's arity must be");
}

static void check_accepted(size_t i, const unsigned char *data, size_t size, size_t *at)
{
    size_t used_there = take_number(&damaged, at);
    size_t again_size = take_number(&damaged, at);
    const unsigned char *again = take(&damaged, at, again_size);
    size_t used = 0;
    th_term t, there;

    if (th_etf_decode(&env, data, size, true, &plain, &t, &used) != TH_OK) {
        if (!differs_on_purpose())
            fail_msg("number %zu is no error: %s", i, th_error_link(0));
        return;
    }
    assert_int_equal(used, used_there);
    assert_int_equal(th_etf_decode(&env, again, again_size, true, &plain, &there, &used), TH_OK);
    if (!th_identical(t, there))
        fail_msg("number %zu is another term", i);
}

static void damaged_terms_are_refused_where_the_beam_refuses_them(void **state)
{
    size_t at = 0;
    size_t count = take_number(&damaged, &at);
    size_t accepted = 0;

    (void)state;
    for (size_t i = 0; i < count; i++) {
        size_t size = take_number(&damaged, &at);
        const unsigned char *data = take(&damaged, &at, size);
        size_t used;
        th_term t;
        if (*take(&damaged, &at, 1) == 1) {
            check_accepted(i, data, size, &at);
            accepted++;
        } else if (th_etf_decode(&env, data, size, true, &plain, &t, &used) == TH_OK) {
            fail_msg("number %zu is refused by the BEAM", i);
        }
        th_env_clear(&env);
    }
    assert_int_equal(at, damaged.size);
    print_message("%zu damaged terms, %zu of them still terms\n", count, accepted);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(terms_are_written_as_the_beam_writes_them),
        cmocka_unit_test(damaged_terms_are_refused_where_the_beam_refuses_them),
    };

    beam_of_machine();
    if (system("command -v erl >/dev/null && command -v erlc >/dev/null") != 0) {
        puts("erl is not installed: external terms are not compared with a real BEAM");
        return 77;
    }
    return cmocka_run_group_tests(tests, start, end);
}
