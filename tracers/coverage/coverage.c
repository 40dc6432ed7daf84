/*
 * coverage: functions that were called at least once.
 *
 * The first call of a function disarms the function (th_disarm()), if the host supports that and a
 * pattern selected the call: when every function that will be called has been called, no events
 * come any more. In an Erlang node calls keep coming.
 *
 * State: see ../output.h; `format` is text, json or lcov; `functions` is a file that lists existing
 * functions. Functions that were never called are known only for modules in this list. The output
 * file appears when the tracer is unloaded. Each thread has a table of its own, so no lock is
 * taken.
 */
#define TRACER_DECLARES                                                                 \
    {"format", TH_SETTING_WORD, "text json lcov", "text", "how the report is written"}, \
        {"functions", TH_SETTING_INPUT, NULL, NULL,                                     \
         "a file that lists which functions there are"},
#define TRACER_SETTINGS read_settings
#define TRACER_WHOLE
#define TRACER_PART struct counts
#include "../kit/counts.h"

struct settings {
    unsigned format;
};

#include "../kit/counts_share.h"
#include "../kit/line.h"
#include "write.h"

#include <nif_module.h>

enum { FORMAT_TEXT, FORMAT_JSON, FORMAT_LCOV };

static void read_settings(ErlNifEnv *env, ERL_NIF_TERM state, struct settings *settings)
{
    settings->format = output_choice(env, state, "format");
}

TH_TRACER_ENABLED(generic)
{
    return output_enabled(env, tag, state, TH_TRACER_ATOM(env, discard));
}

TH_TRACER_ENABLED(call)
{
    return TH_TRACER_ATOM(env, trace);
}

/* A known function is disarmed, too: its pattern may have been set again. */
TH_TRACER_TRACE(call)
{
    struct count function;
    struct part *part;

    if (tag != TH_TRACER_ATOM(env, call) || !counts_read_function(env, term, &function))
        return;
    function.events = 1;
    part = part_of(env, state);
    if (!part)
        return;
    if (!counts_add(&part->own, &function)) {
        if (!enif_is_atom(env, function.module) || !enif_is_atom(env, function.function))
            return;
        counts_insert(&part->own, &function);
    }
    if (TH_HAS(th_disarm))
        th_disarm(env);
}

TH_TRACER_SAVE()
{
    return parts.lost ? 0 : share_save(env, counts_save_output);
}

TH_TRACER_MERGE()
{
    return share_merge(env, saved, counts_merge_output);
}

/* Mandatory; the generic `enabled` discards these events. */
TH_TRACER_TRACE(generic)
{
}

/* --- the report --- */

static size_t add_called(struct names *names, const struct counts *counts)
{
    struct name name = {.called = true};
    const struct count *slot;
    struct line line;

    for (size_t i = 0; i < counts->size; i++) {
        slot = &counts->slots[i];
        if (!slot->function)
            continue;
        line_start(&line);
        line_add(&line, "%#T:%#T/%u", slot->module, slot->function, slot->arity);
        if (name_size(line.text, &name.module) == line.used)
            names_add(names, line.text, line.used, &name);
        else
            names->lost++;
        line_drop(&line);
    }
    return counts->lost;
}

static void add_listed(ErlNifEnv *env, struct names *names, const struct output *output)
{
    char path[4096], text[sizeof path + 100];
    size_t count;
    FILE *file;

    if (!output->state || !output_setting(env, output->state, "functions", path, sizeof path))
        return;
    file = fopen(path, "r");
    if (!file) {
        snprintf(text, sizeof text, "cannot read %s: %s", path, strerror(errno));
        output_fail(env, text);
        return;
    }
    count = names_read(names, file);
    if (!feof(file)) {
        snprintf(text, sizeof text, "cannot read %s: %s", path, strerror(errno));
        output_fail(env, text);
    } else if (count == 0) {
        fprintf(stderr,
                "coverage: %s has no line that begins with a function such as lists:map/2\n", path);
    }
    fclose(file);
}

/* Returns the module whose functions begin at FIRST. */
static struct module module_at(const struct names *names, size_t first)
{
    struct module module = {.names = &names->names[first], .first = first == 0};
    const struct name *name;

    for (size_t i = first; i < names->used; i++) {
        name = &names->names[i];
        if (name->module != module.names->module ||
            memcmp(name->text, module.names->text, name->module) != 0)
            break;
        module.count++;
        module.called += name->called;
        module.listed |= name->listed;
    }
    return module;
}

static void write_all(FILE *file, unsigned format, const struct names *names)
{
    static void (*const writers[])(FILE *, const struct module *) = {write_text, write_json,
                                                                     write_lcov};
    struct module module;

    if (format == FORMAT_JSON)
        fputs("{\"modules\":[", file);
    for (size_t i = 0; i < names->used; i += module.count) {
        module = module_at(names, i);
        writers[format](file, &module);
    }
    if (format == FORMAT_JSON)
        fputs("\n]}\n", file);
}

static void report(ErlNifEnv *env, struct output *output)
{
    struct names names = {0};
    size_t lost = 0;

    for (struct part *part = parts.first; part; part = part->next)
        if (part->output == output)
            lost += add_called(&names, &part->own);
    add_listed(env, &names, output);
    names_sort(&names);
    write_all(output->file, output->settings.format, &names);
    lost += names.lost;
    output_report_lost(env, "functions or calls", lost);
    names_free(&names);
}

TH_TRACER_UNLOAD()
{
    for (struct output *output = output_end(); output; output = output->next)
        report(env, output);
    output_report_lost(env, "calls", parts.lost);
    for (struct part *part = parts.first; part; part = part->next)
        free(part->own.slots);
    parts_free();
    output_close_all(env);
}

/* For an Erlang node; see ../README.md. */
static ErlNifFunc callbacks[] = {{"enabled", 3, enabled, 0},
                                 {"trace", 5, trace, 0},
                                 {"enabled_call", 3, enabled_call, 0},
                                 {"trace_call", 5, trace_call, 0}};
ERL_NIF_INIT(tracehost_coverage, callbacks, NULL, NULL, NULL, unload)
