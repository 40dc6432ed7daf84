#include "diff_sides.h"

#include "interrupt.h"
#include "subcommand.h"

#include "host/base/buffer.h"
#include "host/base/output.h"
#include "host/control/commands/commands.h"
#include "host/trace/callback.h"

#include <errno.h>
#include <signal.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

/* --- Files ------------------------------------------------------------------------------------ */

int th_cli_diff_make_file(void)
{
    const char *folder;
    int file = th_output_open_nameless(&folder);

    if (file < 0) {
        th_error_raise(TH_FAILED, "cannot make a file in %s: %s", folder, strerror(errno));
        th_cli_command_fail("diff");
    }
    return file;
}

json_t *th_cli_diff_read_json(int file)
{
    json_error_t error;
    json_t *result;

    lseek(file, 0, SEEK_SET);
    result = json_loadfd(file, JSON_ALLOW_NUL, &error);
    if (!result) {
        th_error_raise(TH_FAILED, "the comparison is not complete: %s", error.text);
        th_cli_command_fail("diff");
    }
    return result;
}

/* --- Children --------------------------------------------------------------------------------- */

static pid_t waited_for; /* the child; written by the main thread, read by the handler */

/* Passes on a signal that was sent to this process alone; a terminal's signal reaches the child by
 * itself. */
static void pass_on_to_side(int number, siginfo_t *info, void *context)
{
    (void)context;
    if (info->si_code <= 0 && waited_for > 0)
        kill(waited_for, number);
}

static void add_setting(struct th_buffer *tracer, const char *key, const char *path)
{
    if (path)
        th_buffer_printf(tracer, ", %s => \"%s\"", key, path);
}

static void add_file_setting(struct th_buffer *tracer, const char *key, int file)
{
    if (file >= 0)
        th_buffer_printf(tracer, ", %s => \"/dev/fd/%d\"", key, file);
}

/* The child: plays STREAM, and ends. */
_Noreturn static void play_side(const struct th_diff *diff, const char *stream, int keep,
                                const struct th_diff_result *result)
{
    static const char *const formats[] = {"text", "json"};
    static const char *const colors[] = {"auto", "always", "never"};
    struct th_replaying replay = diff->replay;
    struct th_texts one = {.items = &stream, .count = 1};
    struct th_buffer tracer = {0};

    th_cli_command_supervise("diff", NULL);
    th_cli_interrupt_install();
    replay.streams = one;
    th_buffer_printf(&tracer, "diff=#{output => \"%s\"",
                     !result          ? "/dev/null"
                     : result->output ? result->output
                                      : "-");
    add_file_setting(&tracer, "keep", keep);
    if (result) {
        add_file_setting(&tracer, "before", result->before);
        add_file_setting(&tracer, "json", result->json);
        add_setting(&tracer, "flame", result->flame);
        if (result->output && diff->output)
            th_trace_failures_name(result->output, diff->output);
        th_buffer_printf(&tracer, ", format => %s, color => %s, top => %lld", formats[diff->format],
                         colors[diff->color], (long long)diff->top);
    }
    th_buffer_add_byte(&tracer, '}');
    th_control_take_tracer(NULL, th_buffer_text(&tracer), &replay.trace.sessions);
    exit(th_cli_replaying_run(&replay));
}

static int await_side(pid_t child)
{
    struct sigaction old[TH_INTERRUPT_SIGNALS];
    int status = 0;

    waited_for = child;
    for (size_t i = 0; i < TH_INTERRUPT_SIGNALS; i++)
        th_cli_interrupt_handle(th_cli_interrupt_signals[i], pass_on_to_side, &old[i]);
    while (waitpid(child, &status, 0) < 0 && errno == EINTR)
        ;
    for (size_t i = 0; i < TH_INTERRUPT_SIGNALS; i++)
        sigaction(th_cli_interrupt_signals[i], &old[i], NULL);
    return WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
}

int th_cli_diff_play(const struct th_diff *diff, const char *stream, int keep,
                     const struct th_diff_result *result)
{
    pid_t child;

    th_cli_command_flush();
    child = fork();
    if (child < 0) {
        th_error_raise(TH_FAILED, "cannot make a process: %s", strerror(errno));
        return th_cli_command_fail("diff");
    }
    if (child == 0) {
        prctl(PR_SET_PDEATHSIG, SIGTERM);
        play_side(diff, stream, keep, result);
    }
    return await_side(child);
}

/* --- Conditions ------------------------------------------------------------------------------- */

int th_cli_diff_decide(const struct th_diff *diff, const json_t *result, bool quiet)
{
    int status = TH_OK;

    for (size_t i = 0; i < diff->conditions.count; i++) {
        const struct th_diff_condition *condition = &diff->parsed[i];
        struct th_buffer figures = {0};
        enum th_diff_answer answer = th_cli_diff_condition_decide(condition, result, &figures);
        if (answer == TH_DIFF_YES)
            status = TH_FAILED;
        else if (answer == TH_DIFF_UNDECIDED && status == TH_OK)
            status = TH_PARTIAL;
        if (answer != TH_DIFF_NO && !quiet) {
            th_cli_command_flush();
            fprintf(stderr, "tracehost diff: %s %s: %s\n", condition->text,
                    answer == TH_DIFF_YES ? "holds" : "cannot be decided",
                    th_buffer_text(&figures));
        }
        th_buffer_free(&figures);
    }
    return status;
}
