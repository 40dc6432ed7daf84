/* Compares match specifications with a real BEAM: the results of erlang:match_spec_test/3 and
 * erlang:trace_pattern/3, by tests/oracle/match.escript. */
#include "host/base/base.h"
#include "host/match/match.h"
#include "host/term/term.h"
#include "host/trace/trace.h"
#include "tests/support/assertions.h"
#include "tests/support/beam.h"
#include "tests/support/skipping.h"

#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define SCRIPT "escript tests/oracle/match.escript "

static size_t beyond; /* cases with integers that are too large for the host */

static th_term read_term(FILE *from, th_env *env, struct th_buffer *bytes)
{
    const struct th_etf_options options = {.here = {TH_AM(nonode), 0}};
    unsigned char size[4];
    size_t count, used;
    th_term t = TH_NONE;

    if (fread(size, 1, sizeof size, from) != sizeof size)
        return TH_NONE;
    count = (size_t)size[0] << 24 | (size_t)size[1] << 16 | (size_t)size[2] << 8 | size[3];
    bytes->size = 0;
    if (fread(th_buffer_reserve(bytes, count), 1, count, from) != count)
        return TH_NONE; /* the BEAM has ended */
    if (th_etf_decode(env, bytes->data, count, true, &options, &t, &used) != TH_OK)
        fail_msg("%s", th_error_link(0));
    return t;
}

/* Runs CHECK on all terms that the script writes; returns their number. */
static size_t for_each(const char *command, void (*check)(th_env *env, const th_term *parts))
{
    FILE *from = popen(command, "r");
    struct th_buffer bytes = {0};
    size_t count = 0;
    th_env env;
    th_term t;

    assert_non_null(from);
    th_env_init(&env, TH_ENV_PLAIN);
    while ((t = read_term(from, &env, &bytes)) != TH_NONE) {
        check(&env, th_tuple_elements(t));
        th_env_clear(&env);
        count++;
    }
    th_env_release(&env);
    th_buffer_free(&bytes);
    assert_beam_ended(pclose(from), count);
    return count;
}

/* --- The surroundings in erlang:match_spec_test/3 --------------------------------------------- */

static th_term self(void *context)
{
    return *(th_term *)context;
}

static th_term node(void *context)
{
    (void)context;
    return TH_AM(nonode);
}

static th_term no_token(void *context, th_env *env)
{
    (void)context;
    (void)env;
    return TH_NIL;
}

static th_term is_no_token(void *context)
{
    (void)context;
    return TH_AM(false);
}

static th_term get_tcw(void *context, th_env *env)
{
    (void)context;
    (void)env;
    return th_small(0);
}

static th_term set_tcw(void *context, th_env *env, uint32_t value)
{
    (void)value;
    return get_tcw(context, env);
}

/* A BEAM returns the stack of the test, whose terms are not compared. */
static th_term stack(void *context, th_env *env, size_t depth)
{
    th_term frames = TH_NIL;

    (void)context;
    for (size_t i = 0; i < depth && i < 3; i++)
        frames = th_make_cons(env, TH_AM(undefined), frames);
    return frames;
}

static void silence(void *context, bool silent)
{
    (void)context;
    (void)silent;
}

static const struct th_match_operations operations = {
    .self = self,
    .node = node,
    .is_seq_trace = is_no_token,
    .get_seq_token = no_token,
    .get_tcw = get_tcw,
    .set_tcw = set_tcw,
    .silence = silence,
    .stack = stack,
};

/* --- Comparison ------------------------------------------------------------------------------- */

/* A BEAM truncates texts to this number of bytes. */
enum { BEAM_TEXT = 99 };

static th_term errors_term(th_env *env, const struct th_match_faults *faults)
{
    th_term list = TH_NIL;

    for (size_t i = faults->count; i-- > 0;) {
        const char *text = faults->items[i].text;
        size_t length = strnlen(text, BEAM_TEXT);
        th_term string = th_make_latin1_string(env, (const unsigned char *)text, length);
        list = th_make_cons(env, string, list);
    }
    return th_make_tuple_of(env, TH_AM(error), list);
}

static th_term result_term(th_env *env, const struct th_match_result *result)
{
    th_term flags = TH_NIL, message = result->message;

    if (result->end == TH_MATCH_NO)
        message = TH_AM(false);
    if (result->exception_trace)
        flags = th_make_cons(env, th_atom("exception_trace"), flags);
    if (result->return_trace)
        flags = th_make_cons(env, th_atom("return_trace"), flags);
    return th_make_tuple_of(env, TH_AM(ok), message, flags);
}

static bool meant; /* the results must differ */

static void compare(th_env *env, const th_term *parts, th_term ours)
{
    struct th_buffer text = {0}, theirs = {0};
    bool same;

    (void)env;
    th_text_print(&text, ours);
    th_text_print(&theirs, parts[3]);
    same = th_identical(ours, parts[3]) && text.size == theirs.size &&
           memcmp(text.data, theirs.data, text.size) == 0;
    if (same == meant) {
        struct th_buffer input = {0};
        th_text_print(&input, parts[1]);
        th_buffer_add_text(&input, " with ");
        th_text_print(&input, parts[2]);
        fail_msg("%s: %s, the BEAM has %s", th_buffer_text(&input), th_buffer_text(&text),
                 th_buffer_text(&theirs));
    }
    th_buffer_free(&text);
    th_buffer_free(&theirs);
}

/* {Self, Arguments, Specification, Result} */
static void matches_alike(th_env *env, const th_term *parts)
{
    struct th_match_subject subject = {.target = parts[1]};
    th_term pid = parts[0];
    struct th_match_surroundings surroundings = {&operations, &pid};
    struct th_match_faults faults = {0};
    struct th_match_result result;
    struct th_match_spec *spec;

    if (th_match_compile(TH_MATCH_CALL, parts[2], &faults, &spec) != TH_OK) {
        compare(env, parts, errors_term(env, &faults));
    } else {
        th_match_run(spec, &subject, &surroundings, env, &result);
        if (result.end == TH_MATCH_UNKNOWN || result.message == TH_NONE)
            beyond++;
        else
            compare(env, parts, result_term(env, &result));
    }
    th_match_faults_free(&faults);
    th_match_free(spec);
}

static void written_specifications_match_as_in_a_beam(void **state)
{
    (void)state;
    beyond = 0;
    assert_order(for_each(SCRIPT "cases", matches_alike), >, 300);
    assert_int_equal(beyond, 0);
}

static void assert_many(size_t count)
{
    assert_in_range(count, beam_is_later() ? 1000 : 20000, 20000);
}

static void random_specifications_match_as_in_a_beam(void **state)
{
    (void)state;
    beyond = 0;
    assert_many(for_each(SCRIPT "random 1 20000", matches_alike));
    if (!emulated()) { /* which takes up to half a minute for each seed */
        assert_many(for_each(SCRIPT "random 2 20000", matches_alike));
        assert_many(for_each(SCRIPT "random 4 20000", matches_alike));
    }
    assert_order(beyond, <, 20);
}

/* Compares the texts of faults and their order. */
static void broken_specifications_fail_as_in_a_beam(void **state)
{
    (void)state;
    beyond = 0;
    assert_many(for_each(SCRIPT "broken 1 20000", matches_alike));
    if (!emulated())
        assert_many(for_each(SCRIPT "broken 2 20000", matches_alike));
    assert_order(beyond, <, 20);
}

/* The differences are those in the table of tracehost(7); OTP 25 has none. */
static void later_releases_differ_only_as_documented(void **state)
{
    (void)state;
    meant = true;
    for_each(SCRIPT "differences", matches_alike);
    meant = false;
}

/* --- Unknown arguments ------------------------------------------------------------------------ */

/* Runs the specification on the arguments. */
static struct th_match_result run(const struct th_match_spec *spec, th_env *env, th_term *pid,
                                  const th_term *arguments, size_t count)
{
    const struct th_match_subject subject = {.arguments = arguments, .count = count};
    struct th_match_surroundings surroundings = {&operations, pid};
    struct th_match_result result;

    th_match_run(spec, &subject, &surroundings, env, &result);
    return result;
}

static size_t decided, undecided;

/* Asserts that SURE, a result with unknown arguments, is also right with known ones. */
static void assert_holds(const struct th_match_result *sure, const struct th_match_result *known,
                         th_term spec)
{
    bool good = sure->end == known->end && sure->clause == known->clause;

    if (good && sure->end == TH_MATCH_YES && sure->message != TH_NONE)
        good = th_identical(sure->message, known->message);
    if (good && sure->end == TH_MATCH_YES && !sure->unsure)
        good = sure->return_trace == known->return_trace;
    if (!good) {
        struct th_buffer text = {0};
        th_text_print(&text, spec);
        fail_msg("guessed: %s", th_buffer_text(&text));
    }
}

/* Hides some arguments: a certain result must hold for any values of these. */
static void never_guesses(th_env *env, const th_term *parts)
{
    static unsigned turn;
    const th_term others[] = {th_small(1),
                              th_small(-3),
                              TH_AM(true),
                              TH_AM(false),
                              th_atom("a"),
                              TH_NIL,
                              parts[1],
                              parts[0],
                              th_make_float(env, 1.0),
                              parts[2],
                              th_make_tuple_of(env, th_atom("a"), TH_NIL)};
    enum { OTHERS = sizeof others / sizeof others[0], MOST = 8 };
    th_term arguments[MOST], hidden[MOST], pid = parts[0];
    struct th_match_result sure, known;
    struct th_match_spec *spec;
    unsigned mask = ++turn;
    size_t count = 0;

    if (th_match_compile(TH_MATCH_CALL, parts[2], NULL, &spec) != TH_OK)
        return;
    for (th_term l = parts[1]; th_is_list(l) && count < MOST; l = th_cell(l)[1], count++) {
        arguments[count] = th_cell(l)[0];
        hidden[count] = mask >> count & 1 ? TH_NONE : arguments[count];
    }
    sure = run(spec, env, &pid, mask % 16 == 15 ? NULL : hidden, count);
    decided += sure.end != TH_MATCH_UNKNOWN;
    undecided += sure.end == TH_MATCH_UNKNOWN;
    for (size_t i = 0; i <= OTHERS && sure.end != TH_MATCH_UNKNOWN; i++) {
        known = run(spec, env, &pid, arguments, count);
        if (known.end != TH_MATCH_UNKNOWN)
            assert_holds(&sure, &known, parts[2]);
        for (size_t k = 0; k < count; k++)
            if (hidden[k] == TH_NONE && i < OTHERS)
                arguments[k] = others[(i + k * mask) % OTHERS];
    }
    th_match_free(spec);
}

static void unknown_arguments_are_never_guessed(void **state)
{
    (void)state;
    assert_many(for_each(SCRIPT "random 5 20000", never_guesses));
    print_message("%zu decided, %zu not\n", decided, undecided);
    assert_true(decided > 2000 && undecided > 2000);
}

/* {Kind, Specification, ok | badarg} */
static void accepted_alike(th_env *env, const th_term *parts)
{
    enum th_match_kind kind = parts[0] == TH_AM(call)   ? TH_MATCH_CALL
                              : parts[0] == TH_AM(send) ? TH_MATCH_SEND
                                                        : TH_MATCH_RECEIVE;
    struct th_match_spec *spec;
    bool good = th_match_compile(kind, parts[1], NULL, &spec) == TH_OK;

    (void)env;
    if (good != (parts[2] == TH_AM(ok))) {
        struct th_buffer text = {0};
        th_text_print(&text, parts[1]);
        fail_msg("%s for %s: %s", th_buffer_text(&text), th_atom_name(parts[0])->text,
                 good ? "accepted" : th_error_link(0));
    }
    th_match_free(spec);
}

static void each_kind_accepts_the_same_functions_as_in_a_beam(void **state)
{
    (void)state;
    assert_order(for_each(SCRIPT "kinds", accepted_alike), >, 2000);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(later_releases_differ_only_as_documented),
        cmocka_unit_test(written_specifications_match_as_in_a_beam),
        cmocka_unit_test(random_specifications_match_as_in_a_beam),
        cmocka_unit_test(broken_specifications_fail_as_in_a_beam),
        cmocka_unit_test(unknown_arguments_are_never_guessed),
        cmocka_unit_test(each_kind_accepts_the_same_functions_as_in_a_beam),
    };

    beam_of_machine();
    if (system("command -v escript >/dev/null") != 0) {
        puts("no escript (Debian: erlang-base)");
        return 77;
    }
    return cmocka_run_group_tests(tests, NULL, NULL);
}
