/* tracehost ctl: tells a host that runs what to do. */
#include "ctl.h"

#include "command.h"
#include "control_host.h"
#include "encoding.h"
#include "interrupt.h"
#include "line_editor.h"
#include "option_table.h"

#include <stdlib.h>
#include <string.h>

enum { JSON = TH_OPTION_OWN };

struct arguments {
    bool json;
    const char *path;
    char **words; /* the command and its arguments */
    int word_count;
};

static const struct argp_option options[] = {
    {"json", JSON, NULL, 0, "Print answers as they came, a line of JSON each", 0},
    {0},
};

static error_t parse(int key, char *value, struct argp_state *state)
{
    struct arguments *arguments = state->input;
    struct th_about *about;

    switch (key) {
    case TH_KEY_ABOUT:
        about = state->hook;
        about->commands = th_control_commands(&about->command_count);
        return 0;
    case JSON:
        arguments->json = true;
        return 0;
    case ARGP_KEY_ARG:
        if (state->arg_num == 0) {
            arguments->path = value;
            return 0;
        }
        arguments->words = state->argv + state->next - 1; /* with the options of its own */
        arguments->word_count = state->argc - state->next + 1;
        state->next = state->argc;
        return 0;
    case ARGP_KEY_NO_ARGS:
        argp_error(state, "which SOCKET?");
        return 0;
    default:
        return ARGP_ERR_UNKNOWN;
    }
}

static const struct argp_child children[] = {{&th_encoding_argp, 0, NULL, 0}, {0}};
static const struct argp argp = {
    options,
    parse,
    "SOCKET [COMMAND [ARGUMENT...]]",
    "Tells a host that runs what to do: one that was started with --control=SOCKET."
    "\vWithout a COMMAND stdin is read, a command a line; if that is a terminal, there is a "
    "prompt, "
    "with a history, and completion by the tab key. `help` lists the commands. Words are parted by "
    "blanks, but in 'quotes' and \"quotes\".\n\n"
    "The exit status is what the command of the host says, as if it had been given when that was "
    "started; of several, that of the first one that failed. It is 1 if the host goes away.\n\n"
    "Examples:\n"
    "  tracehost run --control=/tmp/bank ./bank.so 'bank:go()' &\n"
    "  tracehost ctl /tmp/bank attach count -p bank:_/_\n"
    "  tracehost ctl /tmp/bank pattern bank:deposit/2 --kind=count,time\n"
    "  tracehost ctl --json /tmp/bank functions bank:_/_\n"
    "  tracehost ctl /tmp/bank detach count\n",
    children,
    NULL,
    NULL,
};

/* --- One command ------------------------------------------------------------------------------ */

/* Its links become the chain. */
static enum th_status raise_answer(const json_t *answer)
{
    const json_t *links = json_object_get(answer, "error");
    size_t i = json_array_size(links);
    int status = (int)json_integer_value(json_object_get(answer, "status"));

    if (status < TH_FAILED || status > TH_CRASHED || i == 0)
        return th_error_raise(TH_MALFORMED, "the answer is none that is known");
    th_error_raise((enum th_status)status, "%s", json_string_value(json_array_get(links, i - 1)));
    while (--i > 0)
        th_error_context("%s", json_string_value(json_array_get(links, i - 1)));
    return (enum th_status)status;
}

/* Prints the warnings of the host for the user who asked. */
static void show_warnings(const json_t *answer)
{
    const json_t *warning;
    size_t i;

    json_array_foreach(json_object_get(answer, "warnings"), i, warning)
    {
        th_warn("%s", json_string_value(warning));
    }
}

static enum th_status show_answer(const struct th_ctl *ctl, const char *command,
                                  const json_t *answer)
{
    bool ok = json_is_true(json_object_get(answer, "ok"));

    if (ctl->json) {
        json_dumpf(answer, stdout, JSON_COMPACT | JSON_REAL_PRECISION(9));
        putchar('\n');
        return ok ? TH_OK : (enum th_status)json_integer_value(json_object_get(answer, "status"));
    }
    show_warnings(answer);
    if (!ok)
        return raise_answer(answer);
    th_ctl_print(command, json_object_get(answer, "result"), stdout);
    return TH_OK;
}

enum th_status th_ctl_do(struct th_ctl *ctl, int count, char *const words[])
{
    char **sent = th_ctl_paths(count, words);
    json_t *answer;
    enum th_status status =
        th_control_ask(ctl->client, sent[0], count - 1, sent + 1, ctl->stop, &answer);

    th_free(sent);
    if (status == TH_FAILED)
        ctl->gone = true;
    if (status != TH_OK)
        return status;
    status = show_answer(ctl, words[0], answer);
    json_decref(answer);
    return status;
}

/* --- The program ------------------------------------------------------------------------------ */

static enum th_status work(struct th_ctl *ctl, const struct arguments *arguments)
{
    if (arguments->word_count == 0)
        return th_line_terminal() ? th_ctl_prompt(ctl) : th_ctl_script(ctl);
    return th_ctl_tell(th_ctl_do(ctl, arguments->word_count, arguments->words));
}

int th_command_ctl(int argc, char **argv)
{
    struct arguments arguments = {0};
    struct th_ctl ctl = {0};
    int status;

    th_command_parse_in_order(&argp, argc, argv, &arguments);
    ctl.json = arguments.json;
    status = th_control_connect(arguments.path, &ctl.client, &ctl.greeting);
    if (status != TH_OK)
        return th_command_fail("ctl");
    status = work(&ctl, &arguments);
    th_control_disconnect(ctl.client);
    return th_interrupt_status(th_command_finish("ctl", status));
}
