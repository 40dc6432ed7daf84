/*
 * The prompt of `tracehost ctl`: Ctrl-C ends a command that takes long, or a line that is typed,
 * and gives the prompt back; Ctrl-D ends.
 */
#include "ctl.h"

#include "command.h"
#include "interrupt.h"
#include "line_editor.h"

#include <signal.h>
#include <unistd.h>

/* Written by the handler of SIGINT. Relaxed: it stands for itself. */
static volatile int interrupted;

static void on_interrupt(int number)
{
    __atomic_store_n(&interrupted, number, __ATOMIC_RELAXED);
}

/* Signals come while something is waited for, and at no other time. */
static void hold_signals(int how, sigset_t *before)
{
    sigset_t ours;

    sigemptyset(&ours);
    sigaddset(&ours, SIGINT);
    sigaddset(&ours, SIGTERM);
    sigaddset(&ours, SIGHUP);
    pthread_sigmask(how, &ours, before);
}

/* What was abandoned is done by the host for all that. */
static void do_line(struct th_ctl *ctl, const char *line, const sigset_t *open)
{
    enum th_status status;

    __atomic_store_n(&interrupted, 0, __ATOMIC_RELAXED);
    pthread_sigmask(SIG_SETMASK, open, NULL);
    status = th_ctl_tell(th_ctl_do_line(ctl, line));
    hold_signals(SIG_BLOCK, NULL);
    if (status == TH_END && !th_interrupt_came())
        fputs("\nnot waited for any more; the host does it for all that\n", stderr);
}

static void complete(void *context, const char *line, struct th_completions *completions)
{
    th_ctl_complete(context, line, completions);
}

/* TH_FAILED: the host has gone. */
static enum th_status read_and_do(struct th_ctl *ctl, struct th_line_editor *editor,
                                  const sigset_t *open)
{
    const char *line;

    while (!ctl->gone && !th_interrupt_came()) {
        switch (th_line_edit(editor, th_control_descriptor(ctl->client), &line)) {
        case TH_LINE_TYPED:
            do_line(ctl, line, open);
            break;
        case TH_LINE_INTERRUPTED:
            break;
        case TH_LINE_OVER:
            return TH_OK;
        case TH_LINE_NEWS:
            return th_error_raise(TH_FAILED, "the host has ended");
        }
    }
    return ctl->gone ? TH_FAILED : TH_OK; /* which was told */
}

enum th_status th_ctl_prompt(struct th_ctl *ctl)
{
    struct sigaction action = {.sa_handler = on_interrupt};
    struct th_completer completer = {complete, ctl};
    char *prompt = th_printf("%s> ", json_string_value(json_object_get(ctl->greeting, "program")));
    struct th_line_editor *editor = th_line_editor_create(prompt, &completer);
    enum th_status status;
    sigset_t open;

    sigaction(SIGINT, &action, NULL);
    hold_signals(SIG_BLOCK, &open);
    ctl->stop = &interrupted;
    status = read_and_do(ctl, editor, &open);
    th_ctl_tell(status);
    pthread_sigmask(SIG_SETMASK, &open, NULL);
    th_line_editor_free(editor);
    th_free(prompt);
    return status;
}
