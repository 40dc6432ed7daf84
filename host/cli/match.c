/* tracehost match: tries a match specification on arguments or a message. */
#include "subcommand.h"

#include "host/base/buffer.h"
#include "host/cli/options/usage.h"
#include "host/match/match.h"
#include "host/term/atom.h"
#include "host/term/make.h"
#include "host/term/text.h"

#include <jansson.h>
#include <stdlib.h>
#include <string.h>

struct match {
    enum th_match_kind kind;
    bool json;
    int64_t arity;                             /* below 0: not given */
    const char *self, *caller, *spec, *target; /* texts; NULL: not given */
    th_env env;
    struct th_match_trial trial;
};

enum { ARITY_MOST = 255 };

static enum th_status match_take_arity(const struct th_argument *argument, const char *value,
                                       void *input)
{
    struct match *match = input;
    enum th_status status = th_control_argument_number(argument, value, &match->arity);

    if (status == TH_OK && match->arity > ARITY_MOST)
        return th_error_raise(TH_USAGE, "--arity must be at most %d, not '%s'", ARITY_MOST, value);
    return status;
}

static enum th_status match_check(void *input)
{
    const struct match *match = input;

    if (!match->spec || (match->arity >= 0) == !!match->target)
        return th_error_raise(TH_USAGE, "give SPEC and TERM, or SPEC and --arity");
    return TH_OK;
}

/* The order of kinds is that of enum th_match_kind. */
static const struct th_argument arguments[] = {
    TH_WORD("SPEC", TEXT, 0, TH_INTO(struct match, spec)),
    TH_WORD("TERM", TEXT, 0, TH_INTO(struct match, target)),
    TH_OPTION("kind", "KIND", CHOICE, INPUT, "Try a call (default), send or receive",
              .words = TH_WORDS("call", "send", "receive"), TH_INTO(struct match, kind)),
    TH_OPTION("arity", "N", NUMBER, INPUT, "Instead of TERM: N arguments with unknown values",
              .take = match_take_arity),
    TH_OPTION("self", "PID", TEXT, INPUT, "The tracee (default: unknown)",
              TH_INTO(struct match, self)),
    TH_OPTION("caller", "TERM", TEXT, INPUT,
              "Value of {caller}: {Module,Function,Arity} or undefined (default: unknown)",
              TH_INTO(struct match, caller)),
    TH_OPTION("format", "FORMAT", CHOICE, OUTPUT, "text (default) or json",
              .words = TH_WORDS("text", "json"), TH_INTO(struct match, json)),
    {0},
};

static const struct th_argument_set sets[] = {
    {.items = arguments, .check = match_check},
    {.items = th_cli_encoding_arguments},
    {0},
};

static const struct th_usage usage = {
    .sets = sets,
    .before = "Tries a match specification, and shows for each clause why it does not match.\n"
              "TERM is the list of arguments of a call, [Receiver,Message] of a message that is "
              "sent, or [Node,Sender,Message] of a message that is received.",
    .after =
        "SPEC is Erlang text, or a name: c (caller_trace), x (exception_trace), cx "
        "(caller_exception_trace), r (return_trace). Actions are shown, but not carried out. "
        "Unknown facts, for example arguments with --arity, are not guessed: the answer may be "
        "'unknown'.\n\n"
        "Exit status: 0 it matches, 1 it does not, 4 that is unknown, 3 SPEC has a fault.",
    .examples = "  tracehost match \"[{['\\$1','_'],[{'>','\\$1',3}],[]}]\" '[4,x]'\n"
                "  tracehost match --kind=send \"[{[me,'_'],[],[]}]\" '[me,ok]'",
    .words = "SPEC TERM",
};

/* --- Parsing of arguments --------------------------------------------------------------------- */

static enum th_status match_read_term(struct match *match, const char *what, const char *text,
                                      th_term *t)
{
    if (th_text_parse(&match->env, text, strlen(text), t) == TH_OK)
        return TH_OK;
    return th_error_context("cannot parse %s", what);
}

static enum th_status read_target(struct match *match, struct th_match_subject *subject)
{
    static const size_t wanted[] = {0, 2, 3}; /* number of elements, by kind; 0: any */
    static const char *const kinds[] = {"call", "send", "receive"};
    size_t length = match->arity < 0 ? 0 : (size_t)match->arity;

    subject->count = length;
    if (match->target) {
        if (match_read_term(match, "TERM", match->target, &subject->target) != TH_OK)
            return TH_MALFORMED;
        if (!th_get_list_length(subject->target, &length))
            return th_error_raise(TH_MALFORMED, "TERM is not a proper list");
    }
    if (wanted[match->kind] && length != wanted[match->kind])
        return th_error_raise(TH_MALFORMED,
                              "the list for --kind=%s must have %zu elements, not %zu",
                              kinds[match->kind], wanted[match->kind], length);
    return TH_OK;
}

static enum th_status read_options(struct match *match)
{
    struct th_match_trial *trial = &match->trial;
    const th_term *parts;

    trial->for_people = !match->json;
    if (match->self) {
        if (match_read_term(match, "--self", match->self, &trial->self) != TH_OK)
            return TH_MALFORMED;
        if (!th_is_pid(trial->self))
            return th_error_raise(TH_USAGE, "--self must be a pid, not '%s'", match->self);
    }
    if (match->caller) {
        if (match_read_term(match, "--caller", match->caller, &trial->caller) != TH_OK)
            return TH_MALFORMED;
        parts = th_is_tuple(trial->caller) && th_tuple_arity(trial->caller) == 3
                    ? th_tuple_elements(trial->caller)
                    : NULL;
        if (trial->caller != TH_AM(undefined) &&
            !(parts && th_is_atom(parts[0]) && th_is_atom(parts[1]) && th_is_small(parts[2])))
            return th_error_raise(TH_USAGE,
                                  "--caller must be {Module,Function,Arity} or undefined, not '%s'",
                                  match->caller);
    }
    return TH_OK;
}

/* --- Results as text -------------------------------------------------------------------------- */

static void report_faults_text(const struct th_match_faults *faults)
{
    struct th_buffer out = {0};

    th_buffer_add_text(&out, "{error,[");
    for (size_t i = 0; i < faults->count; i++) {
        const char *text = faults->items[i].text;
        th_env env;
        th_env_init(&env, TH_ENV_PLAIN);
        th_buffer_add_text(&out, i ? ",{error," : "{error,");
        th_text_print(&out, th_make_latin1_string(&env, (const unsigned char *)text, strlen(text)));
        th_buffer_add_byte(&out, '}');
        th_env_release(&env);
    }
    th_buffer_add_text(&out, "]}\n");
    for (size_t i = 0; i < faults->count; i++) {
        th_match_print_place(&out, faults->items[i].place);
        if (faults->items[i].place.clause > 0)
            th_buffer_add_text(&out, ": ");
        th_buffer_printf(&out, "in %s\n",
                         faults->items[i].shown ? faults->items[i].shown : "the whole");
    }
    fwrite(out.data, 1, out.size, stdout);
    th_buffer_free(&out);
}

/* --- Results as JSON: terms are strings of Erlang text ---------------------------------------- */

static json_t *json_term(th_term t)
{
    struct th_buffer text = {0};
    json_t *string;

    th_text_print(&text, t);
    string = json_string(th_buffer_text(&text));
    th_buffer_free(&text);
    return string;
}

static const char *const end_names[] = {"no", "yes", "unknown"};

static json_t *json_place(struct th_match_place place)
{
    static const char *const parts[] = {"whole", "head", "guard", "body"};
    json_t *object =
        json_pack("{s:I, s:s}", "clause", (json_int_t)place.clause, "part", parts[place.part]);

    if (place.item)
        json_object_set_new(object, "item", json_integer((json_int_t)place.item));
    return object;
}

static void report_json(const struct th_match_report *report)
{
    const struct th_match_result *result = &report->result;
    const struct th_buffer *doings = report->doings;
    json_t *all = json_pack("{s:s}", "end", end_names[result->end]);
    json_t *clauses = json_array(), *done = json_array();

    for (size_t from = 0, i = 0; i < doings->size; i++)
        if (doings->data[i] == '\n') {
            json_array_append_new(done, json_stringn((const char *)doings->data + from, i - from));
            from = i + 1;
        }
    if (result->end == TH_MATCH_YES)
        json_object_update_new(
            all,
            json_pack("{s:I, s:o, s:b, s:b, s:O, s:I, s:I}", "clause", (json_int_t)result->clause,
                      "message",
                      result->message == TH_NONE ? json_null() : json_term(result->message),
                      "return_trace", result->return_trace, "exception_trace",
                      result->exception_trace, "done", done, "callers_unknown",
                      (json_int_t)result->callers_unknown, "unsure", (json_int_t)result->unsure));
    json_decref(done);
    for (size_t i = 0; i < report->count; i++) {
        const struct th_match_attempt *attempt = &report->attempts[i];
        bool failed = attempt->end != TH_MATCH_YES;
        json_t *object = json_place(attempt->place);
        json_object_set_new(object, "end", json_string(end_names[attempt->end]));
        if (failed)
            json_object_set_new(object, "term",
                                json_term(th_match_part(report->spec, attempt->place)));
        if (failed && attempt->value == TH_MATCH_RAISED)
            json_object_set_new(object, "raised", json_true());
        else if (failed && attempt->value != TH_NONE)
            json_object_set_new(object, "value", json_term(attempt->value));
        json_array_append_new(clauses, object);
    }
    json_object_set_new(all, "clauses", clauses);
    th_cli_command_print_json(all, JSON_INDENT(2));
}

static void report_faults_json(const struct th_match_faults *faults)
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
    th_cli_command_print_json(json_pack("{s:o}", "errors", errors), JSON_INDENT(2));
}

/* --- The command ------------------------------------------------------------------------------ */

int th_cli_command_match(int argc, char **argv)
{
    static const int statuses[] = {TH_FAILED, TH_OK, TH_PARTIAL}; /* by th_match_end */
    struct match match = {.kind = TH_MATCH_CALL, .arity = -1};
    struct th_match_subject subject = {0};
    struct th_match_faults faults = {0};
    struct th_match_spec *compiled;
    th_term spec;
    int status;

    th_cli_command_parse(&usage, argc, argv, &match);
    th_env_init(&match.env, TH_ENV_PLAIN);
    spec = th_match_short(&match.env, match.spec);
    if (read_options(&match) != TH_OK ||
        (spec == TH_NONE &&
         match_read_term(&match, "the match specification", match.spec, &spec) != TH_OK) ||
        read_target(&match, &subject) != TH_OK) {
        status = th_cli_command_fail("match");
    } else {
        status = th_match_compile(match.kind, spec, &faults, &compiled);
        if (status == TH_OK) {
            struct th_match_attempt *attempts =
                th_alloc(th_match_clause_count(compiled) * sizeof *attempts);
            const struct th_match_surroundings surroundings = {&th_match_trial_operations,
                                                               &match.trial};
            struct th_match_report report = {.spec = compiled,
                                             .subject = subject,
                                             .attempts = attempts,
                                             .doings = &match.trial.doings};
            struct th_buffer out = {0};
            report.count = th_match_explain(compiled, &subject, &surroundings, &match.env,
                                            &report.result, attempts);
            if (match.json) {
                report_json(&report);
            } else {
                th_match_print_report(&out, &report);
                fwrite(out.data, 1, out.size, stdout);
            }
            th_buffer_free(&out);
            th_free(attempts);
            status = statuses[report.result.end];
        } else if (match.json) {
            report_faults_json(&faults);
        } else {
            report_faults_text(&faults);
        }
        th_match_faults_free(&faults);
        th_match_free(compiled);
        status = th_cli_command_finish("match", status);
    }
    th_buffer_free(&match.trial.doings);
    th_env_release(&match.env);
    return status;
}
