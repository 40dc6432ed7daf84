/* What a line of the prompt may go on with: asked from the host, at each tab, but for the list of
 * commands, which does not change. */
#include "ctl.h"

#include "line_editor.h"
#include "trace_options.h"

#include "host/trace/trace.h"

#include <string.h>

/* A line, taken apart. */
struct place {
    struct th_ctl *ctl;
    char *command;    /* the first word; "" if that is being typed */
    const char *word; /* what is being typed */
    struct th_completions *completions;
};

static void add(struct place *place, const char *word)
{
    th_completions_add(place->completions, word, place->word);
}

/* The result of COMMAND, the caller's; NULL: it has failed, which is not told. */
static json_t *ask(struct place *place, const char *command)
{
    json_t *answer, *result = NULL;

    if (th_control_ask(place->ctl->client, command, 0, NULL, place->ctl->stop, &answer) == TH_OK) {
        result = json_incref(json_object_get(answer, "result"));
        json_decref(answer);
    }
    th_error_clear();
    return result;
}

/* What each of the objects in the array ROWS of COMMAND's result has as KEY. */
static void add_each(struct place *place, const char *command, const char *rows, const char *key)
{
    json_t *result = ask(place, command), *row;
    size_t i;

    json_array_foreach(json_object_get(result, rows), i, row)
    {
        const char *text = json_string_value(json_object_get(row, key));
        if (text)
            add(place, text);
    }
    json_decref(result);
}

static void add_sessions(struct place *place)
{
    json_t *result = ask(place, "sessions"), *session;
    size_t i;

    json_array_foreach(json_object_get(result, "sessions"), i, session)
    {
        const char *title = json_string_value(json_object_get(session, "title"));
        char *number =
            th_printf("%lld", (long long)json_integer_value(json_object_get(session, "number")));
        add(place, number);
        add(place, title ? title : json_string_value(json_object_get(session, "tracer")));
        th_free(number);
    }
    json_decref(result);
}

/* The modules first: of a module that is typed its functions. */
static void add_functions(struct place *place, bool patterns)
{
    bool module_typed = strchr(place->word, ':') != NULL;
    json_t *result = ask(place, "functions"), *function;
    size_t i;

    json_array_foreach(json_object_get(result, "functions"), i, function)
    {
        const char *name = json_string_value(json_object_get(function, "function"));
        const char *colon = name ? strchr(name, ':') : NULL;
        char *module = colon ? th_printf("%.*s:%s", (int)(colon - name), name,
                                         module_typed && patterns ? "_/_" : "")
                             : NULL;
        if (module && (patterns || !module_typed))
            add(place, module);
        if (module_typed && name)
            add(place, name);
        th_free(module);
    }
    json_decref(result);
    add(place, "on_load");
    if (patterns) {
        add(place, "send");
        add(place, "receive");
    }
}

/* The options that the arguments of the command name: "[--kind=LIST]". */
static void add_options(struct place *place, const char *arguments)
{
    for (const char *option = arguments; (option = strstr(option, "--"));) {
        size_t length = strcspn(option, "=] ");
        char *word = th_printf("%.*s%s", (int)length, option, option[length] == '=' ? "=" : "");
        add(place, word);
        th_free(word);
        option += length;
    }
}

static void add_options_of_command(struct place *place)
{
    json_t *result = ask(place, "help"), *command;
    size_t i;

    json_array_foreach(json_object_get(result, "commands"), i, command)
    {
        const char *name = json_string_value(json_object_get(command, "command"));
        const char *arguments = json_string_value(json_object_get(command, "arguments"));
        if (name && arguments && strcmp(name, place->command) == 0)
            add_options(place, arguments);
    }
    json_decref(result);
}

/* Moves the word's beginning on: what is before it stays. */
static void skip(struct place *place, size_t bytes)
{
    place->word += bytes;
    place->completions->from += bytes;
}

static void skip_to_last(struct place *place, char separator)
{
    const char *last = strrchr(place->word, separator);

    if (last)
        skip(place, (size_t)(last + 1 - place->word));
}

static void add_words(struct place *place, const char *const words[])
{
    for (size_t i = 0; words[i]; i++)
        add(place, words[i]);
}

static void add_flags(struct place *place)
{
    skip_to_last(place, ',');
    add_words(place, th_trace_flag_words);
}

static void add_kinds(struct place *place)
{
    skip_to_last(place, ',');
    add_words(place, th_pattern_kind_names);
}

static void add_specs(struct place *place)
{
    static const char *const of_counts[] = {"pause", "restart", NULL};

    add_words(place, th_trace_spec_words);
    add_words(place, of_counts);
}

/* The path of the host's tracer NAME, the caller's to free; a path is itself. */
static char *tracer_path(struct place *place, const char *name)
{
    json_t *result = strchr(name, '/') ? NULL : ask(place, "tracers"), *tracer;
    char *path = NULL;
    size_t i;

    json_array_foreach(json_object_get(result, "tracers"), i, tracer)
    {
        const char *its = json_string_value(json_object_get(tracer, "name"));
        const char *where = json_string_value(json_object_get(tracer, "path"));
        if (!path && its && where && strcmp(its, name) == 0)
            path = th_strdup(where);
    }
    json_decref(result);
    return path ? path : th_strdup(name);
}

/* The user types a setting, or the value of one. */
static void add_settings_of(struct place *place, const struct th_tracer_setting *settings)
{
    const char *typed = place->word;
    size_t length = strcspn(typed, "=");

    if (typed[length])
        skip(place, length + 1);
    for (; settings && settings->name; settings++) {
        char *key = th_printf("%s=", settings->name);
        struct th_names words = {0};
        if (!typed[length])
            add(place, key);
        else if (strncmp(key, typed, length + 1) == 0)
            th_setting_words(settings, &words);
        for (size_t i = 0; i < words.count; i++)
            add(place, words.items[i]);
        th_names_free(&words);
        th_free(key);
    }
}

/* The word is NAME,key=value,... up to the cursor. */
static void add_settings(struct place *place)
{
    char *name = th_printf("%.*s", (int)strcspn(place->word, ","), place->word);
    char *path = tracer_path(place, name);
    struct th_library *library = NULL;
    struct th_search search;

    th_search_init(&search, TH_SEARCH_TRACERS, NULL, 0);
    if (th_library_find(&search, path, &library) != TH_OK)
        th_error_clear();
    skip_to_last(place, ',');
    if (library) {
        add_settings_of(place, th_library_settings(library));
        th_library_release(library);
    }
    th_search_free(&search);
    th_free(path);
    th_free(name);
}

/* NAME, or NAME and settings. An Erlang term is not completed. */
static void add_tracers(struct place *place)
{
    if (place->word[strcspn(place->word, ",=")] == ',')
        add_settings(place);
    else
        add_each(place, "tracers", "tracers", "name");
}

static void add_modules(struct place *place)
{
    add_each(place, "modules", "modules", "module");
}

/* New code lies, as a rule, where the old one did. */
static void add_libraries(struct place *place)
{
    add_modules(place);
    add_each(place, "modules", "modules", "path");
}

static void add_purges(struct place *place)
{
    static const char *const purges[] = {"soft", "hard", NULL};

    add_words(place, purges);
}

static void add_whom(struct place *place)
{
    skip_to_last(place, ',');
    add_words(place, th_trace_group_words);
    add_each(place, "processes", "processes", "name");
    add_each(place, "processes", "processes", "pid");
}

static void add_ports(struct place *place)
{
    skip_to_last(place, ',');
    add_words(place, th_trace_group_words);
}

/* An option with a value: what that may be. */
static void add_value(struct place *place)
{
    static const struct {
        const char *option;
        void (*add)(struct place *place);
    } values[] = {{"--session=", add_sessions},    {"--flags=", add_flags},
                  {"--kind=", add_kinds},          {"--match-spec=", add_specs},
                  {"--meta-tracer=", add_tracers}, {"--processes=", add_whom},
                  {"--ports=", add_ports},         {"--purge=", add_purges}};

    for (size_t i = 0; i < sizeof values / sizeof values[0]; i++) {
        size_t length = strlen(values[i].option);
        if (strncmp(place->word, values[i].option, length) != 0)
            continue;
        skip(place, length);
        values[i].add(place);
        return;
    }
}

static void add_commands(struct place *place)
{
    add_each(place, "help", "commands", "command");
}

static void add_patterns(struct place *place)
{
    add_functions(place, true);
}

static void add_names(struct place *place)
{
    add_functions(place, false);
}

/* A list of flags, then on or off and whom. */
static void add_flag_words(struct place *place)
{
    static const char *const modes[] = {"on", "off", NULL};

    add_words(place, modes);
    add_whom(place);
    add_words(place, th_trace_flag_words);
}

/* A session, then a tracer: which of them is told by what there is of either. */
static void add_replacing(struct place *place)
{
    add_sessions(place);
    add_tracers(place);
}

/* A word that is no option. */
static void add_argument(struct place *place, bool is_pattern)
{
    static const struct {
        const char *command;
        void (*add)(struct place *place);
    } arguments[] = {
        {"", add_commands},         {"attach", add_tracers},   {"detach", add_sessions},
        {"replace", add_replacing}, {"pattern", add_patterns}, {"functions", add_patterns},
        {"info", add_names},        {"flags", add_flag_words}, {"load", add_libraries},
        {"purge", add_modules},     {"delete", add_modules}};

    for (size_t i = 0; !is_pattern && i < sizeof arguments / sizeof arguments[0]; i++)
        if (strcmp(arguments[i].command, place->command) == 0)
            arguments[i].add(place);
    if (is_pattern)
        add_patterns(place);
}

static bool ends_with(const char *line, size_t end, const char *word)
{
    size_t length = strlen(word);

    return end >= length && memcmp(line + end - length, word, length) == 0;
}

void th_ctl_complete(struct th_ctl *ctl, const char *line, struct th_completions *completions)
{
    const char *begin = line + strspn(line, " \t");
    const char *last = strrchr(line, ' ');
    struct place place = {.ctl = ctl, .word = last ? last + 1 : begin, .completions = completions};
    bool first = place.word <= begin;

    place.command = th_printf("%.*s", first ? 0 : (int)strcspn(begin, " \t"), begin);
    completions->from = (size_t)(place.word - line);
    if (!first && strncmp(place.word, "--", 2) == 0 && strchr(place.word, '='))
        add_value(&place);
    else if (!first && place.word[0] == '-')
        add_options_of_command(&place);
    else
        add_argument(&place, ends_with(line, completions->from, " -p "));
    th_free(place.command);
}
