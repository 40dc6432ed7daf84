/*
 * Runs match specifications.
 *
 * The right side of an andalso or orelse whose left side is unknown is computed, too, inside a
 * frame: an exception in it ends the right side, not the clause, and actions in it are skipped.
 */
#include "match_internal.h"

#include "host/term/compare.h"
#include "host/term/make.h"
#include "host/term/map.h"

static const struct th_match_operations no_operations;

enum verdict { GOES_ON, FAILED };

static enum verdict fails_unless(bool condition)
{
    return condition ? GOES_ON : FAILED;
}

/* --- Heads ------------------------------------------------------------------------------------ */

/* Makes the clause undecided, and notes the first place that does so. */
static void doubt_clause(struct th_match_run *run, size_t pc)
{
    if (!run->undecided)
        run->doubtful = pc;
    run->undecided = true;
}

static th_term run_argument(const struct th_match_run *run, size_t i)
{
    return run->unknown ? TH_VALUE_UNKNOWN : run->arguments[i];
}

/* Runs the head's instructions from *PC to HEAD_DONE. *PC becomes the one that failed, or
 * HEAD_DONE. */
static enum verdict match_head(struct th_match_run *run, size_t *pc)
{
    const struct th_match_instruction *code = run->spec->code;
    enum verdict verdict = GOES_ON;
    th_term t = TH_NONE;

    for (; code[*pc].code != TH_CODE_HEAD_DONE; ++*pc) {
        const struct th_match_instruction *i = &code[*pc];
        switch (i->code) {
        case TH_CODE_ARITY:
            verdict = fails_unless(run->count == i->operand);
            break;
        case TH_CODE_ARITY_LEAST:
            verdict = fails_unless(run->count >= i->operand);
            break;
        case TH_CODE_ARGUMENT:
            t = run_argument(run, i->level);
            if (!th_match_value_known(t)) {
                doubt_clause(run, *pc);
                *pc = i->operand - 1;
            }
            break;
        case TH_CODE_BIND_ARGUMENT:
            run->variables[i->operand] = run_argument(run, i->level);
            break;
        case TH_CODE_IDENTICAL:
            verdict = fails_unless(th_identical(t, run->spec->constants[i->operand]));
            break;
        case TH_CODE_BIND:
            run->variables[i->operand] = t;
            break;
        case TH_CODE_SAME:
            if (th_match_value_known(run->variables[i->operand]))
                verdict = fails_unless(th_identical(t, run->variables[i->operand]));
            else
                doubt_clause(run, *pc);
            break;
        case TH_CODE_TUPLE:
            run->levels[i->level] = t;
            verdict = fails_unless(th_is_tuple(t) && th_tuple_arity(t) == i->operand);
            break;
        case TH_CODE_CELL:
            run->levels[i->level] = t;
            verdict = fails_unless(th_is_list(t));
            break;
        case TH_CODE_MAP:
            run->levels[i->level] = t;
            verdict = fails_unless(th_is_map(t) && th_map_size(t) >= i->operand);
            break;
        case TH_CODE_ELEMENT:
            t = th_tuple_elements(run->levels[i->level])[i->operand];
            break;
        case TH_CODE_LIST_HEAD:
            t = th_cell(run->levels[i->level])[0];
            break;
        case TH_CODE_LIST_TAIL:
            t = th_cell(run->levels[i->level])[1];
            break;
        default: /* TH_CODE_KEY */
            t = th_map_get(run->levels[i->level], run->spec->constants[i->operand]);
            verdict = fails_unless(t != TH_NONE);
        }
        if (verdict == FAILED)
            return FAILED;
    }
    return GOES_ON;
}

/* --- The stack -------------------------------------------------------------------------------- */

static void push_value(struct th_match_run *run, th_term t)
{
    *++run->top = t;
}

/* Pops COUNT values and pushes T. */
static void replace_values(struct th_match_run *run, size_t count, th_term t)
{
    run->top -= count;
    push_value(run, t);
}

/* Returns the value of a term made of the COUNT values on top, if one of them is unknown;
 * TH_VALUE_RAISED if all are known. */
static th_term unmade(const struct th_match_run *run, size_t count)
{
    th_term what = TH_VALUE_RAISED;

    for (size_t i = 0; i < count; i++) {
        th_term value = TH_OPERAND(run, i);
        if (th_match_value_may_raise(value))
            return TH_VALUE_UNSURE;
        if (!th_match_value_known(value) || th_match_is_partial(run, value))
            what = TH_VALUE_UNKNOWN;
    }
    return what;
}

/* Pops the parts of the term that instruction I makes, and pushes the term. */
static void make_value(struct th_match_run *run, const struct th_match_instruction *i)
{
    size_t count = i->operand;
    size_t parts = i->code == TH_CODE_MAKE_MAP    ? 2 * count
                   : i->code == TH_CODE_MAKE_LIST ? count + 1
                                                  : count;
    th_term *first = run->top + 1 - parts, t = unmade(run, parts);

    /* The parts are on the stack in reverse order: the array is reversed in place. The last value
     * of equal keys counts. */
    for (size_t left = 0; t == TH_VALUE_RAISED && left < parts / 2; left++) {
        th_term swapped = first[left];
        first[left] = first[parts - 1 - left];
        first[parts - 1 - left] = swapped;
    }
    if (t == TH_VALUE_RAISED && i->code == TH_CODE_MAKE_TUPLE) {
        t = th_make_tuple(run->env, first, count);
    } else if (t == TH_VALUE_RAISED && i->code == TH_CODE_MAKE_MAP) {
        t = th_make_map(run->env, first, first + count, count, true);
    } else if (t == TH_VALUE_RAISED) {
        t = first[0]; /* the tail; the last element comes next */
        for (size_t element = 1; element <= count; element++)
            t = th_make_cons(run->env, first[element], t);
    }
    replace_values(run, parts, t);
}

/* Returns the target as a list, which is made at the first call if there are only arguments. */
static th_term target_list(struct th_match_run *run)
{
    bool all = !run->unknown;
    th_term *cells;

    if (run->target != TH_NONE)
        return run->target;
    if (run->count == 0)
        return TH_NIL;
    cells = th_env_take(run->env, 2 * run->count);
    for (size_t i = 0; i < run->count; i++) {
        cells[2 * i] = run_argument(run, i);
        cells[2 * i + 1] = th_listed(cells + 2 * i + 2);
        all &= th_match_value_known(cells[2 * i]);
    }
    cells[2 * run->count - 1] = TH_NIL;
    if (!all) {
        run->partial = cells;
        run->partial_end = cells + 2 * run->count;
    }
    return run->target = th_listed(cells);
}

/* --- Guards and body -------------------------------------------------------------------------- */

/* Handles an exception at *PC, whose value is on top: in a body the value is the atom 'EXIT'; in a
 * guard the clause fails, or the rest of a right side is skipped. */
static enum verdict raise_in_clause(struct th_match_run *run, size_t *pc)
{
    uint64_t frame;

    if (run->body) {
        *run->top = TH_AM(EXIT);
        return GOES_ON;
    }
    if (run->depth == 0)
        return FAILED;
    frame = run->frames[run->depth - 1];
    run->top = run->stack + (frame & UINT32_MAX);
    push_value(run, TH_VALUE_RAISED);
    *pc = (frame >> 32) - 1;
    return GOES_ON;
}

/* The left side is on top; STOP is the value that decides. */
static enum verdict begin_right(struct th_match_run *run, size_t *pc, th_term stop)
{
    size_t join = run->spec->code[*pc].operand;
    th_term left = *run->top;

    if (left == stop || (left == TH_VALUE_NOT_TRUE && stop == TH_AM(false))) {
        *pc = join;
    } else if (!th_match_value_known(left)) {
        run->frames[run->depth++] = (uint64_t)join << 32 | (uint64_t)(run->top - run->stack);
    } else if (!th_match_value_is_truth(left)) {
        *run->top = TH_VALUE_RAISED;
        *pc = join;
        return raise_in_clause(run, pc);
    }
    return GOES_ON;
}

static void end_right(struct th_match_run *run, bool andalso)
{
    th_term right = run->top[0], left = run->top[-1];

    if (!th_match_value_known(left))
        run->depth--;
    replace_values(
        run, 2, andalso ? th_match_value_andalso(left, right) : th_match_value_orelse(left, right));
}

/* A guard's value is on top. */
static enum verdict test_guard(struct th_match_run *run, size_t pc)
{
    th_term value = *run->top--;

    if (value == TH_AM(true))
        return GOES_ON;
    if (!th_match_value_known(value) && value != TH_VALUE_NOT_TRUE) {
        doubt_clause(run, pc);
        return GOES_ON;
    }
    if (run->attempt)
        run->attempt->value = value == TH_VALUE_NOT_TRUE ? TH_VALUE_UNKNOWN : value;
    return FAILED;
}

/* Runs instructions from *PC to one with the code LAST. *PC becomes the one that failed, or the
 * last. */
static enum verdict evaluate_until(struct th_match_run *run, size_t *pc, enum th_match_code last)
{
    const struct th_match_instruction *code = run->spec->code;
    enum verdict verdict = GOES_ON;

    for (; code[*pc].code != last; ++*pc) {
        const struct th_match_instruction *i = &code[*pc];
        switch (i->code) {
        case TH_CODE_CONSTANT:
            push_value(run, run->spec->constants[i->operand]);
            break;
        case TH_CODE_VARIABLE:
            push_value(run, run->variables[i->operand]);
            break;
        case TH_CODE_TARGET:
            push_value(run, target_list(run));
            break;
        case TH_CODE_MAKE_TUPLE:
        case TH_CODE_MAKE_LIST:
        case TH_CODE_MAKE_MAP:
            make_value(run, i);
            break;
        case TH_CODE_CALL:
            run->operands = i->level;
            replace_values(run, i->level,
                           th_match_function_call(&th_match_functions[i->operand], run));
            if (*run->top == TH_VALUE_RAISED)
                verdict = raise_in_clause(run, pc);
            break;
        case TH_CODE_ANDALSO:
        case TH_CODE_ORELSE:
            verdict = begin_right(run, pc, th_match_value_truth(i->code == TH_CODE_ORELSE));
            break;
        case TH_CODE_JOIN_ANDALSO:
        case TH_CODE_JOIN_ORELSE:
            end_right(run, i->code == TH_CODE_JOIN_ANDALSO);
            break;
        case TH_CODE_TEST:
            verdict = test_guard(run, *pc);
            break;
        default: /* TH_CODE_DROP */
            run->top--;
        }
        if (verdict == FAILED)
            return FAILED;
    }
    return GOES_ON;
}

/* --- Clauses ---------------------------------------------------------------------------------- */

/* Returns the place of the instruction at PC in clause I (from 0). */
static struct th_match_place instruction_place(const struct th_match_spec *spec, size_t i,
                                               size_t pc)
{
    size_t end = i + 1 < spec->clause_count ? spec->clauses[i + 1].marks : spec->mark_count;
    const struct th_match_mark *mark = &spec->marks[spec->clauses[i].marks];

    while (mark + 1 < spec->marks + end && mark[1].pc <= pc)
        mark++;
    return (struct th_match_place){i + 1, mark->part, mark->item};
}

static enum th_match_end run_clause(struct th_match_run *run, size_t i)
{
    const struct th_match_spec *spec = run->spec;
    struct th_match_attempt *attempt = run->attempt;
    size_t pc = spec->clauses[i].pc;
    enum th_match_end end = TH_MATCH_NO;

    for (size_t v = 0; v < spec->variables; v++)
        run->variables[v] = TH_VALUE_UNKNOWN;
    run->undecided = run->body = false;
    run->top = run->stack - 1;
    run->depth = 0;

    /* Head and guards. PC becomes the instruction that fails, or the last of them. */
    if (attempt)
        attempt->value = TH_NONE;
    if (match_head(run, &pc) == GOES_ON) {
        pc++;
        if (attempt)
            attempt->value = TH_VALUE_RAISED; /* unless a test sets another value */
        if (evaluate_until(run, &pc, TH_CODE_GUARDS_DONE) == GOES_ON)
            end = run->undecided ? TH_MATCH_UNKNOWN : TH_MATCH_YES;
    }

    if (attempt) {
        attempt->end = end;
        if (end != TH_MATCH_NO)
            attempt->value = TH_NONE;
        if (end == TH_MATCH_YES)
            attempt->place = (struct th_match_place){i + 1, TH_MATCH_WHOLE, 0};
        else
            attempt->place = instruction_place(spec, i, end == TH_MATCH_NO ? pc : run->doubtful);
    }
    if (end == TH_MATCH_YES) {
        run->body = true;
        pc++;
        evaluate_until(run, &pc, TH_CODE_END);
    }
    return end;
}

/* --- Interface of the room -------------------------------------------------------------------- */

size_t th_match_explain(const struct th_match_spec *spec, const struct th_match_subject *subject,
                        const struct th_match_surroundings *surroundings, th_env *env,
                        struct th_match_result *result, struct th_match_attempt *attempts)
{
    th_term
        words[spec->arguments + spec->variables + spec->levels + spec->stack + spec->frames + 1];
    struct th_match_run run = {.spec = spec,
                               .operations = surroundings->operations,
                               .context = surroundings->context,
                               .env = env,
                               .result = result,
                               .target = subject->target};

    if (!run.operations)
        run.operations = &no_operations;
    run.variables = words + 1 + spec->arguments; /* the + 1 is for the top of an empty stack */
    run.levels = run.variables + spec->variables;
    run.stack = run.levels + spec->levels;
    run.frames = run.stack + spec->stack;
    if (subject->target != TH_NONE) { /* copies the first elements, as many as are used */
        run.arguments = words + 1;
        for (th_term t = run.target; th_is_list(t); t = th_cell(t)[1], run.count++)
            if (run.count < spec->arguments)
                words[1 + run.count] = th_cell(t)[0];
    } else {
        run.arguments = subject->arguments;
        run.count = subject->count;
        run.unknown = !subject->arguments;
    }
    *result = (struct th_match_result){.end = TH_MATCH_NO, .message = TH_AM(true)};

    /* Up to the first clause that does not certainly fail. */
    for (size_t i = 0; i < spec->clause_count; i++) {
        run.attempt = attempts ? &attempts[i] : NULL;
        result->end = run_clause(&run, i);
        if (result->end != TH_MATCH_NO)
            return result->clause = i + 1;
    }
    return spec->clause_count;
}

void th_match_run(const struct th_match_spec *spec, const struct th_match_subject *subject,
                  const struct th_match_surroundings *surroundings, th_env *env,
                  struct th_match_result *result)
{
    th_match_explain(spec, subject, surroundings, env, result, NULL);
}
