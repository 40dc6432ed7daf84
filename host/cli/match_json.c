/* How a match specification came out, as JSON. Terms are strings of Erlang text. */
#include "match_text.h"

#include <jansson.h>

static json_t *json_term(th_term t)
{
    struct th_buffer text = {0};
    json_t *string;

    th_text_print(&text, t);
    string = json_string(th_buffer_text(&text));
    th_buffer_free(&text);
    return string;
}

static const char *end_name(enum th_match_end end)
{
    static const char *const names[] = {"no", "yes", "unknown"};

    return names[end];
}

static const char *part_name(enum th_match_part part)
{
    static const char *const names[] = {"whole", "head", "guard", "body"};

    return names[part];
}

static json_t *json_place(struct th_match_place place)
{
    json_t *object =
        json_pack("{s:I, s:s}", "clause", (json_int_t)place.clause, "part", part_name(place.part));

    if (place.item)
        json_object_set_new(object, "item", json_integer((json_int_t)place.item));
    return object;
}

static json_t *json_attempt(const struct th_match_report *report,
                            const struct th_match_attempt *attempt)
{
    json_t *object = json_place(attempt->place);

    json_object_set_new(object, "end", json_string(end_name(attempt->end)));
    if (attempt->end == TH_MATCH_YES)
        return object;
    json_object_set_new(object, "term", json_term(th_match_part(report->spec, attempt->place)));
    if (attempt->value == TH_MATCH_RAISED)
        json_object_set_new(object, "raised", json_true());
    else if (attempt->value != TH_NONE)
        json_object_set_new(object, "value", json_term(attempt->value));
    return object;
}

static json_t *json_doings(const struct th_buffer *doings)
{
    json_t *array = json_array();

    for (size_t from = 0, i = 0; i < doings->size; i++)
        if (doings->data[i] == '\n') {
            json_array_append_new(array, json_stringn((const char *)doings->data + from, i - from));
            from = i + 1;
        }
    return array;
}

static void print(json_t *all)
{
    json_dumpf(all, stdout, JSON_INDENT(2));
    putchar('\n');
    json_decref(all);
}

static void add_result(json_t *all, const struct th_match_report *report)
{
    const struct th_match_result *result = &report->result;

    json_object_set_new(all, "clause", json_integer((json_int_t)result->clause));
    json_object_set_new(all, "message",
                        result->message == TH_NONE ? json_null() : json_term(result->message));
    json_object_set_new(all, "return_trace", json_boolean(result->return_trace));
    json_object_set_new(all, "exception_trace", json_boolean(result->exception_trace));
    json_object_set_new(all, "done", json_doings(report->doings));
    json_object_set_new(all, "callers_unknown", json_integer(result->callers_unknown));
    json_object_set_new(all, "unsure", json_integer(result->unsure));
}

void th_cli_match_report_json(const struct th_match_report *report)
{
    json_t *all = json_object(), *clauses = json_array();

    json_object_set_new(all, "end", json_string(end_name(report->result.end)));
    if (report->result.end == TH_MATCH_YES)
        add_result(all, report);
    for (size_t i = 0; i < report->count; i++)
        json_array_append_new(clauses, json_attempt(report, &report->attempts[i]));
    json_object_set_new(all, "clauses", clauses);
    print(all);
}

void th_cli_match_report_faults_json(const struct th_match_faults *faults)
{
    json_t *errors = json_array();

    for (size_t i = 0; i < faults->count; i++) {
        const struct th_match_fault *fault = &faults->items[i];
        json_t *object = json_place(fault->place);
        json_object_set_new(object, "text", json_string(fault->text));
        if (fault->term)
            json_object_set_new(object, "term", json_string(fault->term));
        json_array_append_new(errors, object);
    }
    print(json_pack("{s:o}", "errors", errors));
}
