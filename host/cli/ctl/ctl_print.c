/* Prints the answers of a host's commands for people: a table of printers. */
#include "ctl.h"

#include "host/base/buffer.h"

#include <jansson.h>
#include <string.h>

static const char *ctl_print_text_of(const json_t *object, const char *key)
{
    const char *text = json_string_value(json_object_get(object, key));

    return text ? text : "-";
}

static long long ctl_print_number_of(const json_t *object, const char *key)
{
    return (long long)json_integer_value(json_object_get(object, key));
}

static double real_of(const json_t *object, const char *key)
{
    return json_number_value(json_object_get(object, key));
}

static const json_t *part(const json_t *object, const char *key)
{
    return json_object_get(object, key);
}

/* --- status ----------------------------------------------------------------------------------- */

/* Returns the length of KEY as a word behind COUNT: "1 client", without the s; "1 calls_left" stays. */
static int length_of(const char *key, long long count)
{
    size_t length = strlen(key);

    return (int)length - (count == 1 && !strchr(key, '_') && key[length - 1] == 's');
}

/* Prints the counts in an object that are not 0: "3 dropped, 1 client". */
static void print_counts(const char *title, const json_t *counts, const char *none)
{
    const char *key, *before = "";
    json_t *value;

    printf("%-12s", title);
    json_object_foreach((json_t *)counts, key, value)
    {
        long long count = json_integer_value(value);
        if (count == 0)
            continue;
        printf("%s%lld %.*s", before, count, length_of(key, count), key);
        before = ", ";
    }
    printf("%s\n", *before ? "" : none);
}

static void print_status(const json_t *status)
{
    const json_t *rate = part(status, "rate"), *replay = part(status, "replay");
    long long size = ctl_print_number_of(replay, "size"),
              bytes = ctl_print_number_of(replay, "bytes");

    printf("%s, pid %lld, tracehost %s, for %.1f s\n", ctl_print_text_of(status, "program"),
           ctl_print_number_of(status, "pid"), ctl_print_text_of(status, "version"),
           real_of(status, "seconds"));
    if (replay) {
        printf("stream      %s: byte %lld", ctl_print_text_of(replay, "stream"), bytes);
        if (size > 0)
            printf(" of %lld (%.0f%%)", size, 100.0 * (double)bytes / (double)size);
        printf(", %lld record%s, %lld played\n", ctl_print_number_of(replay, "records"),
               th_log_plural((uint64_t)ctl_print_number_of(replay, "records")),
               ctl_print_number_of(replay, "played"));
    }
    if (part(status, "schedulers"))
        printf("processes   %lld, on %lld scheduler%s\n", ctl_print_number_of(status, "processes"),
               ctl_print_number_of(status, "schedulers"),
               th_log_plural((uint64_t)ctl_print_number_of(status, "schedulers")));
    printf("sessions    %lld\n", ctl_print_number_of(status, "sessions"));
    print_counts("events", part(status, "events"), "none");
    printf("rate        %.0f/s in the last %.1f s\n", real_of(rate, "events_per_second"),
           real_of(rate, "over_seconds"));
    print_counts("lost", part(status, "lost"), "nothing");
    print_counts("control", part(status, "control"), "none");
}

/* --- Sessions --------------------------------------------------------------------------------- */

static char *ctl_print_traced_of(const json_t *session)
{
    return th_ctl_text(part(part(session, "counts"), "traced"));
}

static char *discarded_of(const json_t *session)
{
    return th_ctl_text(part(part(session, "counts"), "discarded"));
}

static char *attached_of(const json_t *session)
{
    if (json_is_true(part(session, "attached")))
        return th_strdup("-");
    return th_strdup(json_is_true(part(session, "failed")) ? "failed" : "detached");
}

/* Shows both flag sets if existing and new tracees differ. */
static char *ctl_print_flags_of(const json_t *session)
{
    char *born = th_ctl_text(part(session, "flags"));
    char *found = th_ctl_text(part(session, "flags_existing"));
    char *both =
        strcmp(born, found) == 0 ? th_strdup(born) : th_printf("existing %s; new %s", found, born);

    th_free(born);
    th_free(found);
    return both;
}

/* Prints "bank:run/0 and 2 more". */
static void print_first(const json_t *group)
{
    long long functions = ctl_print_number_of(group, "functions");

    fputs(ctl_print_text_of(group, "first"), stdout);
    if (functions > 1)
        printf(" and %lld more", functions - 1);
}

/* Prints "session 1, tracer 'count'". */
static void print_name(const json_t *session)
{
    printf("session %lld", ctl_print_number_of(session, "number"));
    if (json_is_string(part(session, "title")))
        printf(" '%s'", ctl_print_text_of(session, "title"));
    printf(", tracer '%s'", ctl_print_text_of(session, "tracer"));
}

static void print_waiting(const json_t *session)
{
    const json_t *pattern;
    size_t i;

    json_array_foreach(part(session, "waiting"), i, pattern)
    {
        printf("  waits for code: -p %s\n", json_string_value(pattern));
    }
}

static void print_session(const json_t *session)
{
    char *flags = ctl_print_flags_of(session);
    long long breakpoints = ctl_print_number_of(session, "breakpoints");

    print_name(session);
    printf(": flags %s", flags);
    if (breakpoints > 0)
        printf(", %lld breakpoint%s", breakpoints, th_log_plural((uint64_t)breakpoints));
    putchar('\n');
    print_waiting(session);
    th_free(flags);
}

/* --- Functions -------------------------------------------------------------------------------- */

static char *seconds_of(const json_t *object)
{
    const json_t *ns = part(object, "ns");

    return ns ? th_printf("%.6f", json_number_value(ns) / 1e9) : th_strdup("-");
}

static const struct th_ctl_column count_columns[] = {
    {"calls", "calls", true, NULL},
    {"seconds", NULL, true, seconds_of},
    {"words", "words", true, NULL},
    {"function", "function", false, NULL},
    {0},
};

static void print_detached(const json_t *session)
{
    const json_t *functions = part(session, "functions");

    print_name(session);
    fputs(" has ended\n", stdout);
    print_counts("events", part(session, "counts"), "none");
    print_waiting(session);
    if (json_array_size(functions) > 0)
        th_ctl_table(count_columns, functions);
}

static void ctl_print_print_pattern(const json_t *result)
{
    const json_t *left;
    size_t i;

    print_name(part(result, "session"));
    printf(": %s", ctl_print_text_of(result, "pattern"));
    if (part(result, "functions"))
        printf(": %lld function%s", ctl_print_number_of(result, "functions"),
               th_log_plural((uint64_t)ctl_print_number_of(result, "functions")));
    if (json_is_true(part(result, "waits")))
        fputs("; the pattern waits for code", stdout);
    else if (part(result, "there") && ctl_print_number_of(result, "there") == 0)
        fputs(": there is no such function", stdout);
    putchar('\n');
    json_array_foreach(part(result, "left_out"), i, left)
    {
        fputs("  skipped: ", stdout);
        print_first(left);
        printf(": %s\n", ctl_print_text_of(left, "why"));
    }
}

/* Returns the breakpoints that the function can have. */
static char *can_have(const json_t *function)
{
    bool local = json_is_true(part(function, "local"));
    bool global = json_is_true(part(function, "global"));

    return th_strdup(local && global ? "local,global" : local ? "local" : global ? "global" : "-");
}

/* Appends the breakpoints of one session: "1 local,count", with the active kinds in brackets if
 * some are paused. */
static void add_set(struct th_buffer *text, const json_t *session)
{
    char *kinds = th_ctl_text(part(session, "kinds"));
    char *active = th_ctl_text(part(session, "active"));

    th_buffer_printf(text, "%s%lld %s", text->size > 0 ? "; " : "",
                     ctl_print_number_of(session, "number"), kinds);
    if (strcmp(kinds, active) != 0)
        th_buffer_printf(text, " (active: %s)", active);
    th_free(kinds);
    th_free(active);
}

/* Joins the texts that ADD appends for each of FUNCTION's sessions. */
static char *of_sessions(const json_t *function,
                         void (*add)(struct th_buffer *text, const json_t *session))
{
    struct th_buffer text = {0};
    const json_t *session;
    size_t i;

    json_array_foreach(part(function, "sessions"), i, session)
    {
        add(&text, session);
    }
    if (text.size == 0)
        th_buffer_add_byte(&text, '-');
    return th_buffer_take_text(&text);
}

static char *ctl_print_set_by(const json_t *function)
{
    return of_sessions(function, add_set);
}

static void add_calls(struct th_buffer *text, const json_t *session)
{
    if (part(session, "calls"))
        th_buffer_printf(text, "%s%lld", text->size > 0 ? "; " : "",
                         ctl_print_number_of(session, "calls"));
}

static char *ctl_print_counts_of(const json_t *function)
{
    return of_sessions(function, add_calls);
}

static void print_usage(const json_t *session, const char *key, const char *title, const char *unit)
{
    const struct th_ctl_column columns[] = {{"  process", "process", false, NULL},
                                            {"calls", "calls", true, NULL},
                                            {unit, unit, true, NULL},
                                            {0}};

    if (json_array_size(part(session, key)) == 0)
        return;
    printf("  %s\n", title);
    th_ctl_table(columns, part(session, key));
}

static void print_set(const json_t *session)
{
    static const char *const keys[] = {"kinds",           "active",      "match_spec",
                                       "meta_match_spec", "meta_tracer", "call_count"};

    print_name(session);
    putchar('\n');
    for (size_t i = 0; i < sizeof keys / sizeof keys[0]; i++) {
        char *text = th_ctl_text(part(session, keys[i]));
        if (part(session, keys[i]))
            printf("  %-16s%s\n", keys[i], text);
        th_free(text);
    }
    print_usage(session, "call_time", "call_time", "ns");
    print_usage(session, "call_memory", "call_memory", "words");
}

static void print_info(const json_t *result)
{
    char *can = can_have(result);
    const json_t *session;
    size_t i;

    printf("%s can have breakpoints: %s\n", ctl_print_text_of(result, "function"), can);
    th_free(can);
    if (json_is_string(part(result, "no_local")))
        printf("  cannot have local breakpoints: %s\n", ctl_print_text_of(result, "no_local"));
    json_array_foreach(part(result, "sessions"), i, session)
    {
        print_set(session);
    }
}

/* --- Code ------------------------------------------------------------------------------------- */

static void print_loaded(const json_t *result)
{
    static const struct th_ctl_column columns[] = {
        {"module", "module", false, NULL},
        {"generation", "generation", true, NULL},
        {"was", "what", false, NULL},
        {"from", "path", false, NULL},
        {0},
    };
    long long rounds = ctl_print_number_of(result, "rounds");
    const json_t *lost;
    size_t i;

    th_ctl_table(columns, part(result, "modules"));
    printf("committed at one instant, after %lld round%s of thread progress\n", rounds,
           th_log_plural((uint64_t)rounds));
    json_array_foreach(part(result, "lost"), i, lost)
    {
        char *kinds = th_ctl_text(part(lost, "kinds"));
        fputs("  ", stdout);
        print_name(part(lost, "session"));
        fputs(": ", stdout);
        print_first(lost);
        printf(": %s: calls%s are no longer traced: %s\n", kinds,
               json_is_true(part(lost, "outside")) ? " from within the module" : "",
               ctl_print_text_of(lost, "why"));
        th_free(kinds);
    }
}

static void print_purged(const json_t *result)
{
    printf("%s: %s\n", ctl_print_text_of(result, "module"),
           json_is_true(part(result, "had_old_code")) ? "the old code was purged"
                                                      : "there is no old code");
}

static void print_deleted(const json_t *result)
{
    printf("%s is deleted: its code is old code until it is purged\n",
           ctl_print_text_of(result, "module"));
}

static void print_stop(const json_t *result)
{
    (void)result;
    fputs("the host ends\n", stdout);
}

static void ctl_print_print_help(const json_t *result)
{
    const json_t *command;
    size_t i;

    json_array_foreach(part(result, "commands"), i, command)
    {
        printf("%s%s%s\n    %s\n", ctl_print_text_of(command, "command"),
               *ctl_print_text_of(command, "arguments") ? " " : "",
               ctl_print_text_of(command, "arguments"), ctl_print_text_of(command, "help"));
    }
}

/* Results that are a table: the array ROWS of the result, or the text for an empty table. */
static const struct {
    const char *command, *rows, *nothing;
    struct th_ctl_column columns[9];
} tables[] = {
    {"sessions",
     "sessions",
     "no sessions",
     {{"session", "number", true, NULL},
      {"name", "title", false, NULL},
      {"tracer", "tracer", false, NULL},
      {"traced", NULL, true, ctl_print_traced_of},
      {"discarded", NULL, true, discarded_of},
      {"breakpoints", "breakpoints", true, NULL},
      {"is", NULL, false, attached_of},
      {"flags", NULL, false, ctl_print_flags_of}}},
    {"functions",
     "functions",
     "no function matches",
     {{"function", "function", false, NULL},
      {"can have", NULL, false, can_have},
      {"calls", NULL, true, ctl_print_counts_of},
      {"set by sessions", NULL, false, ctl_print_set_by}}},
    {"tracers",
     "tracers",
     "no tracers",
     {{"tracer", "name", false, NULL},
      {"sessions", "sessions", false, NULL},
      {"found", "origin", false, NULL},
      {"path", "path", false, NULL}}},
    {"processes",
     "processes",
     "no processes",
     {{"pid", "pid", false, NULL},
      {"name", "name", false, NULL},
      {"is", "doing", false, NULL},
      {"messages", "messages", true, NULL},
      {"reductions", "reductions", true, NULL},
      {"words", "words", true, NULL},
      {"links", "links", true, NULL},
      {"function", "function", false, NULL}}},
    {"modules",
     "modules",
     "no modules",
     {{"module", "module", false, NULL},
      {"code", "code", false, NULL},
      {"generation", "generation", true, NULL},
      {"functions", "functions", true, NULL},
      {"local", "local_functions", true, NULL},
      {"users", "users", true, NULL},
      {"path", "path", false, NULL}}},
};

static const struct {
    const char *command;
    void (*print)(const json_t *result);
} printers[] = {
    {"status", print_status},
    {"attach", print_session},
    {"detach", print_detached},
    {"replace", print_session},
    {"pattern", ctl_print_print_pattern},
    {"flags", print_session},
    {"info", print_info},
    {"load", print_loaded},
    {"purge", print_purged},
    {"delete", print_deleted},
    {"stop", print_stop},
    {"help", ctl_print_print_help},
};

/* A command of a newer host, which this program does not know, is printed as JSON. */
void th_ctl_print(const char *command, json_t *result)
{
    th_ctl_show_terms(result);
    for (size_t i = 0; i < sizeof tables / sizeof tables[0]; i++)
        if (strcmp(tables[i].command, command) == 0) {
            const json_t *rows = part(result, tables[i].rows);
            if (json_array_size(rows) == 0)
                printf("%s\n", tables[i].nothing);
            else
                th_ctl_table(tables[i].columns, rows);
            return;
        }
    for (size_t i = 0; i < sizeof printers / sizeof printers[0]; i++)
        if (strcmp(printers[i].command, command) == 0) {
            printers[i].print(result);
            return;
        }
    json_dumpf(result, stdout, JSON_INDENT(2) | JSON_ENCODE_ANY | JSON_REAL_PRECISION(9));
    putchar('\n');
}
