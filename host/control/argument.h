/*
 * Typed arguments: one table describes the words of a command, for the command line and for the
 * socket. Parsing, completion, help and the manual pages are made from the table.
 *
 *   static const struct th_argument arguments[] = {
 *       TH_OPTION("repeat", "N", NUMBER, INPUT, "Evaluate N times", TH_INTO(struct call, repeat)),
 *       TH_WORD("LIBRARY", LIBRARY, TH_ARGUMENT_REPEATS, .take = take_library),
 *       {0}};
 *
 * A row with a name or a letter is an option. Any other row is a positional word: the first word
 * that is no option belongs to the first such row, and so on.
 */
#ifndef TH_CONTROL_ARGUMENT_H
#define TH_CONTROL_ARGUMENT_H

#include "host/base/error.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct th_buffer;

/* The type of a value: decides how the value is parsed, and which completions are offered. */
enum th_argument_type {
    TH_ARGUMENT_FLAG, /* an option without a value: its member becomes true */

    /* The member is an integer, an enum or a bool. */
    TH_ARGUMENT_NUMBER,
    TH_ARGUMENT_BYTES,  /* a size in bytes: 64KiB */
    TH_ARGUMENT_TIME,   /* a time in nanoseconds: 250ms */
    TH_ARGUMENT_CHOICE, /* index of one of ->words */

    /* Texts. The member is a const char *; for an argument that repeats, a struct th_texts. */
    TH_ARGUMENT_TEXT,
    TH_ARGUMENT_FILE, /* a path, or a stream */
    TH_ARGUMENT_FOLDER,
    TH_ARGUMENT_SOCKET,
    TH_ARGUMENT_TRACER,   /* NAME, NAME=STATE, NAME,key=value */
    TH_ARGUMENT_LIBRARY,  /* a plugin */
    TH_ARGUMENT_PROGRAM,  /* a tracer, a plugin or any file */
    TH_ARGUMENT_PATTERN,  /* of functions, or send or receive */
    TH_ARGUMENT_FUNCTION, /* M:F/A or on_load */
    TH_ARGUMENT_PROBE,
    TH_ARGUMENT_SESSION,
    TH_ARGUMENT_MODULE,
    TH_ARGUMENT_TRACEES, /* a list of processes or ports */
    TH_ARGUMENT_COMMAND, /* a command of a host */
    TH_ARGUMENT_REST     /* this word and all that follow, including options */
};

enum th_argument_how {
    TH_ARGUMENT_REPEATS = 1,  /* may be given more than once */
    TH_ARGUMENT_NEEDED = 2,   /* required positional word */
    TH_ARGUMENT_OPTIONAL = 4, /* the option may stand without its value */
    TH_ARGUMENT_LIST = 8,     /* ->words are separated by commas */
    TH_ARGUMENT_OTHERS = 16,  /* ->words are only examples of the values */
    TH_ARGUMENT_HIDDEN = 32,  /* left out of usage lines */
    TH_ARGUMENT_BELONGS = 64, /* the option belongs to the repeating option before it */
    TH_ARGUMENT_RARE = 128    /* shown by --help=all and in manual pages, not by --help */
};

/* Groups of options in help and in manual pages, in this order: X(name, heading). Within a
 * group options have the order of their tables, rare ones last. */
#define TH_ARGUMENT_GROUPS(X)                                     \
    X(NONE, "") /* for tables that no help shows */               \
    X(INPUT, "Input")                                             \
    X(NODE, "Running nodes")                                      \
    X(EVENTS, "Events")                                           \
    X(PATTERNS, "Patterns (options apply to the -p before them)") \
    X(TRACERS, "Tracers")                                         \
    X(OUTPUT, "Output")                                           \
    X(LIMITS, "Limits and exit status")                           \
    X(OTHER, "Other")

enum th_argument_group {
#define X(name, heading) TH_GROUP_##name,
    TH_ARGUMENT_GROUPS(X)
#undef X
};

/* Texts of an argument that repeats; the texts are not copied.
 * Owner: the table's struct; ->items is freed with th_free(). */
struct th_texts {
    const char **items;
    size_t count, capacity;
};

struct th_argument {
    const char *name;  /* "--name"; NULL: none */
    char letter;       /* "-l"; 0: none */
    const char *value; /* the value as help shows it; NULL: a flag */
    enum th_argument_type type;
    unsigned how;             /* enum th_argument_how */
    const char *const *words; /* values, NULL-terminated; NULL: any value */
    const char *otherwise;    /* value of an option that is given without one */
    int64_t least, most;      /* bounds of a number, size or time; ->most 0: no bounds */
    const char *wanted;       /* for errors: "a time from 100ms on"; NULL: made from bounds */
    size_t into, size;        /* the member: TH_INTO() */
    /* Stores VALUE instead of ->into. NULL: ->into is used. Errors: TH_USAGE, with one link. */
    enum th_status (*take)(const struct th_argument *argument, const char *value, void *input);
    const char *help;
    const char *live_help;         /* replaces ->help if this host is traced; NULL: ->help */
    const char *const *live_words; /* likewise */
    enum th_argument_group group;
};

/* An option: its name, value, type without TH_ARGUMENT_, group without TH_GROUP_, and help; then
 * further members. */
#define TH_OPTION(name_, value_, type_, group_, help_, ...)              \
    {                                                                    \
        .name = (name_), .value = (value_), .type = TH_ARGUMENT_##type_, \
        .group = TH_GROUP_##group_, .help = (help_), __VA_ARGS__         \
    }
/* A positional word: its value and type likewise, enum th_argument_how; then further members. */
#define TH_WORD(value_, type_, how_, ...)                                          \
    {                                                                              \
        .value = (value_), .type = TH_ARGUMENT_##type_, .how = (how_), __VA_ARGS__ \
    }
#define TH_INTO(type, member) .into = offsetof(type, member), .size = sizeof(((type *)NULL)->member)
#define TH_WORDS(...) ((const char *const[]){__VA_ARGS__, NULL})

static inline bool th_control_argument_is_option(const struct th_argument *argument)
{
    return argument->name || argument->letter;
}

static inline bool th_control_argument_is_last(const struct th_argument *argument)
{
    return !th_control_argument_is_option(argument) && !argument->value;
}

/* Reads VALUE as ARGUMENT's type and stores the result in INPUT's member. VALUE is NULL for a flag,
 * and for an option without its optional value.
 * Errors: TH_USAGE, with one link. */
enum th_status th_control_argument_store(const struct th_argument *argument, const char *value,
                                         void *input);

/* Reads TEXT as a number of ARGUMENT's type, for `take` functions.
 * Errors: TH_USAGE, with one link that names ARGUMENT. */
enum th_status th_control_argument_number(const struct th_argument *argument, const char *text,
                                          int64_t *number);

/* Handles a word or option that was recognised as ARGUMENT. VALUE is NULL if ARGUMENT has no value.
 * If the visitor returns another status than TH_OK, no further word is visited. */
typedef enum th_status
th_control_argument_visitor(void *context, const struct th_argument *argument, const char *value);

/* Calls VISIT for each of COUNT WORDS in order, matched with the NULL-terminated ARGUMENTS. Forms:
 * --name=value, --name value, -xvalue, -x value; after -- all words are positional.
 * Errors: TH_USAGE if no argument matches; VISIT's status. */
enum th_status th_control_arguments_visit(const struct th_argument *const arguments[], int count,
                                          char *const words[], th_control_argument_visitor *visit,
                                          void *context);

/* Stores all WORDS in INPUT.
 * Errors: TH_USAGE, also with the text MISSING if a required word is missing. */
enum th_status th_control_arguments_take(const struct th_argument *const arguments[],
                                         const char *missing, int count, char *const words[],
                                         void *input);

/* Appends the usage of ARGUMENTS: "TRACER [--flags=LIST] [-p PATTERN [--return]]...". */
void th_control_arguments_usage(const struct th_argument *const arguments[],
                                struct th_buffer *usage);

#endif
