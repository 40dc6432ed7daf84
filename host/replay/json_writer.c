#include "json_lines.h"

#include "host/base/buffer.h"
#include "host/term/json.h"
#include "host/trace/event.h"

#include <jansson.h>

static int append_json(const char *text, size_t size, void *out)
{
    th_buffer_add(out, text, size);
    return 0;
}

/* Appends ROOT as a line and drops the reference. */
static void write_json_line(struct th_buffer *out, json_t *root)
{
    json_dump_callback(root, append_json, out, JSON_COMPACT);
    th_buffer_add_byte(out, '\n');
    json_decref(root);
}

static void put_field(json_t *root, const char *name, json_t *value)
{
    json_object_set_new_nocheck(root, name, value);
}

void th_replay_json_write_header(struct th_buffer *out, const struct th_etf_node *here,
                                 bool utf8_atoms)
{
    const struct th_atom_name *node = th_atom_name(here->node);
    json_t *root = json_object();

    put_field(root, "tracehost", json_integer(TH_JSON_VERSION));
    if (here->node != TH_NONE && node) {
        put_field(root, "node", json_stringn_nocheck(node->text, node->bytes));
        put_field(root, "creation", json_integer(here->creation));
    }
    if (utf8_atoms)
        put_field(root, "atoms", json_string("utf8"));
    write_json_line(out, root);
}

static void put_term_field(json_t *root, const char *name, th_term t,
                           const struct th_etf_node *here)
{
    if (t != TH_NONE)
        put_field(root, name, th_json_from_term(t, here));
}

static void put_fact(json_t *root, const char *name, enum th_fact fact)
{
    if (fact != TH_UNKNOWN)
        put_field(root, name, json_boolean(fact == TH_YES));
}

static json_t *message_object(const struct th_event *event, const struct th_etf_node *here)
{
    const struct th_event_time *time = &event->time;
    json_t *root = json_object();

    if (time->kind != TH_TIME_NONE) {
        put_field(root, "ts", json_integer(time->ns));
        put_field(root, "ts_kind", json_string(th_replay_json_time_kinds[time->kind]));
    }
    if (time->kind == TH_TIME_STRICT_MONOTONIC)
        put_field(root, "ts_unique", json_integer(time->unique));
    put_term_field(root, "tracee", event->tracee, here);
    put_field(root, "tag", json_string(th_atom_name(th_trace_tag_atom(event->tag))->text));
    put_term_field(root, "label", event->label, here);
    put_term_field(root, event->kind == TH_EVENT_SEQ_TRACE ? "info" : "term", event->term, here);
    put_term_field(root, "extra", event->extra, here);
    put_term_field(root, "match_spec_result", event->match_spec_result, here);
    if (event->scheduler_id != TH_NONE)
        put_field(root, "scheduler_id", json_integer(th_small_value(event->scheduler_id)));
    put_fact(root, "external", event->external);
    put_fact(root, "tail", event->tail);
    put_term_field(root, "callers", event->callers, here);
    return root;
}

static json_t *json_object_of(struct th_event *event, th_env *env, const struct th_etf_node *here)
{
    json_t *root;
    th_term term;

    if (event->kind == TH_EVENT_DROP)
        return json_pack("{sI}", "drop", (json_int_t)event->dropped);
    /* A trace message that is sound in all parts. */
    if (event->kind != TH_EVENT_OTHER && th_trace_event_decode(event, env) == TH_OK &&
        th_trace_event_time(event) == TH_OK)
        return message_object(event, here);
    if (event->source->whole(event, env, &term) != TH_OK)
        return NULL;
    th_error_clear();
    root = json_object();
    put_term_field(root, "other", term, here);
    return root;
}

enum th_status th_replay_json_write_event(struct th_buffer *out, struct th_event *event,
                                          th_env *env, const struct th_etf_node *here)
{
    size_t before = out->size;
    json_t *root = json_object_of(event, env, here);
    size_t size;

    if (!root)
        return TH_MALFORMED;
    write_json_line(out, root);
    size = out->size - before;
    if (size <= TH_JSON_LINE_LIMIT)
        return TH_OK;
    out->size = before;
    return th_error_raise(TH_FAILED,
                          "the JSON line would have %zu bytes; at most %d can be read back", size,
                          TH_JSON_LINE_LIMIT);
}
