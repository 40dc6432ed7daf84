/* Commands about code: load, purge, delete, modules. They are carried out apart: they may wait for
 * libraries' code, for processes that are to end, and for each other. */
#include "control_code.h"

#include "call_library.h"
#include "control_host.h"
#include "control_words.h"
#include "module_list.h"

#include <string.h>

enum { PURGE = 1, HARD, INFO };

const struct argp_option th_load_option_table[] = {
    {"purge", PURGE, "HOW", 0, NULL, 0},
    {"hard", HARD, NULL, 0, NULL, 0},
    {"load-info", INFO, "TERM", 0, NULL, 0},
    {0},
};

/* What a command says. */
struct asked {
    const char *usage; /* th_control_usage_... */
    unsigned takes;    /* the options that it has, a bit each */
    enum th_purge purge;
    const char *info;

    const char **names; /* libraries, modules */
    size_t name_count, name_capacity;
};

static enum th_status take_purge(struct asked *asked, const char *how)
{
    if (strcmp(how, "hard") != 0 && strcmp(how, "soft") != 0)
        return th_error_raise(TH_USAGE, "--purge is soft or hard, not '%.60s'", how);
    asked->purge = *how == 'h' ? TH_PURGE_HARD : TH_PURGE_SOFT;
    return TH_OK;
}

static enum th_status take(void *context, int key, const char *value)
{
    struct asked *asked = context;

    if (key == TH_WORD) {
        TH_ARRAY_GROW(asked->names, asked->name_count, asked->name_capacity);
        asked->names[asked->name_count++] = value;
        return TH_OK;
    }
    if (!(asked->takes & 1u << key))
        return TH_END;
    if (key == PURGE)
        return take_purge(asked, value);
    if (key == HARD)
        asked->purge = TH_PURGE_HARD;
    else
        asked->info = value;
    return TH_OK;
}

/* ASKED->names is freed in any case. */
static enum th_status read_words(const struct th_control_host *host, struct asked *asked, int count,
                                 char **words)
{
    if (!host->options->live)
        return th_error_raise(TH_USAGE, "code is loaded by hosts that run it: tracehost run");
    return th_words_take(th_load_option_table, asked->usage, count, words, take, asked);
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

static json_t *loaded(const struct th_control_host *host, const struct th_module_list *list)
{
    json_t *modules = json_array(), *lost = json_array();

    for (size_t i = 0; i < list->count; i++) {
        th_tracing_losses(host->tracing, list->finished[i].name, add_loss, lost);
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

static enum th_status load(const struct th_control_host *host, struct th_module_list *list,
                           json_t **result)
{
    enum th_status status = th_module_list_prepare(list);

    if (status == TH_OK)
        status = th_module_list_finish(list);
    if (status == TH_OK)
        *result = loaded(host, list);
    th_module_list_free(list);
    if (status != TH_OK && list->count > 1)
        th_error_context("none of the %zu libraries was loaded", list->count);
    return status;
}

static enum th_status load_asked(const struct th_control_host *host, const struct asked *asked,
                                 json_t **result)
{
    struct th_module_list list = {
        .names = asked->names, .count = asked->name_count, .purge = asked->purge};
    struct th_search search;
    th_env env;
    enum th_status status;

    if (asked->name_count == 0)
        return th_error_raise(TH_USAGE, "load which LIBRARY?");
    th_env_init(&env, TH_ENV_PLAIN);
    status = th_load_info_read(asked->info, &env, &list.info);
    if (status == TH_OK) {
        th_search_init(&search, TH_SEARCH_PLUGINS, host->options->folders,
                       host->options->folder_count);
        list.search = &search;
        status = load(host, &list, result);
        th_search_free(&search);
    }
    th_env_release(&env);
    return status;
}

/* There are other files to watch; the lock is held by who begins to. */
static void look_at_files(struct th_control_host *host)
{
    th_control_host_lock(host);
    th_watch_look(&host->watch);
    th_control_host_unlock(host);
}

enum th_status th_control_do_load(void *context, int count, char **words, json_t **result)
{
    const struct th_control_host *host = context;
    struct asked asked = {
        .usage = th_control_usage_load, .takes = 1u << PURGE | 1u << INFO, .info = host->load_info};
    enum th_status status = read_words(host, &asked, count, words);

    if (status == TH_OK)
        status = load_asked(host, &asked, result);
    th_free(asked.names);
    if (status == TH_OK)
        look_at_files(context);
    return status;
}

/* --- purge, delete ---------------------------------------------------------------------------- */

/* No module has the NAME. */
static enum th_status refuse_module(const char *name)
{
    struct th_module_code *codes;
    size_t count = th_code_list(&codes);
    struct th_names names = {0};
    char *question;

    for (size_t i = 0; i < count; i++)
        th_names_add(&names, th_atom_name(codes[i].name)->text);
    question = th_spelling_question(name, (const char *const *)names.items, names.count);
    th_error_raise(TH_USAGE, "there is no module %.60s%s", name, question);
    th_free(question);
    th_names_free(&names);
    th_code_list_free(codes, count);
    return TH_USAGE;
}

/* Reads a command about one MODULE. */
static enum th_status read_module(const struct th_control_host *host, struct asked *asked,
                                  int count, char **words, th_term *module)
{
    enum th_status status = read_words(host, asked, count, words);

    if (status == TH_OK && asked->name_count == 0)
        status = th_error_raise(TH_USAGE, "which MODULE? `modules` lists them");
    else if (status == TH_OK && asked->name_count > 1)
        status = th_error_raise(TH_USAGE, "what is '%.60s' for? it is one word too many",
                                asked->names[1]);
    if (status == TH_OK) {
        *module = th_atom_existing_utf8(asked->names[0], strlen(asked->names[0]));
        if (*module == TH_NONE || !th_module_known(*module))
            status = refuse_module(asked->names[0]);
    }
    th_free(asked->names);
    return status;
}

enum th_status th_control_do_purge(void *context, int count, char **words, json_t **result)
{
    struct asked asked = {.usage = th_control_usage_purge, .takes = 1u << HARD | 1u << PURGE};
    th_term module;
    bool had = false;
    enum th_status status = read_module(context, &asked, count, words, &module);

    if (status == TH_OK)
        status = th_code_purge(module, asked.purge, &had);
    if (status == TH_OK)
        *result =
            json_pack("{s:o, s:b}", "module", th_control_atom(module), "had_old_code", (int)had);
    return status;
}

enum th_status th_control_do_delete(void *context, int count, char **words, json_t **result)
{
    struct asked asked = {.usage = th_control_usage_delete, .takes = 1u << PURGE};
    th_term module;
    enum th_status status = read_module(context, &asked, count, words, &module);

    if (status == TH_OK)
        status = th_code_delete(module, asked.purge);
    if (status == TH_OK)
        *result = json_pack("{s:o}", "module", th_control_atom(module));
    return status;
}

/* --- modules ---------------------------------------------------------------------------------- */

static json_t *module_of(const struct th_module_code *code)
{
    return json_pack("{s:o, s:s, s:I, s:I, s:I, s:I, s:s, s:s}", "module",
                     th_control_atom(code->name), "code", code->old ? "old" : "current",
                     "generation", (json_int_t)code->generation, "functions",
                     (json_int_t)code->exports, "local_functions", (json_int_t)code->locals,
                     "users", (json_int_t)code->users, "path", code->path, "file", code->file);
}

enum th_status th_control_do_modules(void *context, int count, char **words, json_t **result)
{
    struct asked asked = {.usage = th_control_usage_modules};
    enum th_status status = read_words(context, &asked, 0, NULL);
    struct th_module_code *codes;
    json_t *modules;
    size_t found;

    if (status == TH_OK)
        status = th_control_no_words(count, words);
    if (status != TH_OK)
        return status;
    modules = json_array();
    found = th_code_list(&codes);
    for (size_t i = 0; i < found; i++)
        json_array_append_new(modules, module_of(&codes[i]));
    th_code_list_free(codes, found);
    *result = json_pack("{s:o}", "modules", modules);
    return TH_OK;
}
