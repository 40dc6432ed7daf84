#include "check_call_search.h"

#include "check_search.h"
#include "check_seek.h"

#include "host/base/memory.h"
#include "host/replay/minimize.h"
#include "host/replay/shrink.h"
#include "host/term/atom.h"
#include "host/term/make.h"
#include "host/term/text.h"

#include <stdlib.h>
#include <string.h>

enum { MOST_BYTES = 64 << 20 /* of the terms of a call */ };

struct call_search {
    struct th_check_call_result *result;
    const struct th_check_calls *all;
    struct th_check_seek seek;
    size_t line;  /* of the smallest list: its arguments are made smaller */
    size_t arity; /* number of these arguments: it stays */
};

static const struct th_check_page *run_calls(void *context, const void *calls)
{
    const struct call_search *search = context;

    return th_check_call_trial(&search->result->setting, calls) ? th_check_trial_results() : NULL;
}

static size_t try_units(void *context, const size_t units[], size_t count)
{
    enum { TRIES = 3 /* if the finding depends on the moment */ };
    struct call_search *search = context;
    const struct th_check_call_setting *setting = &search->result->setting;
    struct th_check_calls calls = {0};
    int tries = setting->kill_ms || setting->threads ? TRIES : 1;
    size_t needed = 0;

    th_check_calls_copy(&calls, search->all, units, count);
    while (tries-- > 0 && !th_check_seek_meet(&search->seek, &calls, count, &needed))
        ;
    th_check_calls_free(&calls);
    return needed;
}

/* Cuts the list to the lines that are needed. */
static void drop_lines(struct call_search *search)
{
    size_t count = search->all->count, *units = th_alloc((count + 1) * sizeof *units);

    for (size_t i = 0; i < count; i++)
        units[i] = i;
    count = th_replay_minimize_units(
        units, count, false, &(struct th_replay_trials){try_units, search, &search->seek.ended});
    th_check_calls_copy(&search->result->calls, search->all, units, count);
    th_free(units);
}

/* --- Arguments -------------------------------------------------------------------------------- */

/* Gives the line ARGUMENTS, if the finding is met then; takes over the text. */
static bool try_arguments(struct call_search *search, char *arguments)
{
    struct th_check_call_line *line = &search->result->calls.items[search->line];
    char *before = line->arguments;
    bool met;

    line->arguments = arguments;
    met = th_check_seek_meet(&search->seek, &search->result->calls, 0, NULL);
    if (!met)
        line->arguments = before;
    th_free(met ? before : arguments);
    return met;
}

static bool try_terms(void *context, const struct th_event *event)
{
    struct th_buffer text = {0};
    struct call_search *search = context;
    th_term list = th_tuple_elements(event->term)[2];
    size_t arity;

    if (!th_get_list_length(list, &arity) || arity != search->arity)
        return false;
    for (; th_is_list(list); list = th_cell(list)[1]) {
        th_text_print(&text, th_cell(list)[0]);
        if (th_is_list(th_cell(list)[1]))
            th_buffer_add_text(&text, ",");
    }
    return try_arguments(search, th_buffer_take_text(&text));
}

/* The arguments become those of a trace message about a call, which replay/ can shrink. */
static void shrink_arguments(struct call_search *search)
{
    const char *arguments = search->result->calls.items[search->line].arguments;
    char *text = th_printf("{m,f,[%s]}", arguments);
    struct th_event event = {.tag = TH_TAG_call, .tuple_size = 4, .match_spec_result = TH_NONE};
    th_env env;

    th_env_init(&env, TH_ENV_PLAIN);
    if (th_text_parse(&env, text, strlen(text), &event.term) == TH_OK &&
        th_get_list_length(th_tuple_elements(event.term)[2], &search->arity))
        th_replay_shrink(&event, &env, MOST_BYTES, try_terms, search);
    th_error_clear();
    th_env_release(&env);
    th_free(text);
}

/* Puts NUMBER in the place of the digits at FROM of the arguments, if the finding is met then. */
static bool try_number(struct call_search *search, size_t from, unsigned long number)
{
    const char *arguments = search->result->calls.items[search->line].arguments;
    size_t digits = strspn(arguments + from, "0123456789");

    return try_arguments(
        search, th_printf("%.*s%lu%s", (int)from, arguments, number, arguments + from + digits));
}

/* Makes the numbers in expressions as small as can be, by bisection. */
static void shrink_sizes(struct call_search *search)
{
    char *const *arguments = &search->result->calls.items[search->line].arguments;
    bool inside = false;

    for (size_t i = 0; (*arguments)[i]; i++) {
        const char *at = *arguments + i;
        unsigned long fails = 0, holds;
        inside = *at == '\'' ? at[1] == '=' : inside;
        if (!inside || *at < '0' || *at > '9')
            continue;
        holds = strtoul(at, NULL, 10);
        while (fails + 1 < holds && !search->seek.ended) {
            unsigned long middle = fails + (holds - fails) / 2;
            if (try_number(search, i, middle))
                holds = middle;
            else
                fails = middle;
        }
        i += strspn(*arguments + i, "0123456789") - 1;
    }
}

/* --- The search ------------------------------------------------------------------------------- */

/* Leaves the variable of each line out whose result no other line uses. */
static void drop_variables(struct th_check_calls *calls)
{
    struct th_buffer text = {0};

    th_check_calls_print(calls, &text);
    for (size_t i = 0; i < calls->count; i++) {
        char *call = calls->items[i].call, *equals = strstr(call, " = ");
        if (!equals || !calls->items[i].arguments)
            continue;
        *equals = '\0';
        {
            char *variable = strrchr(call, ',') ? strrchr(call, ',') + 1 : call;
            char *name = th_printf("%.*s", (int)strcspn(variable, "}"), variable);
            const char *first = strstr(th_buffer_text(&text), name);
            bool used = first && strstr(first + 1, name);
            *equals = ' ';
            if (!used)
                memmove(call, equals + 3, strlen(equals + 3) + 1);
            th_free(name);
        }
    }
    th_buffer_free(&text);
}

void th_check_call_search(struct th_check_call_result *result, const struct th_check_calls *calls,
                          const volatile int *stop)
{
    struct call_search search = {.result = result,
                                 .all = calls,
                                 .seek = {.found = &result->found,
                                          .trials = &result->trials,
                                          .limit_ns = &result->setting.limit_ns,
                                          .most = TH_CHECK_SEARCH_TRIALS,
                                          .stop = stop,
                                          .run = run_calls}};

    search.seek.context = &search;
    if (result->found.rule == TH_RULE_HANG && !th_check_seek_again(&search.seek, calls, 1))
        return; /* the machine was busy */
    drop_lines(&search);
    for (size_t i = 0; i < result->calls.count && !search.seek.ended; i++) {
        search.line = i;
        if (!result->calls.items[i].arguments || !*result->calls.items[i].arguments)
            continue;
        shrink_arguments(&search);
        shrink_sizes(&search);
    }
    drop_variables(&result->calls);
    result->confirmed = th_check_seek_again(&search.seek, &result->calls, 2);
}

/* --- Circumstances as text -------------------------------------------------------------------- */

void th_check_call_setting_print(const struct th_check_call_setting *setting,
                                 char text[TH_CHECK_CALL_SETTING_TEXT])
{
    const struct {
        const char *word;
        uint64_t number;
    } settings[] = {{"threads", setting->threads},
                    {"allocation", setting->fails},
                    {"kill", setting->kill_ms},
                    {"rounds", setting->rounds}};

    snprintf(text, TH_CHECK_CALL_SETTING_TEXT, "%s", setting->replaces ? "replace" : "plain");
    for (size_t i = 0; i < sizeof settings / sizeof *settings; i++)
        if (settings[i].number)
            snprintf(text, TH_CHECK_CALL_SETTING_TEXT, "%s=%llu", settings[i].word,
                     (unsigned long long)settings[i].number);
}

enum th_status th_check_call_setting_read(const char *text, struct th_check_call_setting *setting)
{
    enum { MOST_THREADS = 64, MOST_MS = 10000, LEAST_ROUNDS = 100, MOST_ROUNDS = 1000000000 };

    setting->threads = (unsigned)th_check_number_behind("threads=", text, MOST_THREADS);
    setting->fails = th_check_number_behind("allocation=", text, UINT64_MAX / 2);
    setting->kill_ms = th_check_number_behind("kill=", text, MOST_MS);
    setting->rounds = th_check_number_behind("rounds=", text, MOST_ROUNDS);
    setting->replaces = strcmp(text, "replace") == 0;
    if (setting->threads || setting->fails || setting->kill_ms || setting->rounds >= LEAST_ROUNDS ||
        setting->replaces || strcmp(text, "plain") == 0)
        return TH_OK;
    return th_error_raise(TH_USAGE,
                          "--run must be plain, threads=N (up to %d), allocation=N, kill=N "
                          "(milliseconds, up to %d), replace or rounds=N (at least %d), not '%s'",
                          MOST_THREADS, MOST_MS, LEAST_ROUNDS, text);
}
