/* Compiles match specifications: the list of clauses, their three parts, and the needs of a run. */
#include "match_internal.h"

#include "host/term/text.h"

#include <string.h>

/* --- Code ------------------------------------------------------------------------------------- */

size_t th_match_emit(struct th_match_compiler *c, enum th_match_code code, size_t level,
                     size_t operand)
{
    struct th_match_spec *spec = c->spec;

    TH_ARRAY_GROW(spec->code, spec->code_count, spec->code_capacity);
    spec->code[spec->code_count] = (struct th_match_instruction){
        .code = (uint16_t)code, .level = (uint16_t)level, .operand = (uint32_t)operand};
    return spec->code_count++;
}

size_t th_match_constant(struct th_match_compiler *c, th_term t)
{
    struct th_match_spec *spec = c->spec;

    TH_ARRAY_GROW(spec->constants, spec->constant_count, spec->constant_capacity);
    spec->constants[spec->constant_count] = t;
    return spec->constant_count++;
}

void th_match_mark(struct th_match_compiler *c, enum th_match_part part, size_t item)
{
    struct th_match_spec *spec = c->spec;

    c->place.part = part;
    c->place.item = item;
    TH_ARRAY_GROW(spec->marks, spec->mark_count, spec->mark_capacity);
    spec->marks[spec->mark_count++] =
        (struct th_match_mark){(uint32_t)spec->code_count, part, (uint32_t)item};
}

/* --- Variables -------------------------------------------------------------------------------- */

bool th_match_variable_number(th_term t, uint32_t *number)
{
    enum { DIGITS = 9 };
    const char *digits;

    if (!th_is_atom(t))
        return false;
    digits = th_atom_name(t)->text;
    if (*digits++ != '$' || !*digits || strlen(digits) > DIGITS || (*digits == '0' && digits[1]))
        return false;
    for (*number = 0; *digits >= '0' && *digits <= '9'; digits++)
        *number = 10 * *number + (uint32_t)(*digits - '0');
    return !*digits;
}

/* Returns the index of the number among the clause's variables, or the index for its insertion. */
static size_t variable_index(const struct th_match_compiler *c, uint32_t number)
{
    size_t low = 0, high = c->variable_count;

    while (low < high) {
        size_t middle = (low + high) / 2;
        if (c->variables[middle].number < number)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

const struct th_match_variable *th_match_find_variable(const struct th_match_compiler *c,
                                                       uint32_t number)
{
    size_t i = variable_index(c, number);

    return i < c->variable_count && c->variables[i].number == number ? &c->variables[i] : NULL;
}

void th_match_add_variable(struct th_match_compiler *c, uint32_t number, uint32_t slot)
{
    size_t i = variable_index(c, number);

    if (c->variable_count == TH_MATCH_SLOTS) { /* bounds the time of the insertions */
        th_match_add_fault(c, TH_NONE, "It is too large: more than %d variables.", TH_MATCH_SLOTS);
        return;
    }
    TH_ARRAY_GROW(c->variables, c->variable_count, c->variable_capacity);
    memmove(c->variables + i + 1, c->variables + i, (c->variable_count - i) * sizeof *c->variables);
    c->variables[i] = (struct th_match_variable){number, slot};
    c->variable_count++;
}

/* --- Needs of a run --------------------------------------------------------------------------- */

/* Returns the change of the stack's height by an instruction. */
static long stack_growth(const struct th_match_instruction *i)
{
    switch (i->code) {
    case TH_CODE_CONSTANT:
    case TH_CODE_VARIABLE:
    case TH_CODE_TARGET:
        return 1;
    case TH_CODE_MAKE_TUPLE:
        return 1 - (long)i->operand;
    case TH_CODE_MAKE_LIST:
        return -(long)i->operand;
    case TH_CODE_MAKE_MAP:
        return 1 - 2 * (long)i->operand;
    case TH_CODE_CALL:
        return 1 - (long)i->level;
    case TH_CODE_JOIN_ANDALSO:
    case TH_CODE_JOIN_ORELSE:
    case TH_CODE_TEST:
    case TH_CODE_DROP:
        return -1;
    default:
        return 0;
    }
}

static size_t larger(size_t a, size_t b)
{
    return a > b ? a : b;
}

/* Measures the needs of the clause that ends here. */
static void measure_needs(struct th_match_compiler *c)
{
    struct th_match_spec *spec = c->spec;
    size_t height = 0, frames = 0;

    spec->variables = larger(spec->variables, c->slots);
    for (size_t pc = spec->clauses[spec->clause_count - 1].pc; pc < spec->code_count; pc++) {
        const struct th_match_instruction *i = &spec->code[pc];
        height = (size_t)((long)height + stack_growth(i));
        frames += i->code == TH_CODE_ANDALSO || i->code == TH_CODE_ORELSE;
        frames -= i->code == TH_CODE_JOIN_ANDALSO || i->code == TH_CODE_JOIN_ORELSE;
        spec->stack = larger(spec->stack, height);
        spec->frames = larger(spec->frames, frames);
        if (i->code >= TH_CODE_TUPLE && i->code <= TH_CODE_MAP)
            spec->levels = larger(spec->levels, i->level + (size_t)1);
        if (i->code == TH_CODE_ARGUMENT || i->code == TH_CODE_BIND_ARGUMENT)
            spec->arguments = larger(spec->arguments, i->level + (size_t)1);
    }

    c->place.part = TH_MATCH_WHOLE;
    if (spec->arguments + spec->variables + spec->levels + spec->stack + spec->frames >
        TH_MATCH_SLOTS)
        th_match_add_fault(c, TH_NONE, "It is too large: a run would need more than %d words.",
                           TH_MATCH_SLOTS);
}

/* --- Clauses ---------------------------------------------------------------------------------- */

/* Compiles the guards or the body. LAST is the instruction after each item. */
static void compile_items(struct th_match_compiler *c, th_term list, enum th_match_part part,
                          enum th_match_code last)
{
    c->place.part = part;
    c->place.item = 0;
    if (!th_is_list(list) && list != TH_NIL) {
        th_match_add_fault(c, list, "Match expression is not a list.");
        return;
    }
    for (size_t item = 1; th_is_list(list); list = th_cell(list)[1], item++) {
        th_match_mark(c, part, item);
        th_match_compile_expression(c, th_cell(list)[0], part == TH_MATCH_BODY);
        th_match_emit(c, last, 0, 0);
    }
    if (list != TH_NIL)
        th_match_add_fault(c, list, "Match expression is not a proper list.");
}

static void compile_clause(struct th_match_compiler *c, th_term clause)
{
    struct th_match_spec *spec = c->spec;
    const th_term *parts = th_tuple_elements(clause);

    TH_ARRAY_GROW(spec->clauses, spec->clause_count, spec->clause_capacity);
    spec->clauses[spec->clause_count++] =
        (struct th_match_clause){(uint32_t)spec->code_count, spec->mark_count};
    c->variable_count = c->slots = 0;
    th_match_compile_head(c, parts[0]);
    if (c->faults.count > 0)
        return;
    th_match_emit(c, TH_CODE_HEAD_DONE, 0, 0);
    compile_items(c, parts[1], TH_MATCH_GUARD, TH_CODE_TEST);
    th_match_emit(c, TH_CODE_GUARDS_DONE, 0, 0);
    compile_items(c, parts[2], TH_MATCH_BODY, TH_CODE_DROP);
    th_match_emit(c, TH_CODE_END, 0, 0);
    if (c->faults.count == 0)
        measure_needs(c);
}

static th_term tail_of(th_term list)
{
    while (th_is_list(list))
        list = th_cell(list)[1];
    return list;
}

/* Checks the shape of all clauses before anything else in them. */
static void check_shape(struct th_match_compiler *c, th_term list)
{
    th_term tail = tail_of(list);

    if (!th_is_list(list))
        th_match_add_fault(c, list, "Match programs are not in a list.");
    else if (tail != TH_NIL)
        th_match_add_fault(c, tail, "Match programs are not in a proper list.");
    for (; th_is_list(list) && !c->faults.count; list = th_cell(list)[1]) {
        th_term clause = th_cell(list)[0], head;

        c->place = (struct th_match_place){c->place.clause + 1, TH_MATCH_WHOLE, 0};
        if (!th_is_tuple(clause) || th_tuple_arity(clause) != 3) {
            th_match_add_fault(c, clause, "Match program part is not a tuple of arity 3.");
            break;
        }
        head = th_tuple_elements(clause)[0];
        if (th_is_list(head) && tail_of(head) != TH_NIL && tail_of(head) != TH_AM(anything)) {
            c->place.part = TH_MATCH_HEAD;
            th_match_add_fault(c, head, "Match expression part %s is not a proper list.",
                               th_match_shown(c, head));
        }
    }
    c->place = (struct th_match_place){0};
}

/* --- Interface of the room -------------------------------------------------------------------- */

enum th_status th_match_compile(enum th_match_kind kind, th_term specification,
                                struct th_match_faults *faults, struct th_match_spec **spec)
{
    struct th_match_compiler c = {.spec = th_alloc_zero(sizeof *c.spec)};
    struct th_buffer place = {0};
    enum th_status status = TH_OK;

    th_env_init(&c.spec->env, TH_ENV_PLAIN);
    c.spec->kind = kind;
    c.spec->source = th_copy(&c.spec->env, specification);
    check_shape(&c, c.spec->source);
    for (th_term l = c.spec->source; !c.faults.count && th_is_list(l); l = th_cell(l)[1]) {
        c.place.clause++;
        compile_clause(&c, th_cell(l)[0]);
    }
    th_free(c.variables);
    th_buffer_free(&c.shown);
    *spec = c.spec;
    if (c.faults.count > 0) {
        th_match_print_place(&place, c.faults.items[0].place);
        status = th_error_raise(TH_MALFORMED, "%s%s%s", th_buffer_text(&place),
                                place.size ? ": " : "", c.faults.items[0].text);
        th_buffer_free(&place);
        th_match_free(c.spec);
        *spec = NULL;
    } else {
        th_match_make_screens(c.spec);
    }
    if (faults)
        *faults = c.faults;
    else
        th_match_faults_free(&c.faults);
    return status;
}

void th_match_free(struct th_match_spec *spec)
{
    if (!spec)
        return;
    th_free(spec->code);
    th_free(spec->constants);
    th_free(spec->clauses);
    th_free(spec->marks);
    th_free(spec->screens);
    th_free(spec->tests);
    th_env_release(&spec->env);
    th_free(spec);
}

th_term th_match_source(const struct th_match_spec *spec)
{
    return spec->source;
}

bool th_match_changes(const struct th_match_spec *spec)
{
    return spec->changes;
}

size_t th_match_clause_count(const struct th_match_spec *spec)
{
    return spec->clause_count;
}

/* --- Match specifications with a name in dbg -------------------------------------------------- */

static const struct {
    const char *letter, *name, *text;
} shorts[] = {
    {"x", "exception_trace", "[{'_',[],[{exception_trace}]}]"},
    {"c", "caller_trace", "[{'_',[],[{message,{caller}}]}]"},
    {"cx", "caller_exception_trace", "[{'_',[],[{exception_trace},{message,{caller}}]}]"},
    {"r", "return_trace", "[{'_',[],[{return_trace}]}]"},
};

th_term th_match_short(th_env *env, const char *name)
{
    th_term spec = TH_NONE;

    for (size_t i = 0; i < sizeof shorts / sizeof shorts[0]; i++)
        if (strcmp(name, shorts[i].letter) == 0 || strcmp(name, shorts[i].name) == 0)
            if (th_text_parse(env, shorts[i].text, strlen(shorts[i].text), &spec) != TH_OK)
                th_bug("a match specification that cannot be read: %s", shorts[i].text);
    return spec;
}
