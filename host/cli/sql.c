/* tracehost sql: queries recordings. What knows SQLite is tracehost_sql.so (host/sql), which is opened here. */
#include "sql_command.h"

#include "interrupt.h"
#include "subcommand.h"

#include "host/cli/options/usage.h"
#include "host/library/find.h"

#include <ctype.h>
#include <string.h>
#include <unistd.h>

volatile int th_cli_sql_stopped;
static struct th_sql_command *running; /* for the handler of signals */

static const struct th_argument arguments[] = {
    TH_WORD("RECORDING", FILE, TH_ARGUMENT_NEEDED | TH_ARGUMENT_REPEATS,
            TH_INTO(struct th_sql_command, recordings)),
    TH_OPTION("execute", "SQL", TEXT, INPUT, "Run the statements SQL", .letter = 'e',
              TH_INTO(struct th_sql_command, statement)),
    TH_OPTION("recorded-callers", NULL, FLAG, INPUT,
              "Results of match specifications are callers, as of {message,{caller}}",
              .how = TH_ARGUMENT_RARE, TH_INTO(struct th_sql_command, recorded_callers)),
    TH_OPTION(
        "format", "FORMAT", CHOICE, OUTPUT,
        "table (default): columns, whose longer texts are cut; csv; json: an array of objects",
        .words = TH_WORDS("table", "csv", "json"), TH_INTO(struct th_sql_command, format)),
    TH_OPTION("output", "FILE", FILE, OUTPUT,
              "Write to FILE, which appears once the output is complete", .letter = 'o',
              TH_INTO(struct th_sql_command, output)),
    {0},
};

/* The options of streams that files have. */
static bool is_of_files(const struct th_argument *argument)
{
    return strcmp(argument->name, "scheduler-id") == 0 ||
           strcmp(argument->name, "max-memory") == 0 ||
           strcmp(argument->name, "allow-partial") == 0;
}

static const struct th_argument_set sets[] = {
    {.items = arguments},
    {.items = th_cli_stream_arguments,
     .offset = offsetof(struct th_sql_command, stream),
     .has = is_of_files},
    {0},
};

static const struct th_usage usage = {
    .sets = sets,
    .before = "Queries recordings in SQL: tables of their events, calls, messages, processes and "
              "functions.\n"
              "RECORDING is a trace-port file, a wrap set NAME*TAIL or JSON lines. A last word "
              "with white "
              "space that names no file is the statement, as with -e.",
    .after =
        "Without a statement, statements are read from a prompt, or from stdin; .help lists the "
        "commands of the prompt.",
    .examples = "  tracehost sql samples/recordings/s13_procs.trace 'select * from events'\n"
                "  tracehost sql -e 'select * from calls' samples/recordings/s08_gc.trace",
    .words = "RECORDING... [SQL]",
};

/* --- Reports ---------------------------------------------------------------------------------- */

static struct th_stream *stream_named(struct th_sql_command *command, const char *recording)
{
    for (size_t i = 0; i < command->recordings.count; i++)
        if (command->recordings.items[i] == recording)
            return &command->streams[i];
    return NULL;
}

/* Reports a damage when a statement meets it for the first time. */
static void report_sql_damage(void *context, const struct th_sql_damage *damage)
{
    struct th_sql_command *command = context;
    struct th_stream *stream = stream_named(command, damage->recording);
    uint64_t key = damage->record << 2 | (damage->status == TH_MALFORMED) << 1 | 1;
    size_t last = 0;

    if (!stream || th_hash_table_set(&command->damaged[stream - command->streams], key, stream))
        return;
    while (damage->links[last + 1])
        last++;
    th_error_raise(damage->status, "%s", damage->links[last]);
    while (last-- > 0)
        th_error_context("%s", damage->links[last]);
    stream->name = damage->file;
    th_cli_stream_complain(stream);
    stream->name = damage->recording;
}

static void print_sql_notice(void *context, const char *recording, const char *text)
{
    struct th_sql_command *command = context;
    struct th_stream *stream = stream_named(command, recording);
    uint64_t key = th_hash_bytes(text, strlen(text)) | 1;

    if (stream && !th_hash_table_set(&command->notices, key, stream))
        th_cli_stream_say(stream, "%s", text);
}

/* Sums up the damage. Returns the exit status for it. */
static int sum_up(struct th_sql_command *command)
{
    int status = TH_OK;

    for (size_t i = 0; i < command->recordings.count; i++) {
        struct th_stream *stream = &command->streams[i];
        if (stream->status != TH_PARTIAL)
            continue;
        th_cli_stream_say(stream,
                          "damaged records: %llu, damaged places: %llu; rows are of what is sound",
                          (unsigned long long)stream->skipped, (unsigned long long)stream->damages);
        status = command->stream.allow_partial ? TH_OK : TH_PARTIAL;
    }
    return status;
}

/* --- The database ----------------------------------------------------------------------------- */

/* Checks that the recordings can be read, and read again. Returns the exit status. */
static int check_recordings(struct th_sql_command *command)
{
    size_t count = command->recordings.count, files;

    command->streams = th_alloc_zero(count * sizeof *command->streams);
    command->damaged = th_alloc_zero(count * sizeof *command->damaged);
    for (size_t i = 0; i < count; i++) {
        struct th_stream *stream = &command->streams[i];
        *stream = (struct th_stream){
            .command = "sql", .name = command->recordings.items[i], .options = &command->stream};
        if (th_replay_reader_reads_once(stream->name, &files)) {
            th_error_raise(TH_USAGE,
                           "%s can be read only once: write a file first, by tracehost convert",
                           th_cli_stream_title(stream->name));
            return th_cli_command_fail("sql");
        }
        if (command->output && th_replay_reader_would_read(stream->name, command->output)) {
            th_error_raise(TH_USAGE, "the output would overwrite %s: choose another file",
                           stream->name);
            return th_cli_command_fail("sql");
        }
        int status = th_cli_stream_open(stream);
        if (status != TH_OK)
            return status;
        th_cli_progress_hide(&stream->progress);
        th_replay_reader_close(stream->reader);
        stream->reader = NULL;
    }
    return TH_OK;
}

/* Raises TEXT, which the shared object has made, and frees it. */
static enum th_status raise_text(struct th_sql_command *command, char *text)
{
    th_error_raise(TH_FAILED, "%s", text);
    command->functions->free_text(text);
    return TH_FAILED;
}

/* Opens the shared object and the database. */
static enum th_status open_sql(struct th_sql_command *command)
{
    void *found;
    char *error;
    enum th_status status = th_library_beside_symbol(
        "tracehost_sql.so", "this tracehost was built without SQLite (Debian: libsqlite3-dev)",
        "tracehost_sql", TH_REFUSED, &found);

    if (status != TH_OK)
        return th_error_context("SQL is not available");
    command->functions = found;
    command->options = (struct th_sql_options){
        .recordings = command->recordings.items,
        .count = command->recordings.count,
        .scheduler_id = command->stream.scheduler_id,
        .recorded_callers = command->recorded_callers,
        .max_memory = command->stream.max_memory,
        .stop = &th_cli_sql_stopped,
        .damaged = report_sql_damage,
        .notice = print_sql_notice,
        .context = command,
    };
    command->sql = command->functions->open(&command->options, &error);
    return command->sql ? TH_OK : raise_text(command, error);
}

enum th_status th_cli_sql_run(struct th_sql_command *command, const char *text)
{
    const struct th_sql_taker taker = th_cli_sql_rows_taker(&command->rows);
    char *error;
    bool done = command->functions->run(command->sql, text, &taker, &error);
    enum th_status status = th_cli_sql_rows_end(&command->rows, !done);

    if (status != TH_OK) {
        command->functions->free_text(error);
        return status;
    }
    if (done)
        return TH_OK;
    if (!error || __atomic_load_n(&th_cli_sql_stopped, __ATOMIC_RELAXED)) {
        command->functions->free_text(error);
        return TH_FAILED;
    }
    return raise_text(command, error);
}

/* --- The command ------------------------------------------------------------------------------ */

static void stop_statement(void)
{
    __atomic_store_n(&th_cli_sql_stopped, 1, __ATOMIC_RELAXED);
    if (running)
        running->functions->interrupt(running->sql);
}

/* Takes the last word as the statement if it has white space and names no file. */
static void choose_statement(struct th_sql_command *command)
{
    struct th_texts *words = &command->recordings;
    const char *last = words->items[words->count - 1];

    if (command->statement || words->count < 2 || access(last, F_OK) == 0)
        return;
    for (const char *c = last; *c && !command->statement; c++)
        if (isspace((unsigned char)*c))
            command->statement = last;
    words->count -= command->statement != NULL;
}

/* Runs the statement, or those of the prompt, and completes the output. Returns the exit status. */
static int run_command(struct th_sql_command *command)
{
    int status;

    if (th_output_open(&command->out, command->output) != TH_OK)
        return th_cli_command_fail("sql");
    command->rows.out = &command->out;
    command->rows.format = command->format;
    if (!command->statement)
        status = th_cli_sql_prompt(command);
    else if ((status = th_cli_sql_run(command, command->statement)) != TH_OK && th_error_status())
        status = th_cli_command_fail("sql");
    th_output_flush(&command->out);
    if (status == TH_OK)
        status = sum_up(command);
    else
        sum_up(command);
    if (status != TH_OK && status != TH_PARTIAL) {
        th_output_abandon(&command->out);
        return th_cli_interrupt_status(status);
    }
    return th_output_commit(&command->out) == TH_OK ? status : th_cli_command_fail("sql");
}

int th_cli_command_sql(int argc, char **argv)
{
    static struct th_sql_command
        command; /* its list of recordings is used until the program ends */
    int status;

    th_cli_command_parse(&usage, argc, argv, &command);
    choose_statement(&command);
    status = check_recordings(&command);
    if (status != TH_OK)
        return status;
    if (open_sql(&command) != TH_OK)
        return th_cli_command_fail("sql");
    running = &command;
    th_cli_interrupt_install();
    th_cli_interrupt_report(stop_statement);
    status = run_command(&command);
    th_cli_interrupt_report(NULL);
    running = NULL;
    command.functions->close(command.sql);
    for (size_t i = 0; i < command.recordings.count; i++)
        th_hash_table_free(&command.damaged[i]);
    th_hash_table_free(&command.notices);
    th_free(command.damaged);
    th_free(command.streams);
    return status;
}
