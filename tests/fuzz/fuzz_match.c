/*
 * Match specifications: whatever term is given as one is refused with a place, or runs on whatever
 * arguments; some of them unknown. The input is two terms of Erlang text: a byte that says the kind
 * and which arguments are unknown, the arguments, the specification.
 *
 * What is sure with unknown arguments is so with the known ones.
 */
#include "host/base/base.h"
#include "host/term/term.h"
#include "host/trace/trace.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

enum { ARGUMENTS = 16 };

static void check(bool good)
{
    if (!good)
        abort();
}

/* Answers nothing but the questions that tests of truth depend on. */
static th_term no(void *context)
{
    (void)context;
    return TH_AM(false);
}

static const struct th_match_operations operations = {.is_seq_trace = no, .is_silent = no};

static struct th_match_result run(const struct th_match_spec *spec, th_env *env,
                                  const th_term *arguments, size_t count)
{
    const struct th_match_subject subject = {.arguments = arguments, .count = count};
    const struct th_match_surroundings surroundings = {&operations, NULL};
    struct th_match_attempt *attempts =
        th_alloc((th_match_clause_count(spec) + 1) * sizeof *attempts);
    struct th_match_result result;
    size_t tried = th_match_explain(spec, &subject, &surroundings, env, &result, attempts);

    check(tried <= th_match_clause_count(spec));
    for (size_t i = 0; i < tried; i++) {
        check(th_match_part(spec, attempts[i].place) != TH_NONE);
        check((attempts[i].end == TH_MATCH_NO) == (i + 1 != result.clause));
    }
    th_free(attempts);
    return result;
}

/* A term can be printed; that it is whole shows then. */
static void look_at(th_term t)
{
    struct th_buffer text = {0};

    if (t != TH_NONE)
        th_text_print_limited(&text, t, 1000);
    th_buffer_free(&text);
}

static void match(const struct th_match_spec *spec, th_env *env, th_term list, uint8_t mask)
{
    th_term known[ARGUMENTS], some[ARGUMENTS];
    struct th_match_result sure, whole;
    size_t count = 0;

    for (; th_is_list(list) && count < ARGUMENTS; list = th_cell(list)[1], count++) {
        known[count] = th_cell(list)[0];
        some[count] = mask >> count % 6 & 1 ? TH_NONE : known[count];
    }
    whole = run(spec, env, known, count);
    sure = run(spec, env, mask & 64 ? NULL : some, count);
    look_at(whole.message);
    look_at(sure.message);
    if (sure.end != TH_MATCH_UNKNOWN && whole.end != TH_MATCH_UNKNOWN)
        check(sure.end == whole.end && sure.clause == whole.clause);
}

static void compile_and_match(th_env *env, th_term specification, th_term list, uint8_t control)
{
    struct th_match_faults faults = {0};
    struct th_match_spec *spec;
    enum th_match_kind kind = (enum th_match_kind)(control % 3);

    if (th_match_compile(kind, specification, &faults, &spec) == TH_OK) {
        check(faults.count == 0 && th_identical(th_match_source(spec), specification));
        match(spec, env, list, control / 3);
    } else {
        check(faults.count > 0 && !spec);
    }
    th_match_faults_free(&faults);
    th_match_free(spec);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    const char *text = (const char *)data + 1;
    th_term list, specification;
    size_t used;
    th_env env;

    if (size < 2)
        return 0;
    th_env_init(&env, TH_ENV_PLAIN);
    if (th_text_parse_prefix(&env, text, size - 1, &list, &used) == TH_OK &&
        th_text_parse(&env, text + used, size - 1 - used, &specification) == TH_OK)
        compile_and_match(&env, specification, list, data[0]);
    th_env_release(&env);
    return 0;
}
