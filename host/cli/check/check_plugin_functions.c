/* Findings of the runs of a NIF library, and the facts that `tracehost check` learns of its functions. */
#include "check_plugin.h"

#include "check_seek.h"

#include "host/base/memory.h"
#include "host/cli/interrupt.h"
#include "host/term/atom.h"
#include "host/term/make.h"
#include "host/term/text.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

static const int64_t MS = 1000000;

enum {
    MOST_DEATHS = 8 /* of one list, and of one function */
};

/* --- Begin and end ---------------------------------------------------------------------------- */

enum th_status th_check_plugin_begin(struct th_check_plugin *p)
{
    char *absolute = realpath(p->options->path, NULL);

    p->path = th_strdup(absolute ? absolute : p->options->path);
    free(absolute);
    p->folder = th_printf("%s/current", p->options->folder);
    if (mkdir(p->folder, S_IRWXU) != 0)
        return th_error_raise(TH_FAILED, "cannot make %s: %s", p->folder, strerror(errno));
    p->setting = (struct th_check_call_setting){
        .path = p->path, .info = p->options->info, .folder = p->folder, .limit_ns = 200 * MS};
    return th_check_output_check(p->options);
}

void th_check_plugin_end(struct th_check_plugin *p)
{
    for (size_t i = 0; i < p->function_count; i++) {
        struct th_check_function *f = &p->functions[i];
        for (unsigned j = 0; f->usual && j < f->arity; j++)
            th_free(f->usual[j]);
        th_free(f->usual);
        th_free(f->types);
        th_free(f->name);
        th_free(f->accepted);
        th_free(f->longest);
    }
    th_free(p->functions);
    th_check_calls_free(&p->makers);
    th_free(p->path);
    th_free(p->folder);
}

/* --- Functions -------------------------------------------------------------------------------- */

static void note_check_function(struct th_check_plugin *p, const char *module, const char *name,
                                size_t length)
{
    const char *slash = memrchr(name, '/', length);
    struct th_check_function *f = &p->functions[p->function_count++];
    struct th_buffer text = {0};

    f->arity = (unsigned)strtoul(slash + 1, NULL, 10);
    th_text_show_atom(&text, th_atom(module));
    th_buffer_add_text(&text, ":");
    th_text_show_atom(&text, th_atom_utf8(name, (size_t)(slash - name)));
    f->name = th_buffer_take_text(&text);
    f->types = th_alloc_zero((f->arity + 1) * sizeof *f->types);
}

enum th_status th_check_plugin_examine(struct th_check_plugin *p)
{
    const struct th_check_call_results *results = th_check_call_examine(&p->setting);
    const struct th_check_page *page;
    const char *name, *end;

    if (!results)
        return TH_FAILED;
    page = th_check_trial_results();
    if (page->refused != TH_OK)
        return th_check_trial_raise(page);
    if (page->phase != TH_CHECK_ENDED)
        return th_error_raise(TH_REFUSED, "%s", page->found[page->count - 1].text);
    p->functions = th_alloc_zero((results->functions + 1) * sizeof *p->functions);
    for (name = results->names; (end = strchr(name, '\n')); name = end + 1)
        note_check_function(p, results->module, name, (size_t)(end - name));
    return TH_OK;
}

const char *th_check_plugin_usual(const struct th_check_plugin *p, size_t function, unsigned place)
{
    char *const *usual = p->functions[function].usual;

    return usual ? usual[place] : th_check_value(TH_CHECK_TYPE_integer, 0);
}

/* --- Calls that returned ---------------------------------------------------------------------- */

/* Returns the type of the value that the atom NAME, "=TEXT", stands for. */
static enum th_check_type type_of_expression(const char *name)
{
    static const struct {
        const char *begins;
        enum th_check_type type;
    } expressions[] = {
        {"=R", TH_CHECK_TYPE_resource},
        {"=self", TH_CHECK_TYPE_pid},
        {"=make_ref", TH_CHECK_TYPE_reference},
        {"=fun(", TH_CHECK_TYPE_fun},
        {"=(fun(<<", TH_CHECK_TYPE_binary},
        {"=binary", TH_CHECK_TYPE_binary},
        {"=#{", TH_CHECK_TYPE_map},
        {"=", TH_CHECK_TYPE_list},
    };
    size_t i = 0;

    while (strncmp(name, expressions[i].begins, strlen(expressions[i].begins)) != 0)
        i++;
    return expressions[i].type;
}

static enum th_check_type type_of_argument(th_term term)
{
    if (th_is_atom(term) && *th_atom_name(term)->text == '=')
        return type_of_expression(th_atom_name(term)->text);
    return th_is_integer(term)                               ? TH_CHECK_TYPE_integer
           : th_is_float(term)                               ? TH_CHECK_TYPE_float
           : th_is_atom(term)                                ? TH_CHECK_TYPE_atom
           : th_is_bitstring(term) && th_bits_size(term) % 8 ? TH_CHECK_TYPE_bitstring
           : th_is_bitstring(term)                           ? TH_CHECK_TYPE_binary
           : th_is_list(term) && th_is_small(th_cell(term)[0]) && th_cell(term)[0] != th_small(1)
               ? TH_CHECK_TYPE_string
           : th_is_list(term) || term == TH_NIL ? TH_CHECK_TYPE_list
           : th_is_tuple(term)                  ? TH_CHECK_TYPE_tuple
           : th_is_map(term)                    ? TH_CHECK_TYPE_map
           : th_is_pid(term)                    ? TH_CHECK_TYPE_pid
           : th_is_port(term)                   ? TH_CHECK_TYPE_port
           : th_is_ref(term)                    ? TH_CHECK_TYPE_reference
                                                : TH_CHECK_TYPE_fun;
}

/* Notes the types of the ARGUMENTS of a call of F that returned. */
static void note_types(struct th_check_function *f, const char *arguments)
{
    char *text = th_printf("[%s]", arguments);
    bool first = !f->usual;
    unsigned i = 0;
    th_env env;
    th_term list;

    if (first)
        f->usual = th_alloc_zero((f->arity + 1) * sizeof *f->usual);
    th_env_init(&env, TH_ENV_PLAIN);
    if (th_text_parse(&env, text, strlen(text), &list) != TH_OK)
        list = TH_NIL;
    th_error_clear();
    for (; th_is_list(list) && i < f->arity; list = th_cell(list)[1], i++) {
        struct th_buffer usual = {0};
        f->types[i] |= 1u << type_of_argument(th_cell(list)[0]);
        if (!first)
            continue;
        th_text_print(&usual, th_cell(list)[0]);
        f->usual[i] = th_buffer_take_text(&usual);
    }
    th_env_release(&env);
    th_free(text);
}

/* Notes a call that returned a resource. */
static void note_maker(struct th_check_plugin *p, const struct th_check_call_line *line,
                       enum th_check_call_end end)
{
    enum { MOST_OF_FUNCTION = 2 };
    size_t same = 0, number = p->maker_count + 1;
    char *call;

    for (size_t i = 0; i < p->makers.count; i++)
        same += p->makers.items[i].function == line->function;
    if (same >= MOST_OF_FUNCTION || p->maker_count == TH_CHECK_MOST_MAKERS)
        return;
    call = th_printf(end == TH_CHECK_CALL_PAIR ? "{_,R%zu} = %s" : "R%zu = %s", number, line->call);
    th_check_calls_add(&p->makers, line->function, call, line->arguments);
    th_free(call);
    snprintf(p->resources[p->maker_count++], sizeof *p->resources, "'=R%zu'", number);
}

void th_check_plugin_add_setup(struct th_check_plugin *p, size_t function)
{
    char *call = th_printf("S%zu = %s", p->makers.count, p->functions[function].name);

    th_check_calls_add(&p->makers, function, call, p->functions[function].accepted);
    th_free(call);
}

/* Notes how the calls have ended. */
static void note_ends(struct th_check_plugin *p, const struct th_check_calls *calls,
                      const struct th_check_call_results *results)
{
    enum { LONG_US = 500 };

    for (size_t i = 0; i < calls->count && i < TH_CHECK_MOST_LINES; i++) {
        const struct th_check_call_line *line = &calls->items[i];
        const enum th_check_call_end end = results->ends[i];
        const uint32_t took = results->took_us[i];
        struct th_check_function *f;
        if (line->function == SIZE_MAX || strstr(line->call, " = ") ||
            end == TH_CHECK_CALL_NOT_MADE)
            continue;
        f = &p->functions[line->function];
        f->called = true;
        if (end != TH_CHECK_CALL_RAISED && took > LONG_US && took > f->longest_us) {
            th_free(f->longest);
            f->longest = th_strdup(line->arguments);
            f->longest_us = took;
        }
        if (end == TH_CHECK_CALL_RAISED || end == TH_CHECK_CALL_KILLED)
            continue;
        note_types(f, line->arguments);
        if (!f->accepted || (f->accepted_us > LONG_US * 4 && took < f->accepted_us / 4)) {
            th_free(f->accepted);
            f->accepted = th_strdup(line->arguments);
            f->accepted_us = took;
        }
        if (end == TH_CHECK_CALL_MADE || end == TH_CHECK_CALL_PAIR)
            note_maker(p, line, end);
    }
}

/* --- Findings --------------------------------------------------------------------------------- */

static void print_calls(const struct th_buffer *input)
{
    enum { MOST = 5, WIDTH = 200 };
    const char *line = (const char *)input->data, *limit = line + input->size;

    for (int i = 0; i < MOST && line < limit; i++) {
        const char *end = memchr(line, '\n', (size_t)(limit - line));
        size_t length = end ? (size_t)(end - line) : (size_t)(limit - line);
        printf("           %.*s%s\n", (int)(length < WIDTH ? length : WIDTH), line,
               length < WIDTH ? "" : "...");
        line += length + 1;
    }
}

static enum th_status print_call_result(const struct th_check_plugin *p,
                                        const struct th_check_call_result *result)
{
    const bool plain = !result->setting.fails && !result->setting.kill_ms &&
                       !result->setting.replaces && !result->setting.rounds &&
                       !result->setting.threads && result->found.rule != TH_RULE_HANG;
    char run[TH_CHECK_CALL_SETTING_TEXT];
    struct th_buffer text = {0};
    enum th_status status;

    th_check_call_setting_print(&result->setting, run);
    th_check_calls_print(&result->calls, &text);
    status = th_check_result_print(p->options,
                                   &(struct th_check_shown){.found = &result->found,
                                                            .confirmed = result->confirmed,
                                                            .input = &text,
                                                            .count = result->calls.count,
                                                            .word = "calls",
                                                            .unit = "call",
                                                            .suffix = "calls",
                                                            .print = print_calls,
                                                            .run = run,
                                                            .call = plain ? "" : NULL},
                                   p->known.count);
    th_buffer_free(&text);
    return status;
}

/* Notes that the function of FOUND, if it is one, has a finding. */
static void note_faulty(struct th_check_plugin *p, const struct th_check_found *found)
{
    for (size_t i = 0; i < p->function_count; i++) {
        struct th_check_function *f = &p->functions[i];
        size_t length = strlen(f->name);
        if (strncmp(found->where, f->name, length) == 0 &&
            (!found->where[length] || strtoul(found->where + length + 1, NULL, 10) == f->arity))
            f->faulty = true;
    }
}

/* Counts the death of which the latest run died, in LINE. A hang takes long to find. */
static void count_death(struct th_check_plugin *p, const struct th_check_call_line *line)
{
    if (line->function != SIZE_MAX)
        p->functions[line->function].deaths +=
            th_check_trial_results()->crash.kind == TH_CRASH_HANG ? MOST_DEATHS / 2 : 1;
}

/* Makes CALLS once. *DIED becomes the number of the line of which the library died, from 1; 0: it did
 * not. */
static enum th_status run_once(struct th_check_plugin *p,
                               const struct th_check_call_setting *setting,
                               const struct th_check_calls *calls, size_t *died)
{
    const struct th_check_call_results *results = th_check_call_trial(setting, calls);
    const struct th_check_page *page = th_check_trial_results();
    struct th_check_found found[TH_CHECK_FINDINGS];
    size_t count;
    enum th_status status = TH_OK;

    if (!results)
        return TH_FAILED;
    p->trials++;
    p->calls += setting->rounds ? setting->rounds * calls->count : page->played;
    p->failed = page->allocation_failed;
    *died = page->phase == TH_CHECK_PLAYING ? (size_t)page->played : 0;
    if (!setting->fails && !setting->kill_ms && !setting->threads && !setting->rounds)
        note_ends(p, calls, results);
    if (*died && *died <= calls->count)
        count_death(p, &calls->items[*died - 1]);
    count = page->count;
    memcpy(found, page->found, count * sizeof *found);
    for (size_t i = 0; i < count && status == TH_OK && !th_cli_interrupt_came(); i++) {
        struct th_check_call_result result = {.found = found[i], .setting = *setting};
        if (th_check_known_has(&p->known, found[i].key))
            continue;
        p->known.keys[p->known.count++] = found[i].key;
        th_check_call_search(&result, calls, &th_cli_interrupted);
        p->trials += result.trials;
        if (th_check_seek_holds(&result.found, result.confirmed)) {
            status = print_call_result(p, &result);
            note_faulty(p, &found[i]);
        } else {
            p->known.count--;
        }
        th_check_calls_free(&result.calls);
    }
    return status;
}

/* Adds the lines of BEFORE to LEFT without line DIED, from 1; 0: all. Lines before it that no other
 * line needs, and functions of which trials have died often, are left out. */
static void leave_out(const struct th_check_plugin *p, const struct th_check_calls *before,
                      size_t died, struct th_check_calls *left)
{
    for (size_t i = 0; i < before->count; i++) {
        const struct th_check_call_line *line = &before->items[i];
        bool often =
            line->function != SIZE_MAX && p->functions[line->function].deaths >= MOST_DEATHS;
        if (!often && (i >= died || (i + 1 < died && strstr(line->call, " = "))))
            th_check_calls_copy(left, before, &i, 1);
    }
}

enum th_status th_check_plugin_run_calls(struct th_check_plugin *p,
                                         const struct th_check_call_setting *setting,
                                         const struct th_check_calls *calls)
{
    const bool again = !setting->fails && !setting->rounds && !setting->threads;
    struct th_check_calls left = {0};
    enum th_status status = TH_OK;
    size_t died = 0;

    leave_out(p, calls, 0, &left);
    if (left.count > 0)
        status = run_once(p, setting, &left, &died);
    for (unsigned deaths = 1;
         died && again && deaths < MOST_DEATHS && status == TH_OK && !th_cli_interrupt_came();
         deaths++) {
        struct th_check_calls before = left;
        left = (struct th_check_calls){0};
        leave_out(p, &before, died, &left);
        th_check_calls_free(&before);
        status = run_once(p, setting, &left, &died);
    }
    th_check_calls_free(&left);
    return status;
}
