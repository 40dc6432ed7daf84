/*
 * Records of a trace port: one trace message each, in the external term format.
 *
 * Nearly all records of a stream begin alike: the version byte, a small tuple, the atom trace or
 * trace_ts, and the tag and node of a pid. What was once found there the long way is remembered in
 * its bytes and compared from then on, so that kind, tag and tracee cost a comparison, three
 * numbers and a look into a small table. Terms are decoded when somebody wants them, one element
 * after the other; time stamps are left out unless asked for.
 */
#ifndef TH_RECORD_H
#define TH_RECORD_H

#include "host/term/etf.h"
#include "host/term/etf_tags.h"
#include "host/trace/event.h"

#include <string.h>

enum {
    TH_RECORD_PREFIXES = 4, /* trace and trace_ts, of processes and of ports */
    TH_RECORD_PREFIX_BYTES = 64,
    TH_RECORD_TAG_SLOTS = 64, /* a power of two, above twice TH_TAG_COUNT */
    TH_RECORD_SLACK = 8       /* bytes behind a record that must be readable */
};

struct th_record {
    /* Of the stream. here: the node of its first tracee; utf8_atoms: as its first atom. */
    struct th_etf_options etf;
    bool begun;        /* utf8_atoms is known */
    bool scheduler_id; /* see th_trace_event_from_tuple() */
    unsigned clocks;   /* that had a record's time so far: a bit for each enum th_time_clock */
    struct th_record_prefix {
        size_t bytes; /* 0: free */
        enum th_event_kind kind;
        unsigned char identifier;                   /* the external tag of the tracee */
        unsigned char text[TH_RECORD_PREFIX_BYTES]; /* what follows the tuple's arity, up to the
                                                       numbers of the tracee */
    } prefixes[TH_RECORD_PREFIXES];
    unsigned latest;     /* the prefix that matched last */
    unsigned overwrites; /* the prefix that a new one replaces */
    struct th_record_tag {
        uint64_t head; /* the first eight bytes of its name */
        uint64_t tail; /* the last eight, if it has more than that */
        uint8_t bytes; /* of its name; 0: free */
        uint8_t tag;
        uint8_t least, most; /* elements from its term on, time left out */
    } tags[TH_RECORD_TAG_SLOTS];
    th_env scratch;

    /* Of the latest record. */
    const unsigned char *data, *end;
    const unsigned char *rest; /* the element behind the tag; of seq_trace the label */
    const unsigned char *time; /* the time stamp, once its place is known */
    uint32_t elements;         /* from `rest` on, the time stamp left out */
    bool timed;                /* has a time stamp */
    th_term whole;             /* all of it in scratch if it is compressed, else TH_NONE */
};

/* For events whose reader is a th_record; drops, too. */
extern const struct th_event_source th_replay_record_source;

/*
 * Reads the time of EVENT, the latest record, if no record before it had one by its clock. So the
 * zero of each clock is known (th_recorded_streams_zero()), whatever filters let pass: it is the
 * first time of all streams that are replayed together, and tracers show the same times with and
 * without a filter. Damage is left to whoever reads the time again.
 *
 * The clock shows in the last bytes: a BEAM writes monotonic times as integers of eight bytes,
 * alone or last of a pair, and system times as tuples of three integers of four. Its CPU times, and
 * pairs that end in a small integer, look otherwise and are read each time, as they are rare.
 */
void th_replay_record_meet_clock(struct th_record *record, struct th_event *event);

/* Decodes the whole record into ENV; TH_MALFORMED if it is not exactly one term. */
enum th_status th_replay_record_whole(struct th_record *record, th_env *env, th_term *tuple);

/* Where the actor stands in the info of a seq_trace message (th_trace_event_actor_from_info()) that
 * begins at P; NULL if it is no such thing. */
const unsigned char *th_replay_record_actor(const unsigned char *p, const unsigned char *end);

/* The event of a compressed record, whose term is TUPLE. */
void th_replay_record_from_tuple(const struct th_record *record, struct th_event *event,
                                 th_term tuple);

/* --- External terms in their bytes ----------------------------------------------------------- */

/*
 * What can be known of a record without decoding it. Each takes the next byte and the end, and
 * gives back where the element ends, NULL if it is something else or cut off. th_etf_decode() is
 * the way for all that is not known here.
 */

/* An atom's name where it stands. */
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

/* The atom of a name; TH_NONE if it has none. */
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

/* The node of a pid or port in any encoding. */
bool th_replay_raw_node(const unsigned char *p, const unsigned char *end, struct th_etf_node *node);

#endif
