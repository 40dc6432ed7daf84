/* Helpers for the tests of match specifications, which are given and compared as Erlang text. */
#ifndef TH_TESTS_MATCHING_H
#define TH_TESTS_MATCHING_H

#include "host/base/base.h"
#include "host/term/term.h"
#include "host/match/match.h"
#include "tests/support/assertions.h"

#include <stddef.h>
#include <string.h>

static th_env env;

static inline int begin(void **state)
{
    (void)state;
    th_env_init(&env, TH_ENV_PLAIN);
    return 0;
}

static inline int end(void **state)
{
    (void)state;
    th_env_release(&env);
    return 0;
}

static inline th_term parse(const char *text)
{
    th_term t = TH_NONE;

    if (th_text_parse(&env, text, strlen(text), &t) != TH_OK)
        fail_msg("%s in %s", th_error_link(0), text);
    return t;
}

static inline struct th_match_spec *compile(enum th_match_kind kind, const char *text)
{
    struct th_match_spec *spec;

    if (th_match_compile(kind, parse(text), NULL, &spec) != TH_OK)
        fail_msg("%s in %s", th_error_link(0), text);
    return spec;
}

/* Asserts that th_match_quickly(), if it has a result for known arguments, has that of the run. */
static inline void compare_quickly(const struct th_match_spec *spec,
                                   const struct th_match_subject *subject,
                                   const struct th_match_result *result)
{
    const struct th_match_result *quickly;

    for (size_t i = 0; i < subject->count; i++)
        if (subject->arguments[i] == TH_NONE)
            return;
    quickly = th_match_quickly(spec, subject->arguments, subject->count);
    if (!quickly)
        return;
    assert_int_equal(quickly->end, result->end);
    assert_int_equal(quickly->clause, result->clause);
    assert_int_equal(th_compare(quickly->message, result->message), 0);
    assert_int_equal(quickly->return_trace, result->return_trace);
    assert_int_equal(quickly->exception_trace, result->exception_trace);
    assert_int_equal(quickly->callers_unknown + quickly->unsure, 0);
    assert_int_equal(result->callers_unknown + result->unsure, 0);
}

/* Runs a specification on a list, in which the atom `unknown` stands for an unknown argument.
 * Returns the whole result as text: "no", "unknown 1", or "yes CLAUSE MESSAGE FLAGS...". The text
 * is valid until the next call. */
static inline const char *run_with(enum th_match_kind kind, const char *text, const char *list,
                                   const struct th_match_surroundings *surroundings)
{
    static struct th_buffer out;
    struct th_match_spec *spec = compile(kind, text);
    struct th_match_result result;
    th_term arguments[16], unknown = th_atom("unknown");
    struct th_match_subject subject = {.arguments = arguments};

    for (th_term l = parse(list); th_is_list(l); l = th_cell(l)[1])
        arguments[subject.count++] = th_cell(l)[0] == unknown ? TH_NONE : th_cell(l)[0];
    th_match_run(spec, &subject, surroundings, &env, &result);
    compare_quickly(spec, &subject, &result);
    out.size = 0;
    if (result.end == TH_MATCH_NO)
        th_buffer_add_text(&out, "no");
    else if (result.end == TH_MATCH_UNKNOWN)
        th_buffer_printf(&out, "unknown %zu", result.clause);
    else {
        th_buffer_printf(&out, "yes %zu ", result.clause);
        if (result.message == TH_NONE)
            th_buffer_add_text(&out, "?");
        else
            th_text_print(&out, result.message);
        th_buffer_add_text(&out, result.return_trace ? " return_trace" : "");
        th_buffer_add_text(&out, result.exception_trace ? " exception_trace" : "");
        if (result.callers_unknown)
            th_buffer_printf(&out, " callers unknown %u", result.callers_unknown);
        if (result.unsure)
            th_buffer_printf(&out, " unsure %u", result.unsure);
    }
    th_match_free(spec);
    return th_buffer_text(&out);
}

static inline const char *run(const char *text, const char *list)
{
    const struct th_match_surroundings nothing = {0};

    return run_with(TH_MATCH_CALL, text, list, &nothing);
}

#endif
