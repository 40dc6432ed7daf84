/* The state of `tracehost sql`: the options, the open database, the output. */
#ifndef TH_SQL_COMMAND_H
#define TH_SQL_COMMAND_H

#include "sql_rows.h"
#include "stream.h"

#include "host/base/hash.h"

struct th_sql_command {
    struct th_stream_options stream;
    enum th_sql_format format;
    const char *output;    /* NULL: stdout */
    const char *statement; /* NULL: none */
    bool recorded_callers;
    struct th_texts recordings;

    const struct th_sql_functions *functions;
    struct th_sql *sql;
    struct th_sql_options options;
    struct th_output out;
    struct th_sql_rows rows;
    struct th_stream *streams; /* of the recordings, for reports; their readers are closed */
    struct th_table *damaged;  /* of each recording, what was reported */
    struct th_table notices;   /* hashes of lines that were printed */
};

/* Other than 0 ends the statement that runs. Written by signal handlers; relaxed, as it is a flag without data. */
extern volatile int th_cli_sql_stopped;

/* Runs the statements of TEXT and writes their rows.
 * Errors: TH_FAILED, with the cause, or with none if the statement was interrupted. */
enum th_status th_cli_sql_run(struct th_sql_command *command, const char *text);

/* Reads statements and commands from stdin, by the prompt if it is a terminal, and runs them. Returns the exit
 * status, with errors reported. */
int th_cli_sql_prompt(struct th_sql_command *command);

#endif
