/* Recorded streams, as the rest of embed/ sees them. */
#ifndef TH_EMBED_STREAM_H
#define TH_EMBED_STREAM_H

#include "embed_sized.h"

#include "host/replay/replay.h"

struct tracehost_stream {
    struct th_reader *reader;
    struct th_event event;   /* the latest that was read here */
    struct th_event *latest; /* or by a replay; NULL: there is none */
    volatile int stop; /* atomic, relaxed: it stands for itself; see tracehost_stream_stop() */
    char *name;
    bool replayed; /* a replay has begun and not ended */
};

static inline bool th_embed_stream_stopped(const tracehost_stream *stream)
{
    return __atomic_load_n(&stream->stop, __ATOMIC_RELAXED);
}

/* Fills RECORD, which was checked. */
void th_embed_record_give(struct tracehost_record *record, struct th_event *event);

#endif
