/*
 * The prompt of `tracehost ctl`. Ctrl-C ends the wait for a slow command, or drops the typed line,
 * and shows the prompt again. Ctrl-D, `quit` and `exit` end the prompt.
 */
#include "ctl.h"

#include "host/base/memory.h"
#include "host/cli/interrupt.h"
#include "host/cli/line_editor.h"
#include "host/control/control.h"

#include <jansson.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

/* Written by signal handlers. Relaxed: no other data depends on the flag. */
static volatile int interrupted;

static void interrupt(void)
{
    __atomic_store_n(&interrupted, 1, __ATOMIC_RELAXED);
}

static void on_interrupt(int unused)
{
    (void)unused;
    interrupt();
}

/* Unblocks the signals for the wait for an answer, until end_asking(). They are blocked at all
 * other times. */
static void begin_asking(const sigset_t *open)
{
    __atomic_store_n(&interrupted, 0, __ATOMIC_RELAXED);
    pthread_sigmask(SIG_SETMASK, open, NULL);
}

/* Blocks the signals. Returns true if an answer may have been abandoned. */
static bool end_asking(void)
{
    th_cli_interrupt_hold(NULL);
    return __atomic_load_n(&interrupted, __ATOMIC_RELAXED);
}

struct prompt {
    struct th_ctl *ctl;
    struct th_line_editor *editor;
    char *text;    /* the prompt's text */
    sigset_t open; /* the mask before the prompt */
};

/* Returns true if LINE consists of WORD and blanks. */
static bool is_word(const char *line, const char *word)
{
    size_t length = strlen(word);

    line += strspn(line, " ");
    return strncmp(line, word, length) == 0 && line[length + strspn(line + length, " ")] == 0;
}

/* Completes a line. A signal that ended the completion is raised again for the editor, which then
 * ends the line. */
static void complete(void *context, const char *line, struct th_completions *completions)
{
    struct prompt *prompt = context;

    begin_asking(&prompt->open);
    th_ctl_complete(prompt->ctl, line, completions);
    if (end_asking())
        raise(SIGINT);
}

/* Reads and executes lines. Errors: TH_FAILED if the host has ended. */
static enum th_status read_and_do(struct prompt *prompt)
{
    struct th_ctl *ctl = prompt->ctl;
    enum th_status status;
    const char *line;

    while (!ctl->gone && !th_cli_interrupt_came()) {
        switch (th_cli_line_edit(prompt->editor, prompt->text, th_control_descriptor(ctl->client),
                                 &line)) {
        case TH_LINE_TYPED:
            if (is_word(line, "quit") || is_word(line, "exit"))
                return TH_OK;
            begin_asking(&prompt->open);
            status = th_ctl_report(th_ctl_do_line(ctl, line));
            end_asking();
            if (status == TH_OK && is_word(line, "help"))
                puts("quit, exit, Ctrl-D\n    Leaves this prompt; the host continues.");
            if (status == TH_END && !th_cli_interrupt_came())
                fputs("\nno longer waiting for the answer; the host still executes the command\n",
                      stderr);
            break;
        case TH_LINE_INTERRUPTED:
            break;
        case TH_LINE_OVER:
            return TH_OK;
        case TH_LINE_NEWS:
            return th_error_raise(TH_FAILED, "the host has ended");
        }
    }
    return ctl->gone ? TH_FAILED : TH_OK; /* already reported */
}

enum th_status th_ctl_prompt(struct th_ctl *ctl)
{
    struct sigaction action = {.sa_handler = on_interrupt};
    struct prompt prompt = {.ctl = ctl};
    enum th_status status;

    prompt.editor = th_cli_line_editor_create(stdout, complete, &prompt);
    if (!prompt.editor)
        return th_ctl_report(th_error_raise(TH_FAILED, "cannot show a prompt: out of memory"));
    prompt.text = th_printf("%s> ", json_string_value(json_object_get(ctl->greeting, "program")));
    th_cli_interrupt_install();
    sigaction(SIGINT, &action, NULL);
    th_cli_interrupt_hold(&prompt.open);
    th_cli_interrupt_report(interrupt);
    ctl->stop = &interrupted;
    status = read_and_do(&prompt);
    th_ctl_report(status);
    pthread_sigmask(SIG_SETMASK, &prompt.open, NULL);
    th_cli_line_editor_free(prompt.editor);
    th_free(prompt.text);
    return status;
}
