/* Commands for functions: functions, info. */
#include "commands.h"
#include "commands_internal.h"

#include "host/base/buffer.h"
#include "host/breakpoint/account.h"
#include "host/control/control_internal.h"
#include "host/trace/pattern.h"

#include <jansson.h>
#include <stdlib.h>
#include <string.h>

/* --- Breakpoints of a session ----------------------------------------------------------------- */

struct totals {
    uint64_t calls;
    int64_t amount;
};

static struct totals function_commands_sum(const struct th_bp_usage *usage, size_t count)
{
    struct totals totals = {0};

    for (size_t i = 0; i < count; i++) {
        totals.calls += usage[i].calls;
        totals.amount += usage[i].amount;
    }
    return totals;
}

/* Adds the kinds, and counts summed over all processes. The number of calls is taken from count,
 * else time, else memory: they are equal if all kinds were set at the same time. */
static void add_counts(json_t *object, const struct th_bp_info *info)
{
    struct totals time = function_commands_sum(info->time, info->time_count);
    struct totals memory = function_commands_sum(info->memory, info->memory_count);
    uint64_t calls = info->kinds & TH_BP_COUNT  ? info->calls
                     : info->kinds & TH_BP_TIME ? time.calls
                                                : memory.calls;

    json_object_set_new(object, "kinds", th_control_kinds(info->kinds));
    json_object_set_new(object, "active", th_control_kinds(info->active));
    if (info->kinds & TH_BP_COUNTING)
        json_object_set_new(object, "calls", json_integer((json_int_t)calls));
    if (info->kinds & TH_BP_TIME)
        json_object_set_new(object, "ns", json_integer(time.amount));
    if (info->kinds & TH_BP_MEMORY)
        json_object_set_new(object, "words", json_integer(memory.amount));
}

struct counted {
    json_t **items;
    size_t count, capacity;
};

static void add_counted(void *context, const struct th_mfa *function, const struct th_bp_info *info)
{
    struct counted *counted = context;
    json_t *object;

    if (!(info->kinds & TH_BP_COUNTING))
        return;
    object = json_pack("{s:o}", "function", th_control_function(function));
    add_counts(object, info);
    TH_ARRAY_GROW(counted->items, counted->count, counted->capacity);
    counted->items[counted->count++] = object;
}

/* Orders by calls, most first, then by name. */
static int function_commands_by_calls(const void *a, const void *b)
{
    const json_t *one = *(json_t *const *)a, *other = *(json_t *const *)b;
    json_int_t calls = json_integer_value(json_object_get(one, "calls"));
    json_int_t others = json_integer_value(json_object_get(other, "calls"));

    if (calls != others)
        return calls < others ? 1 : -1;
    return strcmp(json_string_value(json_object_get(one, "function")),
                  json_string_value(json_object_get(other, "function")));
}

json_t *th_control_counted(const struct th_session *session)
{
    struct counted counted = {0};
    json_t *functions = json_array();

    th_trace_session_functions(session, add_counted, &counted);
    if (counted.count > 0)
        qsort(counted.items, counted.count, sizeof *counted.items, function_commands_by_calls);
    for (size_t i = 0; i < counted.count; i++)
        json_array_append_new(functions, counted.items[i]);
    th_free(counted.items);
    return functions;
}

/* --- functions -------------------------------------------------------------------------------- */

struct listing {
    const struct th_control_host *host;
    struct th_pattern pattern;
    struct th_function_info *items;
    size_t count, capacity;
};

static void function_commands_add_function(void *context, const struct th_function_info *function)
{
    struct listing *listing = context;
    const struct th_pattern *pattern = &listing->pattern;
    const struct th_mfa *name = &function->name;

    if ((pattern->module != TH_NONE && pattern->module != name->module) ||
        (pattern->function != TH_NONE && pattern->function != name->function) ||
        (pattern->arity != TH_ANY_ARITY && pattern->arity != (int)name->arity))
        return;
    TH_ARRAY_GROW(listing->items, listing->count, listing->capacity);
    listing->items[listing->count++] = *function;
}

static int function_commands_by_name(const void *a, const void *b)
{
    const struct th_mfa *one = &((const struct th_function_info *)a)->name;
    const struct th_mfa *other = &((const struct th_function_info *)b)->name;
    int order = strcmp(th_atom_name(one->module)->text, th_atom_name(other->module)->text);

    if (!order)
        order = strcmp(th_atom_name(one->function)->text, th_atom_name(other->function)->text);
    return order ? order : (one->arity > other->arity) - (one->arity < other->arity);
}

static json_t *usage_of(const struct th_bp_usage *usage, size_t count, const char *unit)
{
    json_t *processes = json_array();

    for (size_t i = 0; i < count; i++)
        json_array_append_new(processes, json_pack("{s:o, s:I, s:I}", "process",
                                                   th_control_term(usage[i].process), "calls",
                                                   (json_int_t)usage[i].calls, unit,
                                                   (json_int_t)usage[i].amount));
    return processes;
}

/* Adds the items of OTP's trace:info(Session, MFA, all). */
static void function_commands_add_all(json_t *object, const struct th_session *session,
                                      const struct th_bp_info *info)
{
    const char *name;
    th_term state;

    if (info->kinds & (TH_BP_LOCAL | TH_BP_GLOBAL))
        json_object_set_new(object, "match_spec",
                            th_control_term(th_trace_pattern_spec_source(info->spec)));
    if (info->kinds & TH_BP_META) {
        if (!th_trace_pattern_meta_tracer(session, info, &name, &state))
            name = th_trace_session_name(session);
        json_object_set_new(object, "meta_tracer", json_string(name));
        json_object_set_new(object, "meta_match_spec",
                            th_control_term(th_trace_pattern_spec_source(info->meta_spec)));
    }
    if (info->kinds & TH_BP_COUNT)
        json_object_set_new(object, "call_count", json_integer((json_int_t)info->calls));
    if (info->kinds & TH_BP_TIME)
        json_object_set_new(object, "call_time", usage_of(info->time, info->time_count, "ns"));
    if (info->kinds & TH_BP_MEMORY)
        json_object_set_new(object, "call_memory",
                            usage_of(info->memory, info->memory_count, "words"));
}

/* Returns the sessions that have set breakpoints for FUNCTION (NULL: for on_load), each as an
 * object. */
static json_t *function_commands_set_by(const struct th_control_host *host,
                                        const struct th_mfa *function, bool all)
{
    json_t *sessions = json_array();

    for (size_t i = 0; i < th_trace_sessions(host->tracing); i++) {
        const struct th_session *session = th_trace_session(host->tracing, i);
        struct th_bp_info info;
        json_t *object;
        if (!session || !(function ? th_trace_session_function_info(session, function, &info)
                                   : th_trace_session_on_load_info(session, &info)))
            continue;
        object = th_control_session_name(session);
        add_counts(object, &info);
        if (all)
            function_commands_add_all(object, session, &info);
        json_array_append_new(sessions, object);
        th_breakpoint_info_free(&info);
    }
    return sessions;
}

static json_t *function_commands_describe(const struct th_control_host *host,
                                          const struct th_function_info *function, bool all)
{
    return json_pack("{s:o, s:b, s:b, s:b, s:s?, s:o}", "function",
                     th_control_function(&function->name), "live", (int)function->live, "local",
                     (int)function->local, "global", (int)function->global, "no_local",
                     function->local ? NULL : function->no_local, "sessions",
                     function_commands_set_by(host, &function->name, all));
}

static enum th_status read_pattern(struct th_pattern *pattern, const char *text)
{
    if (th_trace_pattern_parse(text, pattern))
        return TH_OK;
    return th_error_raise(TH_USAGE, "a pattern must be " TH_PATTERN_FORMS ", not '%.60s'", text);
}

static const struct th_argument *const functions_arguments[] = {
    &(const struct th_argument)TH_WORD("PATTERN", PATTERN, 0), NULL};

static enum th_status carry_out_functions(void *context, int count, char **words, json_t **result)
{
    struct listing listing = {.host = context,
                              .pattern = {.module = TH_NONE, .function = TH_NONE, .arity = -1}};
    const char *text = NULL;
    enum th_status status = th_control_take(&th_control_command_functions, count, words, &text);
    json_t *functions;

    if (status == TH_OK && text)
        status = read_pattern(&listing.pattern, text);
    if (status != TH_OK)
        return status;
    th_trace_functions(listing.host->tracing, function_commands_add_function, &listing);
    if (listing.count == 0 && text)
        th_control_pattern_warn_of_spelling(&listing.pattern, text, listing.host->tracing);
    functions = json_array();
    if (listing.count > 0)
        qsort(listing.items, listing.count, sizeof *listing.items, function_commands_by_name);
    for (size_t i = 0; i < listing.count; i++)
        json_array_append_new(functions,
                              function_commands_describe(listing.host, &listing.items[i], false));
    *result = json_pack("{s:o}", "functions", functions);
    th_free(listing.items);
    return TH_OK;
}

const struct th_control_command th_control_command_functions = {
    "functions", functions_arguments, NULL, "Lists functions with their breakpoints and counts.",
    .carry_out = carry_out_functions};

/* --- info ------------------------------------------------------------------------------------- */

static const struct th_argument *const info_arguments[] = {
    &(const struct th_argument)TH_WORD("M:F/A|on_load", FUNCTION, TH_ARGUMENT_NEEDED), NULL};

static enum th_status carry_out_info(void *context, int count, char **words, json_t **result)
{
    struct listing listing = {.host = context};
    const char *text;
    enum th_status status = th_control_take(&th_control_command_info, count, words, &text);

    if (status == TH_OK && strcmp(text, "on_load") == 0) {
        *result = json_pack("{s:s, s:b, s:b, s:b, s:n, s:o}", "function", "on_load", "live",
                            (int)listing.host->live, "local", 1, "global", 1, "no_local",
                            "sessions", function_commands_set_by(listing.host, NULL, true));
        return TH_OK; /* all kinds can be set for on_load */
    }
    if (status == TH_OK)
        status = read_pattern(&listing.pattern, text);
    if (status == TH_OK && listing.pattern.arity == TH_ANY_ARITY)
        status = th_error_raise(TH_USAGE, "a function must be M:F/A, not '%.60s'", text);
    if (status != TH_OK)
        return status;
    th_trace_functions(listing.host->tracing, function_commands_add_function, &listing);
    if (listing.count == 0) {
        char *question = th_control_pattern_question(&listing.pattern, listing.host->tracing);
        th_error_raise(TH_USAGE, "there is no function %.60s%s", text, question);
        th_free(question);
        return TH_USAGE;
    }
    *result = function_commands_describe(listing.host, &listing.items[0], true);
    th_free(listing.items);
    return TH_OK;
}

const struct th_control_command th_control_command_info = {
    "info", info_arguments, "argument M:F/A is missing: give a function, or on_load",
    "Shows what each session has set for a function, and its counts; on_load: for "
    "functions that are not loaded yet.",
    .carry_out = carry_out_info};
