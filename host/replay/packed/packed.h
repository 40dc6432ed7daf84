/*
 * Packed recordings: trace-port files that zstd has compressed in frames, with an index by which parts
 * are read without the rest. `zstd -d` gives the plain file back.
 *
 *   mark | frame ... | part of the index | frame ... | part | ... | seek table
 *
 * Mark: a skippable frame (RFC 8878, 3.1.2), by which readers know such a file at its first bytes.
 * Frame: whole records, up to the first one that ends behind a size which the writer chooses (1 MiB is
 * the best of those that were measured); with a checksum. A part of the index follows TH_PACKED_PART
 * frames, or the last one; a skippable frame with a zstd frame in it, which has a checksum. Seek table: that of zstd's seekable format, 0.1.0; each frame has an entry, skippable ones
 * with a decompressed size of 0. A file without a seek table, whose recorder was killed, is read by
 * its frames' headers; what follows the last part is read in any case. Its reader reports that the
 * table is missing, as no byte tells how many records the recorder had not written.
 *
 * The index has exact sets, no filters. Of each frame: its sizes, its records, the least and the
 * greatest time of each clock, its tags, its tracees, its functions; and
 *   - copies of its records that change the world (replay/player.h): they are played though the
 *     frame is passed over. So are its drops, its notes, and the first record of each clock;
 *   - of each tracee, which calls are open at the end of the frame: how many from before it, and the records of
 *     those that the frame has. So the stack at any frame is found from the frames before.
 * Where the index could be wrong about a frame (records that are damaged, or of unknown tracees), it
 * says that the frame must be read.
 *
 * Numbers in the index: varints of 7 bits, least first; signed ones zigzag. Source: facts of the
 * formats are those of RFC 8878 and of zstd's contrib/seekable_format.
 */
#ifndef TH_PACKED_H
#define TH_PACKED_H

#include "host/base/buffer.h"
#include "host/base/error.h"
#include "host/trace/event.h"

#include <string.h>

enum { TH_PACKED_PART = 64 /* frames of a part of the index */ };

/* --- The index of a frame (packed_index.c) ----------------------------------------------------- */

enum th_packed_tracee_flags {
    TH_PACKED_GOES_ON = 1, /* its first event ends a call, as may its event before the frame */
    TH_PACKED_DOUBT = 2    /* which calls are open is not certain */
};

struct th_packed_frame {
    uint64_t offset, size;    /* in the file */
    uint64_t position, bytes; /* in the plain file */
    uint64_t first, records;  /* number of its first record; of records */
    bool whole;               /* must be read */
    bool untimed;             /* has events without a time */
    uint64_t tags;            /* bits by enum th_tracer_tag */
    struct th_packed_times {
        bool known;
        int64_t least, greatest;
    } times[TH_CLOCKS];
    size_t part;  /* number of the index's part that has the frame */
    size_t sets;  /* byte of that part's content where the tracees begin; the functions follow */
    size_t world; /* byte where the copies of the world's records begin */
};

/* Walks through the sets of a frame: see below. A walk that ends early is allowed. */
struct th_packed_tracee {
    th_term tracee;
    unsigned flags;
    uint64_t kept;   /* calls open at the end of the frame that were open at its beginning */
    uint64_t opened; /* calls of the frame that are open at its end */
    const unsigned char *ordinals; /* of these calls: th_replay_packed_ordinal() */
};
struct th_packed_record {
    uint64_t ordinal;  /* in its frame, from 0 */
    uint64_t position; /* in the plain file */
    const unsigned char *data;
    size_t size;
};
struct th_packed_walk {
    const unsigned char *at;
    uint64_t left;
    uint64_t before; /* for deltas */
    uint64_t position;
};
struct th_packed_index {
    struct th_packed_frame *frames;
    size_t count, capacity;
    int64_t zeros[TH_CLOCKS]; /* first time of each clock, in the order of the records */
    struct th_mfa *functions; /* by number */
    size_t function_count, function_capacity;
    struct th_packed_part { /* compressed, as the file has it */
        unsigned char *data;
        size_t size;
    } * parts;
    size_t part_count, part_capacity;
    struct th_buffer content; /* of one part: the whole index is larger than what a choice needs */
    size_t content_part;      /* number of that part; valid if there is content */
};

/* Begins a walk. The walks of frames of another part end with that.
 * Errors: returns false if there is no memory for the part; the walk is then empty. */
bool th_replay_packed_tracees(struct th_packed_index *index, const struct th_packed_frame *frame,
                              struct th_packed_walk *walk);
bool th_replay_packed_next_tracee(struct th_packed_walk *walk, struct th_packed_tracee *tracee);
/* After all tracees. */
void th_replay_packed_functions(struct th_packed_walk *walk);
bool th_replay_packed_next_function(struct th_packed_walk *walk, uint64_t *function);
/* As th_replay_packed_tracees(). */
bool th_replay_packed_world(struct th_packed_index *index, const struct th_packed_frame *frame,
                            struct th_packed_walk *walk);
bool th_replay_packed_next_record(struct th_packed_walk *walk, struct th_packed_record *record);

/* Appends the frames of a part of the index, of SIZE bytes at DATA, the content of the skippable frame.
 * The bytes are checked: walks stay within. OFFSET: of the first frame; frames follow each other.
 * Errors: TH_MALFORMED; then INDEX is as before. TH_FAILED if the system refuses memory. */
enum th_status th_replay_packed_index_add(struct th_packed_index *index, uint64_t offset,
                                          const unsigned char *data, size_t size);
void th_replay_packed_index_free(struct th_packed_index *index);

/* --- Making the index of frames, event by event (packed_indexer.c) ----------------------------- */

/* Returns whether the record of EVENT changes what others mean: spawns, names, links, exits, drops, notes. */
bool th_replay_packed_is_world(const struct th_event *event);

struct th_packed_indexer;

struct th_packed_indexer *th_replay_packed_indexer_begin(void);

/* Adds EVENT, whose record of SIZE bytes at DATA is written next. Terms are decoded into ENV. The event
 * may be damaged. */
void th_replay_packed_indexer_add(struct th_packed_indexer *indexer, struct th_event *event,
                                  th_env *env, const unsigned char *data, size_t size);

/* Ends a frame, of SIZE bytes in the file. */
void th_replay_packed_indexer_frame(struct th_packed_indexer *indexer, uint64_t size);

/* Returns the number of frames since the last part. */
size_t th_replay_packed_indexer_frames(const struct th_packed_indexer *indexer);

/* Appends a part of the index, a skippable frame, to OUT, unless there are no frames for it.
 * Errors: TH_FAILED if there is no memory to compress with. */
enum th_status th_replay_packed_indexer_part(struct th_packed_indexer *indexer,
                                             struct th_buffer *out);

void th_replay_packed_indexer_end(struct th_packed_indexer *indexer);

/* --- Writing (packed_writer.c) ----------------------------------------------------------------- */

struct th_packed_writer;

/* FRAME: bytes of records that a frame has at least. LEVEL: 0: th_replay_pack_level(). The beginning of
 * the file is appended to OUT.
 * Errors: TH_FAILED if the system refuses memory. */
enum th_status th_replay_packed_writer_begin(size_t frame, int level,
                                             struct th_packed_writer **writer,
                                             struct th_buffer *out);

/* Adds a record, as th_replay_packed_indexer_add(). Appends frames and parts that are complete to OUT.
 * Errors: TH_FAILED if there is no memory to compress with. */
enum th_status th_replay_packed_writer_add(struct th_packed_writer *writer, struct th_event *event,
                                           th_env *env, const unsigned char *data, size_t size,
                                           struct th_buffer *out);

/* Ends the frame, so that a reader of OUT has all records. Errors: as above. */
enum th_status th_replay_packed_writer_flush(struct th_packed_writer *writer,
                                             struct th_buffer *out);

/* Appends what ends the file to OUT. Errors: as above. */
enum th_status th_replay_packed_writer_finish(struct th_packed_writer *writer,
                                              struct th_buffer *out);

/* WRITER may be NULL. */
void th_replay_packed_writer_end(struct th_packed_writer *writer);

/* --- Reading (packed_reader.c) ----------------------------------------------------------------- */

struct th_input;
struct th_packed_file;
struct th_reader_passed;
struct th_reader_selection;

/* Opens FD, a file at its beginning, if that is a packed recording with an index, or one without an end; else *FILE is
 * NULL, with *WHY if it has an index that cannot be used: then FD is to be read as a compressed file. FD stays the
 * caller's. */
void th_replay_packed_open(int fd, struct th_packed_file **file, const char **why);

/* Chooses the frames that are read. PASSED, if not NULL, is zeros, and gets the times of the others.
 * Order: before the first record is taken; what was read is read again. */
void th_replay_packed_select(struct th_packed_file *file,
                             const struct th_reader_selection *selection,
                             struct th_reader_passed *passed);

/* Makes INPUT, which has no bytes left, the next record or records, and *NUMBER that of the first of them. What follows
 * the last indexed frame, in a file without an end, INPUT then reads by itself.
 *   TH_OK; TH_END   no record is left
 *   TH_PARTIAL      a frame is damaged, or contradicts the index, or the file has no end; go on */
enum th_status th_replay_packed_next(struct th_packed_file *file, struct th_input *input,
                                     uint64_t *number);

/* Goes back to the first record; what was read is read again, damage with it. */
void th_replay_packed_rewind(struct th_packed_file *file);

/* Counts of frames, and of those that were read; of records in damaged ones. */
struct th_packed_counts {
    uint64_t frames, read, lost;
};
struct th_packed_counts th_replay_packed_counts(const struct th_packed_file *file);

/* The size of the plain file in bytes; 0: the file has no end. */
uint64_t th_replay_packed_size(const struct th_packed_file *file);

/* FILE may be NULL. */
void th_replay_packed_close(struct th_packed_file *file);

/* --- The file ---------------------------------------------------------------------------------- */

/* Skippable frames, by the first byte of their magic number 0x184D2A50 to 0x184D2A5F. */
enum { TH_PACKED_MARK = 0x50, TH_PACKED_INDEX = 0x51, TH_PACKED_TABLE = 0x5E };
enum { TH_PACKED_SKIPPABLE_HEAD = 8, TH_PACKED_TABLE_FOOT = 9, TH_PACKED_ENTRY = 8 };
#define TH_PACKED_FOOT_MAGIC 0x8F92EAB1u
#define TH_PACKED_MARK_TEXT "tracehost packed 1\n"
enum { TH_PACKED_MARK_SIZE = TH_PACKED_SKIPPABLE_HEAD + sizeof TH_PACKED_MARK_TEXT - 1 };

/* The report of a file without a seek table. */
#define TH_PACKED_NO_END                                                                       \
    "the recording has no end: its recorder was killed, or is still writing; what it had not " \
    "written is missing"

/* Numbers of the file are little-endian. */
static inline void th_replay_packed_put32(unsigned char *to, uint32_t x)
{
    for (int i = 0; i < 4; i++)
        to[i] = (unsigned char)(x >> 8 * i);
}
static inline uint32_t th_replay_packed_get32(const unsigned char *from)
{
    return from[0] | (uint32_t)from[1] << 8 | (uint32_t)from[2] << 16 | (uint32_t)from[3] << 24;
}

/* Returns whether the TH_PACKED_MARK_SIZE bytes at FIRST are the mark. */
static inline bool th_replay_packed_is_mark(const unsigned char *first)
{
    return th_replay_packed_get32(first) == (0x184D2A00u | TH_PACKED_MARK) &&
           memcmp(first + TH_PACKED_SKIPPABLE_HEAD, TH_PACKED_MARK_TEXT,
                  sizeof TH_PACKED_MARK_TEXT - 1) == 0;
}

/* Varints. Reading stops the program for no byte that th_replay_packed_index_add() has checked. */
void th_replay_packed_put(struct th_buffer *to, uint64_t x);
static inline uint64_t th_replay_packed_get(const unsigned char **at)
{
    uint64_t x = 0;
    int shift = 0;

    do
        x |= (uint64_t)(**at & 0x7F) << shift;
    while (shift += 7, *(*at)++ & 0x80);
    return x;
}
static inline uint64_t th_replay_packed_zigzag(int64_t x)
{
    return (uint64_t)x << 1 ^ (uint64_t)(x >> 63);
}
static inline int64_t th_replay_packed_unzigzag(uint64_t x)
{
    return (int64_t)(x >> 1) ^ -(int64_t)(x & 1);
}

#endif
