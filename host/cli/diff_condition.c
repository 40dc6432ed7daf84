#include "diff_condition.h"

#include "host/base/buffer.h"
#include "host/control/argument.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

/* Names of metrics, and of their members in JSON, without "_before" and "_after". */
static const struct metric {
    const char *name;
    bool time;
} metrics[] = {
    {"calls", false}, {"errors", false}, {"total", true}, {"own", true},
    {"p50", true},    {"p90", true},     {"p99", true},   {"max", true},
};

static const char *const relations[] = {
    [TH_DIFF_LESS] = "<",           [TH_DIFF_LESS_EQUAL] = "<=", [TH_DIFF_GREATER] = ">",
    [TH_DIFF_GREATER_EQUAL] = ">=", [TH_DIFF_EQUAL] = "==",      [TH_DIFF_UNEQUAL] = "!=",
};

enum { RELATIONS = sizeof relations / sizeof relations[0] };

/* --- Parsing ---------------------------------------------------------------------------------- */

static enum th_status refuse_condition(const char *text, const char *why)
{
    th_error_raise(TH_USAGE, "%s", why);
    return th_error_context("--fail-if: cannot read the condition '%s'", text);
}

static const char *skip_blanks(const char *text)
{
    return text + strspn(text, " \t");
}

static bool parse_metric(const char **text, struct th_diff_condition *condition)
{
    size_t length = strcspn(*text, "( \t");

    for (size_t i = 0; i < sizeof metrics / sizeof metrics[0]; i++)
        if (strlen(metrics[i].name) == length && memcmp(*text, metrics[i].name, length) == 0) {
            condition->metric = metrics[i].name;
            condition->time = metrics[i].time;
        }
    *text = skip_blanks(*text + length);
    return condition->metric && **text == '(';
}

/* Reads the functions up to the last parenthesis: names may have some, too. */
static bool parse_functions(const char **text, struct th_diff_condition *condition)
{
    const char *end = strrchr(*text, ')');
    struct th_buffer pattern = {0};
    bool read;

    if (!end)
        return false;
    th_buffer_add(&pattern, *text + 1, (size_t)(end - *text - 1));
    read = th_trace_pattern_parse(th_buffer_text(&pattern), &condition->functions);
    th_buffer_free(&pattern);
    *text = skip_blanks(end + 1);
    return read;
}

static bool parse_relation(const char **text, struct th_diff_condition *condition)
{
    size_t found = RELATIONS, length = 0;

    for (size_t i = 0; i < RELATIONS; i++)
        if (strlen(relations[i]) > length &&
            strncmp(*text, relations[i], strlen(relations[i])) == 0) {
            found = i;
            length = strlen(relations[i]);
        }
    condition->relation = (enum th_diff_relation)found;
    *text = skip_blanks(*text + length);
    return found < RELATIONS;
}

/* Reads a number, a percentage or a time, with or without a sign. */
static bool parse_value(const char *text, struct th_diff_condition *condition)
{
    static const struct th_argument time = {.name = "fail-if", .type = TH_ARGUMENT_TIME};
    bool negative = *text == '-';
    int64_t ns;
    char *end;

    condition->change = *text == '+' || *text == '-';
    text += condition->change;
    if (!isdigit((unsigned char)*text))
        return false;
    condition->value = strtod(text, &end);
    condition->percent = *end == '%' && !*skip_blanks(end + 1);
    condition->change |= condition->percent;
    if (!condition->percent && *end && condition->time) {
        if (th_control_argument_number(&time, text, &ns) != TH_OK) {
            th_error_clear();
            return false;
        }
        condition->value = (double)ns;
        end = strchr(text, 0);
    } else if (!condition->percent && condition->time && condition->value != 0) {
        return false; /* a time needs its unit */
    }
    if (negative)
        condition->value = -condition->value;
    return condition->percent || !*skip_blanks(end);
}

enum th_status th_cli_diff_condition_parse(const char *text, struct th_diff_condition *condition)
{
    const char *at = skip_blanks(text);

    *condition = (struct th_diff_condition){.text = text};
    if (strcmp(at, "differs") == 0)
        return TH_OK;
    if (!parse_metric(&at, condition))
        return refuse_condition(text, "the condition must be `differs`, or begin with calls(, "
                                      "errors(, total(, own(, p50(, p90(, p99( or max(");
    if (!parse_functions(&at, condition))
        return refuse_condition(text, "functions must be " TH_PATTERN_FORMS);
    if (!parse_relation(&at, condition))
        return refuse_condition(text, "the functions must be followed by <, <=, >, >=, == or !=");
    if (!parse_value(at, condition))
        return refuse_condition(text, condition->time
                                          ? "the value must be a time such as 5ms, a change of a "
                                            "time such as +2ms, or a percentage such as +10%"
                                          : "the value must be a number such as 7, a change such "
                                            "as +2, or a percentage such as +10%");
    return TH_OK;
}

/* --- Decision --------------------------------------------------------------------------------- */

static bool names_function(const struct th_pattern *wanted, const char *name)
{
    struct th_pattern function;

    return th_trace_pattern_parse(name, &function) &&
           (wanted->module == TH_NONE || wanted->module == function.module) &&
           (wanted->function == TH_NONE || wanted->function == function.function) &&
           (wanted->arity == TH_ANY_ARITY || wanted->arity == function.arity);
}

/* Returns the member of ROW for the metric in recording WHEN; NULL if it is unknown. */
static const json_t *figure_of(const struct th_diff_condition *condition, const json_t *row,
                               const char *when)
{
    char name[32];
    const json_t *figure;

    snprintf(name, sizeof name, "%s_%s%s", condition->metric, when, condition->time ? "_ns" : "");
    figure = json_object_get(row, name);
    return json_is_integer(figure) ? figure : NULL;
}

static bool relate(enum th_diff_relation relation, double left, double right)
{
    switch (relation) {
    case TH_DIFF_LESS:
        return left < right;
    case TH_DIFF_LESS_EQUAL:
        return left <= right;
    case TH_DIFF_GREATER:
        return left > right;
    case TH_DIFF_GREATER_EQUAL:
        return left >= right;
    case TH_DIFF_EQUAL:
        return left == right;
    default:
        return left != right;
    }
}

static void print_figure(struct th_buffer *out, const struct th_diff_condition *condition,
                         const json_t *figure)
{
    if (!figure)
        th_buffer_add_text(out, "unknown");
    else if (condition->time)
        th_buffer_printf(out, "%.3f us", (double)json_integer_value(figure) / 1000);
    else
        th_buffer_printf(out, "%lld", (long long)json_integer_value(figure));
}

/* Decides for one function. A percentage of nothing is undecided, unless nothing has changed: then it
 * is 0, and unless the value is compared with 0: then its sign is enough. */
static enum th_diff_answer decide_row(const struct th_diff_condition *condition, const json_t *row)
{
    const json_t *figures[] = {figure_of(condition, row, "before"),
                               figure_of(condition, row, "after")};
    double before, after;

    if (!figures[1] || (condition->change && !figures[0]))
        return TH_DIFF_UNDECIDED;
    before = (double)json_integer_value(figures[0]);
    after = (double)json_integer_value(figures[1]);
    if (condition->change)
        after -= before;
    if (condition->percent && before == 0 && after != 0 && condition->value != 0)
        return TH_DIFF_UNDECIDED;
    if (condition->percent && before != 0)
        after *= 100 / before;
    return relate(condition->relation, after, condition->value) ? TH_DIFF_YES : TH_DIFF_NO;
}

static enum th_diff_answer decide_differs(const json_t *result, struct th_buffer *figures)
{
    static const char *const members[] = {
        "processes_before", "processes_after", "dropped",   "new",
        "arguments",        "result",          "exception", "order"};
    const json_t *row = json_array_get(json_object_get(result, "summary"), 0);
    json_int_t all = 0;

    for (size_t i = 0; i < sizeof members / sizeof members[0]; i++)
        all += json_integer_value(json_object_get(row, members[i]));
    th_buffer_printf(figures, "%lld difference%s of calls and processes", (long long)all,
                     all == 1 ? "" : "s");
    return all > 0 ? TH_DIFF_YES : TH_DIFF_NO;
}

enum th_diff_answer th_cli_diff_condition_decide(const struct th_diff_condition *condition,
                                                 const json_t *result, struct th_buffer *figures)
{
    enum th_diff_answer answer = TH_DIFF_UNDECIDED, one;
    bool found = false;
    const json_t *row;
    size_t i;

    if (!condition->metric)
        return decide_differs(result, figures);
    json_array_foreach(json_object_get(result, "functions"), i, row)
    {
        const char *name = json_string_value(json_object_get(row, "function"));
        if (!name || !names_function(&condition->functions, name))
            continue;
        one = decide_row(condition, row);
        if (one == TH_DIFF_YES || !found) {
            figures->size = 0;
            th_buffer_printf(figures, "%s ", name);
            print_figure(figures, condition, figure_of(condition, row, "before"));
            th_buffer_add_text(figures, " -> ");
            print_figure(figures, condition, figure_of(condition, row, "after"));
        }
        found = true;
        if (one == TH_DIFF_YES)
            return TH_DIFF_YES;
        if (one == TH_DIFF_NO)
            answer = TH_DIFF_NO;
    }
    if (!found)
        th_buffer_add_text(figures, "neither recording has calls of such functions");
    return answer;
}
