#include "flat_rows.h"

#include "reader.h"

#include "host/base/buffer.h"
#include "host/term/json.h"
#include "host/term/make.h"
#include "host/term/peer.h"
#include "host/term/text.h"
#include "host/term/utf8.h"
#include "host/trace/recorded/execution.h"

#include <inttypes.h>
#include <string.h>

/* X(name, JSON type, characters in tables) */
#define FLAT_COLUMNS(X)        \
    X(ts_ns, STRING, 20)       \
    X(node, STRING, 14)        \
    X(tracee, STRING, 11)      \
    X(tag, STRING, 14)         \
    X(module, STRING, 12)      \
    X(function, STRING, 18)    \
    X(arity, NUMBER, 5)        \
    X(args, STRING, 20)        \
    X(to, STRING, 11)          \
    X(result, STRING, 16)      \
    X(duration_ns, NUMBER, 11) \
    X(term, STRING, 20)

enum {
#define X(name, type, width) FLAT_##name,
    FLAT_COLUMNS(X)
#undef X
        FLAT_COLUMN_COUNT,
    FLAT_WIDEST = 20
};

static const struct flat_column {
    const char *name;
    enum { STRING, NUMBER } type;
    unsigned width;
} columns[] = {
#define X(name, type, width) {#name, type, width},
    FLAT_COLUMNS(X)
#undef X
};

struct th_flat_rows {
    enum th_flat_format format;
    struct th_call_durations *durations; /* NULL: the streams are read once */
    struct th_flat_counts counts;

    /* The current row. */
    struct th_buffer text; /* of all cells */
    struct flat_cell {
        bool set;
        size_t begin, end; /* in `text` */
    } cells[FLAT_COLUMN_COUNT];
};

/* --- Cells ------------------------------------------------------------------------------------ */

static struct th_buffer *begin_cell(struct th_flat_rows *rows, int column)
{
    rows->cells[column].begin = rows->text.size;
    return &rows->text;
}

static void finish_cell(struct th_flat_rows *rows, int column)
{
    rows->cells[column].end = rows->text.size;
    rows->cells[column].set = true;
}

static void set_integer(struct th_flat_rows *rows, int column, int64_t integer)
{
    th_buffer_printf(begin_cell(rows, column), "%" PRId64, integer);
    finish_cell(rows, column);
}

static void set_text(struct th_flat_rows *rows, int column, const char *text)
{
    th_buffer_add_text(begin_cell(rows, column), text);
    finish_cell(rows, column);
}

static void set_term(struct th_flat_rows *rows, int column, th_term term)
{
    if (term == TH_NONE)
        return;
    if (rows->format == TH_FLAT_TABLE)
        th_text_show_limited(begin_cell(rows, column), term, TH_UTF8_MAX * FLAT_WIDEST);
    else
        th_text_print(begin_cell(rows, column), term);
    finish_cell(rows, column);
}

bool th_replay_flat_is_plain(th_term atom)
{
    const struct th_atom_name *name = th_atom_name(atom);
    uint32_t c = 0;

    for (size_t i = 0, step; i < name->bytes; i += step) {
        step = th_utf8_get(name->text + i, name->bytes - i, &c);
        if (step == 0 || c < 0x20 || (c >= 0x7F && c < 0xA0))
            return false;
    }
    return true;
}

/* Programs get the name without quotes, unless a terminal would obey its characters. */
static void set_name(struct th_flat_rows *rows, int column, th_term atom)
{
    const struct th_atom_name *name = th_atom_name(atom);

    if (rows->format == TH_FLAT_TABLE || !th_replay_flat_is_plain(atom)) {
        set_term(rows, column, atom);
        return;
    }
    th_buffer_add(begin_cell(rows, column), name->text, name->bytes);
    finish_cell(rows, column);
}

/* Fills the cells of a function, {M, F, Arity} or {M, F, Arguments}. Returns false, with nothing
 * filled, if TERM is neither. */
static bool set_function(struct th_flat_rows *rows, th_term term)
{
    struct th_mfa function;
    th_term args;

    if (term == TH_NONE || !th_trace_event_function_from_term(term, &function))
        return false;
    args = th_tuple_elements(term)[2];
    set_name(rows, FLAT_module, function.module);
    set_name(rows, FLAT_function, function.function);
    set_integer(rows, FLAT_arity, function.arity);
    if (!th_is_small(args))
        set_term(rows, FLAT_args, args);
    return true;
}

/* --- Columns of an event ---------------------------------------------------------------------- */

static void set_terms(struct th_flat_rows *rows, const struct th_event *event, th_env *env)
{
    switch (event->tag) {
    case TH_TAG_return_from:
    case TH_TAG_exception_from:
        set_term(rows, FLAT_result, event->extra);
        break;
    case TH_TAG_spawn:
    case TH_TAG_spawned:
        set_term(rows, FLAT_to, event->term);
        if (!set_function(rows, event->extra))
            set_term(rows, FLAT_term, event->extra);
        return;
    case TH_TAG_send:
    case TH_TAG_send_to_non_existing_process:
        set_term(rows, FLAT_to, event->extra);
        set_term(rows, FLAT_term, event->term);
        return;
    case TH_TAG_link:
    case TH_TAG_unlink:
    case TH_TAG_getting_linked:
    case TH_TAG_getting_unlinked:
        set_term(rows, FLAT_to, event->term);
        return;
    case TH_TAG_open:
        set_term(rows, FLAT_to, event->term);
        set_term(rows, FLAT_term, event->extra);
        return;
    case TH_TAG_seq_trace:
        set_term(rows, FLAT_term, th_make_tuple_of(env, event->label, event->term));
        return;
    default:
        break;
    }
    /* The term of a call, of its ends, and of `in` and `out` may be a function. */
    if (!(th_trace_tag_has_function(event->tag) ||
          (event->tag >= TH_TAG_in && event->tag <= TH_TAG_out_exited)) ||
        !set_function(rows, event->term))
        set_term(rows, FLAT_term, event->term);
}

static void set_node(struct th_flat_rows *rows, const struct th_reader_info *info,
                     const struct th_event *event)
{
    bool own = event->tracee != TH_NONE && th_is_immediate(event->tracee);
    unsigned peer = own ? th_peer_of(event->tracee) : 0;
    th_term node = peer ? th_term_peers[peer].node : info->node.node;

    if (node != TH_NONE && th_is_atom(node))
        set_name(rows, FLAT_node, node);
}

static void set_duration(struct th_flat_rows *rows)
{
    struct th_flat_counts *counts = &rows->counts;
    enum th_call_duration kind;
    int64_t ns;

    counts->calls++;
    if (!rows->durations)
        return;
    kind = th_replay_call_durations_get(rows->durations, counts->calls, &ns);
    counts->of[kind]++;
    if (kind == TH_DURATION_KNOWN)
        set_integer(rows, FLAT_duration_ns, ns);
}

static void set_message(struct th_flat_rows *rows, const struct th_reader_info *info,
                        struct th_event *event, th_env *env)
{
    if (event->time.kind != TH_TIME_NONE)
        set_integer(rows, FLAT_ts_ns, event->time.ns);
    set_node(rows, info, event);
    set_term(rows, FLAT_tracee, event->tracee);
    set_text(rows, FLAT_tag, th_trace_tag_name(event->tag));
    set_terms(rows, event, env);
    if (event->kind <= TH_EVENT_TRACE_TS && event->tag == TH_TAG_call)
        set_duration(rows);
}

/* Fills the cells of a record that is no sound trace message. */
static enum th_status set_other(struct th_flat_rows *rows, const struct th_reader_info *info,
                                struct th_event *event, th_env *env)
{
    th_term whole;

    set_node(rows, info, event);
    set_text(rows, FLAT_tag, event->kind == TH_EVENT_DROP ? "drop" : "other");
    if (event->kind == TH_EVENT_DROP) {
        set_integer(rows, FLAT_term, (int64_t)event->dropped);
        return TH_OK;
    }
    if (event->source->whole(event, env, &whole) != TH_OK)
        return TH_MALFORMED;
    th_error_clear();
    set_term(rows, FLAT_term, whole);
    return TH_OK;
}

/* --- Formats ---------------------------------------------------------------------------------- */

void th_replay_flat_csv_cell(struct th_buffer *out, const char *text, size_t size, bool set)
{
    bool quoted = set && size == 0; /* an empty text, not an absent one */

    for (size_t i = 0; i < size && !quoted; i++)
        quoted = strchr("\",\r\n", text[i]) != NULL; /* also a byte 0 */
    if (quoted)
        th_buffer_add_byte(out, '"');
    for (size_t i = 0; i < size; i++) {
        if (text[i] == '"')
            th_buffer_add_byte(out, '"');
        th_buffer_add_byte(out, (unsigned char)text[i]);
    }
    if (quoted)
        th_buffer_add_byte(out, '"');
}

static void add_json_cell(struct th_buffer *out, const struct flat_column *column, const char *text,
                          size_t size, bool set)
{
    th_buffer_printf(out, "\"%s\":", column->name);
    if (!set)
        th_buffer_add_text(out, "null");
    else if (column->type == NUMBER)
        th_buffer_add(out, text, size);
    else
        th_json_add_string(out, text, size);
}

void th_replay_flat_table_cell(struct th_buffer *out, const char *text, size_t size, size_t width,
                               bool right, bool pad)
{
    size_t characters = 0, cut = size, bytes = 0, step;
    uint32_t c;

    for (; bytes < size; bytes += step ? step : 1, characters++) {
        step = th_utf8_get(text + bytes, size - bytes, &c);
        if (characters + 3 == width)
            cut = bytes;
    }
    if (characters <= width)
        cut = size;
    for (size_t i = characters; right && i < width; i++)
        th_buffer_add_byte(out, ' ');
    th_buffer_add(out, text, cut);
    if (cut < size)
        th_buffer_add_text(out, "...");
    for (size_t i = characters; pad && !right && i < width; i++)
        th_buffer_add_byte(out, ' ');
}

/* Returns the number of the last column to be padded: no blanks are at the end of a line. */
static size_t last_cell(const struct th_flat_rows *rows)
{
    size_t last = FLAT_COLUMN_COUNT;

    while (last > 1 && !rows->cells[last - 1].set)
        last--;
    return last - 1;
}

static void add_flat_row(const struct th_flat_rows *rows, struct th_buffer *out)
{
    size_t last = rows->format == TH_FLAT_TABLE ? last_cell(rows) : FLAT_COLUMN_COUNT - 1;

    for (size_t i = 0; i <= last; i++) {
        const struct flat_cell *cell = &rows->cells[i];
        const char *text = cell->set ? (const char *)rows->text.data + cell->begin : "";
        size_t size = cell->end - cell->begin;

        if (rows->format == TH_FLAT_JSONL)
            th_buffer_add_byte(out, i == 0 ? '{' : ',');
        else if (i > 0)
            th_buffer_add_byte(out, rows->format == TH_FLAT_CSV ? ',' : ' ');
        if (rows->format == TH_FLAT_JSONL)
            add_json_cell(out, &columns[i], text, size, cell->set);
        else if (rows->format == TH_FLAT_CSV)
            th_replay_flat_csv_cell(out, text, size, cell->set);
        else
            th_replay_flat_table_cell(out, text, size, columns[i].width, columns[i].type == NUMBER,
                                      i < last);
    }
    th_buffer_add_text(out, rows->format == TH_FLAT_JSONL ? "}\n" : "\n");
}

void th_replay_flat_head(const struct th_flat_rows *rows, struct th_buffer *out)
{
    for (size_t i = 0; i < FLAT_COLUMN_COUNT && rows->format != TH_FLAT_JSONL; i++) {
        if (i > 0)
            th_buffer_add_byte(out, rows->format == TH_FLAT_CSV ? ',' : ' ');
        if (rows->format == TH_FLAT_CSV)
            th_buffer_add_text(out, columns[i].name);
        else
            th_replay_flat_table_cell(out, columns[i].name, strlen(columns[i].name),
                                      columns[i].width, columns[i].type == NUMBER,
                                      i + 1 < FLAT_COLUMN_COUNT);
    }
    if (rows->format != TH_FLAT_JSONL)
        th_buffer_add_byte(out, '\n');
}

bool th_replay_flat_is_sound(struct th_event *event, th_env *env, bool brief)
{
    struct th_caller function;

    return event->kind <= TH_EVENT_SEQ_TRACE &&
           (brief ? th_trace_event_brief(event, env) : th_trace_event_decode(event, env)) ==
               TH_OK &&
           th_trace_event_time(event) == TH_OK &&
           (event->kind > TH_EVENT_TRACE_TS || !th_trace_tag_has_function(event->tag) ||
            th_recorded_end_function(event, &function));
}

enum th_status th_replay_flat_learn(struct th_flat_rows *rows, struct th_event *event, th_env *env)
{
    if (event->kind == TH_EVENT_DROP || th_replay_flat_is_sound(event, env, false))
        return th_replay_call_durations_add(rows->durations, event, env);
    th_error_clear();
    return TH_OK;
}

enum th_status th_replay_flat_add(struct th_flat_rows *rows, const struct th_reader_info *info,
                                  struct th_event *event, th_env *env, struct th_buffer *out)
{
    rows->text.size = 0;
    memset(rows->cells, 0, sizeof rows->cells);
    if (th_replay_flat_is_sound(event, env, false))
        set_message(rows, info, event, env);
    else if (set_other(rows, info, event, env) != TH_OK)
        return TH_MALFORMED;
    add_flat_row(rows, out);
    return TH_OK;
}

/* --- The beginning and the end ---------------------------------------------------------------- */

struct th_flat_rows *th_replay_flat_begin(enum th_flat_format format, bool learns)
{
    struct th_flat_rows *rows = th_alloc_zero(sizeof *rows);

    rows->format = format;
    if (learns)
        rows->durations = th_replay_call_durations_begin();
    return rows;
}

struct th_flat_counts th_replay_flat_counts(const struct th_flat_rows *rows)
{
    struct th_flat_counts counts = rows->counts;

    counts.learns = rows->durations != NULL;
    if (counts.learns)
        counts.ends = th_replay_call_durations_counts(rows->durations);
    return counts;
}

void th_replay_flat_end(struct th_flat_rows *rows)
{
    if (!rows)
        return;
    th_replay_call_durations_end(rows->durations);
    th_buffer_free(&rows->text);
    th_free(rows);
}
