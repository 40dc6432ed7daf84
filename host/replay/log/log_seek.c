/* Step 1 of a feeder: the recording, where it begins, and the world's records before. */
#include "log_feed.h"

#include "host/base/memory.h"

#include <fcntl.h>
#include <string.h>

/* Finds the recording, and whether it is complete. Errors: TH_MALFORMED. */
static enum th_status choose_recording(struct th_log_feed *feed)
{
    const struct tracehost_log_engine *engine = feed->log.engine;
    struct tracehost_log_message message;
    struct th_log_batch batch;
    enum tracehost_log_result result;
    enum th_status status = th_replay_log_choose(&feed->log, feed->name, &feed->recording);

    if (status != TH_OK)
        return status;
    feed->subject = th_replay_log_subject(feed->log.subjects[0], feed->recording);
    feed->world = th_replay_log_subject(feed->log.subjects[1], feed->recording);
    result = th_replay_log_feed_get(feed, feed->subject, 0, &message);
    if (result > TRACEHOST_LOG_NONE)
        return th_error_raise(TH_MALFORMED, "%s", feed->log.client.why);
    if (result == TRACEHOST_LOG_NONE)
        return th_replay_log_refuse_choice(&feed->log, feed->name);
    feed->complete = th_replay_log_read_heads(engine, &message, &batch) == TH_OK && batch.last;
    th_error_clear();
    engine->release(&message);
    return TH_OK;
}

/* Returns whether records up to BATCH have the time from=, or BATCH is at begin= or behind it, or records up to it
 * have that of the reader's position. */
static bool reaches(const struct th_log_feed *feed, const struct th_log_batch *batch)
{
    const struct th_time_bound *from = &feed->name->from;

    if (feed->reader)
        return batch->first + batch->count > feed->position.begin;
    if (feed->place)
        return batch->position >= feed->place;
    for (int clock = 0; clock < TH_CLOCKS; clock++) {
        const struct th_log_times *span = &batch->span[clock];
        if (span->known && th_replay_on_scale(from, span->first, span->greatest) >= from->ns)
            return true;
    }
    return false;
}

/* Gets the first batch from SEQUENCE on; other messages are passed over. Returns the batch's sequence; 0: there is none. */
static uint64_t find_batch(struct th_log_feed *feed, uint64_t sequence, struct th_log_batch *batch)
{
    struct tracehost_log_message message;
    bool is_batch = false;

    while (!is_batch &&
           th_replay_log_feed_get(feed, feed->subject, sequence, &message) == TRACEHOST_LOG_DONE) {
        sequence = message.sequence;
        is_batch = th_replay_log_read_heads(feed->log.engine, &message, batch) == TH_OK;
        feed->log.engine->release(&message);
        if (!is_batch)
            sequence++;
    }
    th_error_clear();
    return is_batch ? sequence : 0;
}

/* Counts a damaged message of the world, once: when it is not measured. */
static void note_copy(struct th_log_feed *feed, bool measures, uint64_t sequence)
{
    if (measures)
        th_error_clear();
    else
        th_replay_log_feed_note_damage(feed, sequence);
}

bool th_replay_log_feed_world(struct th_log_feed *feed, uint64_t number, bool measures)
{
    enum tracehost_log_result result = TRACEHOST_LOG_DONE;
    struct tracehost_log_message message;
    struct th_log_batch batch;
    uint64_t sequence = feed->world_sequence, latest = feed->world_number - 1, bytes = 0;
    bool written = true;

    while (written && latest < number) {
        result = th_replay_log_feed_get(feed, feed->world, sequence, &message);
        if (result != TRACEHOST_LOG_DONE)
            break;
        if (th_replay_log_read_heads(feed->log.engine, &message, &batch) != TH_OK) {
            note_copy(feed, measures, message.sequence);
        } else if (batch.first > latest) { /* otherwise these records have come */
            latest = batch.first;
            if (latest < number && th_replay_log_unpack(&message, &batch, &feed->plain) != TH_OK)
                note_copy(feed, measures, message.sequence);
            else if (latest < number) {
                written = measures || th_replay_log_feed_records(feed, feed->plain.data,
                                                                 feed->plain.size, batch.count);
                bytes += feed->plain.size;
            }
        }
        sequence = message.sequence + 1;
        feed->log.engine->release(&message);
    }
    if (result > TRACEHOST_LOG_NONE && !th_replay_log_feed_stopped) {
        th_error_raise(TH_PARTIAL, "%s", feed->log.client.why);
        note_copy(feed, measures, sequence);
    }
    if (measures) {
        feed->copies = bytes;
        return result <= TRACEHOST_LOG_NONE;
    }
    if (!written || (!feed->place && !feed->reader) || bytes == feed->copies)
        return written;
    th_error_raise(TH_PARTIAL, "copies of the world's records before it are missing");
    th_replay_log_feed_note_damage(feed, feed->sequence);
    return false;
}

/* Finds, by halving, the first batch that reaches(), or the last one. It, and its records of the world, have
 * sequences from the returned one on. */
static uint64_t halve_batches(struct th_log_feed *feed)
{
    struct tracehost_log_message message;
    struct th_log_batch batch = {0};
    uint64_t low = 1, high, middle;

    if (th_replay_log_feed_get(feed, feed->subject, 0, &message) != TRACEHOST_LOG_DONE)
        return low;
    high = message.sequence;
    feed->log.engine->release(&message);
    while (low < high) {
        middle = find_batch(feed, low + (high - low) / 2, &batch);
        if (middle == 0 || middle >= high || reaches(feed, &batch))
            high = low + (high - low) / 2;
        else
            low = middle + 1;
    }
    return low;
}

/* Goes to the batch that from=, begin= or the reader's position asks for; with past=yes, the reading begins with
 * the first one all the same. */
static void seek_batch(struct th_log_feed *feed)
{
    enum th_log_past past = feed->name->past;
    struct th_log_batch found = {0};
    uint64_t low;

    if (!feed->name->from.set && !feed->place && !feed->reader)
        return;
    low = halve_batches(feed);
    if (feed->reader) {
        feed->sequence = low;
        return;
    }
    if (find_batch(feed, low, &found) == 0)
        found.first = feed->number;
    feed->before = past == TH_LOG_ALL || past == TH_LOG_NOTHING ? found.position : found.world;
    feed->copies = found.world;
    if (past == TH_LOG_ALL)
        return;
    feed->sequence = low;
    feed->number = found.first;
}

/* Goes to the records of the world between begin= and end=: those of batches from record feed->world_number on,
 * before record feed->number. */
static void seek_world(struct th_log_feed *feed)
{
    uint64_t begin;

    seek_batch(feed);
    begin = feed->before;
    feed->world_sequence = feed->sequence;
    feed->world_number = feed->number;
    feed->place = (uint64_t)feed->name->end;
    seek_batch(feed);
    feed->copies = feed->before - begin;
}

/* Finds, message by message, the first batch that the position needs; without one, the last. Returns its sequence;
 * 0: no batch can be read. */
static uint64_t scan_batches(struct th_log_feed *feed, struct th_log_batch *found)
{
    uint64_t sequence = 1, best = 0;
    struct th_log_batch batch = {0};

    while ((sequence = find_batch(feed, sequence, &batch)) != 0) {
        if (best == 0 || batch.first + batch.count > found->first + found->count) {
            best = sequence;
            *found = batch;
        }
        if (reaches(feed, &batch))
            break;
        sequence++;
    }
    return best;
}

/* Begins with the batch that has the record of the reader's position, or ends before it. That batch is fed as a
 * whole: feed->before says how much of it has been delivered. Errors: TH_MALFORMED. */
static enum th_status seek_position(struct th_log_feed *feed)
{
    uint64_t begin = feed->position.begin;
    size_t delivered = 0;
    struct tracehost_log_message message;
    struct th_log_batch found = {0};

    if (begin == 1)
        return TH_OK;
    seek_batch(feed);
    feed->sequence = find_batch(feed, feed->sequence, &found);
    /* Halving errs where a batch that was sent twice stands behind later ones, and where records are missing. */
    if (!feed->sequence || found.first > begin || found.first + found.count < begin)
        feed->sequence = scan_batches(feed, &found);
    if (!feed->sequence || th_replay_log_feed_get(feed, feed->subject, feed->sequence, &message))
        return th_error_raise(TH_MALFORMED, "no batch of the recording can be read");
    feed->number = begin;
    if (found.first <= begin && th_replay_log_unpack(&message, &found, &feed->plain) == TH_OK) {
        feed->number = found.first;
        delivered = th_replay_log_size_of(&feed->plain, begin - found.first);
    }
    th_error_clear();
    feed->log.engine->release(&message);
    if (!th_replay_log_feed_world(feed, feed->number, true))
        return th_error_raise(TH_MALFORMED, "%s", feed->log.client.why);
    if (feed->number == found.first && feed->copies != found.world) {
        th_error_raise(TH_PARTIAL, "copies of the world's records before it are missing");
        th_replay_log_feed_note_damage(feed, feed->sequence);
    }
    feed->before = feed->copies + delivered;
    return TH_OK;
}

enum th_status th_replay_log_feed_begin(struct th_log_feed *feed)
{
    enum th_status status = choose_recording(feed);

    if (status != TH_OK)
        return status;
    feed->place = (uint64_t)feed->name->begin;
    feed->world_sequence = feed->world_number = 1;
    if (!feed->reader) {
        if (feed->name->past == TH_LOG_BETWEEN)
            seek_world(feed);
        else
            seek_batch(feed);
        return TH_OK;
    }
    fcntl(feed->out, F_SETFL, O_NONBLOCK);
    status = th_replay_log_position_open(&feed->position, feed->name, &feed->log, feed->recording,
                                         feed->reader, feed->status);
    return status == TH_OK ? seek_position(feed) : status;
}
