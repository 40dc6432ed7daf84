/*
 * Decides most calls of simple specifications without a run. Most specifications use arguments
 * alone, each as a whole, compare them with constants, and have the same result for each match:
 * `[{'_',[],[{return_trace}]}]`, `[{['$1'],[{'>','$1',100}],[]}]`.
 *
 * The screen of a clause has those of its comparisons that a processor makes with one instruction.
 * The screen finds each argument for which the clause certainly fails, whatever else the clause
 * contains. If the clause contains nothing else, the screen also finds each match. Other calls need
 * a run.
 */
#include "match_internal.h"

#include <string.h>

enum { NOWHERE = UINT32_MAX };

/* --- Tests ------------------------------------------------------------------------------------ */

static void add_test(struct th_match_spec *spec, struct th_match_screen *screen,
                     struct th_match_screen_test test)
{
    TH_ARRAY_GROW(spec->tests, spec->test_count, spec->test_capacity);
    spec->tests[spec->test_count++] = test;
    screen->test_count++;
}

/* Exchanges the sides of a comparison. */
static uint8_t turn_round(uint8_t accepted)
{
    return (accepted & TH_MATCH_EQUAL) | (accepted & TH_MATCH_LESS ? TH_MATCH_GREATER : 0) |
           (accepted & TH_MATCH_GREATER ? TH_MATCH_LESS : 0);
}

/* True if words decide: a term equal to a constant that is immediate, and no integer, is identical
 * to it; but the words of other terms do not show their order. */
static bool can_test(th_term constant, uint32_t accepted)
{
    bool ordered = accepted != TH_MATCH_EQUAL && accepted != (TH_MATCH_LESS | TH_MATCH_GREATER);

    return th_is_small(constant) || (th_is_immediate(constant) && !ordered);
}

/* --- The clause ------------------------------------------------------------------------------- */

struct reader {
    struct th_match_spec *spec;
    struct th_match_screen *screen;
    const struct th_match_instruction *at;
    uint32_t *arguments; /* by variable: the argument that is its value; NOWHERE: its value is a
                            part of one */
};

/* Adds a test if the current element is a constant. True: the test covers the element. */
static bool read_constant(struct reader *r)
{
    const struct th_match_instruction *next = r->at + 1;
    th_term constant;

    if (next->code != TH_CODE_IDENTICAL)
        return false;
    constant = r->spec->constants[next->operand];
    if (!can_test(constant, TH_MATCH_EQUAL))
        return false;
    add_test(r->spec, r->screen,
             (struct th_match_screen_test){constant, r->at->level, TH_MATCH_EQUAL, false});
    r->at = next;
    return true;
}

/* True: the screen covers the head. */
static bool read_head(struct reader *r)
{
    bool whole = true;

    r->screen->most = UINT32_MAX;
    for (; r->at->code != TH_CODE_HEAD_DONE; r->at++)
        switch (r->at->code) {
        case TH_CODE_ARITY:
            r->screen->most = r->at->operand;
            /* fall through */
        case TH_CODE_ARITY_LEAST:
            r->screen->least = r->at->operand;
            break;
        case TH_CODE_BIND_ARGUMENT:
            r->arguments[r->at->operand] = r->at->level;
            break;
        case TH_CODE_ARGUMENT:
            whole &= read_constant(r);
            break;
        default:
            whole = false;
        }
    r->at++;
    return whole;
}

/* Adds a test if the guard is a call with CONSTANT and VARIABLE; IN_ORDER: the variable is the
 * first operand. */
static bool read_comparison(struct reader *r, const struct th_match_instruction *constant,
                            const struct th_match_instruction *variable, bool in_order)
{
    const struct th_match_function *f = &th_match_functions[r->at[2].operand];
    struct th_match_screen_test test;

    if (f->call != th_match_compare || constant->code != TH_CODE_CONSTANT ||
        variable->code != TH_CODE_VARIABLE || r->arguments[variable->operand] == NOWHERE)
        return false;
    test.constant = r->spec->constants[constant->operand];
    test.argument = r->arguments[variable->operand];
    if (!can_test(test.constant, f->accepts))
        return false;
    test.by_value = !f->exactly && th_is_small(test.constant);
    test.accepted = in_order ? f->accepts : turn_round(f->accepts);
    add_test(r->spec, r->screen, test);
    return true;
}

/* Operands are computed from the last to the first. */
static bool read_guard(struct reader *r)
{
    const struct th_match_instruction *at = r->at;
    bool read =
        at[1].code != TH_CODE_TEST && at[2].code == TH_CODE_CALL && at[3].code == TH_CODE_TEST &&
        (read_comparison(r, &at[0], &at[1], true) || read_comparison(r, &at[1], &at[0], false));

    while (r->at->code != TH_CODE_TEST)
        r->at++;
    r->at++;
    return read;
}

/* --- Bodies ----------------------------------------------------------------------------------- */

/* True if the result of I depends only on its operand: pushes a constant, drops a value, or calls
 * message, return_trace or exception_trace. */
static bool is_constant(const struct th_match_instruction *i)
{
    th_match_implementation *called =
        i->code == TH_CODE_CALL ? th_match_functions[i->operand].call : NULL;

    return i->code == TH_CODE_CONSTANT || i->code == TH_CODE_DROP || called == th_match_message ||
           called == th_match_return_trace || called == th_match_exception_trace;
}

/* True if the body, at r->at, has one constant result: constant messages, return_trace,
 * exception_trace. One run, of a clause without a head, computes it then. */
static bool read_body(struct reader *r, size_t clause)
{
    const struct th_match_subject nothing = {TH_NIL, NULL, 0};
    const struct th_match_surroundings nowhere = {NULL, NULL};
    struct th_match_spec alone = *r->spec;
    struct th_match_clause first = {0, 0};
    size_t length = 1;

    for (; r->at[length - 1].code != TH_CODE_END; length++)
        if (!is_constant(&r->at[length - 1]))
            return false;
    alone.code = th_alloc((length + 2) * sizeof *alone.code);
    alone.code[0] = (struct th_match_instruction){TH_CODE_HEAD_DONE, 0, 0};
    alone.code[1] = (struct th_match_instruction){TH_CODE_GUARDS_DONE, 0, 0};
    memcpy(alone.code + 2, r->at, length * sizeof *alone.code);
    alone.clauses = &first;
    alone.clause_count = 1;
    th_match_run(&alone, &nothing, &nowhere, &r->spec->env, &r->screen->result);
    r->screen->result.clause = clause + 1;
    th_free(alone.code);
    return true;
}

/* Sets the range of the only clause, which is whole, if its test accepts one. */
static void set_range(struct th_match_spec *spec, const struct th_match_screen *screen)
{
    const struct th_match_screen_test *test = &spec->tests[screen->first_test];
    int64_t constant = (int64_t)test->constant, from = constant, to = constant;

    /* No range: all but one word, or no word at all. */
    if (test->accepted == (TH_MATCH_LESS | TH_MATCH_GREATER) ||
        (test->accepted == TH_MATCH_LESS && constant == INT64_MIN) ||
        (test->accepted == TH_MATCH_GREATER && constant == INT64_MAX))
        return;
    if (test->accepted & TH_MATCH_LESS)
        from = INT64_MIN;
    else if (!(test->accepted & TH_MATCH_EQUAL))
        from = constant + 1;
    if (test->accepted & TH_MATCH_GREATER)
        to = INT64_MAX;
    else if (!(test->accepted & TH_MATCH_EQUAL))
        to = constant - 1;
    spec->range = (struct th_match_range){.within = &screen->result,
                                          .argument = test->argument,
                                          .least = screen->least,
                                          .more = screen->most - screen->least,
                                          .tag = test->by_value ? th_small(0) : 0,
                                          .from = (uint64_t)from,
                                          .span = (uint64_t)to - (uint64_t)from};
}

void th_match_make_screens(struct th_match_spec *spec)
{
    struct reader reader = {.spec = spec};
    bool whole;

    spec->screens = th_alloc_zero((spec->clause_count + 1) * sizeof *spec->screens);
    reader.arguments = th_alloc((spec->variables + 1) * sizeof *reader.arguments);
    for (size_t i = 0; i < spec->clause_count; i++) {
        for (size_t v = 0; v < spec->variables; v++)
            reader.arguments[v] = NOWHERE;
        reader.at = spec->code + spec->clauses[i].pc;
        reader.screen = &spec->screens[i];
        reader.screen->first_test = spec->test_count;
        whole = read_head(&reader);
        while (reader.at->code != TH_CODE_GUARDS_DONE)
            whole &= read_guard(&reader);
        reader.at++;
        reader.screen->whole = whole && read_body(&reader, i);
    }
    th_free(reader.arguments);
    reader.screen = &spec->screens[0];
    if (reader.screen->whole && reader.screen->test_count == 0 && reader.screen->least == 0 &&
        reader.screen->most == UINT32_MAX)
        spec->range.always = &reader.screen->result;
    else if (reader.screen->whole && spec->clause_count == 1 && reader.screen->test_count == 1)
        set_range(spec, reader.screen);
}

/* --- Interface of the room -------------------------------------------------------------------- */

enum verdict { FAILS, PASSES, UNSURE };

static inline enum verdict screen_clause(const struct th_match_spec *spec,
                                         const struct th_match_screen *screen,
                                         const th_term arguments[], size_t count)
{
    enum verdict all = screen->whole ? PASSES : UNSURE;

    if (count < screen->least || count > screen->most)
        return FAILS;
    for (size_t i = 0; i < screen->test_count; i++) {
        const struct th_match_screen_test *test = &spec->tests[screen->first_test + i];
        const th_term t = arguments[test->argument];
        const int64_t a = (int64_t)t, b = (int64_t)test->constant;
        uint32_t found = a < b ? TH_MATCH_LESS : a == b ? TH_MATCH_EQUAL : TH_MATCH_GREATER;

        if (test->by_value && !th_is_small(t))
            all = UNSURE;
        else if (!(test->accepted & found))
            return FAILS;
    }
    return all;
}

const struct th_match_result th_match_no = {.end = TH_MATCH_NO, .message = TH_AM(true)};

const struct th_match_result *th_match_quickly(const struct th_match_spec *spec,
                                               const th_term arguments[], size_t count)
{
    const struct th_match_screen *screen = spec->screens;

    if (spec->range.always)
        return spec->range.always;
    for (const struct th_match_screen *end = screen + spec->clause_count; screen < end; screen++) {
        enum verdict verdict = screen_clause(spec, screen, arguments, count);
        if (verdict != FAILS)
            return verdict == PASSES ? &screen->result : NULL;
    }
    return &th_match_no;
}
