/* Contents of a sequence diagram: participants and messages. */
#ifndef SEQUENCE_DIAGRAM_H
#define SEQUENCE_DIAGRAM_H

#include "activity.h"

#include "../kit/line.h"
#include "../kit/mfa.h"
#include "../kit/moment.h"
#include "../kit/names.h"
#include "../kit/tracees.h"

#include <stdbool.h>

#define SEQUENCE_LOCAL __attribute__((visibility("hidden")))

enum {
    TEXT_KEPT = 400, /* bytes of a message that are kept */
    TEXT_DRAWN = 60  /* characters of them that are drawn */
};

struct participant {
    ERL_NIF_TERM term; /* a local pid or port, or a name's key (names.h); 0: at another node */
    ERL_NIF_TERM name; /* key of the latest registered name; 0: none; of a name: itself */
    struct mfa first;  /* first function; module 0: unknown */
    char *text;        /* name of a participant at another node */
    uint64_t count;    /* messages that it sent or got */
    uint32_t same;     /* the participant that this one is identical with; else itself */
    uint32_t column;   /* from 0; set by diagram_lay_out() */
};

struct message {
    uint32_t from, to;    /* numbers of participants */
    struct moment moment; /* time in nanoseconds */
    bool gone;            /* the receiver was dead */
    char *text;
};

/* Initialised with {0}, except the settings. */
struct diagram {
    uint32_t most;          /* participants that get a column of their own; 0: all */
    uint32_t messages_most; /* messages that are kept */
    struct participant *participants;
    uint32_t count, size;
    struct message *messages;
    uint32_t sent, room;
    uint64_t more;     /* messages beyond messages_most */
    bool timed, begun; /* a message has a time stamp; a message has its time by NODE_CLOCK */
    unsigned clock;    /* enum moment_clock of the first message with a time stamp */
    int64_t began;     /* time of the first message by NODE_CLOCK */
    uint64_t others;   /* messages with times of other clocks */
    uint64_t untimed;  /* messages without a time stamp */
    uint64_t lost;     /* events without memory */
    uint32_t columns;  /* set by diagram_lay_out() */
    uint32_t merged;   /* participants that share the last column; 0: none */
    uint32_t absent;   /* participants without room in Mermaid's text */
    struct activity activity;
    uint64_t unknown; /* intervals of participants that are not known; set after the last event */
    uint32_t *heads;  /* by column: the participant, or the first one of the shared column */
};

/* Adds a participant and returns its number, or UINT32_MAX if there is no memory. TEXT is copied,
 * and may be NULL. */
SEQUENCE_LOCAL uint32_t diagram_join(struct diagram *diagram, ERL_NIF_TERM term, ERL_NIF_TERM name,
                                     const char *text);

/* Returns the participant TEXT at another node, and adds it if necessary. */
SEQUENCE_LOCAL uint32_t diagram_remote(struct diagram *diagram, const char *text);

/* Adds a copy of MESSAGE; there is room by messages_most. */
SEQUENCE_LOCAL void diagram_send(struct diagram *diagram, const struct message *message);

/* Assigns the columns: the busiest participants get a column each, in the order of their
 * appearance; all others share the last column.
 * Order: once, after the last message.
 * Errors: false if there is no memory. */
SEQUENCE_LOCAL bool diagram_lay_out(struct diagram *diagram);

/* Gets the time of MOMENT, nanoseconds since its clock's zero. False without a comparable time. */
SEQUENCE_LOCAL bool diagram_time(const struct diagram *diagram, const struct moment *moment,
                                 int64_t *time);

static inline uint32_t diagram_column(const struct diagram *diagram, uint32_t participant)
{
    return diagram->participants[diagram->participants[participant].same].column;
}

/* Starts the line with the heading of a column. */
SEQUENCE_LOCAL void diagram_name(const struct diagram *diagram, uint32_t column, struct line *line);

/* Copies the drawn part of a message's text, before it is cut: without the long part of references.
 */
SEQUENCE_LOCAL void message_text(const struct message *message, char text[TEXT_KEPT]);

SEQUENCE_LOCAL void diagram_free(struct diagram *diagram);

/* Draws the diagram in Mermaid's language, in at most MOST characters if MOST is not 0. (The first
 * line and the notes, about 180 characters, are written whatever MOST is.) Participants that half
 * of the characters have no room for are counted as `absent`. Their messages are added to `more`,
 * and so are all messages from the first one without room on. */
SEQUENCE_LOCAL void draw_mermaid(FILE *file, struct diagram *diagram, size_t most);

/* Draws a picture for browsers. False if there is no memory for it. */
SEQUENCE_LOCAL bool draw_svg(FILE *file, const struct diagram *diagram);

#endif
