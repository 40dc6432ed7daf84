/* Who sends what to whom: what the drawings show. */
#ifndef SEQUENCE_DIAGRAM_H
#define SEQUENCE_DIAGRAM_H

#include "../kit/line.h"
#include "../kit/moment.h"
#include "../kit/tracees.h"

#include <stdbool.h>

#define SEQUENCE_LOCAL __attribute__((visibility("hidden")))

enum {
    TEXT_KEPT = 400, /* bytes of a message */
    TEXT_DRAWN = 60  /* characters of that */
};

struct participant {
    ERL_NIF_TERM term; /* a local pid or port, or a name (an atom); 0: it is somewhere else */
    ERL_NIF_TERM name; /* as registered last; 0: it was not; of a name itself */
    char *text;        /* of who is somewhere else */
    uint64_t count;    /* of messages that it sent or got */
    uint32_t same;     /* the participant that this is, too; itself */
    uint32_t column;   /* from 0; as of diagram_lay_out() */
};

struct message {
    uint32_t from, to;    /* participants */
    struct moment moment; /* in nanoseconds */
    bool gone;            /* nobody was there to get it */
    char *text;
};

/* Start it as {0}, but for what is asked for. */
struct diagram {
    uint32_t most;          /* participants that are drawn on their own; 0: all */
    uint32_t messages_most; /* that are kept */
    struct participant *participants;
    uint32_t count, size;
    struct message *messages;
    uint32_t sent, room;
    uint64_t more;     /* messages beyond messages_most */
    bool timed, begun; /* a message has a time stamp; has its time by NODE_CLOCK */
    unsigned clock;    /* enum moment_clock of the first message with a time stamp */
    int64_t began;     /* the time of the first message by NODE_CLOCK */
    uint64_t others;   /* messages by other clocks */
    uint64_t untimed;  /* messages without a time stamp */
    uint64_t lost;     /* events for which there was no memory */
    uint32_t columns;  /* as of diagram_lay_out() */
    uint32_t merged;   /* participants that share the last column; 0: nobody does */
    uint32_t absent;   /* participants for which Mermaid's text had no room */
    uint32_t *heads;   /* by column: the participant, or of the shared one the first */
};

/* Adds a participant; its number, or UINT32_MAX if there is no memory. TEXT is copied, and may be
 * NULL. */
SEQUENCE_LOCAL uint32_t diagram_join(struct diagram *diagram, ERL_NIF_TERM term, ERL_NIF_TERM name,
                                     const char *text);

/* The participant that is TEXT somewhere else, who joins if he has not. */
SEQUENCE_LOCAL uint32_t diagram_remote(struct diagram *diagram, const char *text);

/* Adds a copy of MESSAGE; there is room by messages_most. */
SEQUENCE_LOCAL void diagram_send(struct diagram *diagram, const struct message *message);

/* Which column everybody has: the busiest ones their own, in the order in which they came. Once,
 * when all is there. False if there is no memory. */
SEQUENCE_LOCAL bool diagram_lay_out(struct diagram *diagram);

/* MESSAGE's time, nanoseconds since its clock's zero. False if it has none that can be compared. */
SEQUENCE_LOCAL bool diagram_time(const struct diagram *diagram, const struct message *message,
                                 int64_t *time);

static inline uint32_t diagram_column(const struct diagram *diagram, uint32_t participant)
{
    return diagram->participants[diagram->participants[participant].same].column;
}

/* What stands above a column. Starts the line. */
SEQUENCE_LOCAL void diagram_name(const struct diagram *diagram, uint32_t column, struct line *line);

/* What is drawn of a message's text, before it is cut: without what makes references long. */
SEQUENCE_LOCAL void message_text(const struct message *message, char text[TEXT_KEPT]);

SEQUENCE_LOCAL void diagram_free(struct diagram *diagram);

/* At most MOST characters, if that is not 0: participants that have no room in half of them are
 * counted as `absent`, their messages and those that have no room are added to `more`. */
SEQUENCE_LOCAL void draw_mermaid(FILE *file, struct diagram *diagram, size_t most);

/* A picture for browsers. */
SEQUENCE_LOCAL void draw_svg(FILE *file, const struct diagram *diagram);

#endif
