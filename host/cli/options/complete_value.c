/* What may be put in as the value of an option, or as an argument. */
#include "complete.h"

#include "host/cli/ctl/ctl.h"
#include "host/cli/line_editor.h"

#include "host/library/library.h"
#include "host/probe/probe.h"
#include "host/trace/trace.h"

#include <string.h>

/* --- Words ------------------------------------------------------------------------------------ */

/* Whether the list that the value is has it already. */
static bool is_listed(const struct th_completion *c, size_t from, const char *word)
{
    size_t length = strlen(word);

    for (const char *item = c->word + from; item < c->word + c->begin;
         item += strcspn(item, ",") + 1)
        if (strcspn(item, ",") == length && memcmp(item, word, length) == 0)
            return true;
    return false;
}

static void add_choices(struct th_completion *c, const struct th_argument_row *row)
{
    size_t from = c->begin;

    if (row->argument->how & TH_ARGUMENT_LIST)
        th_options_completion_skip(c, ',');
    for (size_t i = 0; row->words[i]; i++)
        if (!is_listed(c, from, row->words[i]))
            th_options_completion_add(c, "word", row->words[i]);
}

static void add_probes(struct th_completion *c)
{
#define X(name, ...) th_options_completion_add(c, "word", #name);
    TH_PROBES(X)
#undef X
}

/* --- Libraries -------------------------------------------------------------------------------- */

static void add_libraries(struct th_completion *c, enum th_search_kind kind, const char *suffix)
{
    struct th_search search;
    struct th_found_list list = {0};

    th_library_search_init(&search, kind, c->folders, c->folder_count);
    th_library_search_list(&search, &list);
    for (size_t i = 0; i < list.count; i++) {
        char *name = th_printf("%s%s", list.items[i].name, suffix);
        if (!list.items[i].shadowed)
            th_options_completion_add(c, *suffix ? "part" : "word", name);
        th_free(name);
    }
    th_library_found_list_free(&list);
    th_library_search_free(&search);
}

/* Adds the values that SETTING takes. */
static void add_setting_values(struct th_completion *c, const struct th_tracer_setting *setting)
{
    struct th_names words = {0};

    th_trace_setting_words(setting, &words);
    for (size_t i = 0; i < words.count; i++)
        th_options_completion_add(c, "word", words.items[i]);
    th_library_names_free(&words);
    if (setting->type == TH_SETTING_INPUT || setting->type == TH_SETTING_OUTPUT)
        th_options_completion_add_files(c, "files");
}

/* SETTINGS are those that LIBRARY declares; NULL: nobody knows. */
static void add_settings(struct th_completion *c, const struct th_tracer_setting *settings)
{
    const char *word = c->word + c->begin;
    size_t length = strcspn(word, "=");

    if (word[length])
        th_options_completion_skip(c, '=');
    if (word[length] && !settings)
        th_options_completion_add_files(c, "files");
    for (; settings && settings->name; settings++) {
        char *key = th_printf("%s=", settings->name);
        if (!word[length])
            th_options_completion_add(c, "part", key);
        else if (strncmp(key, word, length + 1) == 0)
            add_setting_values(c, settings);
        th_free(key);
    }
}

/* VALUE is the tracer's name, up to LENGTH, and some of its settings. */
static void add_settings_of(struct th_completion *c, const char *value, size_t length)
{
    char *name = th_printf("%.*s", (int)length, value);
    struct th_library *library = NULL;
    struct th_search search;

    th_library_search_init(&search, TH_SEARCH_TRACERS, c->folders, c->folder_count);
    if (th_library_find(&search, name, &library) != TH_OK)
        th_error_clear();
    th_options_completion_skip(c, ',');
    add_settings(c, library ? th_library_settings(library) : NULL);
    if (library)
        th_library_release(library);
    th_library_search_free(&search);
    th_free(name);
}

/* NAME, PATH, NAME=STATE, NAME,key=value. */
static void add_tracers(struct th_completion *c)
{
    const char *value = c->word + c->begin, *settings = value + strcspn(value, ",=");

    if (*settings == ',') {
        add_settings_of(c, value, (size_t)(settings - value));
    } else if (*settings == '=') {
        c->begin = (size_t)(settings + 1 - c->word);
        th_options_completion_add(c, "word", "console");
    } else if (strchr(value, '/') || *value == '.') {
        th_options_completion_add_files(c, "files");
    } else {
        add_libraries(c, TH_SEARCH_TRACERS, "");
    }
}

static void add_plugins(struct th_completion *c)
{
    add_libraries(c, TH_SEARCH_PLUGINS, "");
    th_options_completion_add_files(c, "files");
}

/* --- Functions -------------------------------------------------------------------------------- */

/* "bank" of "./bank.so"; the caller's to free. */
static char *module_of(const char *path)
{
    const char *slash = strrchr(path, '/'), *name = slash ? slash + 1 : path;
    size_t length = strlen(name);

    if (length > 3 && strcmp(name + length - 3, ".so") == 0)
        length -= 3;
    return th_printf("%.*s", (int)length, name);
}

static void add_function(struct th_completion *c, const char *module, const char *name,
                         unsigned arity)
{
    char *text = th_printf("%s:%s/%u", module, name, arity);

    th_options_completion_add(c, "word", text);
    th_free(text);
}

static void add_functions(struct th_completion *c, const char *module,
                          const struct th_library *library)
{
    const struct th_entry *entry = th_library_entry(library);
    const struct th_code_map *map = th_library_code_map(library);

    for (size_t i = 0; entry && i < entry->function_count; i++)
        add_function(c, module, entry->functions[i].name, entry->functions[i].arity);
    for (size_t i = 0; i < map->local_count; i++)
        add_function(c, module, map->locals[i].name, map->locals[i].arity);
}

/* If that is what the library NAME is called inside. */
static bool add_functions_of(struct th_completion *c, const struct th_search *search,
                             const char *name, const char *module)
{
    struct th_library *library;
    bool is_it = false;
    char *all = th_printf("%s:_/_", module);

    if (th_library_find(search, name, &library) == TH_OK) {
        is_it = strcmp(th_atom_name(th_library_name(library))->text, module) == 0;
        if (is_it) {
            th_options_completion_add(c, "word", all);
            add_functions(c, module, library);
        }
        th_library_release(library);
    }
    th_error_clear();
    th_free(all);
    return is_it;
}

/* Of the libraries that were named, or else of the plugin of that name. */
static void add_functions_of_module(struct th_completion *c, const char *module)
{
    struct th_search search;
    bool found = false;

    th_library_search_init(&search, TH_SEARCH_PLUGINS, c->folders, c->folder_count);
    for (size_t i = 0; i < c->argument_count && !found; i++)
        found =
            strchr(c->arguments[i], '/') && add_functions_of(c, &search, c->arguments[i], module);
    if (!found)
        add_functions_of(c, &search, module, module);
    th_library_search_free(&search);
}

/* Libraries are what functions are in; recordings are too long to be looked through. */
static void add_patterns(struct th_completion *c)
{
    const char *value = c->word + c->begin, *colon = strchr(value, ':');
    bool live = c->usage->live;
    char *module;

    th_options_completion_add(c, "word", "on_load");
    th_options_completion_add(c, "word", "send");
    th_options_completion_add(c, "word", "receive");
    if (live && colon) {
        module = th_printf("%.*s", (int)(colon - value), value);
        add_functions_of_module(c, module);
        th_free(module);
    } else if (live) {
        add_libraries(c, TH_SEARCH_PLUGINS, ":");
        for (size_t i = 0; i < c->argument_count; i++)
            if (strchr(c->arguments[i], '/')) {
                char *named = module_of(c->arguments[i]), *text = th_printf("%s:", named);
                th_options_completion_add(c, "part", text);
                th_free(text);
                th_free(named);
            }
    }
}

/* --- ctl -------------------------------------------------------------------------------------- */

/* The words that the host is to be told, as its prompt would have them. */
static char *line_for_host(const struct th_completion *c)
{
    struct th_buffer line = {0};
    char *copy;

    for (size_t i = 1; i < c->argument_count; i++)
        th_buffer_printf(&line, "%s ", c->arguments[i]);
    th_buffer_add_text(&line, c->word);
    copy = th_strdup(th_buffer_text(&line));
    th_buffer_free(&line);
    return copy;
}

static bool goes_on(const char *word)
{
    size_t length = strlen(word);

    return length > 0 && (word[length - 1] == '=' || word[length - 1] == ':');
}

void th_options_completion_add_ctl(struct th_completion *c)
{
    volatile int stop = 0;
    struct th_ctl ctl = {.stop = &stop};
    struct th_completions found = {0};
    char *line = line_for_host(c);
    size_t before = strlen(line) - strlen(c->word);

    if (th_control_connect(c->arguments[0], &ctl.client, &ctl.greeting) == TH_OK) {
        th_ctl_complete(&ctl, line, &found);
        th_control_disconnect(ctl.client);
        c->begin = found.from > before ? found.from - before : 0;
        for (size_t i = 0; i < found.count; i++)
            th_options_completion_add(c, goes_on(found.words[i]) ? "part" : "word", found.words[i]);
    }
    th_error_clear();
    for (size_t i = 0; i < found.count; i++)
        th_free(found.words[i]);
    th_free(found.words);
    th_free(line);
}

/* --- By type ---------------------------------------------------------------------------------- */

static void add_files(struct th_completion *c)
{
    th_options_completion_add_files(c, "files");
}

static void add_folders(struct th_completion *c)
{
    th_options_completion_add_files(c, "folders");
}

static void add_sockets(struct th_completion *c)
{
    th_options_completion_add_files(c, "sockets");
}

static void add_programs(struct th_completion *c)
{
    add_files(c);
    add_libraries(c, TH_SEARCH_TRACERS, "");
    add_libraries(c, TH_SEARCH_PLUGINS, "");
}

void th_options_completion_add_value(struct th_completion *c, const struct th_argument_row *row)
{
    static void (*const adders[])(struct th_completion * c) = {
        [TH_ARGUMENT_FILE] = add_files,       [TH_ARGUMENT_FOLDER] = add_folders,
        [TH_ARGUMENT_SOCKET] = add_sockets,   [TH_ARGUMENT_TRACER] = add_tracers,
        [TH_ARGUMENT_LIBRARY] = add_plugins,  [TH_ARGUMENT_PROGRAM] = add_programs,
        [TH_ARGUMENT_PATTERN] = add_patterns, [TH_ARGUMENT_PROBE] = add_probes,
    };
    enum th_argument_type type = row->argument->type;

    if (row->words)
        add_choices(c, row);
    else if (type < sizeof adders / sizeof adders[0] && adders[type])
        adders[type](c);
}
