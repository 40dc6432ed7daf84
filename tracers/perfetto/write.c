/*
 * Writes packets. Fields are in the order of their numbers.
 *
 * The first packet has the texts of all categories and of the names of annotations; the name of an
 * event is in the packet that uses it first. Each clock has a number of its own, and a snapshot
 * before its first time: its zero (moment.h) is ORIGIN, by that clock and by the clock of the trace.
 */
#include "encode.h"
#include "perfetto.h"

/* Times before a clock's zero are possible, but times below 0 are not. */
static const int64_t ORIGIN = 60 * (int64_t)1000000000;

enum {
    CLOCK_FIRST = 64 /* a clock of the sequence */,
    CLOCK_REALTIME_ID = 1,
    CLOCK_BOOTTIME_ID = 6
};
enum { STATE_CLEARED = 1, STATE_NEEDED = 2 };
enum { UNIT_COUNT = 2 };

/* Numbers of fields. */
enum { TRACE_PACKET = 1 };
enum {
    PACKET_CLOCK_SNAPSHOT = 6,
    PACKET_TIMESTAMP = 8,
    PACKET_SEQUENCE = 10,
    PACKET_TRACK_EVENT = 11,
    PACKET_INTERNED = 12,
    PACKET_FLAGS = 13,
    PACKET_CLOCK = 58,
    PACKET_DEFAULTS = 59,
    PACKET_TRACK = 60,
    PACKET_FIRST = 87
};
enum { INTERNED_CATEGORIES = 1, INTERNED_EVENTS = 2, INTERNED_ANNOTATIONS = 3 };
enum { INTERNED_NUMBER = 1, INTERNED_NAME = 2 };
enum { SNAPSHOT_CLOCKS = 1 };
enum { CLOCK_ID = 1, CLOCK_TIMESTAMP = 2 };
enum { TRACK_UUID = 1, TRACK_NAME, TRACK_PROCESS, TRACK_THREAD, TRACK_PARENT, TRACK_COUNTER = 8 };
enum { PROCESS_PID = 1, PROCESS_NAME = 6, PROCESS_LABELS = 8 };
enum { THREAD_PID = 1, THREAD_TID = 2, THREAD_NAME = 5 };
enum { COUNTER_UNIT = 3 };
enum {
    EVENT_CATEGORY = 3,
    EVENT_ANNOTATIONS = 4,
    EVENT_TYPE = 9,
    EVENT_NAME_NUMBER = 10,
    EVENT_TRACK = 11,
    EVENT_NAME = 23,
    EVENT_VALUE = 30,
    EVENT_FLOW = 47,
    EVENT_FLOW_END = 48
};
enum { ANNOTATION_NUMBER = 1, ANNOTATION_UINT = 3, ANNOTATION_STRING = 6 };

static struct perfetto *perfetto_of(const struct process *process)
{
    return (struct perfetto *)process->timeline;
}

/* --- Packets --- */

/* Writes PACKET, and discards it. */
static void end_packet(struct perfetto *perfetto, struct line *packet)
{
    struct timeline *timeline = &perfetto->timeline;
    struct line record;

    line_start(&record);
    encode_message(&record, TRACE_PACKET, packet);
    if (!record.short_of_memory)
        line_write(record.text, record.used, timeline->file);
    timeline_written(timeline, record.used);
    line_drop(&record);
}

static void add_interned(struct line *data, unsigned field, uint64_t number, const char *text,
                         size_t size)
{
    struct line name;

    line_start(&name);
    encode_number(&name, INTERNED_NUMBER, number);
    encode_text(&name, INTERNED_NAME, text, size, TIMELINE_NAME);
    encode_message(data, field, &name);
}

static void add_clock(struct line *snapshot, unsigned id, uint64_t time)
{
    struct line clock;

    line_start(&clock);
    encode_number(&clock, CLOCK_ID, id);
    encode_number(&clock, CLOCK_TIMESTAMP, time);
    encode_message(snapshot, SNAPSHOT_CLOCKS, &clock);
}

/* Adds all texts that do not depend on the recording, and the clock that packets have without
 * another one. */
static void add_state(struct line *packet, const struct perfetto *perfetto)
{
    static const char *const categories[CATEGORIES] = {
        NULL, "call", "gc", "message", "process", "exception", "scheduling"};
    static const char *const annotations[ANNOTATIONS] = {
        NULL,     "arguments", "result", "message", "to",     "type",
        "reason", "function",  "other",  "name",    "driver", "scheduler"};
    struct line data, defaults;

    line_start(&data);
    line_start(&defaults);
    for (unsigned i = 1; i < CATEGORIES; i++)
        add_interned(&data, INTERNED_CATEGORIES, i, categories[i], strlen(categories[i]));
    for (unsigned i = 1; i < ANNOTATIONS; i++)
        add_interned(&data, INTERNED_ANNOTATIONS, i, annotations[i], strlen(annotations[i]));
    encode_number(&defaults, PACKET_CLOCK, CLOCK_FIRST + perfetto->clock);
    encode_message(packet, PACKET_INTERNED, &data);
    encode_number(packet, PACKET_FLAGS, STATE_CLEARED | STATE_NEEDED);
    encode_message(packet, PACKET_DEFAULTS, &defaults);
    encode_number(packet, PACKET_FIRST, 1);
}

/* Writes the snapshot of CLOCK, which the current event is the first to use. The first snapshot
 * begins the sequence. */
static void write_clock(struct perfetto *perfetto, unsigned clock)
{
    struct moment moment = moment_take(perfetto->event.env, perfetto->event.opts, ERL_NIF_NSEC);
    bool begins = !perfetto->begun;
    bool dated = !perfetto->dated && moment.stamped && moment_has_date(&moment);
    int64_t zero = clock == NODE_CLOCK ? perfetto->timeline.base
                                       : enif_monotonic_time(ERL_NIF_NSEC) - moment.time;
    struct line packet, snapshot;

    if (begins)
        perfetto->clock = clock;
    perfetto->begun = perfetto->clocks[clock] = true;
    perfetto->dated |= dated;
    if (past_is_played())
        return;
    line_start(&packet);
    line_start(&snapshot);
    if (dated)
        add_clock(&snapshot, CLOCK_REALTIME_ID, (uint64_t)(zero + enif_time_offset(ERL_NIF_NSEC)));
    add_clock(&snapshot, CLOCK_BOOTTIME_ID, (uint64_t)ORIGIN);
    add_clock(&snapshot, CLOCK_FIRST + clock, (uint64_t)ORIGIN);
    encode_message(&packet, PACKET_CLOCK_SNAPSHOT, &snapshot);
    encode_number(&packet, PACKET_SEQUENCE, perfetto->sequence);
    if (begins)
        add_state(&packet, perfetto);
    else
        encode_number(&packet, PACKET_FLAGS, STATE_NEEDED);
    end_packet(perfetto, &packet);
}

/* --- Tracks --- */

/* Ends the packet with the description TRACK, which is discarded. */
static void write_track(struct perfetto *perfetto, struct line *track)
{
    struct line packet;

    line_start(&packet);
    encode_number(&packet, PACKET_SEQUENCE, perfetto->sequence);
    encode_number(&packet, PACKET_FLAGS, STATE_NEEDED);
    encode_message(&packet, PACKET_TRACK, track);
    end_packet(perfetto, &packet);
}

/* Returns the number of the process's node, plus 1: the pid of its group, and the track of that. */
static unsigned node_of(const struct process *process)
{
    unsigned node;

    return TH_HAS(th_recorded_node) && th_recorded_node(process->tracee.term, &node) ? node + 1 : 1;
}

static uint64_t uuid_of(const struct perfetto *perfetto, unsigned track)
{
    return perfetto->first + NODES + track;
}

/* Adds the name of the node of TERM, a pid or port: in external terms an atom after two bytes. */
static void add_node_name(ErlNifEnv *env, struct line *line, ERL_NIF_TERM term)
{
    enum { ATOM = 2, ATOM_EXT = 'd', ATOM_UTF8_EXT = 'v', SMALL_ATOM_UTF8_EXT = 'w' };
    ErlNifBinary bytes;
    const unsigned char *atom;
    size_t size = 0, head;

    if (!enif_term_to_binary(env, term, &bytes)) {
        loss_add();
        return;
    }
    atom = bytes.data + ATOM;
    head = bytes.size > ATOM && *atom == SMALL_ATOM_UTF8_EXT ? 2 : 3;
    if (bytes.size > ATOM + head)
        size = head == 2                                     ? atom[1]
               : *atom == ATOM_UTF8_EXT || *atom == ATOM_EXT ? (size_t)(atom[1] << 8 | atom[2])
                                                             : 0;
    if (size <= bytes.size - ATOM)
        line_add_bytes(line, (const char *)atom + head, size);
    enif_release_binary(&bytes);
}

static void write_node(struct perfetto *perfetto, const struct process *process, unsigned node)
{
    struct line track, group, name;

    perfetto->nodes |= (uint64_t)1 << node;
    if (past_is_played())
        return;
    line_start(&track);
    line_start(&group);
    line_start(&name);
    add_node_name(perfetto->event.env, &name, process->tracee.term);
    encode_number(&group, PROCESS_PID, node);
    encode_text(&group, PROCESS_NAME, name.text, name.used, TIMELINE_NAME);
    line_drop(&name);
    encode_number(&track, TRACK_UUID, perfetto->first + node);
    encode_message(&track, TRACK_PROCESS, &group);
    write_track(perfetto, &track);
}

void write_labels(struct perfetto *perfetto, const char *label)
{
    struct line track, group;

    for (unsigned node = 1; node <= NODES; node++) {
        if (!(perfetto->nodes >> node & 1))
            continue;
        line_start(&track);
        line_start(&group);
        encode_number(&group, PROCESS_PID, node);
        encode_text(&group, PROCESS_LABELS, label, strlen(label), SIZE_MAX);
        encode_number(&track, TRACK_UUID, perfetto->first + node);
        encode_message(&track, TRACK_PROCESS, &group);
        write_track(perfetto, &track);
    }
}

/* Names a process as in ../README.md; by another clock than the first one, with that clock. */
static void add_process_name(struct line *line, const struct process *process)
{
    static const char *const clocks[MOMENT_CLOCKS] = {"node's clock", "system time", "CPU time",
                                                      "monotonic time"};

    if (tracee_add_label(line, &process->tracee))
        line_add(line, " ");
    line_add_name(line, process->tracee.term);
    if (process->clock != perfetto_of(process)->clock)
        line_add(line, ", %s", clocks[process->clock]);
}

void write_calls_track(struct process *process)
{
    struct perfetto *perfetto = perfetto_of(process);
    struct tracks *tracks = &((struct lane *)process)->by_clock[process->clock];
    unsigned node = node_of(process);
    struct line track, thread, name;

    if (!perfetto->clocks[process->clock])
        write_clock(perfetto, process->clock);
    if (!(perfetto->nodes >> node & 1))
        write_node(perfetto, process, node);
    if (!tracks->calls)
        tracks->calls = ++perfetto->timeline.tids;
    if (past_is_played())
        return;
    line_start(&track);
    line_start(&thread);
    line_start(&name);
    add_process_name(&name, process);
    encode_number(&thread, THREAD_PID, node);
    encode_number(&thread, THREAD_TID, uuid_of(perfetto, tracks->calls) & INT32_MAX);
    encode_text(&thread, THREAD_NAME, name.text, name.used, TIMELINE_NAME);
    line_drop(&name);
    encode_number(&track, TRACK_UUID, uuid_of(perfetto, tracks->calls));
    encode_message(&track, TRACK_THREAD, &thread);
    encode_number(&track, TRACK_PARENT, perfetto->first + node);
    write_track(perfetto, &track);
}

unsigned write_child_track(const struct process *process, unsigned *number, const char *name,
                           bool counter)
{
    struct perfetto *perfetto = perfetto_of(process);
    const struct tracks *tracks = &((const struct lane *)process)->by_clock[process->clock];
    struct line track, text, unit;

    if (*number)
        return *number;
    *number = ++perfetto->timeline.tids;
    if (past_is_played())
        return *number;
    line_start(&track);
    line_start(&text);
    line_start(&unit);
    line_add(&text, "%s %#T", name, process->tracee.term);
    encode_number(&track, TRACK_UUID, uuid_of(perfetto, *number));
    encode_text(&track, TRACK_NAME, text.text, text.used, TIMELINE_NAME);
    line_drop(&text);
    encode_number(&track, TRACK_PARENT, uuid_of(perfetto, tracks->calls));
    encode_number(&unit, COUNTER_UNIT, UNIT_COUNT);
    if (counter)
        encode_message(&track, TRACK_COUNTER, &unit);
    else
        line_drop(&unit);
    write_track(perfetto, &track);
    return *number;
}

/* --- Events --- */

void annotate(struct line *annotations, enum annotation name, struct line *text)
{
    struct line annotation;

    line_start(&annotation);
    encode_number(&annotation, ANNOTATION_NUMBER, name);
    encode_text(&annotation, ANNOTATION_STRING, text->text, text->used, SIZE_MAX);
    line_drop(text);
    encode_message(annotations, EVENT_ANNOTATIONS, &annotation);
}

void annotate_number(struct line *annotations, enum annotation name, uint64_t number)
{
    struct line annotation;

    line_start(&annotation);
    encode_number(&annotation, ANNOTATION_NUMBER, name);
    encode_number(&annotation, ANNOTATION_UINT, number);
    encode_message(annotations, EVENT_ANNOTATIONS, &annotation);
}

/* Returns the number of a name, 0 if it has none; *IS_NEW if it has not been written yet. */
static uint64_t intern(struct perfetto *perfetto, const struct mfa *key, bool *is_new)
{
    struct counts *names = &perfetto->names;
    struct count wanted = {.module = key->module, .function = key->function, .arity = key->arity};
    struct count *place = names->size ? counts_place(names, &wanted) : NULL;

    *is_new = false;
    if (place && place->function)
        return place->events;
    if (names->used >= INTERNED_MOST)
        return 0;
    wanted.events = names->used + 1;
    counts_insert(names, &wanted);
    *is_new = names->used == wanted.events;
    if (!*is_new)
        loss_add();
    return *is_new ? wanted.events : 0;
}

/* Returns TIME as it is written. */
static uint64_t written_time(struct perfetto *perfetto, int64_t time)
{
    int64_t written;
    bool over = __builtin_add_overflow(time, ORIGIN, &written);

    perfetto->far += over || written < 0;
    return over ? INT64_MAX : written < 0 ? 0 : (uint64_t)written;
}

static void add_event(struct line *packet, const struct perfetto *perfetto,
                      const struct track_event *event, uint64_t number, const struct line *name)
{
    struct line line;

    line_start(&line);
    if (event->category)
        encode_number(&line, EVENT_CATEGORY, event->category);
    if (event->annotations) {
        line_add_bytes(&line, event->annotations->text, event->annotations->used);
        line.short_of_memory |= event->annotations->short_of_memory;
    }
    encode_number(&line, EVENT_TYPE, event->type);
    if (number)
        encode_number(&line, EVENT_NAME_NUMBER, number);
    encode_number(&line, EVENT_TRACK, uuid_of(perfetto, event->track));
    if (name->used && !number)
        encode_text(&line, EVENT_NAME, name->text, name->used, TIMELINE_NAME);
    if (event->type == COUNTER)
        encode_number(&line, EVENT_VALUE, event->value);
    if (event->flow)
        encode_fixed64(&line, event->arrives ? EVENT_FLOW_END : EVENT_FLOW,
                       perfetto->first + event->flow);
    encode_message(packet, PACKET_TRACK_EVENT, &line);
}

void write_event(const struct process *process, int64_t time, const struct track_event *event)
{
    struct perfetto *perfetto = perfetto_of(process);
    bool is_new = false;
    uint64_t number = event->key.function ? intern(perfetto, &event->key, &is_new) : 0;
    uint64_t written = written_time(perfetto, time);
    struct line packet, data, name;

    if (past_is_played())
        return;
    line_start(&packet);
    line_start(&data);
    line_start(&name);
    if (event->key.function && (is_new || !number) && event->text)
        line_add(&name, "%s", event->text);
    else if (event->key.function && (is_new || !number))
        line_add_function(&name, event->key.module, event->key.function, event->key.arity);
    encode_number(&packet, PACKET_TIMESTAMP, written);
    encode_number(&packet, PACKET_SEQUENCE, perfetto->sequence);
    add_event(&packet, perfetto, event, number, &name);
    if (is_new) {
        add_interned(&data, INTERNED_EVENTS, number, name.text, name.used);
        encode_message(&packet, PACKET_INTERNED, &data);
    }
    encode_number(&packet, PACKET_FLAGS, STATE_NEEDED);
    if (process->clock != perfetto->clock)
        encode_number(&packet, PACKET_CLOCK, CLOCK_FIRST + process->clock);
    line_drop(&name);
    end_packet(perfetto, &packet);
}
