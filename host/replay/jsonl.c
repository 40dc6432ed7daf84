/*
 * The JSON lines format: lines, the header, and the handling of damage.
 *
 * Each line stands alone. A wrong line is skipped; only if the last line lacks its end and a part
 * of its JSON does it count as cut off.
 */
#include "json_lines.h"
#include "replay_internal.h"

#include "host/base/error.h"
#include "host/base/memory.h"
#include "host/term/atom.h"
#include "host/term/json.h"
#include "host/trace/event.h"
#include "host/trace/recorded/recordings.h"

#include <jansson.h>

enum {
    LONG = 1 << 13, /* bytes from which a line counts as memory of the event */
    EXAMINED = 16   /* number of lines that are tested for this format */
};

_Static_assert((int)TH_INPUT_SLACK >= (int)TH_JSON_SLACK, "see th_replay_json_read_quickly()");

struct jsonl {
    struct th_json_event event;
    uint64_t line;   /* number of the current line, from 1 */
    size_t searched; /* number of available bytes known to contain no newline */
};

struct line {
    const char *text;
    size_t size;   /* without the newline */
    bool complete; /* has a newline */
};

static bool is_blank_line(const struct line *line)
{
    for (size_t i = 0; i < line->size; i++)
        if (!strchr(" \t\r", line->text[i]) || line->text[i] == 0)
            return false;
    return true;
}

/* Returns the current line, which stays in the input until take_json_line(). At the end of the
 * input, the line's size is 0 and the line is not complete. Errors: TH_MALFORMED if the line is too
 * long; then pass_line() skips the line. */
static enum th_status get_line(struct th_reader *reader, struct line *line)
{
    struct th_input *input = &reader->input;
    struct jsonl *jsonl = reader->state;
    size_t longest = reader->options.max_memory < TH_JSON_LINE_LIMIT ? reader->options.max_memory
                                                                     : TH_JSON_LINE_LIMIT;
    const unsigned char *p, *end = NULL;
    size_t there;

    input->most = longest + 1;
    for (;;) {
        p = th_replay_input_bytes(input);
        there = th_replay_input_there(input);
        if (there > jsonl->searched)
            end = memchr(p + jsonl->searched, '\n', there - jsonl->searched);
        jsonl->searched = end ? 0 : there;
        if (end || input->ended || there > longest)
            break;
        th_replay_input_fill(input, there + 1);
    }
    *line = (struct line){(const char *)p, end ? (size_t)(end - p) : there, end != NULL};
    if (line->size <= longest)
        return TH_OK;
    return th_error_raise(TH_MALFORMED, "the line is longer than %zu bytes%s", longest,
                          longest < TH_JSON_LINE_LIMIT ? " (--max-memory)" : "");
}

/* Consumes the current line, whatever its length. */
static void pass_line(struct th_reader *reader)
{
    struct th_input *input = &reader->input;
    struct jsonl *jsonl = reader->state;
    const unsigned char *end = NULL;

    jsonl->searched = 0;
    jsonl->line++;
    while (!end && th_replay_input_have(input, 1)) {
        const unsigned char *p = th_replay_input_bytes(input);
        size_t there = th_replay_input_there(input);
        end = memchr(p, '\n', there);
        th_replay_input_take(input, end ? (size_t)(end + 1 - p) : there);
    }
}

static void take_json_line(struct th_reader *reader, const struct line *line)
{
    struct jsonl *jsonl = reader->state;

    th_replay_input_take(&reader->input, line->size + line->complete);
    jsonl->searched = 0;
    jsonl->line++;
}

/* Returns the line's object; NULL with a cause if the line is none. */
static json_t *parse_line(const struct line *line)
{
    json_t *root;

    if (line->size > LONG && !th_memory_take(line->size))
        return NULL;
    root = th_json_read(line->text, line->size, TH_JSON_PARSE_FLAGS);
    if (!root || json_is_object(root))
        return root;
    th_error_raise(TH_MALFORMED, "the line is not a JSON object");
    json_decref(root);
    return NULL;
}

/* The header. */

static enum th_status read_json_header(struct th_reader *reader, json_t *root)
{
    const json_t *version = json_object_get(root, "tracehost");
    const struct jsonl *jsonl = reader->state;
    struct th_reader_info *info = &reader->info;
    const char *wrong = NULL;

    if (!json_is_integer(version) || json_integer_value(version) != TH_JSON_VERSION)
        wrong = "the version must be 1";
    for (void *at = json_object_iter(root); at && !wrong; at = json_object_iter_next(root, at)) {
        const char *name = json_object_iter_key(at);
        const json_t *value = json_object_iter_value(at);

        if (strcmp(name, "node") == 0) {
            if (json_is_string(value))
                info->node.node = th_atom_utf8(json_string_value(value), json_string_length(value));
            if (info->node.node == TH_NONE)
                wrong = "the field \"node\" is not a node's name";
        } else if (strcmp(name, "creation") == 0) {
            json_int_t creation = json_is_integer(value) ? json_integer_value(value) : -1;
            info->node.creation = (uint32_t)creation;
            if (creation < 0 || creation > UINT32_MAX)
                wrong = "the field \"creation\" is not an integer of 32 bits";
        } else if (strcmp(name, "atoms") == 0) {
            info->utf8_atoms =
                json_is_string(value) && strcmp(json_string_value(value), "utf8") == 0;
            if (!info->utf8_atoms)
                wrong = "the field \"atoms\" must be \"utf8\"";
        } else if (strcmp(name, "tracehost") != 0) {
            wrong = "the header has an unknown field";
        }
    }
    if (!wrong)
        return TH_OK;
    th_error_raise(TH_MALFORMED, "%s", wrong);
    return th_error_context("cannot read the header in line %llu", (unsigned long long)jsonl->line);
}

/* Checks the format. Errors: TH_MALFORMED if there are lines, and none of the first is an
 * object. */
static enum th_status examine_lines(const struct th_reader *reader)
{
    const char *p = (const char *)th_replay_input_bytes(&reader->input);
    const char *end = p + th_replay_input_there(&reader->input);
    const char *line_end;
    int examined = 0;

    while (examined < EXAMINED && (line_end = memchr(p, '\n', (size_t)(end - p)))) {
        struct line line = {p, (size_t)(line_end - p), true};
        p = line_end + 1;
        if (is_blank_line(&line))
            continue;
        json_t *root = parse_line(&line);
        json_decref(root);
        if (root)
            return TH_OK;
        examined++;
    }
    if (examined == 0)
        return TH_OK;
    return th_error_context(
        "the input is not a recorded stream: its first lines are not JSON objects");
}

/* Reads the header, if the first line is one; any other line stays in the input. */
static enum th_status begin_jsonl(struct th_reader *reader)
{
    struct jsonl *jsonl = th_alloc_zero(sizeof *jsonl);
    enum th_status status = TH_OK;
    struct line line;
    json_t *root;

    reader->state = jsonl;
    th_replay_json_event_init(&jsonl->event);
    for (;;) {
        if (get_line(reader, &line) != TH_OK) {
            th_error_clear(); /* th_replay_jsonl_format.next_of_jsonl() raises the error again */
            return TH_OK;
        }
        if (!line.complete || !is_blank_line(&line))
            break;
        take_json_line(reader, &line);
    }
    root = parse_line(&line);
    if (!root) {
        status = examine_lines(reader);
    } else if (json_object_get(root, "tracehost")) {
        take_json_line(reader, &line);
        status = read_json_header(reader, root);
        jsonl->event.here = reader->info.node;
    }
    json_decref(root);
    if (status == TH_OK)
        th_error_clear();
    return status;
}

static void end_jsonl(struct th_reader *reader)
{
    struct jsonl *jsonl = reader->state;

    th_replay_json_event_end(&jsonl->event);
    th_free(jsonl);
}

/* Events. */

/* Adds the place of the current line to the thread's chain. */
static enum th_status line_damaged(const struct th_reader *reader, const struct th_event *event,
                                   const char *how)
{
    const struct jsonl *jsonl = reader->state;

    return th_error_context("record %llu at byte %llu (line %llu) is %s",
                            th_replay_reader_number(reader), (unsigned long long)event->position,
                            (unsigned long long)jsonl->line, how);
}

/* Reads the next line that is not blank. */
static enum th_status next_line(struct th_reader *reader, struct th_event *event, struct line *line)
{
    do {
        event->position = th_replay_input_position(&reader->input);
        if (get_line(reader, line) != TH_OK) {
            pass_line(reader);
            return line_damaged(reader, event, "damaged");
        }
        if (!line->complete && th_replay_reader_check_input(reader) != TH_OK)
            return TH_PARTIAL;
        if (!line->complete && (line->size == 0 || reader->input.stopped))
            return TH_END;
        take_json_line(reader, line);
    } while (is_blank_line(line));
    return TH_OK;
}

/* Handles a header between records: streams were concatenated. If the header names another node,
 * the rest is lost, as equal identifiers name other processes. */
static enum th_status meet_header(struct th_reader *reader, const struct th_event *event,
                                  json_t *root)
{
    const struct th_etf_node node = reader->info.node;
    const bool utf8_atoms = reader->info.utf8_atoms;
    struct th_etf_node met;
    enum th_status status;

    reader->info.node = (struct th_etf_node){0};
    status = read_json_header(reader, root);
    met = reader->info.node;
    reader->info.node = node;
    reader->info.utf8_atoms = utf8_atoms;
    if (status != TH_OK)
        return line_damaged(reader, event, "damaged");
    if (!th_recorded_streams_other_node(&node, &met))
        return TH_OK;
    th_error_raise(TH_PARTIAL, "the records after the header are of another %s %s",
                   met.node == node.node ? "start of the node" : "node,",
                   th_atom_name(met.node)->text);
    th_replay_reader_skip_file(reader);
    return line_damaged(reader, event, "a header: the header and the records after it are lost");
}

static enum th_status next_of_jsonl(struct th_reader *reader, struct th_event *event)
{
    struct jsonl *jsonl = reader->state;
    struct line line;
    enum th_status status;
    json_t *root = NULL;

    for (;;) {
        status = next_line(reader, event, &line);
        if (status != TH_OK)
            return status;
        th_replay_json_event_drop(&jsonl->event); /* frees memory first */
        if (line.complete && th_replay_json_read_quickly(&jsonl->event, line.text, line.size)) {
            if (th_replay_json_event_begin(&jsonl->event, NULL, event) != TH_OK)
                return line_damaged(reader, event, "damaged");
            return TH_OK;
        }
        root = parse_line(&line);
        if (!root || __builtin_expect(!json_object_get(root, "tracehost"), 1))
            break;
        status = meet_header(reader, event, root);
        json_decref(root);
        if (status != TH_OK)
            return status;
    }
    if (!root && !line.complete) {
        th_error_raise(TH_PARTIAL, "%s; the line is incomplete", th_error_link(0));
        return line_damaged(reader, event, "truncated");
    }
    if (!root || th_replay_json_event_begin(&jsonl->event, root, event) != TH_OK)
        return line_damaged(reader, event, "damaged");
    return TH_OK;
}

const struct th_reader_format th_replay_jsonl_format = {
    .name = "jsonl",
    .begin = begin_jsonl,
    .next = next_of_jsonl,
    .end = end_jsonl,
};
