/* Offers values of options and of positional words. */
#include "complete.h"

#include "host/base/buffer.h"
#include "host/cli/ctl/ctl.h"
#include "host/cli/line_editor.h"
#include "host/control/control.h"
#include "host/library/code_map.h"
#include "host/library/entry.h"
#include "host/library/find.h"
#include "host/library/load.h"
#include "host/probe/probe.h"
#include "host/replay/reader.h"
#include "host/trace/named_tracer.h"

#include <string.h>

static void complete_value_add(struct th_completion *c, const char *text)
{
    c->typed.add(&c->typed, text);
}

/* --- Words ------------------------------------------------------------------------------------ */

/* Returns true if the list in the value already contains WORD. */
static bool is_listed(const struct th_completion *c, size_t from, const char *word)
{
    size_t length = strlen(word);

    for (const char *item = c->typed.word + from; item < c->typed.word + c->typed.begin;
         item += strcspn(item, ",") + 1)
        if (strcspn(item, ",") == length && memcmp(item, word, length) == 0)
            return true;
    return false;
}

/* --- Libraries -------------------------------------------------------------------------------- */

static void add_libraries(struct th_completion *c, enum th_search_kind kind, const char *suffix)
{
    struct th_search search;
    struct th_found_list list = {0};

    th_library_search_init(&search, kind, c->folders.items, c->folders.count);
    th_library_search_list(&search, &list);
    for (size_t i = 0; i < list.count; i++) {
        char *name = th_printf("%s%s", list.items[i].name, suffix);
        if (!list.items[i].shadowed)
            complete_value_add(c, name);
        th_free(name);
    }
    th_library_found_list_free(&list);
    th_library_search_free(&search);
}

bool th_options_typed_settings(struct th_typed_word *typed, const char *name,
                               const struct th_texts *folders)
{
    const struct th_tracer_setting *setting = NULL;
    struct th_library *library = NULL;
    struct th_search search;
    const char *word;
    size_t length;
    bool path = false;

    th_library_search_init(&search, TH_SEARCH_TRACERS, folders->items, folders->count);
    if (th_library_find(&search, name, &library) == TH_OK)
        setting = th_library_settings(library);
    else
        th_error_clear();
    th_options_typed_skip(typed, ',');
    word = typed->word + typed->begin;
    length = strcspn(word, "=");
    if (word[length]) {
        typed->begin += length + 1;
        path = !setting; /* no settings are known: a path is possible */
    }
    for (; setting && setting->name; setting++) {
        char *key = th_printf("%s=", setting->name);
        struct th_names words = {0};
        if (!word[length]) {
            typed->add(typed, key);
        } else if (strncmp(key, word, length + 1) == 0) {
            th_trace_setting_words(setting, &words);
            path = setting->type == TH_SETTING_INPUT || setting->type == TH_SETTING_OUTPUT;
        }
        for (size_t i = 0; i < words.count; i++)
            typed->add(typed, words.items[i]);
        th_library_names_free(&words);
        th_free(key);
    }
    if (library)
        th_library_release(library);
    th_library_search_free(&search);
    return path;
}

/* Offers NAME, PATH, NAME=STATE, NAME,key=value. */
static void complete_value_add_tracers(struct th_completion *c)
{
    const char *value = c->typed.word + c->typed.begin, *settings = value + strcspn(value, ",=");

    if (*settings == ',') {
        char *name = th_printf("%.*s", (int)(settings - value), value);
        if (th_options_typed_settings(&c->typed, name, &c->folders))
            th_options_completion_add_files(c, "files");
        th_free(name);
    } else if (*settings == '=') {
        c->typed.begin = (size_t)(settings + 1 - c->typed.word);
        complete_value_add(c, "console");
    } else if (strchr(value, '/') || *value == '.') {
        th_options_completion_add_files(c, "files");
    } else {
        add_libraries(c, TH_SEARCH_TRACERS, "");
    }
}

/* --- Functions -------------------------------------------------------------------------------- */

/* Offers the functions of the library NAME if its module is MODULE. Returns true in that case. */
static bool add_functions_of(struct th_completion *c, const struct th_search *search,
                             const char *name, const char *module)
{
    struct th_library *library;
    bool is_it = false;
    char text[4096];

    if (th_library_find(search, name, &library) == TH_OK) {
        const struct th_entry *entry = th_library_entry(library);
        const struct th_code_map *map = th_library_code_map(library);
        is_it = strcmp(th_atom_name(th_library_name(library))->text, module) == 0;
        snprintf(text, sizeof text, "%s:_/_", module);
        if (is_it)
            complete_value_add(c, text);
        for (size_t i = 0; is_it && entry && i < entry->function_count; i++) {
            const ErlNifFunc *function = &entry->functions[i];
            snprintf(text, sizeof text, "%s:%s/%u", module, function->name, function->arity);
            complete_value_add(c, text);
        }
        for (size_t i = 0; is_it && i < map->local_count; i++) {
            snprintf(text, sizeof text, "%s:%s/%u", module, map->locals[i].name,
                     map->locals[i].arity);
            complete_value_add(c, text);
        }
        th_library_release(library);
    }
    th_error_clear();
    return is_it;
}

/* Offers functions of libraries and of a running node; recordings are too long to be searched. The
 * libraries are those given as arguments, or else the plugin with the module's name. */
static void add_patterns(struct th_completion *c)
{
    const char *value = c->typed.word + c->typed.begin, *colon = strchr(value, ':');
    bool live = c->usage->live, found = false;
    struct th_search search;
    char *module;

    complete_value_add(c, "on_load");
    complete_value_add(c, "send");
    complete_value_add(c, "receive");
    for (size_t i = 0; i < c->arguments.count && !live && !found; i++) {
        found = th_replay_node_is_name(c->arguments.items[i]);
        if (found)
            th_options_completion_add_node(c, c->arguments.items[i]);
    }
    if (live && colon) {
        module = th_printf("%.*s", (int)(colon - value), value);
        th_library_search_init(&search, TH_SEARCH_PLUGINS, c->folders.items, c->folders.count);
        for (size_t i = 0; i < c->arguments.count && !found; i++)
            found = strchr(c->arguments.items[i], '/') &&
                    add_functions_of(c, &search, c->arguments.items[i], module);
        if (!found)
            add_functions_of(c, &search, module, module);
        th_library_search_free(&search);
        th_free(module);
    } else if (live) {
        add_libraries(c, TH_SEARCH_PLUGINS, ":");
        for (size_t i = 0; i < c->arguments.count; i++)
            if (strchr(c->arguments.items[i], '/')) {
                /* "bank:" for "./bank.so" */
                const char *name = strrchr(c->arguments.items[i], '/') + 1;
                size_t length = strlen(name);
                bool suffix = length > 3 && strcmp(name + length - 3, ".so") == 0;
                module = th_printf("%.*s:", (int)(suffix ? length - 3 : length), name);
                complete_value_add(c, module);
                th_free(module);
            }
    }
}

/* --- ctl -------------------------------------------------------------------------------------- */

/* Offers the words that the host's prompt would offer. */
void th_options_completion_add_ctl(struct th_completion *c)
{
    volatile int stop = 0;
    struct th_ctl ctl = {.stop = &stop};
    struct th_completions found = {0};
    struct th_buffer line = {0};
    size_t before;

    for (size_t i = 1; i < c->arguments.count; i++)
        th_buffer_printf(&line, "%s ", c->arguments.items[i]);
    before = line.size;
    th_buffer_add_text(&line, c->typed.word);
    if (th_control_connect(c->arguments.items[0], &ctl.client, &ctl.greeting) == TH_OK) {
        th_ctl_complete(&ctl, th_buffer_text(&line), &found);
        th_control_disconnect(ctl.client);
        c->typed.begin = found.from > before ? found.from - before : 0;
        for (size_t i = 0; i < found.words.count; i++)
            complete_value_add(c, found.words.items[i]);
    }
    th_error_clear();
    th_library_names_free(&found.words);
    th_buffer_free(&line);
}

/* --- Values by type --------------------------------------------------------------------------- */

void th_options_completion_add_value(struct th_completion *c, const struct th_argument_row *row)
{
    if (row->words) {
        size_t from = c->typed.begin;
        if (row->argument->how & TH_ARGUMENT_LIST)
            th_options_typed_skip(&c->typed, ',');
        for (size_t i = 0; row->words[i]; i++)
            if (!is_listed(c, from, row->words[i]))
                complete_value_add(c, row->words[i]);
        return;
    }
    switch (row->argument->type) {
    case TH_ARGUMENT_FILE:
        th_options_completion_add_files(c, "files");
        break;
    case TH_ARGUMENT_FOLDER:
        th_options_completion_add_files(c, "folders");
        break;
    case TH_ARGUMENT_SOCKET:
        th_options_completion_add_files(c, "sockets");
        break;
    case TH_ARGUMENT_TRACER:
        complete_value_add_tracers(c);
        break;
    case TH_ARGUMENT_LIBRARY:
        add_libraries(c, TH_SEARCH_PLUGINS, "");
        th_options_completion_add_files(c, "files");
        break;
    case TH_ARGUMENT_PROGRAM:
        th_options_completion_add_files(c, "files");
        add_libraries(c, TH_SEARCH_TRACERS, "");
        add_libraries(c, TH_SEARCH_PLUGINS, "");
        break;
    case TH_ARGUMENT_PATTERN:
        add_patterns(c);
        break;
    case TH_ARGUMENT_PROBE:
        for (size_t i = 0; i < TH_PROBE_COUNT_OF_ALL; i++)
            complete_value_add(c, th_probe_probes[i].name);
        break;
    default:
        break;
    }
}
