/*
 * Records of a trace port: each is one trace message in the external term format.
 *
 * Nearly all records of a stream begin with the same bytes: the version, a small tuple, the atom
 * trace or trace_ts, and the tag and node of a pid. These bytes are parsed once, then kept as a
 * prefix and compared. So kind, tag and tracee cost a comparison, three numbers and a look-up in a
 * small table; a beginning that was seen before, up to the tag, costs one comparison. Terms are
 * decoded on demand, element by element, or skipped for tracers that look at functions only; the
 * time stamp only when it is needed.
 */
#ifndef TH_RECORD_H
#define TH_RECORD_H

#include "host/term/etf.h"
#include "host/term/etf_tags.h"
#include "host/trace/event.h"

#include <string.h>

enum {
    TH_RECORD_PREFIXES = 4, /* trace and trace_ts, for processes and for ports */
    TH_RECORD_PREFIX_BYTES = 64,
    TH_RECORD_TAG_SLOTS = 64, /* a power of two, above twice TH_TAG_COUNT */
    TH_RECORD_HEAD_BITS = 6,
    TH_RECORD_HEAD_BYTES = 80,
    TH_RECORD_FUNCTION_BITS = 11,
    TH_RECORD_FUNCTION_BYTES = 56,
    TH_RECORD_NUMBERS = 12, /* greatest size of a tracee's numbers, in bytes */
    TH_RECORD_SLACK = 8     /* readable bytes required behind a record */
};

struct th_record {
    /* here: node of the first tracee; utf8_atoms: encoding of the first atom */
    struct th_etf_options etf;
    bool begun;        /* utf8_atoms is known */
    bool scheduler_id; /* see th_trace_event_from_tuple() */
    unsigned clocks;   /* clocks that some record had so far: a bit for each enum th_time_clock */
    struct th_record_prefix {
        size_t bytes; /* 0: free */
        enum th_event_kind kind;
        unsigned char identifier;                   /* external tag of the tracee */
        uint32_t creation;                          /* of the tracee's node */
        th_term peer;                               /* bits of the tracees of a peer, else 0 */
        unsigned char text[TH_RECORD_PREFIX_BYTES]; /* from the arity to the tracee's numbers */
    } prefixes[TH_RECORD_PREFIXES];
    /* Beginnings of records seen before, from the version to the tag: most processes have many
     * records with the same. A direct-mapped cache in front of the prefixes. */
    struct th_record_head {
        th_term tracee;
        uint32_t elements;
        uint8_t bytes; /* 0: free */
        uint8_t kind, tag, least, most;
        unsigned char text[TH_RECORD_HEAD_BYTES];
    } heads[1 << TH_RECORD_HEAD_BITS];
    unsigned latest;     /* index of the prefix that matched last */
    unsigned overwrites; /* index of the prefix that a new one replaces */
    struct th_record_tag {
        uint64_t head; /* first eight bytes of the name */
        uint64_t tail; /* last eight bytes, if the name has more than eight, else 0 */
        uint8_t bytes; /* length of the name; 0: free */
        uint8_t tag;
        uint8_t least, most; /* number of elements from the term on, without the time */
    } tags[TH_RECORD_TAG_SLOTS];
    /* Functions seen before: a direct-mapped cache of the atoms of a module and a function, by the
     * bytes of both. Atoms live for ever, so no entry becomes stale. */
    struct th_record_function {
        unsigned char key[TH_RECORD_FUNCTION_BYTES]; /* begins with a tag; 0: free */
        uint32_t module, function;                   /* indices of atoms */
    } functions[1 << TH_RECORD_FUNCTION_BITS];
    th_env scratch;

    /* The latest record. */
    const unsigned char *data, *end;
    const unsigned char *rest; /* the element after the tag; for seq_trace the label */
    const unsigned char *time; /* the time stamp; NULL until its place is known */
    uint32_t elements;         /* number from `rest` on, without the time stamp */
    bool timed;                /* a time stamp is present */
    uint32_t least, most;      /* as of the tag */
    th_term whole;             /* the term in scratch, if compressed, else TH_NONE */
};

/* Source of events whose reader is a th_record, including drops. */
extern const struct th_event_source th_replay_record_source;

/*
 * Reads the time of EVENT, the latest record, if no earlier record had a time of the same clock. So
 * the zero of each clock is known (th_recorded_streams_zero()), whatever filters are set: zero is
 * the first time of all streams that are replayed together, and tracers show the same times with
 * and without a filter. Errors: none; the next reader of a damaged time reports the damage.
 *
 * The last bytes identify the clock. A BEAM encodes a monotonic time as an integer of eight bytes,
 * alone or last of a pair, and a system time as a tuple of three integers of four bytes. Other
 * forms (CPU times, pairs that end in a small integer) are rare and read each time.
 */
void th_replay_record_meet_clock(struct th_record *record, struct th_event *event);

/* Guesses the clock of a time from the bytes before END; TH_CLOCKS: unknown. 24 bytes before END
 * must be readable. */
static inline enum th_time_clock th_replay_record_clock(const unsigned char *end)
{
    if (end[-11] == TH_ETF_SMALL_BIG && end[-10] == 8)
        return TH_CLOCK_MONOTONIC;
    if (end[-18] == TH_ETF_SMALL_TUPLE && end[-17] == 2 && end[-16] == TH_ETF_SMALL_BIG &&
        end[-15] == 8 && end[-5] == TH_ETF_INTEGER)
        return TH_CLOCK_MONOTONIC;
    if (end[-17] == TH_ETF_SMALL_TUPLE && end[-16] == 3 && end[-15] == TH_ETF_INTEGER &&
        end[-10] == TH_ETF_INTEGER && end[-5] == TH_ETF_INTEGER && th_etf_get32(end - 14) != 0)
        return TH_CLOCK_SYSTEM;
    return TH_CLOCKS;
}

/* Makes the tracee whose numbers, after the bytes of PREFIX, are at P. Returns their end; NULL if the
 * slow path is needed. */
static inline const unsigned char *th_replay_record_numbers(const struct th_record_prefix *prefix,
                                                            const unsigned char *p, th_term *tracee)
{
    uint64_t port;

    if (prefix->identifier == TH_ETF_NEW_PID) {
        uint32_t number = th_etf_get32(p), serial = th_etf_get32(p + 4);
        *tracee = th_local_pid(number, serial) | prefix->peer;
        p += 8;
        return th_pid_fits(number, serial) && th_etf_get32(p) == prefix->creation ? p + 4 : NULL;
    }
    if (prefix->identifier == TH_ETF_NEW_PORT) {
        port = th_etf_get32(p);
        p += 4;
    } else {
        port = th_etf_get64(p);
        p += 8;
    }
    *tracee = th_local_port(port) | prefix->peer;
    return port <= TH_PORT_ID_MAX && th_etf_get32(p) == prefix->creation ? p + 4 : NULL;
}

/* Reads a time in its usual forms, up to END: {Mega, Sec, Micro}, three integers of four bytes; a
 * number of nanoseconds, an integer of eight bytes of which the first bit is clear, alone or with
 * another such integer: {Nanoseconds, Unique}. */
bool th_replay_record_quick_time(const unsigned char *p, const unsigned char *end,
                                 struct th_event_time *time);

/* Decodes the whole record into ENV. Errors: TH_MALFORMED if the record is not exactly one term. */
enum th_status th_replay_record_whole(struct th_record *record, th_env *env, th_term *tuple);

/* Returns the place of the actor in the info tuple of a seq_trace message, which begins at P
 * (th_trace_event_actor_from_info()); NULL if there is none. */
const unsigned char *th_replay_record_actor(const unsigned char *p, const unsigned char *end);

/* Fills EVENT from TUPLE, the term of a compressed record. */
void th_replay_record_from_tuple(const struct th_record *record, struct th_event *event,
                                 th_term tuple);

/* --- External terms as bytes ------------------------------------------------------------------ */

/*
 * Parsers that find parts of a record without decoding it. Each gets the next byte and the end, and
 * returns the end of the element; NULL if the element is cut off or of another kind.
 * th_etf_decode() handles all other terms.
 */

/* The name of an atom, in place. */
struct th_raw_name {
    const unsigned char *text;
    uint32_t bytes;
    bool utf8;
};

static inline const unsigned char *
th_replay_raw_atom(const unsigned char *p, const unsigned char *end, struct th_raw_name *name)
{
    bool small;

    if (end - p < 2)
        return NULL;
    small = p[0] == TH_ETF_SMALL_ATOM || p[0] == TH_ETF_SMALL_ATOM_UTF8;
    if (!small && ((p[0] != TH_ETF_ATOM && p[0] != TH_ETF_ATOM_UTF8) || end - p < 3))
        return NULL;
    name->utf8 = p[0] == TH_ETF_ATOM_UTF8 || p[0] == TH_ETF_SMALL_ATOM_UTF8;
    name->bytes = small ? p[1] : th_etf_get16(p + 1);
    name->text = p + (small ? 2 : 3);
    return (size_t)(end - name->text) < name->bytes ? NULL : name->text + name->bytes;
}

static inline bool th_replay_raw_is(const struct th_raw_name *name, const char *text)
{
    return name->bytes == strlen(text) && memcmp(name->text, text, name->bytes) == 0;
}

/* Returns the atom of a name; TH_NONE if the name is not valid. */
static inline th_term th_replay_raw_intern(const struct th_raw_name *name)
{
    return name->utf8 ? th_atom_utf8((const char *)name->text, name->bytes)
                      : th_atom_latin1((const char *)name->text, name->bytes);
}

static inline const unsigned char *th_replay_raw_tuple(const unsigned char *p,
                                                       const unsigned char *end, uint32_t *arity)
{
    if (end - p >= 2 && p[0] == TH_ETF_SMALL_TUPLE) {
        *arity = p[1];
        return p + 2;
    }
    if (end - p >= 5 && p[0] == TH_ETF_LARGE_TUPLE) {
        *arity = th_etf_get32(p + 1);
        return p + 5;
    }
    return NULL;
}

/* Compares at least eight bytes, as memcmp() == 0 without a call. All words are compared before the
 * only test, as the bytes are mostly the same. */
static inline bool th_replay_raw_same(const unsigned char *a, const unsigned char *b, size_t bytes)
{
    typedef uint64_t pair __attribute__((vector_size(16)));
    pair x, y, differences = {0};
    uint64_t first, other;

    if (bytes < sizeof x) {
        memcpy(&first, a, sizeof first);
        memcpy(&other, b, sizeof other);
        differences[0] = first ^ other;
        memcpy(&first, a + bytes - sizeof first, sizeof first);
        memcpy(&other, b + bytes - sizeof other, sizeof other);
        return (differences[0] | (first ^ other)) == 0;
    }
    for (size_t i = 0; i + sizeof x < bytes; i += sizeof x) {
        memcpy(&x, a + i, sizeof x);
        memcpy(&y, b + i, sizeof y);
        differences |= x ^ y;
    }
    memcpy(&x, a + bytes - sizeof x, sizeof x);
    memcpy(&y, b + bytes - sizeof y, sizeof y);
    differences |= x ^ y;
    return (differences[0] | differences[1]) == 0;
}

/* Returns the tracee's numbers in the message of SIZE bytes at DATA, if it begins as the latest records
 * of processes do, and at least LEFT bytes are behind the numbers; else NULL. */
static inline const unsigned char *th_replay_record_same_begin(const struct th_record *record,
                                                               const unsigned char *data,
                                                               size_t size, size_t left)
{
    const struct th_record_prefix *prefix = &record->prefixes[record->latest];

    if (prefix->bytes == 0 || prefix->identifier != TH_ETF_NEW_PID ||
        size < 3 + prefix->bytes + TH_RECORD_NUMBERS + left || data[0] != TH_ETF_VERSION ||
        data[1] != TH_ETF_SMALL_TUPLE || !th_replay_raw_same(data + 3, prefix->text, prefix->bytes))
        return NULL;
    return data + 3 + prefix->bytes;
}

/* Reads the node of a pid or port in any encoding. */
bool th_replay_raw_node(const unsigned char *p, const unsigned char *end, struct th_etf_node *node);

#endif
