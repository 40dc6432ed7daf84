/*
 * Reads the trace-port format: records of 1 byte op, 4 bytes size (big-endian), and payload.
 *
 *   op 0   a trace message: SIZE bytes of external term format
 *   op 1   no payload: SIZE is the number of events that the recorder dropped
 *
 * The file has no header: its records identify it. A file that was cut off ends inside a record.
 * After an unknown op nothing can be trusted, as the places of all further records depend on it.
 *
 * Long because: one walk finds a record and reads its kind, tag and tracee.
 */
#include "record.h"
#include "replay_internal.h"

#include "host/base/error.h"
#include "host/base/memory.h"
#include "host/term/peer.h"

#include <string.h>

enum {
    EXAMINED = 16,  /* number of records that are tested for this format */
    LONG = 1 << 16, /* size of a message whose beginning is checked before the rest is awaited */
};

_Static_assert((int)TH_INPUT_SLACK >= (int)TH_RECORD_SLACK, "see skim_record()");

/* --- Kind, tag and tracee of a record --------------------------------------------------------- */

/* Limit of a compressed term, in bytes: no recorder compresses, and a term may take 16 times the
 * memory of its bytes. */
enum { INFLATE_LIMIT = 32 * 1024 * 1024 };

/* Returns the first eight bytes of a name as a word; bytes behind the name are read and masked. */
static inline uint64_t name_head(const unsigned char *text, size_t bytes)
{
    uint64_t head;

    memcpy(&head, text, sizeof head);
    return bytes < 8 ? head & ~(UINT64_MAX << 8 * bytes) : head;
}

/* Returns the last eight bytes of a name of more than eight, else 0. */
static inline uint64_t name_tail(const unsigned char *text, size_t bytes)
{
    uint64_t tail = 0;

    if (bytes > 8)
        memcpy(&tail, text + bytes - 8, sizeof tail);
    return tail;
}

static inline size_t tag_slot(uint64_t head, size_t bytes)
{
    return (head + bytes) * 0x9E3779B97F4A7C15u >> 32 & (TH_RECORD_TAG_SLOTS - 1);
}

/* Returns the tag with this name; NULL: none. */
static inline const struct th_record_tag *find_tag(const struct th_record *record,
                                                   const struct th_raw_name *name)
{
    uint64_t head = name_head(name->text, name->bytes);
    uint64_t tail = name_tail(name->text, name->bytes);
    size_t i = tag_slot(head, name->bytes);

    for (; record->tags[i].bytes; i = (i + 1) % TH_RECORD_TAG_SLOTS) {
        const struct th_record_tag *slot = &record->tags[i];
        if (slot->head == head && slot->bytes == name->bytes && slot->tail == tail &&
            (name->bytes <= 16 || memcmp(th_atom_name(th_trace_tag_atom(slot->tag))->text + 8,
                                         name->text + 8, name->bytes - 8) == 0))
            return slot;
    }
    return NULL;
}

static void remember_tag(struct th_record *record, enum th_tracer_tag tag)
{
    const struct th_atom_name *name = th_atom_name(th_trace_tag_atom(tag));
    unsigned char text[TH_ATOM_BYTES + 8] = {0};
    size_t i;

    memcpy(text, name->text, name->bytes);
    i = tag_slot(name_head(text, name->bytes), name->bytes);
    while (record->tags[i].bytes)
        i = (i + 1) % TH_RECORD_TAG_SLOTS;
    record->tags[i] = (struct th_record_tag){
        .head = name_head(text, name->bytes),
        .tail = name_tail(text, name->bytes),
        .bytes = (uint8_t)name->bytes,
        .tag = (uint8_t)tag,
        .least = 1 + th_trace_tag_has_extra(tag),
        .most = 2 + th_trace_tag_has_extra(tag) + th_trace_tag_has_result(tag),
    };
}

/* Reads the part after the tracee. Returns false if it is not as expected. If there are too few
 * elements, the subtraction wraps to a large number, which fails the test. */
static inline bool skim_tag(struct th_record *record, struct th_event *event,
                            const unsigned char *p, uint32_t arity)
{
    bool timed = event->kind == TH_EVENT_TRACE_TS;
    uint32_t elements = arity - 3 - timed;
    const struct th_record_tag *tag;
    struct th_raw_name name;

    p = th_replay_raw_atom(p, record->end, &name);
    if (!p)
        return false;
    tag = find_tag(record, &name);
    if (!tag || elements < tag->least || elements > tag->most)
        return false;
    event->tag = (enum th_tracer_tag)tag->tag;
    event->tuple_size = arity;
    record->rest = p;
    record->elements = elements;
    record->least = tag->least;
    record->most = tag->most;
    record->timed = timed;
    return true;
}

/* The fast path. */

static const struct th_record_prefix *find_prefix(struct th_record *record,
                                                  const unsigned char *text, size_t bytes)
{
    for (unsigned i = 0; i < TH_RECORD_PREFIXES; i++) {
        const struct th_record_prefix *prefix = &record->prefixes[i];
        if (prefix->bytes && prefix->bytes <= bytes &&
            memcmp(text, prefix->text, prefix->bytes) == 0) {
            record->latest = i;
            return prefix;
        }
    }
    return NULL;
}

/* Returns the place of the record's head in the cache; NULL: the record is too short, or no prefix
 * is known. The hash takes the tracee's numbers and the beginning of the tag. */
static inline struct th_record_head *head_place(struct th_record *record)
{
    size_t numbers = 3 + record->prefixes[record->latest].bytes;
    uint64_t tracee, tag;

    if (numbers == 3 ||
        (size_t)(record->end - record->data) < numbers + TH_RECORD_NUMBERS + sizeof tag)
        return NULL;
    memcpy(&tracee, record->data + numbers, sizeof tracee);
    memcpy(&tag, record->data + numbers + TH_RECORD_NUMBERS, sizeof tag);
    tracee = (tracee ^ tag * 0x9E3779B97F4A7C15u) * 0xD6E8FEB86659FD93u;
    return &record->heads[tracee >> (64 - TH_RECORD_HEAD_BITS)];
}

/* Fills EVENT from HEAD, if the record begins with it. */
static inline bool skim_known(struct th_record *record, struct th_event *event,
                              const struct th_record_head *head)
{
    if (head->bytes == 0 || head->bytes > record->end - record->data ||
        !th_replay_raw_same(head->text, record->data, head->bytes))
        return false;
    event->kind = (enum th_event_kind)head->kind;
    event->tag = (enum th_tracer_tag)head->tag;
    event->tracee = head->tracee;
    event->tuple_size = record->data[2];
    record->rest = record->data + head->bytes;
    record->elements = head->elements;
    record->least = head->least;
    record->most = head->most;
    record->timed = event->kind == TH_EVENT_TRACE_TS;
    return true;
}

/* Keeps the head of a record that skim_quickly() has read. */
static void learn_head(const struct th_record *record, const struct th_event *event,
                       struct th_record_head *head)
{
    size_t bytes = (size_t)(record->rest - record->data);

    if (bytes > TH_RECORD_HEAD_BYTES)
        return;
    head->tracee = event->tracee;
    head->elements = record->elements;
    head->least = (uint8_t)record->least;
    head->most = (uint8_t)record->most;
    head->bytes = (uint8_t)bytes;
    head->kind = (uint8_t)event->kind;
    head->tag = (uint8_t)event->tag;
    memcpy(head->text, record->data, bytes);
}

/* Returns false if the slow path is needed. */
static bool skim_quickly(struct th_record *record, struct th_event *event)
{
    const struct th_record_prefix *prefix = &record->prefixes[record->latest];
    const unsigned char *p = record->data + 3;
    size_t left = (size_t)(record->end - record->data);

    if (left < 3 + TH_RECORD_NUMBERS || record->data[0] != TH_ETF_VERSION ||
        record->data[1] != TH_ETF_SMALL_TUPLE)
        return false;
    left -= 3 + TH_RECORD_NUMBERS;
    if (prefix->bytes == 0 || prefix->bytes > left ||
        !th_replay_raw_same(p, prefix->text, prefix->bytes))
        prefix = find_prefix(record, p, left);
    if (!prefix)
        return false;
    event->kind = prefix->kind;
    p = th_replay_record_numbers(prefix, p + prefix->bytes, &event->tracee);
    return p && skim_tag(record, event, p, record->data[2]);
}

/* The slow path. */

/* Handles a term that is no trace message. */
static enum th_status trace_port_no_message(const struct th_record *record, struct th_event *event)
{
    size_t size = (size_t)(record->end - record->data) - 1;
    size_t used = th_etf_skip(record->data + 1, size);

    th_trace_event_begin(event, TH_EVENT_OTHER);
    if (used == 0)
        return th_error_raise(TH_MALFORMED, "the term is damaged or truncated");
    if (used < size)
        return th_error_raise(TH_MALFORMED, "%zu bytes follow the term", size - used);
    return TH_OK;
}

const unsigned char *th_replay_record_actor(const unsigned char *p, const unsigned char *end)
{
    struct th_raw_name action;
    uint32_t arity;

    p = th_replay_raw_tuple(p, end, &arity);
    if (!p || arity != 5 || !(p = th_replay_raw_atom(p, end, &action)))
        return NULL;
    for (int skips = th_replay_raw_is(&action, "receive") ? 2 : 1; skips > 0; skips--) {
        size_t skipped = th_etf_skip(p, (size_t)(end - p));
        if (skipped == 0)
            return NULL;
        p += skipped;
    }
    return p;
}

/* Learns the node from P, a tracee or an actor, which belongs to the traced node. P may be NULL. */
static void learn_node(struct th_record *record, const unsigned char *p)
{
    if (p && record->etf.here.node == TH_NONE)
        th_replay_raw_node(p, record->end, &record->etf.here);
}

/* Keeps the beginning of a record, up to its tracee at P, as a prefix. The bytes of a prefix end before
 * the creation: of two nodes with one name only the first gets prefixes. */
static void learn_prefix(struct th_record *record, const struct th_event *event,
                         const unsigned char *p)
{
    struct th_record_prefix *prefix = &record->prefixes[record->overwrites];
    const unsigned char *text = record->data + 3;
    unsigned peer = th_peer_of(event->tracee);
    struct th_raw_name name;
    const unsigned char *numbers = th_replay_raw_atom(p + 1, record->end, &name);

    if (record->data[1] != TH_ETF_SMALL_TUPLE || !th_is_immediate(event->tracee) ||
        (*p != TH_ETF_NEW_PID && *p != TH_ETF_NEW_PORT && *p != TH_ETF_V4_PORT) ||
        numbers - text > TH_RECORD_PREFIX_BYTES ||
        find_prefix(record, text, (size_t)(numbers - text)))
        return;
    prefix->creation = peer ? th_term_peers[peer].creation : record->etf.here.creation;
    prefix->peer =
        th_is_local_pid(event->tracee) ? th_peer_pid_bits(peer) : th_peer_port_bits(peer);
    prefix->bytes = (size_t)(numbers - text);
    prefix->kind = event->kind;
    prefix->identifier = *p;
    memcpy(prefix->text, text, prefix->bytes);
    record->latest = record->overwrites;
    record->overwrites = (record->overwrites + 1) % TH_RECORD_PREFIXES;
}

static enum th_status skim_trace(struct th_record *record, struct th_event *event,
                                 const unsigned char *p, uint32_t arity)
{
    size_t left = (size_t)(record->end - p);
    size_t used;

    learn_node(record, p);
    th_env_clear(&record->scratch);
    if (th_etf_decode(&record->scratch, p, left, false, &record->etf, &event->tracee, &used) !=
            TH_OK ||
        (!th_is_pid(event->tracee) && !th_is_port(event->tracee)) ||
        !skim_tag(record, event, p + used, arity)) {
        th_error_clear();
        return trace_port_no_message(record, event);
    }
    learn_prefix(record, event, p);
    return TH_OK;
}

/* Learns the node from a note {tracehost, node, {Pid, ...}}, whose key is at P. */
static void learn_node_of_note(struct th_record *record, const unsigned char *p)
{
    struct th_raw_name key;
    uint32_t arity;

    p = th_replay_raw_atom(p, record->end, &key);
    if (p && th_replay_raw_is(&key, "node"))
        learn_node(record, th_replay_raw_tuple(p, record->end, &arity));
}

static enum th_status skim_seq_trace(struct th_record *record, struct th_event *event,
                                     const unsigned char *p, uint32_t arity)
{
    size_t label = th_etf_skip(p, (size_t)(record->end - p));

    if (label == 0)
        return th_error_raise(TH_MALFORMED, "the label is damaged or truncated");
    if (record->etf.here.node == TH_NONE)
        learn_node(record, th_replay_record_actor(p + label, record->end));
    th_env_clear(&record->scratch);
    event->kind = TH_EVENT_SEQ_TRACE;
    event->tag = TH_TAG_seq_trace;
    event->tuple_size = arity;
    record->rest = p;
    record->elements = 2;
    record->timed = arity == 4;
    return TH_OK;
}

static enum th_status skim_slowly(struct th_record *record, struct th_event *event)
{
    const unsigned char *p = record->data;
    enum th_status status;
    struct th_raw_name kind;
    uint32_t arity;

    if (p == record->end)
        return th_error_raise(TH_MALFORMED, "the record is empty");
    if (*p != TH_ETF_VERSION)
        return th_error_raise(TH_MALFORMED,
                              "the record begins with byte %u, not with %u as a term does", *p,
                              TH_ETF_VERSION);
    if (record->end - p > 1 && p[1] == TH_ETF_COMPRESSED) {
        th_env_clear(&record->scratch);
        status = th_replay_record_whole(record, &record->scratch, &record->whole);
        if (status != TH_OK)
            return status;
        th_replay_record_from_tuple(record, event, record->whole);
        event->decoded = false; /* decoded into scratch only; the time stays known */
        return TH_OK;
    }
    p = th_replay_raw_tuple(p + 1, record->end, &arity);
    if (!p || !(p = th_replay_raw_atom(p, record->end, &kind)))
        return trace_port_no_message(record, event);
    if (!record->begun)
        record->etf.utf8_atoms = kind.utf8;
    record->begun = true;
    if (th_replay_raw_is(&kind, "trace"))
        event->kind = TH_EVENT_TRACE;
    else if (th_replay_raw_is(&kind, "trace_ts"))
        event->kind = TH_EVENT_TRACE_TS;
    else if (th_replay_raw_is(&kind, "seq_trace") && (arity == 3 || arity == 4))
        return skim_seq_trace(record, event, p, arity);
    else if (th_replay_raw_is(&kind, "tracehost"))
        learn_node_of_note(record, p);
    if (event->kind == TH_EVENT_OTHER)
        return trace_port_no_message(record, event);
    return skim_trace(record, event, p, arity);
}

/*
 * Begins EVENT, whose number and position are set, from SIZE bytes at DATA: finds kind, tag and
 * tracee. A term that is no trace message becomes TH_EVENT_OTHER.
 * Owner: DATA must stay until the next record; TH_RECORD_SLACK more bytes must be readable. Errors:
 * TH_MALFORMED if damage is visible at this point.
 */
static inline __attribute__((always_inline)) enum th_status skim_record(struct th_record *record,
                                                                        const unsigned char *data,
                                                                        size_t size,
                                                                        struct th_event *event)
{
    struct th_record_head *head;

    record->data = data;
    record->end = data + size;
    record->time = NULL;
    if (__builtin_expect(record->whole != TH_NONE, 0)) {
        record->whole = TH_NONE;
        th_env_clear(&record->scratch); /* frees memory before as much is allocated again */
    }
    event->source = &th_replay_record_source;
    event->reader = record;
    th_trace_event_begin(event, TH_EVENT_OTHER);
    head = head_place(record);
    if (head && skim_known(record, event, head))
        return TH_OK;
    if (skim_quickly(record, event)) {
        if (head)
            learn_head(record, event, head);
        return TH_OK;
    }
    th_trace_event_begin(event, TH_EVENT_OTHER);
    return skim_slowly(record, event);
}

/* --- Records of a stream ---------------------------------------------------------------------- */

/* Checks the format. Errors: TH_MALFORMED if none of the first messages begins like a term. */
static enum th_status examine_messages(struct th_input *input)
{
    const unsigned char *p, *end;
    int messages = 0;

    th_replay_input_have(input, TH_PORT_HEAD + 1);
    p = th_replay_input_bytes(input);
    end = p + th_replay_input_there(input);
    for (int i = 0; i < EXAMINED && end - p > TH_PORT_HEAD && p[0] <= TH_PORT_DROP; i++) {
        size_t size = p[0] == TH_PORT_MESSAGE ? th_etf_get32(p + 1) : 0;
        if (size > 0 && p[TH_PORT_HEAD] == TH_ETF_VERSION)
            return TH_OK;
        messages += p[0] == TH_PORT_MESSAGE;
        if ((size_t)(end - p - TH_PORT_HEAD) < size)
            break;
        p += TH_PORT_HEAD + size;
    }
    if (messages == 0)
        return TH_OK;
    return th_error_raise(TH_MALFORMED, "the input is not a recorded stream: byte 0 stands first, "
                                        "as in a trace-port file, but no external term follows");
}

/* Adds the place of the record at byte POSITION to the chain. */
static enum th_status record_is(const struct th_reader *reader, uint64_t position, const char *how)
{
    return th_error_context("record %llu at byte %llu is %s", th_replay_reader_number(reader),
                            (unsigned long long)position, how);
}

static void note_node(struct th_reader *reader)
{
    const struct th_record *record = reader->state;

    reader->info.node = record->etf.here;
    reader->info.utf8_atoms = record->etf.utf8_atoms;
}

void th_replay_trace_port_set_here(struct th_reader *reader, const struct th_etf_node *here)
{
    struct th_record *record = reader->state;

    record->etf.here = *here;
    memset(record->prefixes, 0, sizeof record->prefixes); /* both have words of tracees */
    memset(record->heads, 0, sizeof record->heads);
}

/* Finds the node in messages that have arrived: a writer needs the node before the first event,
 * which may be a drop. */
void th_replay_trace_port_look_for_node(struct th_reader *reader)
{
    const unsigned char *p = th_replay_input_bytes(&reader->input);
    const unsigned char *end = p + th_replay_input_there(&reader->input);
    struct th_record *record = reader->state;
    struct th_event event = {0};

    while (record->etf.here.node == TH_NONE && end - p > TH_PORT_HEAD && p[0] <= TH_PORT_DROP) {
        size_t size = p[0] == TH_PORT_MESSAGE ? th_etf_get32(p + 1) : 0;
        if ((size_t)(end - p - TH_PORT_HEAD) < size)
            break;
        p += TH_PORT_HEAD;
        if (size > 0 && skim_record(record, p, size, &event) != TH_OK)
            th_error_clear();
        p += size;
    }
    note_node(reader);
}

enum th_status th_replay_trace_port_begin(struct th_reader *reader)
{
    struct th_record *record = th_alloc(sizeof *record);

    *record = (struct th_record){
        .etf.inflate_limit = INFLATE_LIMIT,
        .scheduler_id = reader->options.scheduler_id,
    };
    th_env_init(&record->scratch, TH_ENV_PLAIN);
    for (int tag = 0; tag < TH_TAG_seq_trace; tag++)
        remember_tag(record, (enum th_tracer_tag)tag);
    reader->state = record;
    return TH_OK;
}

static enum th_status begin_trace_port(struct th_reader *reader)
{
    th_replay_trace_port_begin(reader);
    if (examine_messages(&reader->input) != TH_OK)
        return TH_MALFORMED;
    th_replay_trace_port_look_for_node(reader);
    return TH_OK;
}

void th_replay_trace_port_end(struct th_reader *reader)
{
    struct th_record *record = reader->state;

    th_env_release(&record->scratch);
    th_free(record);
}

/* Handles the end of the file, or an incomplete record. */
static enum th_status at_end_of_file(struct th_reader *reader)
{
    const unsigned char *p = th_replay_input_bytes(&reader->input);
    size_t there = th_replay_input_there(&reader->input);
    unsigned long long position = th_replay_input_position(&reader->input);

    if (th_replay_reader_check_input(reader) != TH_OK)
        return TH_PARTIAL;
    if (there == 0 || reader->input.stopped)
        return TH_END;
    if (there < TH_PORT_HEAD)
        th_error_raise(TH_PARTIAL, "the input ends after %zu of the %d bytes of the record's head",
                       there, TH_PORT_HEAD);
    else if (there == TH_PORT_HEAD)
        th_error_raise(TH_PARTIAL,
                       "the input ends after the head of the record, before its %u bytes",
                       th_etf_get32(p + 1));
    else
        th_error_raise(TH_PARTIAL, "the input ends after %zu of the record's %u bytes",
                       there - TH_PORT_HEAD, th_etf_get32(p + 1));
    th_replay_reader_skip_file(reader);
    return record_is(reader, position, "truncated");
}

/* Skips the rest of the file, or, for a connection, all bytes up to the next recognised record. The
 * cause was raised. */
static enum th_status lose_place(struct th_reader *reader)
{
    unsigned long long position = th_replay_input_position(&reader->input);
    bool live = reader->connection;

    if (live)
        th_replay_live_port_lose(reader);
    else
        th_replay_reader_skip_file(reader);
    return th_error_context(
        "record %llu at byte %llu is damaged: %s lost", th_replay_reader_number(reader), position,
        live ? "all bytes up to the next record are" : "the rest of the file is");
}

bool th_replay_trace_port_shows_message(const unsigned char *p)
{
    const unsigned char *end = p + TH_PORT_SHOWN;
    struct th_raw_name name;
    uint32_t arity;

    if (p[0] != TH_PORT_MESSAGE || p[TH_PORT_HEAD] != TH_ETF_VERSION)
        return false;
    p = th_replay_raw_tuple(p + TH_PORT_HEAD + 1, end, &arity);
    if (!p || !th_replay_raw_atom(p, end, &name))
        return false;
    return th_replay_raw_is(&name, "trace") || th_replay_raw_is(&name, "trace_ts") ||
           th_replay_raw_is(&name, "seq_trace") || th_replay_raw_is(&name, "tracehost");
}

/* Skips a message of SIZE bytes that takes too much memory; the chain has the cause. */
static enum th_status pass_over(struct th_reader *reader, size_t size)
{
    struct th_input *input = &reader->input;
    unsigned long long position = th_replay_input_position(input);

    if (th_replay_input_skip(input, TH_PORT_HEAD + (uint64_t)size))
        return record_is(reader, position, "damaged");
    if (th_replay_reader_check_input(reader) != TH_OK)
        return TH_PARTIAL;
    if (input->stopped)
        return TH_END;
    th_error_raise(TH_PARTIAL, "the input ends after %llu of the record's %zu bytes",
                   (unsigned long long)th_replay_input_position(input) - position - TH_PORT_HEAD,
                   size);
    return record_is(reader, position, "truncated");
}

/* Checks a long message of SIZE bytes. TH_OK: its missing bytes may be awaited. */
static enum th_status begin_long(struct th_reader *reader, size_t size)
{
    struct th_input *input = &reader->input;

    if (th_replay_input_there(input) < TH_PORT_HEAD + size) {
        if (reader->connection && size > TH_PORT_LONGEST) {
            th_error_raise(TH_PARTIAL,
                           "the record claims to have %zu bytes; at most %d are accepted", size,
                           TH_PORT_LONGEST);
            return lose_place(reader);
        }
        if (th_replay_input_have(input, TH_PORT_SHOWN) &&
            !th_replay_trace_port_shows_message(th_replay_input_bytes(input))) {
            th_error_raise(TH_PARTIAL,
                           "the record claims to have %zu bytes, but does not begin as a message",
                           size);
            return lose_place(reader);
        }
    }
    return th_memory_take(size) ? TH_OK : pass_over(reader, size);
}

enum th_status th_replay_trace_port_drop(struct th_reader *reader, struct th_event *event,
                                         uint32_t dropped)
{
    event->source = &th_replay_record_source;
    event->reader = reader->state;
    th_trace_event_begin(event, TH_EVENT_DROP);
    event->dropped = dropped;
    event->tuple_size = 2;
    event->timed = true;
    return TH_OK;
}

/* True if an earlier record had a time of the clock that the record's time is of, by its looks. */
static inline bool clock_is_known(const struct th_record *record)
{
    return record->end - record->data >= 24 &&
           record->clocks >> th_replay_record_clock(record->end) & 1;
}

static enum th_status next_of_trace_port(struct th_reader *reader, struct th_event *event)
{
    struct th_input *input = &reader->input;
    struct th_record *record = reader->state;
    const unsigned char *p;
    enum th_status status;
    size_t size;

    if (!th_replay_input_have(input, TH_PORT_HEAD))
        return at_end_of_file(reader);
    p = th_replay_input_bytes(input);
    size = th_etf_get32(p + 1);
    event->position = th_replay_input_position(input);
    if (__builtin_expect(p[0] == TH_PORT_DROP, 0)) {
        th_replay_input_take(input, TH_PORT_HEAD);
        return th_replay_trace_port_drop(reader, event, (uint32_t)size);
    }
    if (__builtin_expect(p[0] != TH_PORT_MESSAGE, 0)) {
        th_error_raise(TH_PARTIAL,
                       "the record begins with byte %u, not with 0 (a message) or 1 (a drop)",
                       p[0]);
        return lose_place(reader);
    }
    if (__builtin_expect(size > LONG, 0) && (status = begin_long(reader, size)) != TH_OK)
        return status;
    if (!th_replay_input_have(input, TH_PORT_HEAD + size))
        return at_end_of_file(reader);
    p = th_replay_input_bytes(input);
    th_replay_input_take(input, TH_PORT_HEAD + size);
    if (__builtin_expect(skim_record(record, p + TH_PORT_HEAD, size, event) != TH_OK, 0))
        return record_is(reader, event->position, "damaged");
    if (record->timed && !clock_is_known(record))
        th_replay_record_meet_clock(record, event);
    if (__builtin_expect(reader->info.node.node == TH_NONE, 0))
        note_node(reader);
    return TH_OK;
}

const struct th_reader_format th_trace_port_format = {
    .name = "trace-port",
    .begin = begin_trace_port,
    .next = next_of_trace_port,
    .end = th_replay_trace_port_end,
};
