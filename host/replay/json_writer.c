/* Writes JSON lines, without a tree: each field directly behind the one before. */
#include "json_lines.h"

#include "host/base/buffer.h"
#include "host/term/json.h"
#include "host/trace/event.h"

#include <inttypes.h>
#include <string.h>

/* Every field ends with a comma; finish_line() replaces the last one. */

static void add_name(struct th_buffer *out, const char *name)
{
    th_buffer_add_byte(out, '"');
    th_buffer_add_text(out, name);
    th_buffer_add(out, "\":", 2);
}

static void add_integer_field(struct th_buffer *out, const char *name, int64_t integer)
{
    add_name(out, name);
    th_buffer_printf(out, "%" PRId64 ",", integer);
}

static void add_text_field(struct th_buffer *out, const char *name, const char *text, size_t size)
{
    add_name(out, name);
    th_json_add_string(out, text, size);
    th_buffer_add_byte(out, ',');
}

static void add_atom_field(struct th_buffer *out, const char *name, th_term atom)
{
    const struct th_atom_name *text = th_atom_name(atom);

    add_text_field(out, name, text->text, text->bytes);
}

static void add_fact_field(struct th_buffer *out, const char *name, enum th_fact fact)
{
    if (fact == TH_UNKNOWN)
        return;
    add_name(out, name);
    th_buffer_add_text(out, fact == TH_YES ? "true," : "false,");
}

/* Adds nothing if T is TH_NONE. */
static enum th_status add_term_field(struct th_buffer *out, const char *name, th_term t,
                                     const struct th_etf_node *here)
{
    enum th_status status;

    if (t == TH_NONE)
        return TH_OK;
    add_name(out, name);
    status = th_json_add_term(out, t, here);
    th_buffer_add_byte(out, ',');
    return status == TH_OK ? TH_OK : th_error_context("cannot encode the field \"%s\"", name);
}

static void finish_line(struct th_buffer *out)
{
    out->data[out->size - 1] = '}';
    th_buffer_add_byte(out, '\n');
}

void th_replay_json_write_header(struct th_buffer *out, const struct th_etf_node *here,
                                 bool utf8_atoms)
{
    th_buffer_add_byte(out, '{');
    add_integer_field(out, "tracehost", TH_JSON_VERSION);
    if (here->node != TH_NONE && th_atom_name(here->node)) {
        add_atom_field(out, "node", here->node);
        add_integer_field(out, "creation", here->creation);
    }
    if (utf8_atoms)
        add_text_field(out, "atoms", "utf8", 4);
    finish_line(out);
}

static enum th_status add_terms(struct th_buffer *out, const struct th_event *event,
                                const struct th_etf_node *here)
{
    const char *term = event->kind == TH_EVENT_SEQ_TRACE ? "info" : "term";
    enum th_status status = add_term_field(out, "label", event->label, here);

    if (status == TH_OK)
        status = add_term_field(out, term, event->term, here);
    if (status == TH_OK)
        status = add_term_field(out, "extra", event->extra, here);
    if (status == TH_OK)
        status = add_term_field(out, "match_spec_result", event->match_spec_result, here);
    return status;
}

static enum th_status add_message_fields(struct th_buffer *out, const struct th_event *event,
                                         const struct th_etf_node *here)
{
    const struct th_event_time *time = &event->time;
    const char *kind = th_replay_json_time_kinds[time->kind];
    enum th_status status;

    if (time->kind != TH_TIME_NONE) {
        add_integer_field(out, "ts", time->ns);
        add_text_field(out, "ts_kind", kind, strlen(kind));
    }
    if (time->kind == TH_TIME_STRICT_MONOTONIC)
        add_integer_field(out, "ts_unique", time->unique);
    status = add_term_field(out, "tracee", event->tracee, here);
    add_atom_field(out, "tag", th_trace_tag_atom(event->tag));
    if (status == TH_OK)
        status = add_terms(out, event, here);
    if (event->scheduler_id != TH_NONE)
        add_integer_field(out, "scheduler_id", th_small_value(event->scheduler_id));
    add_fact_field(out, "external", event->external);
    add_fact_field(out, "tail", event->tail);
    if (status == TH_OK)
        status = add_term_field(out, "callers", event->callers, here);
    return status;
}

static enum th_status add_fields(struct th_buffer *out, struct th_event *event, th_env *env,
                                 const struct th_etf_node *here)
{
    th_term term;

    if (event->kind == TH_EVENT_DROP) {
        add_integer_field(out, "drop", (int64_t)event->dropped);
        return TH_OK;
    }
    /* A trace message that is sound in all parts. */
    if (event->kind != TH_EVENT_OTHER && th_trace_event_decode(event, env) == TH_OK &&
        th_trace_event_time(event) == TH_OK)
        return add_message_fields(out, event, here);
    if (event->source->whole(event, env, &term) != TH_OK)
        return TH_MALFORMED;
    th_error_clear();
    return add_term_field(out, "other", term, here);
}

enum th_status th_replay_json_write_event(struct th_buffer *out, struct th_event *event,
                                          th_env *env, const struct th_etf_node *here)
{
    const size_t before = out->size;
    enum th_status status;
    size_t size;

    th_buffer_add_byte(out, '{');
    status = add_fields(out, event, env, here);
    finish_line(out);
    size = out->size - before;
    if (status == TH_OK && size <= TH_JSON_LINE_LIMIT)
        return TH_OK;
    out->size = before;
    if (status != TH_OK)
        return status;
    return th_error_raise(TH_FAILED,
                          "the JSON line would have %zu bytes; at most %d can be read back", size,
                          TH_JSON_LINE_LIMIT);
}
