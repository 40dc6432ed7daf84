/*
 * JSON lines: the fields, the reader and the writer. Inner header of replay/; tracehost-jsonl(5)
 * documents the fields.
 */
#ifndef TH_JSON_LINES_H
#define TH_JSON_LINES_H

#include "host/term/env.h"
#include "host/term/etf.h"

#include <jansson.h>
#include <stdbool.h>
#include <stdint.h>

struct th_event;
struct th_buffer;
struct th_json_cache_slot;

/* --- Fields ---------------------------------------------------------------------------------- */

/* Shapes of a line, by its fields and its tag. */
enum th_json_shape {
    TH_JSON_DROP = 1 << 0,      /* {"drop":N} */
    TH_JSON_OTHER = 1 << 1,     /* {"other":TERM}: no trace message, or a damaged one */
    TH_JSON_SEQ_TRACE = 1 << 2, /* "tag":"seq_trace" */
    TH_JSON_TRACE = 1 << 3,     /* any other tag */
    /* Properties of a trace message, together with TH_JSON_TRACE. */
    TH_JSON_EXTRA = 1 << 4,
    TH_JSON_RESULT = 1 << 5,
    TH_JSON_CALL = 1 << 6,
    TH_JSON_TIMED = 1 << 7,  /* has a "ts" */
    TH_JSON_STRICT = 1 << 8, /* "ts_kind" is strict_monotonic */
    TH_JSON_SHAPES = 9       /* number of bits */
};

#define TH_JSON_MESSAGE (TH_JSON_TRACE | TH_JSON_SEQ_TRACE)

/* X(name, shapes that may have the field, shapes that must have it), in the order of writing. */
/* clang-format off */
#define TH_JSON_FIELDS(X) \
    X(ts, TH_JSON_MESSAGE, TH_JSON_TIMED) \
    X(ts_kind, TH_JSON_TIMED, 0) \
    X(ts_unique, TH_JSON_STRICT, TH_JSON_STRICT) \
    X(tracee, TH_JSON_TRACE, TH_JSON_TRACE) \
    X(tag, TH_JSON_MESSAGE, TH_JSON_MESSAGE) \
    X(label, TH_JSON_SEQ_TRACE, TH_JSON_SEQ_TRACE) \
    X(info, TH_JSON_SEQ_TRACE, TH_JSON_SEQ_TRACE) \
    X(term, TH_JSON_TRACE, TH_JSON_TRACE) \
    X(extra, TH_JSON_EXTRA, TH_JSON_EXTRA) \
    X(match_spec_result, TH_JSON_RESULT, 0) \
    X(scheduler_id, TH_JSON_TRACE, 0) \
    X(external, TH_JSON_CALL, 0) \
    X(tail, TH_JSON_CALL, 0) \
    X(callers, TH_JSON_CALL, 0) \
    X(drop, TH_JSON_DROP, TH_JSON_DROP) \
    X(other, TH_JSON_OTHER, TH_JSON_OTHER)
/* clang-format on */

enum th_json_field {
#define X(name, may, must) TH_JSON_FIELD_##name,
    TH_JSON_FIELDS(X)
#undef X
        TH_JSON_FIELD_COUNT
};

/* Names of time kinds, by enum th_time_kind. A line without a kind means monotonic. */
extern const char *const th_replay_json_time_kinds[];

/* Version of the format, in the first line: {"tracehost":1,"node":...}. */
enum { TH_JSON_VERSION = 1 };

/* Longest line that can be read, in bytes; memory grows with the bytes that arrive. */
enum { TH_JSON_LINE_LIMIT = 256 * 1024 * 1024 };

/* --- Values of fields ------------------------------------------------------------------------ */

/* The value of a field, as the one-pass reader or Jansson has read it. */
struct th_json_value {
    enum th_json_kind {
        TH_JSON_KIND_STRING,
        TH_JSON_KIND_ETF, /* {"$etf": STRING} */
        TH_JSON_KIND_INTEGER,
        TH_JSON_KIND_BOOLEAN,
        TH_JSON_KIND_OTHER
    } kind;
    const char *text;   /* string: UTF-8, without escapes; a byte that is no digit follows */
    size_t size;        /* of TEXT, in bytes */
    int64_t integer;    /* integer; boolean: 0 or 1 */
    const json_t *json; /* other; NULL else */
};

/* The current line. Terms are decoded on demand. */
struct th_json_event {
    struct th_etf_node here; /* node of the stream; see th_etf_options */
    json_t *root;            /* the line, if Jansson has read it */
    struct th_json_value values[TH_JSON_FIELD_COUNT];
    uint32_t given; /* a bit for each field that has a value */
    unsigned shape; /* enum th_json_shape */
    th_env scratch;
    /* For the one-pass reader; NULL before the first use. */
    char *unescaped; /* TH_JSON_QUICK bytes, and slack */
    struct th_json_cache_slot *cache;
    unsigned char next[TH_JSON_FIELD_COUNT + 1]; /* field that mostly follows, by field + 1 */
    struct th_json_rule {
        uint32_t may, must;  /* bits of fields */
    } rules[TH_JSON_SHAPES]; /* by the number of the shape's bit */
};

static inline bool th_replay_json_has(const struct th_json_event *json, enum th_json_field field)
{
    return json->given >> field & 1;
}

/* --- Reading in one pass (json_quick.c) ------------------------------------------------------- */

enum {
    TH_JSON_QUICK = 1 << 13, /* longest line for the one-pass reader, in bytes */
    TH_JSON_SLACK = 16       /* readable bytes behind the newline of such a line */
};

/*
 * Fills JSON's values from a line as json_writer.c writes records: an object without white space,
 * whose values are strings, integers, booleans and {"$etf": STRING}. Values refer to the line's
 * bytes. A newline must follow the SIZE bytes of LINE.
 * Returns false, with the values undefined, for any other line: Jansson must read it.
 */
bool th_replay_json_read_quickly(struct th_json_event *json, const char *line, size_t size);

/* --- Reading: events from fields (json_event.c) ----------------------------------------------- */

/* Flags of th_json_read() for lines. */
enum { TH_JSON_PARSE_FLAGS = JSON_REJECT_DUPLICATES | JSON_ALLOW_NUL };

void th_replay_json_event_init(struct th_json_event *json);

/* Frees the current line and its decoded terms in SCRATCH. */
void th_replay_json_event_drop(struct th_json_event *json);

/* Ends JSON: frees all memory. */
void th_replay_json_event_end(struct th_json_event *json);

/*
 * Begins EVENT, whose number and position are set, from the object ROOT; if ROOT is NULL, from the
 * values that th_replay_json_read_quickly() has filled. Terms are not checked yet.
 * Order: after th_replay_json_event_drop() for the line before.
 * Owner: takes over the reference to ROOT, also after an error.
 * Errors: TH_MALFORMED, with the name of the field, if a field is missing, unknown or not allowed,
 * if the kind, tag, tracee or time is wrong, or if the system refuses memory for the tracee.
 */
enum th_status th_replay_json_event_begin(struct th_json_event *json, json_t *root,
                                          struct th_event *event);

/* --- Writing (json_writer.c) ------------------------------------------------------------------ */

/* Appends the first line, with the node and the encoding of atoms. */
void th_replay_json_write_header(struct th_buffer *out, const struct th_etf_node *here,
                                 bool utf8_atoms);

/* Appends a line.
 * Errors: TH_MALFORMED if the event is damaged; TH_FAILED if the line is longer than
 * TH_JSON_LINE_LIMIT; in both cases OUT is unchanged. */
enum th_status th_replay_json_write_event(struct th_buffer *out, struct th_event *event,
                                          th_env *env, const struct th_etf_node *here);

#endif
