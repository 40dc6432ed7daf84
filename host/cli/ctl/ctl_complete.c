/* Completes a line of the prompt according to the types of the commands' arguments. At each tab,
 * queries the host for its sessions, functions, tracers and modules. */
#include "ctl.h"

#include "host/base/memory.h"
#include "host/cli/line_editor.h"
#include "host/cli/options/complete.h"
#include "host/control/commands/commands.h"
#include "host/control/commands/session_options.h"
#include "host/control/control.h"

#include <jansson.h>
#include <string.h>

/* A line, split at the word to complete. */
struct place {
    struct th_typed_word typed; /* must be the first member */
    struct th_ctl *ctl;
    const struct th_argument *const *arguments; /* of the command */
    struct th_completions *completions;
};

static void add_typed(struct th_typed_word *typed, const char *text)
{
    th_cli_completions_add(((struct place *)typed)->completions, text, typed->word + typed->begin);
}

static void ctl_complete_add(struct place *place, const char *text)
{
    add_typed(&place->typed, text);
}

static const char *begun(const struct place *place)
{
    return place->typed.word + place->typed.begin;
}

/* Returns the result of COMMAND; the caller drops the reference. NULL: the command failed; the
 * error is dropped. */
static json_t *ctl_complete_ask(struct place *place, const char *command)
{
    json_t *answer, *result = NULL;

    if (th_control_ask(place->ctl->client, command, 0, NULL, place->ctl->stop, &answer) == TH_OK) {
        result = json_incref(json_object_get(answer, "result"));
        json_decref(answer);
    }
    th_error_clear();
    return result;
}

/* Offers the value of KEY of each object in the host's list WHAT. */
static void add_each(struct place *place, const char *what, const char *key)
{
    json_t *result = ctl_complete_ask(place, what), *row;
    size_t i;

    json_array_foreach(json_object_get(result, what), i, row)
    {
        const char *text = json_string_value(json_object_get(row, key));
        if (text)
            ctl_complete_add(place, text);
    }
    json_decref(result);
}

static void add_sessions(struct place *place)
{
    json_t *result = ctl_complete_ask(place, "sessions"), *session;
    size_t i;

    json_array_foreach(json_object_get(result, "sessions"), i, session)
    {
        const char *title = json_string_value(json_object_get(session, "title"));
        char *number =
            th_printf("%lld", (long long)json_integer_value(json_object_get(session, "number")));
        ctl_complete_add(place, number);
        ctl_complete_add(place,
                         title ? title : json_string_value(json_object_get(session, "tracer")));
        th_free(number);
    }
    json_decref(result);
}

/* Offers modules first; the functions of a module once its name is typed. */
static void add_functions(struct place *place, bool patterns)
{
    bool module_typed = strchr(begun(place), ':') != NULL;
    json_t *result = ctl_complete_ask(place, "functions"), *function;
    size_t i;

    json_array_foreach(json_object_get(result, "functions"), i, function)
    {
        const char *name = json_string_value(json_object_get(function, "function"));
        const char *colon = name ? strchr(name, ':') : NULL;
        char *module = colon ? th_printf("%.*s:%s", (int)(colon - name), name,
                                         module_typed && patterns ? "_/_" : "")
                             : NULL;
        if (module && (patterns || !module_typed))
            ctl_complete_add(place, module);
        if (module_typed && name)
            ctl_complete_add(place, name);
        th_free(module);
    }
    json_decref(result);
    ctl_complete_add(place, "on_load");
    if (patterns) {
        ctl_complete_add(place, "send");
        ctl_complete_add(place, "receive");
    }
}

/* Offers NAME, or NAME and its settings. The library is the host's tracer of that name, or a path.
 * An Erlang term is not completed. */
static void ctl_complete_add_tracers(struct place *place)
{
    static const struct th_texts folders = {0};
    const char *word = begun(place), *path;
    size_t length = strcspn(word, ",="), i;
    json_t *result, *tracer;
    char *name;

    if (word[length] != ',') {
        add_each(place, "tracers", "name");
        return;
    }
    path = name = th_printf("%.*s", (int)length, word);
    result = strchr(name, '/') ? NULL : ctl_complete_ask(place, "tracers");
    json_array_foreach(json_object_get(result, "tracers"), i, tracer)
    {
        const char *its = json_string_value(json_object_get(tracer, "name"));
        const char *where = json_string_value(json_object_get(tracer, "path"));
        if (path == name && its && where && strcmp(its, name) == 0)
            path = where;
    }
    th_options_typed_settings(&place->typed, path, &folders);
    json_decref(result);
    th_free(name);
}

static void add_commands(struct place *place)
{
    for (const struct th_control_command *const *c = th_control_commands; *c; c++)
        ctl_complete_add(place, (*c)->name);
}

/* Offers values of ARGUMENT: its words, and existing objects of its type. */
static void add_values(struct place *place, const struct th_argument *argument)
{
    const char *const *words = argument->live_words ? argument->live_words : argument->words;

    if (argument->how & TH_ARGUMENT_LIST)
        th_options_typed_skip(&place->typed, ',');
    for (; words && *words; words++)
        ctl_complete_add(place, *words);
    if (argument ==
        &th_control_session_arguments[TH_SESSION_SPEC]) { /* for counts, which only a host has */
        ctl_complete_add(place, "pause");
        ctl_complete_add(place, "restart");
    }
    switch (argument->type) {
    case TH_ARGUMENT_TRACER:
        ctl_complete_add_tracers(place);
        break;
    case TH_ARGUMENT_LIBRARY: /* new code mostly has the path of the old code */
        add_each(place, "modules", "module");
        add_each(place, "modules", "path");
        break;
    case TH_ARGUMENT_MODULE:
        add_each(place, "modules", "module");
        break;
    case TH_ARGUMENT_PATTERN:
    case TH_ARGUMENT_FUNCTION:
        add_functions(place, argument->type == TH_ARGUMENT_PATTERN);
        break;
    case TH_ARGUMENT_SESSION:
        add_sessions(place);
        break;
    case TH_ARGUMENT_TRACEES:
        add_each(place, "processes", "name");
        add_each(place, "processes", "pid");
        break;
    case TH_ARGUMENT_COMMAND:
        add_commands(place);
        break;
    default:
        break;
    }
}

/* The argument visited last, with its value. */
struct visited {
    const struct th_argument *argument;
    const char *value;
};

static enum th_status note_visited(void *context, const struct th_argument *argument,
                                   const char *value)
{
    *(struct visited *)context = (struct visited){argument, value};
    return TH_OK;
}

/* Completes the word being typed: an option, the value of an option, or a positional word. HEAD is
 * the line before the word. */
static void complete_word(struct place *place, const char *head)
{
    static const struct th_argument *const none[] = {NULL};
    const char *word = place->typed.word;
    const struct th_control_command *command;
    struct visited visited = {0};
    struct th_names words = {0};

    if (th_ctl_split(head, &words) != TH_OK || words.count == 0) {
        th_error_clear();
        th_library_names_free(&words);
        return;
    }
    command = th_control_find(th_control_commands, words.items[0]);
    place->arguments = command && command->arguments ? command->arguments : none;
    if (word[0] == '-' && !strchr(word, '=')) {
        for (const struct th_argument *const *a = place->arguments; *a; a++) {
            char *text;
            if (!(*a)->name || (*a)->how & (TH_ARGUMENT_HIDDEN | TH_ARGUMENT_REPEATS))
                continue;
            text = th_printf("--%s%s", (*a)->name, (*a)->value ? "=" : "");
            ctl_complete_add(place, text);
            th_free(text);
        }
    } else {
        th_library_names_add(&words, word);
        word = words.items[words.count - 1];
        if (th_control_arguments_visit(place->arguments, (int)words.count - 1, words.items + 1,
                                       note_visited, &visited) != TH_OK)
            th_error_clear();
        if (visited.value && visited.value >= word && visited.value <= word + strlen(word)) {
            place->typed.begin = (size_t)(visited.value - word);
            add_values(place, visited.argument);
        }
    }
    th_library_names_free(&words);
}

void th_ctl_complete(struct th_ctl *ctl, const char *line, struct th_completions *completions)
{
    const char *begin = line + strspn(line, " \t");
    const char *last = strrchr(line, ' ');
    struct place place = {.typed = {.word = last ? last + 1 : begin, .add = add_typed},
                          .ctl = ctl,
                          .completions = completions};
    char *head = th_printf("%.*s", (int)(place.typed.word - line), line);

    if (place.typed.word <= begin)
        add_commands(&place);
    else
        complete_word(&place, head);
    completions->from = (size_t)(place.typed.word - line) + place.typed.begin;
    th_free(head);
}
