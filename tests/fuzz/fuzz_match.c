/*
 * Fuzzes match specifications: any term is refused with a place, or runs on any arguments, of which
 * some may be unknown.
 * // The first byte selects the kind and the unknown arguments. The arguments and the specification
 * follow, as two terms of Erlang text or, after a '!', as steps that build terms. A result that is
 * certain with unknown arguments must be the same with known ones, and a result without a run must
 * be the same as with one.
 */
#include "host/base/base.h"
#include "host/match/match.h"
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

/* Returns false for each question that a guard can ask. */
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

/* Prints a term, which touches all of the term. */
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
    const struct th_match_result *quickly;
    struct th_match_result sure, whole;
    size_t count = 0;

    for (; th_is_list(list) && count < ARGUMENTS; list = th_cell(list)[1], count++) {
        known[count] = th_cell(list)[0];
        some[count] = mask >> count % 6 & 1 ? TH_NONE : known[count];
    }
    whole = run(spec, env, known, count);
    quickly = th_match_quickly(spec, known, count);
    check(!quickly || (quickly->end == whole.end && quickly->clause == whole.clause &&
                       th_compare(quickly->message, whole.message) == 0 &&
                       quickly->return_trace == whole.return_trace &&
                       quickly->exception_trace == whole.exception_trace));
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

/* --- Terms built in steps --------------------------------------------------------------------- */

enum { STACK = 64 };

/* Words with a meaning in specifications, and values. */
static const char *const words[] = {
    "true",     "false",
    "a",        "$1",
    "$2",       "$3",
    "$_",       "$$",
    "_",        "is_atom",
    "is_list",  "is_tuple",
    "is_map",   "is_record",
    "and",      "or",
    "andalso",  "orelse",
    "not",      "xor",
    "==",       "=:=",
    "=/=",      "<",
    ">=",       "max",
    "element",  "hd",
    "tl",       "length",
    "size",     "map_get",
    "map_size", "is_map_key",
    "bit_size", "binary_part",
    "abs",      "round",
    "floor",    "+",
    "-",        "*",
    "/",        "div",
    "rem",      "band",
    "bxor",     "bnot",
    "bsl",      "bsr",
    "message",  "caller",
    "const",    "return_trace",
    "display",  "set_tcw",
    "silent",   "trace",
    "self",     "current_stacktrace",
    "is_pid",   "enable_trace",
    "node",     "exception_trace",
};

struct builder {
    th_env *env;
    th_term stack[STACK];
    size_t count;
};

static th_term pop(struct builder *b)
{
    return b->count ? b->stack[--b->count] : TH_NIL;
}

/* Pops COUNT elements; the last one is on top. */
static th_term pop_many(struct builder *b, size_t count, bool tuple)
{
    th_term elements[8];

    for (size_t i = count; i-- > 0;)
        elements[i] = pop(b);
    return tuple ? th_make_tuple(b->env, elements, count) : th_make_list(b->env, elements, count);
}

static th_term number(struct builder *b, unsigned choice)
{
    switch (choice) {
    case 0:
        return th_make_float(b->env, -2.5);
    case 1:
        return th_make_uint64(b->env, UINT64_MAX);
    case 2:
        return th_number_shift_left(b->env, th_small(-3), th_small(1000));
    case 3:
        return th_make_binary(b->env, "abc", 3);
    default:
        return th_small((int64_t)choice - 6);
    }
}

static th_term step(struct builder *b, uint8_t byte)
{
    th_term a, c;

    if (byte < 128)
        return th_atom(words[byte % (sizeof words / sizeof words[0])]);
    switch (byte >> 4 & 7) {
    case 0:
        return number(b, byte & 15);
    case 1:
        return pop_many(b, byte & 3, false);
    case 2: /* {{...}} */
        a = pop_many(b, byte & 3, true);
        return th_make_tuple(b->env, &a, 1);
    case 3:
        a = pop(b);
        c = pop(b);
        return th_make_cons(b->env, c, a);
    case 4:
        a = pop(b);
        c = pop(b);
        return th_make_map(b->env, &a, &c, 1, true);
    default:
        return pop_many(b, 1 + (byte & 3), true);
    }
}

/* Uses the last three terms as head, guard and body, and the one before as arguments. */
static void build_and_match(th_env *env, const uint8_t *data, size_t size, uint8_t control)
{
    struct builder b = {.env = env};
    th_term parts[3], clauses[2], anything[3] = {TH_AM(anything), TH_NIL, TH_NIL};

    for (size_t i = 0; i < size && i < 4096; i++) {
        th_term t = step(&b, data[i]);
        if (b.count < STACK)
            b.stack[b.count++] = t;
    }
    for (size_t i = 3; i-- > 0;)
        parts[i] = pop(&b);
    parts[1] = th_is_list(parts[1]) ? parts[1] : th_make_list(env, &parts[1], 1);
    parts[2] = th_make_list(env, &parts[2], 1);
    clauses[0] = th_make_tuple(env, parts, 3);
    clauses[1] = th_make_tuple(env, anything, 3);
    compile_and_match(env, th_make_list(env, clauses, 2), pop(&b), control);
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
    if (data[1] == '!')
        build_and_match(&env, data + 2, size - 2, data[0]);
    else if (th_text_parse_prefix(&env, text, size - 1, &list, &used) == TH_OK &&
             th_text_parse(&env, text + used, size - 1 - used, &specification) == TH_OK)
        compile_and_match(&env, specification, list, data[0]);
    th_env_release(&env);
    return 0;
}
