/* Reading the trace-port format. */
#include "trace_port.h"

#include "reading.h"
#include "record.h"

enum {
    EXAMINED = 16,  /* records that are looked at to see whether a file is of this format */
    LONG = 1 << 16, /* bytes of a message that are not awaited before its beginning was looked at */
};

_Static_assert((int)TH_INPUT_SLACK >= (int)TH_RECORD_SLACK, "see th_replay_record_skim()");

/* It is not of this format if none of its first messages begins as a term does. */
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
    return th_error_raise(TH_MALFORMED,
                          "it is no recorded stream: it begins with byte 0, as a trace-port file "
                          "does, but then no external term follows");
}

/* The chain tells what is wrong with the record at byte POSITION. */
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

/* The node, from the messages that have come already: who writes the events anew needs it before
 * the first of them, which may be a drop. */
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
        if (size > 0 && th_replay_record_skim(record, p, size, &event) != TH_OK)
            th_error_clear();
        p += size;
    }
    note_node(reader);
}

enum th_status th_replay_trace_port_begin(struct th_reader *reader)
{
    struct th_record *record = th_alloc(sizeof *record);

    th_replay_record_init(record, reader->options.scheduler_id);
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
    th_replay_record_release(reader->state);
    th_free(reader->state);
}

/* The end of the file, or a record that is not there as a whole. */
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
        th_error_raise(TH_PARTIAL, "%zu of the %d bytes of its head are there", there,
                       TH_PORT_HEAD);
    else if (there == TH_PORT_HEAD)
        th_error_raise(TH_PARTIAL, "its head is there, its %u bytes are not", th_etf_get32(p + 1));
    else
        th_error_raise(TH_PARTIAL, "%zu of its %u bytes are there", there - TH_PORT_HEAD,
                       th_etf_get32(p + 1));
    th_replay_reader_skip_file(reader);
    return record_is(reader, position, "cut off");
}

/* Skips the rest of the file, or, of a connection, all before the next record that can be found.
 * The reason has been raised. */
static enum th_status lose_place(struct th_reader *reader)
{
    unsigned long long position = th_replay_input_position(&reader->input);
    bool live = reader->connection;

    if (live)
        th_replay_live_port_lose(reader);
    else
        th_replay_reader_skip_file(reader);
    return th_error_context("record %llu at byte %llu is damaged: what follows it%s is lost",
                            th_replay_reader_number(reader), position,
                            live ? ", up to where one is found again," : "");
}

static enum th_status unknown_op(struct th_reader *reader, unsigned op)
{
    th_error_raise(TH_PARTIAL,
                   "it begins with byte %u; a record begins with 0 (a message) or 1 (a drop)", op);
    return lose_place(reader);
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
           th_replay_raw_is(&name, "seq_trace");
}

/* A message of SIZE bytes, which are not all there. TH_OK: they may be awaited. */
static enum th_status check_long(struct th_reader *reader, size_t size)
{
    struct th_input *input = &reader->input;

    if (reader->connection && size > TH_PORT_LONGEST)
        th_error_raise(TH_PARTIAL, "it claims to have %zu bytes; no more than %d are believed",
                       size, TH_PORT_LONGEST);
    else if (th_replay_input_have(input, TH_PORT_SHOWN) &&
             !th_replay_trace_port_shows_message(th_replay_input_bytes(input)))
        th_error_raise(TH_PARTIAL, "it claims to have %zu bytes, and begins as no message does",
                       size);
    else
        return TH_OK;
    return lose_place(reader);
}

/* Passes over a message of SIZE bytes, that takes too much memory, as the chain says. */
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
    th_error_raise(TH_PARTIAL, "%llu of its %zu bytes are there",
                   (unsigned long long)th_replay_input_position(input) - position - TH_PORT_HEAD,
                   size);
    return record_is(reader, position, "cut off");
}

/* A message of SIZE bytes, which are many. */
static enum th_status begin_long(struct th_reader *reader, size_t size)
{
    if (th_replay_input_there(&reader->input) < TH_PORT_HEAD + size &&
        check_long(reader, size) != TH_OK)
        return TH_PARTIAL;
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

static enum th_status take_drop_record(struct th_reader *reader, struct th_event *event,
                                       uint32_t dropped)
{
    th_replay_input_take(&reader->input, TH_PORT_HEAD);
    return th_replay_trace_port_drop(reader, event, dropped);
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
    if (__builtin_expect(p[0] != TH_PORT_MESSAGE, 0))
        return p[0] == TH_PORT_DROP ? take_drop_record(reader, event, (uint32_t)size)
                                    : unknown_op(reader, p[0]);
    if (__builtin_expect(size > LONG, 0) && (status = begin_long(reader, size)) != TH_OK)
        return status;
    if (!th_replay_input_have(input, TH_PORT_HEAD + size))
        return at_end_of_file(reader);
    p = th_replay_input_bytes(input);
    th_replay_input_take(input, TH_PORT_HEAD + size);
    if (__builtin_expect(th_replay_record_skim(record, p + TH_PORT_HEAD, size, event) != TH_OK, 0))
        return record_is(reader, event->position, "damaged");
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
