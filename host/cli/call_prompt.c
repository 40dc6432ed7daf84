/* A form may go on over many lines, until its full stop. */
#include "call_prompt.h"

#include "line_editor.h"

#include "host/crash/crash.h"

#include <signal.h>
#include <unistd.h>

/* Reads a line, with its end, to TYPED; false at the end of the input, or if a signal came. Signals
 * are only let in while it waits, so that none comes between looking and waiting. */
static bool read_line(struct th_line_editor *editor, unsigned number, struct th_buffer *typed)
{
    char *prompt = th_printf("%u> ", number);
    sigset_t ours, old;
    const char *line;
    enum th_line_end end;

    sigemptyset(&ours);
    sigaddset(&ours, SIGINT);
    sigaddset(&ours, SIGTERM);
    sigaddset(&ours, SIGHUP);
    pthread_sigmask(SIG_BLOCK, &ours, &old);
    end = th_cli_line_edit(editor, prompt, -1, &line);
    pthread_sigmask(SIG_SETMASK, &old, NULL);
    th_buffer_printf(typed, "%s\n", line);
    th_free(prompt);
    return end == TH_LINE_TYPED;
}

/* False once nothing more is to be evaluated. */
static bool evaluate_typed(const struct th_buffer *typed, struct th_call_session *session)
{
    struct th_program program;
    bool goes_on = true;

    if (th_shell_parse(&program, (char *)typed->data, typed->size, false) == TH_OK) {
        goes_on = th_cli_call_session_evaluate(session, &program, true, NULL);
    } else {
        fprintf(stderr, "* %s\n", th_error_link(0));
        th_error_clear();
    }
    th_shell_program_free(&program);
    return goes_on;
}

static void read_and_evaluate(struct th_line_editor *editor, struct th_call_session *session)
{
    struct th_buffer typed = {0};
    unsigned number = 1;
    bool goes_on = true;

    while (goes_on && read_line(editor, number, &typed)) {
        enum th_typed state = th_shell_typed((char *)typed.data, typed.size);
        if (state == TH_TYPED_FORMS) {
            goes_on = evaluate_typed(&typed, session);
            number++;
        }
        if (state != TH_TYPED_PART)
            typed.size = 0;
        fflush(stdout);
    }
    th_buffer_free(&typed);
}

enum th_status th_cli_call_prompt(struct th_call_session *session)
{
    struct th_line_editor *editor =
        th_cli_line_editor_create(isatty(STDOUT_FILENO) ? stdout : stderr, NULL);

    if (!editor)
        return th_error_raise(TH_FAILED, "there is no memory for a prompt");
    th_crash_set_restore(th_cli_line_editor_restore);
    read_and_evaluate(editor, session);
    th_crash_set_restore(NULL);
    th_cli_line_editor_free(editor);
    return TH_OK;
}
