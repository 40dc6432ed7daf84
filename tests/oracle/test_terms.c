/*
 * Compares order, identity and hashes of thousands of terms with a real BEAM. terms.erl writes the
 * terms and the BEAM's results; its head describes the file.
 */
#include "host/term/term.h"
#include "tests/support/assertions.h"
#include "tests/support/beam.h"

#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static th_env env;
static struct th_buffer file;
static size_t position; /* of the next read */

static size_t count;
static th_term *terms;
static uint32_t *phash2;
static uint32_t *order; /* numbers of all terms, in the BEAM's order */
static uint32_t *rank;  /* of each term; the same for terms that are == */
static uint32_t *first; /* of each term: the index of the first that is =:= */

static uint64_t next_random(uint64_t *seed)
{
    *seed ^= *seed >> 12;
    *seed ^= *seed << 25;
    *seed ^= *seed >> 27;
    return *seed * 0x2545F4914F6CDD1Du;
}

static const unsigned char *take(size_t bytes)
{
    assert_in_range(bytes, 0, file.size - position);
    position += bytes;
    return file.data + position - bytes;
}

static uint32_t take_number(void)
{
    const unsigned char *bytes = take(4);

    return (uint32_t)bytes[0] << 24 | (uint32_t)bytes[1] << 16 | (uint32_t)bytes[2] << 8 | bytes[3];
}

static th_term take_term(void)
{
    const struct th_etf_options options = {.here = {TH_AM(nonode), 0}};
    size_t size = take_number();
    size_t used;
    th_term t = TH_NONE;

    if (th_etf_decode(&env, take(size), size, true, &options, &t, &used) != TH_OK)
        fail_msg("%s", th_error_link(0));
    assert_int_equal(used, size);
    return t;
}

static void take_order(void)
{
    uint32_t ranks = 0;

    for (size_t i = 0; i < count; i++)
        order[i] = take_number();
    rank[order[0]] = 0;
    for (size_t i = 1; i < count; i++)
        rank[order[i]] = ranks += *take(1) == 0;
}

static void take_all(void)
{
    count = take_number();
    terms = th_alloc(count * sizeof *terms);
    phash2 = th_alloc(count * sizeof *phash2);
    order = th_alloc(count * sizeof *order);
    rank = th_alloc(count * sizeof *rank);
    first = th_alloc(count * sizeof *first);
    for (size_t i = 0; i < count; i++) {
        terms[i] = take_term();
        phash2[i] = take_number();
        first[i] = take_number();
    }
    take_order();
}

/* Makes a BEAM write the terms to a file, and reads the file. */
static int read_terms(void **state)
{
    char folder[] = "/tmp/terms-XXXXXX";
    char *command, *name;
    FILE *in;

    (void)state;
    assert_non_null(mkdtemp(folder));
    name = th_printf("%s/terms", folder);
    command = th_printf("erlc -o %s tests/oracle/terms.erl && erl -noshell -pa %s -eval "
                        "'terms:write(\"%s\"), halt().'",
                        folder, folder, name);
    assert_int_equal(system(command), 0);
    in = fopen(name, "rb");
    assert_non_null(in);
    while (!feof(in))
        file.size += fread(th_buffer_reserve(&file, 65536), 1, 65536, in);
    fclose(in);
    th_free(command);
    command = th_printf("rm -r %s", folder);
    assert_int_equal(system(command), 0);
    th_free(command);
    th_free(name);
    th_env_init(&env, TH_ENV_PLAIN);
    take_all();
    return 0;
}

static int forget_terms(void **state)
{
    (void)state;
    th_free(terms);
    th_free(phash2);
    th_free(order);
    th_free(rank);
    th_free(first);
    th_buffer_free(&file);
    th_env_release(&env);
    return 0;
}

static int sign(int64_t order_of_two)
{
    return (order_of_two > 0) - (order_of_two < 0);
}

static void assert_pair(uint32_t a, uint32_t b)
{
    int expected = sign((int64_t)rank[a] - rank[b]);
    bool identical = first[a] == first[b];

    if (sign(th_compare(terms[a], terms[b])) != expected)
        fail_msg("terms %u and %u are not in the BEAM's order, which is %d", a, b, expected);
    if (th_identical(terms[a], terms[b]) != identical ||
        (th_compare_exact(terms[a], terms[b]) == 0) != identical)
        fail_msg("terms %u and %u: the BEAM says identical: %d", a, b, identical);
    if (identical)
        assert_int_equal(th_internal_hash(terms[a], 0), th_internal_hash(terms[b], 0));
}

static void portable_hashes_equal_those_of_a_beam(void **state)
{
    (void)state;
    for (size_t i = 0; i < count; i++)
        if ((th_phash2(terms[i]) & ((1 << 27) - 1)) != phash2[i])
            fail_msg("term %zu: %u, not %u", i, th_phash2(terms[i]), phash2[i]);
}

static void neighbouring_terms_compare_as_in_a_beam(void **state)
{
    (void)state;
    for (size_t i = 0; i < count; i++)
        for (size_t k = i; k < count && k < i + 5; k++) {
            assert_pair(order[i], order[k]);
            assert_pair(order[k], order[i]);
        }
}

static void any_two_terms_compare_as_in_a_beam(void **state)
{
    uint64_t seed = 5;

    (void)state;
    for (int i = 0; i < 300000; i++)
        assert_pair(next_random(&seed) % count, next_random(&seed) % count);
}

static void keys_of_maps_have_the_same_order_as_in_a_beam(void **state)
{
    size_t start = position;
    size_t maps = take_number();

    (void)state;
    for (size_t i = 0; i < maps; i++) {
        size_t keys = take_number();
        uint32_t before = take_number();
        for (size_t k = 1; k < keys; k++) {
            uint32_t next = take_number();
            if (th_compare_exact(terms[before], terms[next]) >= 0)
                fail_msg("as keys, term %u comes before term %u", before, next);
            before = next;
        }
    }
    assert_int_equal(position, file.size);
    position = start;
}

static void copies_are_identical(void **state)
{
    th_env other;

    (void)state;
    th_env_init(&other, TH_ENV_PLAIN);
    for (size_t i = 0; i < count; i++)
        assert_term_identical(terms[i], th_copy(&other, terms[i]));
    th_env_release(&other);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(portable_hashes_equal_those_of_a_beam),
        cmocka_unit_test(neighbouring_terms_compare_as_in_a_beam),
        cmocka_unit_test(any_two_terms_compare_as_in_a_beam),
        cmocka_unit_test(keys_of_maps_have_the_same_order_as_in_a_beam),
        cmocka_unit_test(copies_are_identical),
    };

    beam_of_machine();
    if (system("command -v erl >/dev/null && command -v erlc >/dev/null") != 0) {
        puts("erl is not installed: order and hashes are not compared with a real BEAM");
        return 77;
    }
    return cmocka_run_group_tests(tests, read_terms, forget_terms);
}
