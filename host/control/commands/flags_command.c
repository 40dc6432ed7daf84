/* The command `flags`: trace flags of processes and ports. */
#include "commands.h"
#include "commands_internal.h"

#include "host/control/control_internal.h"

#include <jansson.h>
#include <string.h>

struct flagging {
    struct th_control_session_options options; /* --processes and --ports are stored here */
    const struct th_control_host *host;
    const char *list, *mode, *which;
    uint32_t flags;
    struct th_session *session;
};

/* Takes the words after the list: on or off, then the tracees, unless an option named them. */
static enum th_status take_mode_or_tracees(const struct th_argument *argument, const char *value,
                                           void *input)
{
    struct flagging *flagging = input;
    bool mode = strcmp(value, "on") == 0 || strcmp(value, "off") == 0;

    (void)argument;
    if (mode && !flagging->mode) {
        flagging->mode = value;
        return TH_OK;
    }
    if (flagging->options.items[0].tracee_count > 0)
        return th_error_raise(TH_USAGE, "unexpected argument '%.60s'", value);
    return th_control_session_options_tracees(&flagging->options, false, value);
}

static const struct th_argument *const flags_arguments[] = {
    &(const struct th_argument)TH_WORD("LIST", TEXT, TH_ARGUMENT_NEEDED | TH_ARGUMENT_LIST,
                                       .words = th_control_flag_words,
                                       TH_INTO(struct flagging, list)),
    &(const struct th_argument)TH_WORD("on|off", TRACEES, TH_ARGUMENT_LIST | TH_ARGUMENT_OTHERS,
                                       .words = TH_WORDS("on", "off", "all", "existing", "new"),
                                       .take = take_mode_or_tracees),
    &(const struct th_argument)TH_WORD("PROCESSES", TRACEES, TH_ARGUMENT_LIST | TH_ARGUMENT_OTHERS,
                                       .words = th_control_group_words,
                                       .take = take_mode_or_tracees),
    &(const struct th_argument)TH_OPTION(
        "ports", "PORTS", TEXT, NONE, NULL, .how = TH_ARGUMENT_LIST | TH_ARGUMENT_OTHERS,
        .words = th_control_group_words, .take = th_control_take_tracees),
    &(const struct th_argument)TH_OPTION("session", "SESSION", SESSION, NONE, NULL,
                                         TH_INTO(struct flagging, which)),
    &(const struct th_argument)TH_OPTION(
        "processes", "PROCESSES", TRACEES, NONE, NULL,
        .how = TH_ARGUMENT_LIST | TH_ARGUMENT_OTHERS | TH_ARGUMENT_HIDDEN,
        .words = th_control_group_words, .take = th_control_take_tracees),
    NULL};

static enum th_status flags_command_set_flags(void *argument)
{
    const struct flagging *flagging = argument;
    const struct th_control_session_option *option = &flagging->options.items[0];
    bool on = !flagging->mode || strcmp(flagging->mode, "on") == 0;
    enum th_status status = TH_OK;

    for (size_t i = 0; i < option->tracee_count && status == TH_OK; i++)
        status = th_control_chosen_trace(&option->tracees[i], flagging->session, on,
                                         flagging->flags, flagging->options.live);
    return status;
}

static enum th_status carry_out_flags(void *context, int count, char **words, json_t **result)
{
    struct flagging flagging = {.host = context};
    struct th_control_session_options *options = &flagging.options;
    enum th_status status;

    th_control_session_options_init(options, flagging.host->live);
    options->running = options->live;
    status = th_control_take(&th_control_command_flags, count, words, &flagging);
    if (status == TH_OK)
        status = th_trace_flags_parse(flagging.list, &flagging.flags);
    if (status == TH_OK && options->items[0].tracee_count == 0) {
        status = th_control_session_options_tracees(options, false, "all");
        if (status == TH_OK && flagging.flags & TH_FLAGS_OF_PORTS & ~TH_FLAG_CPU_TIMESTAMP)
            status = th_control_session_options_tracees(options, true, "all");
    }
    if (status == TH_OK)
        status = th_control_session(flagging.host, flagging.which, &flagging.session);
    if (status == TH_OK)
        status = th_control_session_options_name_tracees(options)
                     ? th_control_at_tracees(flagging.host, flags_command_set_flags, &flagging)
                     : flags_command_set_flags(&flagging);
    th_control_session_options_free(options);
    if (status == TH_OK)
        *result = th_control_session_json(flagging.session);
    return status;
}

const struct th_control_command th_control_command_flags = {
    "flags", flags_arguments, "argument LIST is missing: give flags such as call,send",
    "Sets trace flags, or clears them (off), of PROCESSES or PORTS: all (default), "
    "existing, new, pids or registered names.",
    .carry_out = carry_out_flags};
