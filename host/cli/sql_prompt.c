/* Statements of `tracehost sql` from a terminal, by the program's editor of lines, or from stdin. A statement has
 * lines up to the one that ends with `;`. Ctrl-C ends the statement that runs, or drops the typed lines. */
#include "interrupt.h"
#include "line_editor.h"
#include "sql_command.h"
#include "subcommand.h"

#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static const char *const words[] = {
    ".help",     ".quit",        ".schema",   ".tables",  "select",   "from",     "where",
    "group by",  "order by",     "limit",     "count",    "distinct", "explain",  "having",
    "join",      "materialized", "with",      "events",   "calls",    "messages", "processes",
    "functions", "duration",     "tracee",    "module",   "function", "arity",    "record",
    "recording", "term_element", "term_text", "term_json"};

static void complete_sql(void *context, const char *line, struct th_completions *completions)
{
    const char *word = line + strlen(line);

    (void)context;
    while (word > line && !strchr(" \t(,;=<>*", word[-1]))
        word--;
    completions->from = (size_t)(word - line);
    for (size_t i = 0; i < sizeof words / sizeof words[0]; i++)
        th_cli_completions_add(completions, words[i], word);
}

/* Runs TEXT. Returns its status; an error is reported. */
static enum th_status run_typed(struct th_sql_command *command, const char *text)
{
    enum th_status status = th_cli_sql_run(command, text);

    if (status != TH_OK && th_error_status())
        th_cli_command_fail("sql");
    th_output_flush(&command->out);
    return status;
}

static const char help[] = ".tables   lists the tables\n"
                           ".schema   shows the columns of all tables\n"
                           ".help     shows this text\n"
                           ".quit     ends, as Ctrl-D does\n"
                           "All else is SQL; a statement ends with ; and may have several lines.\n";

static const char schema[] =
    "select m.name as \"table\", c.name as \"column\", lower(c.type) as type"
    " from sqlite_schema m, pragma_table_info(m.name) c order by m.name, c.cid";

/* Runs LINE if it is a command of the prompt. Returns false if it is none. */
static bool run_dot_command(struct th_sql_command *command, const char *line,
                            enum th_status *status)
{
    size_t length = strcspn(line, " \t\n;");

    *status = TH_OK;
    if (line[0] != '.')
        return false;
    if (strncmp(line, ".quit", length) == 0 && length > 1)
        *status = TH_END;
    else if (strncmp(line, ".tables", length) == 0 && length > 1)
        *status = run_typed(command, "select name from sqlite_schema order by name");
    else if (strncmp(line, ".schema", length) == 0 && length > 1)
        *status = run_typed(command, schema);
    else if (strncmp(line, ".help", length) == 0 && length > 1)
        *status = th_output_write(&command->out, help, sizeof help - 1);
    else
        *status = th_error_raise(TH_FAILED, "there is no command %.*s; .help lists them",
                                 (int)length, line);
    if (th_error_status())
        th_cli_command_fail("sql");
    th_output_flush(&command->out);
    return true;
}

/* Takes a LINE behind the lines in TEXT, and runs TEXT if it is complete. */
static enum th_status take_sql_line(struct th_sql_command *command, struct th_buffer *text,
                                    const char *line)
{
    enum th_status status;

    if (text->size == 0 && run_dot_command(command, line, &status))
        return status;
    if (text->size > 0 || line[strspn(line, " \t\n")]) {
        th_buffer_add_text(text, line);
        th_buffer_add_byte(text, '\n');
    }
    if (text->size == 0 || !command->functions->is_complete(th_buffer_text(text)))
        return TH_OK;
    status = run_typed(command, th_buffer_text(text));
    text->size = 0;
    return status;
}

/* Runs the statements of stdin up to the first that fails. */
static int run_stdin(struct th_sql_command *command)
{
    struct th_buffer text = {0};
    enum th_status status = TH_OK;
    char *line = NULL;
    size_t size = 0;
    ssize_t length;

    while (status == TH_OK && (length = getline(&line, &size, stdin)) >= 0) {
        if (length > 0 && line[length - 1] == '\n')
            line[length - 1] = 0;
        status = take_sql_line(command, &text, line);
    }
    if (status == TH_OK && text.size)
        status = run_typed(command, th_buffer_text(&text));
    free(line);
    th_buffer_free(&text);
    return status == TH_END ? TH_OK : (int)status;
}

static void on_sql_interrupt(int unused)
{
    (void)unused;
    __atomic_store_n(&th_cli_sql_stopped, 1, __ATOMIC_RELAXED);
    th_cli_interrupt_wake();
}

int th_cli_sql_prompt(struct th_sql_command *command)
{
    struct sigaction action = {.sa_handler = on_sql_interrupt};
    struct th_line_editor *editor = th_cli_line_terminal() && !command->output
                                        ? th_cli_line_editor_create(stdout, complete_sql, NULL)
                                        : NULL;
    struct th_buffer text = {0};
    enum th_line_end end = TH_LINE_TYPED;
    enum th_status status = TH_OK;
    const char *line;
    sigset_t open;

    if (!editor)
        return run_stdin(command);
    sigaction(SIGINT, &action, NULL);
    th_cli_interrupt_hold(&open);
    while (end != TH_LINE_OVER && status != TH_END && !th_cli_interrupt_came()) {
        end = th_cli_line_edit(editor, text.size ? "...> " : "sql> ", -1, &line);
        if (end == TH_LINE_INTERRUPTED)
            text.size = 0;
        if (end != TH_LINE_TYPED)
            continue;
        __atomic_store_n(&th_cli_sql_stopped, 0, __ATOMIC_RELAXED);
        pthread_sigmask(SIG_SETMASK, &open, NULL);
        status = take_sql_line(command, &text, line);
        th_cli_interrupt_hold(NULL);
        if (__atomic_load_n(&th_cli_sql_stopped, __ATOMIC_RELAXED))
            fputs("\nthe statement was interrupted\n", stderr);
    }
    pthread_sigmask(SIG_SETMASK, &open, NULL);
    th_cli_line_editor_free(editor);
    th_buffer_free(&text);
    return TH_OK;
}
