/*
 * The runs of `tracehost check` of a NIF library that is no tracer:
 * 1. Each function is called with arguments of all types: in all combinations if it has at most three
 *    arguments, else in combinations that the seed chooses. Then again, with the resources that
 *    functions have returned. An accepted call that took long is repeated, to find its least time.
 * 2. Each function is called with values at the limits of all types in each place.
 * 3. Calls that functions have accepted are made again: while the library is replaced; in processes
 *    that are killed; in four processes at once; with an allocation that fails; and a thousand times.
 * 4. Random lists of calls are made as long as there is time.
 * If the library dies of a call, the rest of the list is run without this call.
 */
#include "check_options.h"

#include "check_arguments.h"
#include "check_call_trial.h"
#include "check_lines.h"
#include "check_node.h"
#include "check_plugin.h"
#include "check_result.h"

#include "host/base/log.h"
#include "host/cli/interrupt.h"
#include "host/cli/subcommand.h"
#include "host/term/clock.h"

#include <string.h>

static const int64_t SECOND = 1000000000;

enum {
    ALL_COMBINATIONS = 3000, /* of arguments' types: if there are more, ... */
    COMBINATIONS = 1500,     /* ... so many are tried */
    QUICK_US = 2000,         /* of a call that may be made often */
    REPEATS = 32,            /* of a call that seems to take longer, ... */
    REPEATS_US = 2000000,    /* ... at most in this time */
    ALLOCATIONS = 32,        /* that fail, each in a run of its own */
    THREADS = 4,             /* as a node with four schedulers */
    ROUNDS = 1000,           /* of a call whose memory is measured */
    RANDOM_CALLS = 300       /* of a random list */
};

/* --- Lists ------------------------------------------------------------------------------------ */

/* Adds a call of FUNCTION with ARGUMENTS, an array of texts. */
static void add_call(struct th_check_calls *calls, const struct th_check_plugin *p, size_t function,
                     const char *const arguments[], const char *variable)
{
    struct th_buffer text = {0}, call = {0};

    for (size_t i = 0; i < p->functions[function].arity; i++)
        th_buffer_printf(&text, "%s%s", i ? "," : "", arguments[i]);
    th_buffer_printf(&call, "%s%s%s", variable ? variable : "", variable ? " = " : "",
                     p->functions[function].name);
    th_check_calls_add(calls, function, th_buffer_text(&call), th_buffer_text(&text));
    th_buffer_free(&text);
    th_buffer_free(&call);
}

/* Returns the value NUMBER of TYPE; a resource is one of those that makers return. */
static const char *value_of(const struct th_check_plugin *p, enum th_check_type type, size_t number)
{
    return type == TH_CHECK_TYPE_resource ? p->resources[number % p->maker_count]
                                          : th_check_value(type, number);
}

static size_t values_of(const struct th_check_plugin *p, enum th_check_type type)
{
    return type == TH_CHECK_TYPE_resource ? p->maker_count : th_check_values(type);
}

/* Step 1, for one function. Each resource stands for a type of its own. WITH_RESOURCES: only
 * combinations that have a resource are new. */
static void list_types(struct th_check_calls *calls, const struct th_check_plugin *p,
                       size_t function, bool with_resources)
{
    const unsigned arity = p->functions[function].arity;
    const size_t choices = TH_CHECK_TYPE_resource + (with_resources ? p->maker_count : 0);
    size_t all = 1;
    uint64_t state = p->seed + function;
    bool random;

    for (unsigned i = 0; i < arity && all <= ALL_COMBINATIONS; i++)
        all *= choices;
    random = all > ALL_COMBINATIONS;
    for (size_t number = 0; number < (random ? COMBINATIONS : all); number++) {
        const char *arguments[TH_CHECK_MOST_ARITY];
        bool has_resource = false;
        size_t rest = number;
        for (unsigned i = 0; i < arity; i++, rest /= choices) {
            size_t choice = random ? th_check_pick(&state, choices) : rest % choices;
            bool is_resource = choice >= TH_CHECK_TYPE_resource;
            arguments[i] = is_resource ? p->resources[choice - TH_CHECK_TYPE_resource]
                                       : th_check_value((enum th_check_type)choice, 0);
            has_resource |= is_resource;
        }
        if (has_resource == with_resources)
            add_call(calls, p, function, arguments, NULL);
    }
}

/* Step 2, for one function. */
static void list_limits(struct th_check_calls *calls, const struct th_check_plugin *p,
                        size_t function)
{
    const struct th_check_function *f = &p->functions[function];

    for (unsigned place = 0; place < f->arity; place++)
        for (int type = 0; type < TH_CHECK_TYPES; type++)
            for (size_t i = 0; i < values_of(p, (enum th_check_type)type); i++) {
                const char *arguments[TH_CHECK_MOST_ARITY];
                for (unsigned j = 0; j < f->arity; j++)
                    arguments[j] = j == place ? value_of(p, (enum th_check_type)type, i)
                                              : th_check_plugin_usual(p, function, j);
                add_call(calls, p, function, arguments, NULL);
            }
}

/* --- Runs ------------------------------------------------------------------------------------- */

/* Adds the accepted call of FUNCTION, if it is quick or if SLOW ones are wanted. */
static bool list_accepted(struct th_check_calls *calls, const struct th_check_plugin *p,
                          size_t function, bool slow)
{
    const struct th_check_function *f = &p->functions[function];
    const size_t before = calls->count;

    if (f->accepted && (slow || f->accepted_us < QUICK_US))
        th_check_calls_add(calls, function, f->name, f->accepted);
    if (f->longest && slow)
        th_check_calls_add(calls, function, f->name, f->longest);
    return calls->count > before;
}

/* Adds the makers of the resources in ARGUMENTS, and the calls that other functions may expect. */
static void list_makers(struct th_check_calls *calls, const struct th_check_plugin *p,
                        const char *arguments)
{
    for (size_t i = 0; i < p->makers.count; i++) {
        const char *call = p->makers.items[i].call, *resource = strstr(call, "R");
        char text[16];
        snprintf(text, sizeof text, "'=%.*s'", (int)strcspn(resource ? resource : "", " }"),
                 resource ? resource : "");
        if (*call == 'S' || !arguments || strstr(arguments, text))
            th_check_calls_copy(calls, &p->makers, &i, 1);
    }
}

/* Makes the accepted call of FUNCTION again if it took long: perhaps the machine was busy. The least time
 * counts. */
static enum th_status time_again(struct th_check_plugin *p, size_t function)
{
    struct th_check_function *f = &p->functions[function];
    const struct th_check_call_results *results;
    struct th_check_calls calls = {0};
    size_t first;

    if (!f->accepted || f->accepted_us < QUICK_US)
        return TH_OK;
    list_makers(&calls, p, f->accepted);
    first = calls.count;
    for (unsigned i = 0; i < REPEATS && (uint64_t)f->accepted_us * i < REPEATS_US; i++)
        th_check_calls_add(&calls, function, f->name, f->accepted);
    results = th_check_call_trial(&p->setting, &calls);
    p->trials++;
    p->calls += calls.count;
    for (size_t i = first; results && i < calls.count; i++)
        if (results->ends[i] >= TH_CHECK_CALL_RETURNED && results->ends[i] < TH_CHECK_CALL_KILLED &&
            results->took_us[i] < f->accepted_us)
            f->accepted_us = results->took_us[i];
    th_check_calls_free(&calls);
    return results ? TH_OK : TH_FAILED;
}

static enum th_status run_types_of(struct th_check_plugin *p, size_t function, bool with_resources)
{
    struct th_check_calls calls = {0};
    enum th_status status;

    th_check_calls_copy(&calls, &p->makers, NULL, 0);
    list_types(&calls, p, function, with_resources);
    status = th_check_plugin_run_calls(p, &p->setting, &calls);
    th_check_calls_free(&calls);
    return status == TH_OK ? time_again(p, function) : status;
}

/* Tries the functions that no call has returned from once more, after calls without arguments that
 * did return: a library may have to be started. */
static enum th_status run_started(struct th_check_plugin *p)
{
    enum th_status status = TH_OK;

    for (size_t i = 0; i < p->function_count; i++)
        if (p->functions[i].accepted && p->functions[i].arity == 0 &&
            p->functions[i].accepted_us < QUICK_US)
            th_check_plugin_add_setup(p, i);
    for (size_t i = 0; i < p->function_count && status == TH_OK; i++)
        if (!p->functions[i].accepted)
            status = run_types_of(p, i, p->maker_count > 0);
    return status;
}

/* Step 1. */
static enum th_status run_types(struct th_check_plugin *p)
{
    bool some = false, none = false;
    enum th_status status = TH_OK;

    for (size_t i = 0; i < p->function_count && status == TH_OK; i++)
        status = run_types_of(p, i, false);
    for (size_t i = 0; i < p->function_count && status == TH_OK && p->maker_count > 0; i++)
        status = run_types_of(p, i, true);
    for (size_t i = 0; i < p->function_count; i++) {
        some |= p->functions[i].accepted && p->functions[i].arity == 0;
        none |= !p->functions[i].accepted;
    }
    return status == TH_OK && some && none ? run_started(p) : status;
}

static enum th_status run_limits(struct th_check_plugin *p)
{
    enum th_status status = TH_OK;

    for (size_t i = 0; i < p->function_count && status == TH_OK; i++) {
        struct th_check_calls calls = {0};
        th_check_calls_copy(&calls, &p->makers, NULL, 0);
        list_limits(&calls, p, i);
        status = th_check_plugin_run_calls(p, &p->setting, &calls);
        th_check_calls_free(&calls);
    }
    return status;
}

/* The accepted calls of all functions together. */
static enum th_status run_together(struct th_check_plugin *p,
                                   const struct th_check_call_setting *setting, bool slow)
{
    struct th_check_calls calls = {0};
    enum th_status status = TH_OK;
    bool some = false;

    th_check_calls_copy(&calls, &p->makers, NULL, 0);
    for (size_t i = 0; i < p->function_count; i++)
        some |= list_accepted(&calls, p, i, slow);
    if (some)
        status = th_check_plugin_run_calls(p, setting, &calls);
    th_check_calls_free(&calls);
    return status;
}

/* Returns whether a function of CALLS has a finding already: it would be met again. */
static bool has_faulty(const struct th_check_plugin *p, const struct th_check_calls *calls)
{
    for (size_t i = 0; i < calls->count; i++)
        if (p->functions[calls->items[i].function].faulty)
            return true;
    return false;
}

/* The accepted call of one function alone, again and again. */
static enum th_status run_alone(struct th_check_plugin *p, size_t function)
{
    struct th_check_call_setting setting = p->setting;
    struct th_check_calls calls = {0};
    enum th_status status = TH_OK;

    list_makers(&calls, p, p->functions[function].accepted);
    if (list_accepted(&calls, p, function, false)) {
        p->failed = true;
        for (setting.fails = 1; setting.fails <= ALLOCATIONS && status == TH_OK && p->failed;
             setting.fails++)
            status = th_check_plugin_run_calls(p, &setting, &calls);
        setting = p->setting;
        setting.rounds = ROUNDS;
        if (status == TH_OK && !has_faulty(p, &calls))
            status = th_check_plugin_run_calls(p, &setting, &calls);
    }
    th_check_calls_free(&calls);
    return status;
}

/* Step 3. */
static enum th_status run_accepted(struct th_check_plugin *p)
{
    enum { TRIES = 3 };
    static const uint64_t kills_ms[] = {1, 5};
    struct th_check_call_setting setting = p->setting;
    enum th_status status;

    status = run_together(p, &setting, false);
    setting.replaces = true;
    if (status == TH_OK)
        status = run_together(p, &setting, false);
    setting = p->setting;
    /* Which call is killed, and where, depends on the moment. */
    for (size_t i = 0; i < TRIES * sizeof kills_ms / sizeof *kills_ms && status == TH_OK; i++) {
        setting.kill_ms = kills_ms[i / TRIES];
        status = run_together(p, &setting, true);
    }
    setting = p->setting;
    setting.threads = THREADS;
    if (status == TH_OK)
        status = run_together(p, &setting, false);
    for (size_t i = 0; i < p->function_count && status == TH_OK; i++)
        status = run_alone(p, i);
    return status;
}

/* Chooses an argument for PLACE of FUNCTION: mostly of a type that is accepted there. */
static const char *choose_argument(const struct th_check_plugin *p, size_t function, unsigned place,
                                   uint64_t *state)
{
    const uint32_t accepted = p->functions[function].types[place];
    size_t type = th_check_pick(state, TH_CHECK_TYPES);

    if (accepted && th_check_pick(state, 8))
        while (!(accepted >> type & 1))
            type = th_check_pick(state, TH_CHECK_TYPES);
    if (values_of(p, (enum th_check_type)type) == 0)
        type = TH_CHECK_TYPE_reference;
    if (th_check_pick(state, 4) == 0)
        return th_check_plugin_usual(p, function, place);
    return value_of(p, (enum th_check_type)type,
                    th_check_pick(state, values_of(p, (enum th_check_type)type)));
}

/* One run of step 4. */
static enum th_status run_random_calls(struct th_check_plugin *p, uint64_t seed)
{
    struct th_check_call_setting setting = p->setting;
    struct th_check_calls calls = {0};
    uint64_t state = seed;
    enum th_status status;

    setting.fails = th_check_pick(&state, 8) ? 0 : 1 + th_check_pick(&state, ALLOCATIONS);
    setting.replaces = !setting.fails && th_check_pick(&state, 8) == 0;
    th_check_calls_copy(&calls, &p->makers, NULL, 0);
    for (int i = 0; i < RANDOM_CALLS; i++) {
        size_t function = th_check_pick(&state, p->function_count);
        const char *arguments[TH_CHECK_MOST_ARITY];
        char variable[16], earlier[24];
        snprintf(variable, sizeof variable, "V%d", i);
        snprintf(earlier, sizeof earlier, "'=V%d'",
                 i > 0 ? (int)th_check_pick(&state, (uint64_t)i) : 0);
        for (unsigned j = 0; j < p->functions[function].arity; j++)
            arguments[j] = i > 0 && th_check_pick(&state, 10) == 0
                               ? earlier
                               : choose_argument(p, function, j, &state);
        add_call(&calls, p, function, arguments, variable);
    }
    status = th_check_plugin_run_calls(p, &setting, &calls);
    th_check_calls_free(&calls);
    return status;
}

/* --- The summary ------------------------------------------------------------------------------ */

static void print_count(const struct th_check_plugin *p, const char *what,
                        bool (*met)(const struct th_check_function *function))
{
    enum { MOST_NAMES = 6 };
    size_t count = 0, named = 0;

    for (size_t i = 0; i < p->function_count; i++)
        count += met(&p->functions[i]);
    printf("  %-8s %zu of %zu functions", what, count, p->function_count);
    for (size_t i = 0; i < p->function_count; i++)
        if (!met(&p->functions[i]) && named++ < MOST_NAMES)
            printf("%s %s/%u", named == 1 ? "; not" : ",", p->functions[i].name,
                   p->functions[i].arity);
    puts(named > MOST_NAMES ? ", ..." : "");
}

static bool was_called(const struct th_check_function *function)
{
    return function->called;
}

static bool has_accepted(const struct th_check_function *function)
{
    return function->accepted != NULL;
}

static void print_plugin_summary(const struct th_check_plugin *p, double seconds)
{
    printf("%zu finding%s; %llu runs, %llu calls, seed %llu, %.1f s\n", p->known.count,
           th_log_plural(p->known.count), (unsigned long long)p->trials,
           (unsigned long long)p->calls, (unsigned long long)p->first_seed, seconds);
    if (!p->options->run) {
        print_count(p, "called", was_called);
        print_count(p, "returned", has_accepted);
        th_check_lines_sum_up(p->options->folder);
        th_check_node_sum_up(p->options->node);
    }
}

/* --- The command ------------------------------------------------------------------------------ */

static enum th_status run_all_calls(struct th_check_plugin *p, int64_t began)
{
    enum th_status status = th_check_plugin_examine(p);

    if (status == TH_OK)
        th_check_node_print(p->options, &p->known);
    if (status == TH_OK)
        status = run_types(p);
    if (status == TH_OK)
        status = run_limits(p);
    if (status == TH_OK)
        status = run_accepted(p);
    for (; status == TH_OK && p->function_count > 0 && !th_cli_interrupt_came() &&
           th_clock_real_monotonic() < began + p->options->for_ns;
         p->seed++)
        status = run_random_calls(p, p->seed);
    return status;
}

/* Runs CALLS; again, while there is no finding, if a finding would depend on the moment. */
static enum th_status run_until_found(struct th_check_plugin *p,
                                      const struct th_check_call_setting *setting,
                                      const struct th_check_calls *calls)
{
    enum { TRIES = 20 };
    size_t known = p->known.count;
    int tries = p->options->run && (setting->kill_ms || setting->threads) ? TRIES : 1;
    enum th_status status;

    do
        status = th_check_plugin_run_calls(p, setting, calls);
    while (status == TH_OK && --tries > 0 && p->known.count == known && !th_cli_interrupt_came());
    return status;
}

/* Runs the lists of calls in the files that were given. */
static enum th_status run_given_calls(struct th_check_plugin *p)
{
    const struct th_texts *files = &p->options->recordings;
    struct th_check_call_setting setting = p->setting;
    enum th_status status = TH_OK;

    if (p->options->run)
        status = th_check_call_setting_read(p->options->run, &setting);
    if (status == TH_OK && p->options->run && files->count == 0)
        return th_error_raise(TH_USAGE, "--run needs a file with calls");
    for (size_t i = 0; i < files->count && status == TH_OK; i++) {
        struct th_check_calls calls = {0};
        status = th_check_calls_read(&calls, files->items[i]);
        if (status == TH_OK && calls.count > 0)
            status = run_until_found(p, &setting, &calls);
        th_check_calls_free(&calls);
    }
    return status;
}

int th_check_plugin_run(const struct th_check_options *options)
{
    int64_t began = th_clock_real_monotonic();
    struct th_check_plugin p = {.options = options};
    enum th_status status;

    p.seed = options->seed >= 0 ? (uint64_t)options->seed : (uint64_t)began % 1000000;
    p.first_seed = p.seed;
    th_cli_interrupt_install();
    status = th_check_plugin_begin(&p);
    if (status == TH_OK)
        status = run_given_calls(&p);
    if (status == TH_OK && !options->run)
        status = run_all_calls(&p, began);
    if (status == TH_OK)
        print_plugin_summary(&p, (double)(th_clock_real_monotonic() - began) / (double)SECOND);
    th_check_plugin_end(&p);
    if (status != TH_OK)
        return th_cli_command_fail("check");
    return th_cli_interrupt_status(
        th_cli_command_finish("check", p.known.count > 0 ? TH_FAILED : TH_OK));
}
