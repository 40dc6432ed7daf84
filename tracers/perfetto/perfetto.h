/* Data of a recording, and functions that write its packets. Protected by the timeline's lock. */
#ifndef PERFETTO_PERFETTO_H
#define PERFETTO_PERFETTO_H

#include "../kit/counts.h"
#include "../kit/term.h"
#include "../kit/timeline.h"

#define PERFETTO_LOCAL __attribute__((visibility("hidden")))

enum {
    INTERNED_MOST = 1 << 16, /* names that are interned; others are written in full each time */
    NODES = 16,              /* th_recorded_node() */
};

/* Numbers of categories and of names of annotations: the order of their texts in write.c. */
enum category {
    CATEGORY_CALL = 1,
    CATEGORY_GC,
    CATEGORY_MESSAGE,
    CATEGORY_PROCESS,
    CATEGORY_EXCEPTION,
    CATEGORY_SCHEDULING,
    CATEGORIES
};
enum annotation {
    ANNOTATION_ARGUMENTS = 1,
    ANNOTATION_RESULT,
    ANNOTATION_MESSAGE,
    ANNOTATION_TO,
    ANNOTATION_TYPE,
    ANNOTATION_REASON,
    ANNOTATION_FUNCTION,
    ANNOTATION_OTHER,
    ANNOTATION_NAME,
    ANNOTATION_DRIVER,
    ANNOTATION_SCHEDULER,
    ANNOTATIONS
};

struct perfetto {
    struct timeline timeline;
    enum args args;
    uint32_t sequence; /* of the packets */
    uint64_t first;    /* added to numbers that are unique in the file: another for each process
                          that has written to it */
    bool begun;        /* the first packet was written */
    unsigned clock;    /* enum moment_clock of packets without another one; valid if `begun` */
    bool dated;        /* a clock has told the date */
    bool clocks[MOMENT_CLOCKS]; /* those with a snapshot */
    uint64_t nodes;             /* those with a descriptor, a bit each */
    struct counts names;        /* `events` is the number of the name */
    struct {
        ErlNifEnv *env; /* NULL: the end */
        ERL_NIF_TERM tag, term, opts;
    } event;           /* the current one */
    uint64_t far;      /* times that are not in the range of the format */
    uint64_t cut;      /* slices ended as their process goes on by another clock */
    uint64_t unlinked; /* messages received by another clock than they were sent by */
    uint64_t unpaired; /* `in` or `out` without the other one */
    uint64_t open;     /* slices without an end */
};

/* The tracks of a process by one clock; 0: none yet. */
struct tracks {
    unsigned calls, running, queue, heap;
    int64_t last;
};

struct lane {
    struct process process;
    struct tracks by_clock[MOMENT_CLOCKS];
    bool runs;   /* its slice of `running` is open */
    bool exited; /* it has exited, but runs still */
};

/* A track event. */
struct track_event {
    enum { SLICE_BEGIN = 1, SLICE_END, INSTANT, COUNTER } type; /* as in the format */
    enum category category;                                     /* 0: none */
    unsigned track;
    struct mfa key;           /* the function; or, with `text`, an atom in `function`; 0: no name */
    const char *text;         /* the name */
    struct line *annotations; /* NULL: none; discarded */
    uint64_t value;           /* of a counter */
    uint64_t flow;            /* number of a message; 0: none */
    bool arrives;             /* the flow ends here */
};

/* Writes a track event at TIME by the clock of PROCESS. Its tracks must have been described. */
PERFETTO_LOCAL void write_event(const struct process *process, int64_t time,
                                const struct track_event *event);

/* Adds an annotation of a text, which is discarded. */
PERFETTO_LOCAL void annotate(struct line *annotations, enum annotation name, struct line *text);
PERFETTO_LOCAL void annotate_number(struct line *annotations, enum annotation name,
                                    uint64_t number);

/* Describes the track of the calls of PROCESS, and before it all that it needs: the clock, the
 * node. In a callback. */
PERFETTO_LOCAL void write_calls_track(struct process *process);

/* Returns *TRACK, which is described if it is 0. NAME is followed by the pid of PROCESS. */
PERFETTO_LOCAL unsigned write_child_track(const struct process *process, unsigned *track,
                                          const char *name, bool counter);

/* Writes LABEL as a label of all nodes. */
PERFETTO_LOCAL void write_labels(struct perfetto *perfetto, const char *label);

#endif
