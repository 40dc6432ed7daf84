/*
 * Reads a share of a trace-port file: passes over the records before the share, and ends behind it.
 *
 * A record is passed over by its length if its first bytes are those of most records, up to the tag
 * of the event, and the tag is none that changes the world.
 */
#include "log/log_stream.h"
#include "record.h"
#include "replay_internal.h"

#include <errno.h>
#include <unistd.h>

enum { PASSED = 1 << 16 /* limit in bytes of a record that is passed over */ };

/* Returns whether the tag at P is register, unregister, exit, closed, spawn or spawned, or cannot be
 * told from these: by the length and the first byte of its name. */
static inline bool may_change_world(const unsigned char *p)
{
    unsigned bytes, first;

    if (p[0] == TH_ETF_SMALL_ATOM || p[0] == TH_ETF_SMALL_ATOM_UTF8) {
        bytes = p[1];
        first = p[2];
    } else if (p[0] == TH_ETF_ATOM) {
        bytes = th_etf_get16(p + 1);
        first = p[3];
    } else {
        return true;
    }
    return (bytes == 4 && first == 'e') || (bytes == 6 && first == 'c') ||
           ((bytes == 5 || bytes == 7) && first == 's') || (bytes == 8 && first == 'r') ||
           (bytes == 10 && first == 'u');
}

/* Returns whether the message of SIZE bytes at DATA can be passed over. */
static inline bool is_passable(const struct th_record *record, const unsigned char *data,
                               size_t size)
{
    const unsigned char *numbers = th_replay_record_same_begin(record, data, size, 24);

    if (!numbers || (record->prefixes[record->latest].kind == TH_EVENT_TRACE_TS &&
                     !(record->clocks >> th_replay_record_clock(data + size) & 1)))
        return false;
    return !may_change_world(numbers + TH_RECORD_NUMBERS);
}

enum th_status th_replay_reader_pass(struct th_reader *reader, uint64_t position,
                                     struct th_event *event)
{
    const struct th_record *record = reader->state;
    struct th_input *input = &reader->input;

    while (th_replay_input_position(input) < position) {
        const unsigned char *p;
        size_t size;
        if (!reader->info.records || !th_replay_input_have(input, TH_PORT_HEAD))
            return th_replay_reader_next(reader, event);
        p = th_replay_input_bytes(input);
        size = th_etf_get32(p + 1);
        if (p[0] != TH_PORT_MESSAGE || size > PASSED ||
            !th_replay_input_have(input, TH_PORT_HEAD + size) ||
            !is_passable(record, th_replay_input_bytes(input) + TH_PORT_HEAD, size))
            return th_replay_reader_next(reader, event);
        th_replay_input_take(input, TH_PORT_HEAD + size);
        reader->info.records++;
    }
    return TH_END;
}

/* Takes back the bytes behind the first SIZE bytes of INPUT's buffer, which come again. */
static void keep_excess(struct th_input *input, size_t size)
{
    size_t more = input->end - size;

    if (lseek(input->fd, (off_t)(input->offset + size), SEEK_SET) < 0) {
        if (errno != ESPIPE) {
            input->error = errno;
        } else {
            th_buffer_reserve(&input->kept, more);
            memmove(input->kept.data + more, input->kept.data, input->kept.size);
            memcpy(input->kept.data, input->data + size, more);
            input->kept.size += more;
        }
    }
    input->end = size;
}

void th_replay_reader_limit(struct th_reader *reader, uint64_t position)
{
    struct th_input *input = &reader->input;
    size_t most = position > input->offset ? (size_t)(position - input->offset) : 0;

    input->limit = position;
    input->ended = false;
    if (!position || most >= input->end)
        return;
    keep_excess(input, most > input->begin ? most : input->begin);
}

enum th_status th_replay_reader_branch(struct th_reader *reader, const char *name)
{
    struct th_input *input = &reader->input;

    close(input->fd);
    th_replay_node_close(reader->feeder);
    input->kept.size = 0;
    input->end = input->begin;
    input->ended = false;
    return th_replay_log_read(name, NULL, reader->options.stop, &reader->feeder, &input->fd,
                              &reader->info);
}

void th_replay_reader_count(struct th_reader *reader, uint64_t records, uint64_t drops,
                            uint64_t gaps)
{
    reader->info.records += records;
    reader->info.drops += drops;
    reader->info.gaps += gaps;
    reader->info.bytes = reader->info.size;
}
