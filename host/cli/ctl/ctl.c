/* tracehost ctl: sends commands to a running host. */
#include "ctl.h"

#include "host/base/buffer.h"
#include "host/base/log.h"
#include "host/cli/interrupt.h"
#include "host/cli/line_editor.h"
#include "host/cli/options/usage.h"
#include "host/cli/subcommand.h"
#include "host/control/commands/commands.h"
#include "host/control/control.h"

#include <errno.h>
#include <jansson.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

struct arguments {
    bool json;
    const char *path;
    struct th_texts words; /* the command and its arguments, with its own options */
};

static const struct th_argument arguments[] = {
    TH_WORD("SOCKET", SOCKET, TH_ARGUMENT_NEEDED, TH_INTO(struct arguments, path)),
    TH_WORD("COMMAND [ARGUMENT...]", REST, 0, TH_INTO(struct arguments, words)),
    TH_OPTION("json", NULL, FLAG, OUTPUT, "Print each answer as a line of JSON",
              TH_INTO(struct arguments, json)),
    {0},
};

static const struct th_argument_set sets[] = {
    {.items = arguments}, {.items = th_cli_encoding_arguments}, {0}};

static const struct th_usage usage = {
    .sets = sets,
    .before =
        "Sends commands to a host that was started with --control=SOCKET.\n"
        "COMMAND `help` lists the commands. Without a COMMAND there is a prompt; if stdin is no "
        "terminal, each line of stdin is a command.",
    .after =
        "The prompt has a history, and completion by the tab key. Words of a line are separated "
        "by blanks, except in 'quotes' and \"quotes\".\n\n"
        "The exit status is that of the command in the host; of several commands, that of the "
        "first one that failed. It is 1 if the host goes away.",
    .examples = "  tracehost run --control=socket bank 'bank:start(), timer:sleep(60000)' &\n"
                "  tracehost ctl socket attach count -p bank:_",
    .commands = th_control_commands,
};

/* --- Words of a line, split as in a shell, without expansions --------------------------------- */

enum th_status th_ctl_split(const char *line, struct th_names *words)
{
    static const char blanks[] = " \t\r\n";

    for (;;) {
        struct th_buffer word = {0};
        char quote = 0;
        line += strspn(line, blanks);
        if (!*line || (*line == '#' && words->count == 0))
            return TH_OK;
        for (; *line && (quote || !strchr(blanks, *line)); line++) {
            char c = *line, following = line[1];
            if (quote ? c == quote : c == '\'' || c == '"') {
                quote = quote ? 0 : c;
                continue;
            }
            /* In single quotes a backslash is literal, as in a shell. */
            if (c == '\\' &&
                (quote == '"' ? following == '"' || following == c : !quote && following))
                line++;
            th_buffer_add_byte(&word, (unsigned char)*line);
        }
        th_library_names_take(words, th_buffer_take_text(&word));
        if (quote)
            return th_error_raise(TH_USAGE, "the quote %c is not closed", quote);
    }
}

/* --- Paths ------------------------------------------------------------------------------------ */

/* Appends VALUE to the texts in CONTEXT if VALUE begins with a relative path of a tracer or
 * library. */
static enum th_status look_for_path(void *context, const struct th_argument *argument,
                                    const char *value)
{
    struct th_texts *paths = context;
    const char *ends = argument->type == TH_ARGUMENT_TRACER ? "=," : ""; /* a state may follow */

    if ((argument->type == TH_ARGUMENT_TRACER || argument->type == TH_ARGUMENT_LIBRARY) &&
        *value != '/' && memchr(value, '/', strcspn(value, ends))) {
        TH_ARRAY_GROW(paths->items, paths->count, paths->capacity);
        paths->items[paths->count++] = value;
    }
    return TH_OK;
}

/* Copies COUNT words, a command, to MADE, and makes relative paths in them absolute: the host would
 * resolve them in its own folder. */
static void make_absolute(int count, char *const words[], struct th_names *made)
{
    const struct th_control_command *command = th_control_find(th_control_commands, words[0]);
    struct th_texts paths = {0};
    char here[PATH_MAX];
    size_t next = 0;

    if (command && command->arguments && getcwd(here, sizeof here) &&
        th_control_arguments_visit(command->arguments, count - 1, words + 1, look_for_path,
                                   &paths) != TH_OK)
        th_error_clear(); /* the host reports the error */
    for (int i = 0; i < count; i++) {
        const char *word = words[i];
        const char *path = next < paths.count ? paths.items[next] : NULL;
        if (path && path >= word && path < word + strlen(word)) {
            next++;
            th_library_names_take(made, th_printf("%.*s%s/%s", (int)(path - word), word, here,
                                                  strncmp(path, "./", 2) == 0 ? path + 2 : path));
        } else {
            th_library_names_add(made, word);
        }
    }
    th_free(paths.items);
}

/* --- A command -------------------------------------------------------------------------------- */

/* Raises the links of ANSWER's "error" as the thread's chain. Returns the status of ANSWER. */
static enum th_status raise_answer(const json_t *answer)
{
    const json_t *links = json_object_get(answer, "error");
    size_t i = json_array_size(links);
    int status = (int)json_integer_value(json_object_get(answer, "status"));

    if (status < TH_FAILED || status > TH_CRASHED || i == 0)
        return th_error_raise(TH_MALFORMED,
                              "cannot read the host's answer: it has no valid status and error");
    th_error_raise((enum th_status)status, "%s", json_string_value(json_array_get(links, i - 1)));
    while (--i > 0)
        th_error_context("%s", json_string_value(json_array_get(links, i - 1)));
    return (enum th_status)status;
}

/* Sends the command in COUNT (> 0) words to the host, as th_ctl_do_line(). */
static enum th_status do_words(struct th_ctl *ctl, int count, char *const words[])
{
    struct th_names sent = {0};
    json_t *answer, *warning;
    enum th_status status;
    size_t i;

    make_absolute(count, words, &sent);
    status =
        th_control_ask(ctl->client, sent.items[0], count - 1, sent.items + 1, ctl->stop, &answer);
    th_library_names_free(&sent);
    if (status == TH_FAILED)
        ctl->gone = true;
    if (status != TH_OK)
        return status;

    if (ctl->json) {
        json_dumpf(answer, stdout, JSON_COMPACT | JSON_REAL_PRECISION(9));
        putchar('\n');
        if (!json_is_true(json_object_get(answer, "ok")))
            status = (enum th_status)json_integer_value(json_object_get(answer, "status"));
    } else {
        json_array_foreach(json_object_get(answer, "warnings"), i, warning)
        {
            th_warn("%s", json_string_value(warning));
        }
        if (json_is_true(json_object_get(answer, "ok")))
            th_ctl_print(words[0], json_object_get(answer, "result"));
        else
            status = raise_answer(answer);
    }
    json_decref(answer);
    return status;
}

/* --- Lines ------------------------------------------------------------------------------------ */

enum th_status th_ctl_do_line(struct th_ctl *ctl, const char *line)
{
    struct th_names words = {0};
    enum th_status status = th_ctl_split(line, &words);

    if (status == TH_OK && words.count > 0)
        status = do_words(ctl, (int)words.count, words.items);
    th_library_names_free(&words);
    return status;
}

enum th_status th_ctl_report(enum th_status status)
{
    th_cli_command_flush();
    if (status != TH_OK && status != TH_END && th_error_status() != TH_OK)
        th_cli_command_fail("ctl");
    th_error_clear();
    return status;
}

/* Executes the lines of stdin. Errors are reported. Returns the status of the first command that
 * failed. */
static enum th_status do_stdin(struct th_ctl *ctl)
{
    enum th_status first = TH_OK, status;
    char *line = NULL;
    size_t room = 0;

    while (!ctl->gone && getline(&line, &room, stdin) >= 0) {
        status = th_ctl_report(th_ctl_do_line(ctl, line));
        if (first == TH_OK)
            first = status;
    }
    if (!ctl->gone && !feof(stdin)) {
        status = th_ctl_report(th_error_raise(TH_FAILED, "cannot read stdin: %s", strerror(errno)));
        if (first == TH_OK)
            first = status;
    }
    free(line);
    return first;
}

/* --- The subcommand --------------------------------------------------------------------------- */

int th_cli_command_ctl(int argc, char **argv)
{
    struct arguments given = {0};
    struct th_ctl ctl = {0};
    enum th_status work;
    int status;

    th_cli_command_parse(&usage, argc, argv, &given);
    ctl.json = given.json;
    status = th_control_connect(given.path, &ctl.client, &ctl.greeting);
    if (status == TH_OK) {
        if (given.words.count > 0)
            work = th_ctl_report(
                do_words(&ctl, (int)given.words.count, (char *const *)given.words.items));
        else
            work = th_cli_line_terminal() ? th_ctl_prompt(&ctl) : do_stdin(&ctl);
        status = th_cli_interrupt_status(th_cli_command_finish("ctl", work));
        th_control_disconnect(ctl.client);
    } else {
        th_cli_command_fail("ctl");
    }
    th_free(given.words.items);
    return status;
}
