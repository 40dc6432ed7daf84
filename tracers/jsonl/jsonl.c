/*
 * jsonl: records the arguments of the callbacks, as JSON lines that tracehost reads.
 *
 * State: see ../output.h; `ts` is number (the default) or string: times are JSON numbers, which
 * programs round if they read these as floating point, or texts.
 */
#define TRACER_DECLARES \
    {"ts", TH_SETTING_WORD, "number string", "number", "times as numbers of JSON, or as texts"},
#define TRACER_SETTINGS read_settings
#include <stdatomic.h>
#include <stdbool.h>

struct settings {
    bool texts;        /* times are texts */
    atomic_bool begun; /* the header is written; set under `lock` of outputs */
};

#include <nif_module.h>

#include "../kit/share.h"
#include "../kit/stamp.h"
#include "value.h"

enum { TS_NUMBER, TS_STRING };
enum { LONGEST = 256 * 1024 * 1024 }; /* maximum length of a line that tracehost reads */

static void read_settings(ErlNifEnv *env, ERL_NIF_TERM state, struct settings *settings)
{
    settings->texts = output_choice(env, state, "ts") == TS_STRING;
    settings->begun = false;
}

/* --- The first line: the node of local identifiers --- */

/* Adds a character of Latin-1 as UTF-8. */
static void add_latin1(struct line *line, unsigned char c)
{
    const char bytes[] = {(char)(0xC0 | c >> 6), (char)(0x80 | (c & 0x3F))};

    if (c < 0x80)
        line_add_json(line, (const char *)&c, 1, 1);
    else
        line_add_bytes(line, bytes, sizeof bytes);
}

static void add_node(struct line *line, const struct reference *reference)
{
    line_add(line, ",\"node\":\"");
    if (reference->latin1)
        for (size_t i = 0; i < reference->node_size; i++)
            add_latin1(line, reference->node[i]);
    else
        line_add_json(line, (const char *)reference->node, reference->node_size, SIZE_MAX);
    line_add(line, "\",\"creation\":%u", reference->creation);
}

static void write_header(ErlNifEnv *env, FILE *file)
{
    struct reference reference;
    ErlNifBinary bytes;
    struct line line;

    line_start(&line);
    line_add(&line, "{\"tracehost\":1");
    if (enif_term_to_binary(env, enif_make_ref(env), &bytes)) {
        if (reference_read(&bytes, &reference))
            add_node(&line, &reference);
        enif_release_binary(&bytes);
    } else {
        output_lose();
    }
    line_add(&line, "}");
    line_end(&line, file);
}

/* Under the lock: different states may have the same file. */
static bool has_header(const struct output *output)
{
    const struct output *other = atomic_load_explicit(&outputs.first, memory_order_relaxed);

    while (other && !(other->file == output->file && other->settings.begun))
        other = other->next;
    return other;
}

/* Acquire and release: no thread writes a line before the header is in the file. */
static void begin(ErlNifEnv *env, struct output *output)
{
    if (atomic_load_explicit(&output->settings.begun, memory_order_acquire))
        return;
    pthread_mutex_lock(&outputs.lock);
    if (!has_header(output) && !output_is_continued(output) && !(output->to && output->to->share))
        write_header(env, output->file);
    atomic_store_explicit(&output->settings.begun, true, memory_order_release);
    pthread_mutex_unlock(&outputs.lock);
}

/* --- Other lines --- */

static void add_time(struct line *line, const struct stamp *stamp, bool texts)
{
    const char *quote = texts ? "\"" : "";
    static const char *const kinds[] = {"", "timestamp", "cpu_timestamp", "monotonic",
                                        "strict_monotonic"};

    if (stamp->kind == STAMP_NONE)
        return;
    line_add(line, "\"ts\":%s%lld%s,\"ts_kind\":\"%s\",", quote, (long long)stamp->ns, quote,
             kinds[stamp->kind]);
    if (stamp->kind == STAMP_STRICT)
        line_add(line, "\"ts_unique\":%s%lld%s,", quote, (long long)stamp->unique, quote);
}

static bool add_field(struct line *line, ErlNifEnv *env, const char *name, ERL_NIF_TERM term)
{
    line_add(line, "\"%s\":", name);
    return value_add(line, env, term);
}

static bool add_option(struct line *line, ErlNifEnv *env, ERL_NIF_TERM opts, ERL_NIF_TERM key,
                       const char *name)
{
    ERL_NIF_TERM value;

    if (!enif_get_map_value(env, opts, key, &value))
        return true;
    line_add(line, ",");
    return add_field(line, env, name, value);
}

static void add_scheduler(struct line *line, ErlNifEnv *env, ERL_NIF_TERM opts)
{
    ErlNifSInt64 scheduler;
    ERL_NIF_TERM value;

    if (enif_get_map_value(env, opts, TH_TRACER_ATOM(env, scheduler_id), &value) &&
        enif_get_int64(env, value, &scheduler))
        line_add(line, ",\"scheduler_id\":%lld", (long long)scheduler);
}

static void add_fact(struct line *line, const char *name, int fact)
{
    if (fact >= 0)
        line_add(line, ",\"%s\":%s", name, fact ? "true" : "false");
}

/* Adds further facts about a call that the host knows; a BEAM has none. */
static bool add_facts(struct line *line, ErlNifEnv *env, ERL_NIF_TERM tag)
{
    ERL_NIF_TERM callers;

    if (tag != TH_TRACER_ATOM(env, call) || !TH_HAS(th_call_fact) || !TH_HAS(th_call_callers))
        return true;
    add_fact(line, "external", th_call_fact(env, TH_CALL_EXTERNAL));
    add_fact(line, "tail", th_call_fact(env, TH_CALL_TAIL));
    callers = th_call_callers(env);
    if (!callers)
        return true;
    line_add(line, ",");
    return add_field(line, env, "callers", callers);
}

/* Adds {Tracee, Tag, Term}, or for sequential tracing {Tag, Label, Info}. */
static bool add_what(struct line *line, ErlNifEnv *env, ERL_NIF_TERM tag, ERL_NIF_TERM tracee,
                     ERL_NIF_TERM term)
{
    char name[64];

    if (!enif_get_atom(env, tag, name, sizeof name, ERL_NIF_LATIN1))
        return false;
    if (tag == TH_TRACER_ATOM(env, seq_trace)) {
        line_add(line, "\"tag\":\"%s\",", name);
        if (!add_field(line, env, "label", tracee))
            return false;
        line_add(line, ",");
        return add_field(line, env, "info", term);
    }
    if (!add_field(line, env, "tracee", tracee))
        return false;
    line_add(line, ",\"tag\":\"%s\",", name);
    return add_field(line, env, "term", term);
}

static bool add_event(struct line *line, ErlNifEnv *env, ERL_NIF_TERM tag, ERL_NIF_TERM tracee,
                      ERL_NIF_TERM term, ERL_NIF_TERM opts, bool texts)
{
    struct stamp stamp = stamp_take(env, opts);

    line_add(line, "{");
    add_time(line, &stamp, texts);
    if (!add_what(line, env, tag, tracee, term) ||
        !add_option(line, env, opts, TH_TRACER_ATOM(env, extra), "extra") ||
        !add_option(line, env, opts, TH_TRACER_ATOM(env, match_spec_result), "match_spec_result"))
        return false;
    add_scheduler(line, env, opts);
    if (!add_facts(line, env, tag))
        return false;
    line_add(line, "}");
    return !line->short_of_memory && line->used < LONGEST;
}

TH_TRACER_ENABLED(generic)
{
    return output_enabled(env, tag, state, TH_TRACER_ATOM(env, trace));
}

TH_TRACER_TRACE(generic)
{
    struct output *output = output_of(env, state);
    struct line line;

    if (!output)
        return;
    begin(env, output);
    line_start(&line);
    if (add_event(&line, env, tag, tracee, term, opts, output->settings.texts)) {
        line_end(&line, output->file);
    } else {
        line_drop(&line);
        fputs("{\"drop\":1}\n", output->file);
    }
}

/* --- Shares --- */

static bool merge_output(ErlNifEnv *env, struct output *output, ERL_NIF_TERM saved)
{
    begin(env, output);
    return share_merge_file(env, output, saved);
}

static ERL_NIF_TERM save_output(ErlNifEnv *env, struct output *output)
{
    return share_save_file(env, output);
}

TH_TRACER_SAVE()
{
    return share_save(env, save_output);
}

TH_TRACER_MERGE()
{
    return share_merge(env, saved, merge_output);
}

TH_TRACER_UNLOAD()
{
    for (struct output *output = output_end(); output; output = output->next)
        begin(env, output);
    output_close_all(env);
}

/* For an Erlang node; see ../README.md. */
static ErlNifFunc callbacks[] = {{"enabled", 3, enabled, 0}, {"trace", 5, trace, 0}};
ERL_NIF_INIT(tracehost_jsonl, callbacks, NULL, NULL, NULL, unload)
