/* Compares Erlang text, printed and parsed, with a real BEAM, by tests/oracle/text.escript. */
#include "host/base/base.h"
#include "host/term/term.h"
#include "tests/support/assertions.h"
#include "tests/support/beam.h"

#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define SCRIPT "escript tests/oracle/text.escript "

/* A pair that the script writes. */
struct pair {
    struct th_buffer term; /* external term; empty: refused */
    struct th_buffer text;
};

static bool read_bytes(FILE *from, struct th_buffer *to)
{
    unsigned char size[4];
    size_t bytes;

    if (fread(size, 1, sizeof size, from) != sizeof size)
        return false;
    bytes = (size_t)size[0] << 24 | (size_t)size[1] << 16 | (size_t)size[2] << 8 | size[3];
    to->size = 0;
    if (fread(th_buffer_reserve(to, bytes + 1), 1, bytes, from) != bytes)
        return false; /* the BEAM has ended */
    to->size = bytes;
    return true;
}

static th_term decode(th_env *env, const struct th_buffer *from)
{
    const struct th_etf_options options = {.here = {TH_AM(nonode), 0}};
    th_term t = TH_NONE;
    size_t used;

    if (th_etf_decode(env, from->data, from->size, true, &options, &t, &used) != TH_OK)
        fail_msg("%s", th_error_link(0));
    return t;
}

/* Runs CHECK on all pairs; returns their number. */
static size_t for_each(const char *command, void (*check)(th_env *env, const struct pair *pair))
{
    FILE *from = popen(command, "r");
    struct pair pair = {{0}, {0}};
    size_t count = 0;
    th_env env;

    assert_non_null(from);
    th_env_init(&env, TH_ENV_PLAIN);
    for (; read_bytes(from, &pair.term) && read_bytes(from, &pair.text); count++) {
        check(&env, &pair);
        th_env_clear(&env);
    }
    th_env_release(&env);
    th_buffer_free(&pair.term);
    th_buffer_free(&pair.text);
    assert_beam_ended(pclose(from), count);
    return count;
}

/* Compares TEXT with the printed term T. */
static void compare(th_term t, const struct th_buffer *text)
{
    struct th_buffer printed = {0};

    th_text_print(&printed, t);
    if (printed.size != text->size || memcmp(printed.data, text->data, text->size) != 0)
        fail_msg("printed %.*s, the BEAM has %.*s", (int)printed.size, printed.data,
                 (int)text->size, text->data);
    th_buffer_free(&printed);
}

static void prints_alike(th_env *env, const struct pair *pair)
{
    th_term t = decode(env, &pair->term);
    struct th_buffer exact = {0};
    bool carried = th_text_print_exact(&exact, t);
    th_term again;

    compare(t, &pair->text);
    th_buffer_free(&exact);
    if (!carried)
        return;
    if (th_text_parse(env, (char *)pair->text.data, pair->text.size, &again) != TH_OK)
        fail_msg("%s in %.*s", th_error_link(0), (int)pair->text.size, pair->text.data);
    if (!th_identical(t, again))
        fail_msg("not read back: %.*s", (int)pair->text.size, pair->text.data);
}

static void terms_print_as_the_beam_prints_them(void **state)
{
    (void)state;
    assert_order(for_each(SCRIPT "print 1 20000", prints_alike), >,
                 (beam_is_later() ? 1000 : 21000));
}

static void floats_print_as_the_beam_prints_them(void **state)
{
    (void)state;
    assert_order(for_each(SCRIPT "floats 1 40000", prints_alike), >, 50000);
}

static void parses_alike(th_env *env, const struct pair *pair)
{
    const struct th_buffer *text = &pair->text;
    enum th_status status;
    th_term t;

    status = th_text_parse(env, (char *)text->data, text->size, &t);
    if (pair->term.size == 0) {
        if (status == TH_OK)
            fail_msg("the BEAM does not read %.*s", (int)text->size, text->data);
        return;
    }
    if (status != TH_OK)
        fail_msg("%s in %.*s", th_error_link(0), (int)text->size, text->data);
    if (!th_identical(t, decode(env, &pair->term)))
        fail_msg("the BEAM reads %.*s differently", (int)text->size, text->data);
}

static void constants_are_read_as_the_beam_reads_them(void **state)
{
    (void)state;
    assert_order(for_each(SCRIPT "parse tests/oracle/constants.txt", parses_alike), >, 200);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(terms_print_as_the_beam_prints_them),
        cmocka_unit_test(floats_print_as_the_beam_prints_them),
        cmocka_unit_test(constants_are_read_as_the_beam_reads_them),
    };

    beam_of_machine();
    if (system("command -v escript >/dev/null") != 0) {
        puts("escript is not installed (Debian: erlang-base)");
        return 77;
    }
    return cmocka_run_group_tests(tests, NULL, NULL);
}
