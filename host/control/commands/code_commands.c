/* Commands for code: load, purge, delete, modules. Each runs in a thread of its own: it may wait
 * for libraries' code, for processes to end, and for other such commands. */
#include "commands.h"
#include "commands_internal.h"

#include "host/base/memory.h"
#include "host/code/instance.h"
#include "host/control/control_internal.h"
#include "host/library/name_list.h"

#include <jansson.h>
#include <string.h>

/* Values of a command's words. */
struct asked {
    enum th_purge purge;
    const char *info;
    const char *module;
    struct th_texts names; /* names of libraries */
};

static const char *const purge_words[] = {[TH_PURGE_SOFT] = "soft", [TH_PURGE_HARD] = "hard", NULL};
static const struct th_argument purge_option = TH_OPTION(
    "purge", "hard", CHOICE, NONE, NULL, .words = purge_words, TH_INTO(struct asked, purge));
static const struct th_argument hidden_purge_option =
    TH_OPTION("purge", "hard", CHOICE, NONE, NULL, .how = TH_ARGUMENT_HIDDEN, .words = purge_words,
              TH_INTO(struct asked, purge));
static const struct th_argument module_argument =
    TH_WORD("MODULE", MODULE, TH_ARGUMENT_NEEDED, TH_INTO(struct asked, module));

static const struct th_argument *const load_arguments[] = {
    &(const struct th_argument)TH_WORD("LIBRARY", LIBRARY, TH_ARGUMENT_NEEDED | TH_ARGUMENT_REPEATS,
                                       TH_INTO(struct asked, names)),
    &purge_option,
    &(const struct th_argument)TH_OPTION("load-info", "TERM", TEXT, NONE, NULL,
                                         TH_INTO(struct asked, info)),
    NULL};

static const struct th_argument *const purge_arguments[] = {
    &module_argument,
    &(const struct th_argument)TH_OPTION("hard", NULL, CHOICE, NONE, NULL, .otherwise = "hard",
                                         .words = purge_words, TH_INTO(struct asked, purge)),
    &hidden_purge_option, NULL};

static const struct th_argument *const delete_arguments[] = {&module_argument, &purge_option, NULL};

/* Parses WORDS into ASKED. Owner: the caller frees ASKED->names, whatever the status. */
static enum th_status read_words(const struct th_control_host *host,
                                 const struct th_control_command *command, int count, char **words,
                                 struct asked *asked)
{
    if (!host->runs_code)
        return th_error_raise(TH_USAGE, "this host runs no code; `tracehost run` does");
    return th_control_take(command, count, words, asked);
}

/* --- load ------------------------------------------------------------------------------------- */

static void add_loss(void *lost, const struct th_pattern_loss *loss)
{
    json_array_append_new(lost, json_pack("{s:o, s:o, s:I, s:o, s:b, s:s}", "session",
                                          th_control_session_name(loss->session), "first",
                                          th_control_function(&loss->first), "functions",
                                          (json_int_t)loss->functions, "kinds",
                                          th_control_kinds(loss->kinds), "outside",
                                          (int)loss->outside, "why", loss->why));
}

static json_t *loaded(const struct th_control_host *host, const struct th_control_module_list *list)
{
    json_t *modules = json_array(), *lost = json_array();

    for (size_t i = 0; i < list->count; i++) {
        th_trace_losses(host->tracing, list->finished[i].name, add_loss, lost);
        json_array_append_new(modules,
                              json_pack("{s:o, s:I, s:s, s:s}", "module",
                                        th_control_atom(list->finished[i].name), "generation",
                                        (json_int_t)list->finished[i].generation, "what",
                                        list->finished[i].upgraded ? "upgraded" : "loaded", "path",
                                        list->made[i].path));
    }
    return json_pack("{s:o, s:I, s:o}", "modules", modules, "rounds", (json_int_t)list->rounds,
                     "lost", lost);
}

static enum th_status carry_out_load(void *context, int count, char **words, json_t **result)
{
    struct th_control_host *host = context;
    struct asked asked = {.info = host->load_info};
    struct th_search search;
    enum th_status status = read_words(host, &th_control_command_load, count, words, &asked);

    if (status == TH_OK) {
        struct th_control_module_list list = {.names = asked.names.items,
                                              .count = asked.names.count,
                                              .search = &search,
                                              .purge = asked.purge};
        th_control_host_search(host, TH_SEARCH_PLUGINS, &search);
        status = th_control_module_list_load(&list, asked.info);
        if (status == TH_OK)
            *result = loaded(host, &list);
        th_control_module_list_free(&list);
        th_library_search_free(&search);
    }
    th_free(asked.names.items);
    if (status == TH_OK) { /* the files to watch have changed */
        th_control_host_lock(host);
        th_control_watch_look(&host->watch);
        th_control_host_unlock(host);
    }
    return status;
}

const struct th_control_command th_control_command_load = {
    "load",
    load_arguments,
    "argument LIBRARY is missing",
    "Loads libraries, or new code of loaded modules: all at one instant, or none. "
    "--purge=hard kills processes that use older code, which must be purged before. "
    "--load-info is the argument of `load` and `upgrade` (default: that of `run`). The "
    "answer lists functions whose new code has no room for the local breakpoints that are set.",
    carry_out_load,
    .takes_long = true,
    .unlocked = true};

/* --- purge, delete ---------------------------------------------------------------------------- */

/* Parses a command with one MODULE. */
static enum th_status read_module(const struct th_control_host *host,
                                  const struct th_control_command *command, int count, char **words,
                                  struct asked *asked, th_term *module)
{
    enum th_status status = read_words(host, command, count, words, asked);
    const char *name = asked->module;
    struct th_module_code *codes;
    struct th_names names = {0};
    size_t code_count;
    char *question;

    if (status != TH_OK)
        return status;
    *module = th_atom_existing_utf8(name, strlen(name));
    if (*module != TH_NONE && th_code_module_known(*module))
        return TH_OK;
    code_count = th_code_list(&codes);
    for (size_t i = 0; i < code_count; i++)
        th_library_names_add(&names, th_atom_name(codes[i].name)->text);
    question = th_library_suggest_question(name, (const char *const *)names.items, names.count);
    th_error_raise(TH_USAGE, "there is no module %.60s%s", name, question);
    th_free(question);
    th_library_names_free(&names);
    th_code_list_free(codes, code_count);
    return TH_USAGE;
}

static enum th_status carry_out_purge(void *context, int count, char **words, json_t **result)
{
    struct asked asked = {0};
    th_term module;
    bool had = false;
    enum th_status status =
        read_module(context, &th_control_command_purge, count, words, &asked, &module);

    if (status == TH_OK)
        status = th_code_purge(module, asked.purge, &had);
    if (status == TH_OK)
        *result =
            json_pack("{s:o, s:b}", "module", th_control_atom(module), "had_old_code", (int)had);
    return status;
}

const struct th_control_command th_control_command_purge = {
    "purge",
    purge_arguments,
    "argument MODULE is missing; `modules` lists the modules",
    "Unloads the old code of MODULE, if the old code is not in use; --hard kills the "
    "processes that use it.",
    carry_out_purge,
    .takes_long = true,
    .unlocked = true};

static enum th_status carry_out_delete(void *context, int count, char **words, json_t **result)
{
    struct asked asked = {0};
    th_term module;
    enum th_status status =
        read_module(context, &th_control_command_delete, count, words, &asked, &module);

    if (status == TH_OK)
        status = th_code_delete(module, asked.purge);
    if (status == TH_OK)
        *result = json_pack("{s:o}", "module", th_control_atom(module));
    return status;
}

const struct th_control_command th_control_command_delete = {
    "delete",
    delete_arguments,
    "argument MODULE is missing; `modules` lists the modules",
    "Deletes MODULE: no call reaches the module; its code becomes old code.",
    carry_out_delete,
    .takes_long = true,
    .unlocked = true};

/* --- modules ---------------------------------------------------------------------------------- */

static enum th_status carry_out_modules(void *context, int count, char **words, json_t **result)
{
    enum th_status status = read_words(context, &th_control_command_modules, count, words, NULL);
    struct th_module_code *codes;
    json_t *modules;
    size_t found;

    if (status != TH_OK)
        return status;
    modules = json_array();
    found = th_code_list(&codes);
    for (size_t i = 0; i < found; i++)
        json_array_append_new(modules, json_pack("{s:o, s:s, s:I, s:I, s:I, s:I, s:s, s:s}",
                                                 "module", th_control_atom(codes[i].name), "code",
                                                 codes[i].old ? "old" : "current", "generation",
                                                 (json_int_t)codes[i].generation, "functions",
                                                 (json_int_t)codes[i].exports, "local_functions",
                                                 (json_int_t)codes[i].locals, "users",
                                                 (json_int_t)codes[i].users, "path", codes[i].path,
                                                 "file", codes[i].file));
    th_code_list_free(codes, found);
    *result = json_pack("{s:o}", "modules", modules);
    return TH_OK;
}

const struct th_control_command th_control_command_modules = {
    "modules",
    NULL,
    NULL,
    "Lists the current and old code of modules, and the number of users of each.",
    carry_out_modules,
    .takes_long = true,
    .unlocked = true};
