#include "evaluating.h"

#include "assertions.h"

#include "host/process/process.h"
#include "host/term/term.h"

#include <stdlib.h>
#include <string.h>
#include <time.h>

static enum th_called call(void *context, th_term module, th_term function, size_t count,
                           const th_term arguments[], th_env *env, th_term *result)
{
    struct evaluating *t = context;

    if (module != th_atom("t"))
        return TH_CALLED_UNDEFINED;
    t->calls++;
    if (function == th_atom("count") && count == 0) {
        *result = th_small(t->calls);
        return TH_CALLED_RETURNED;
    }
    if (function == th_atom("stop") && count == 0) {
        t->interrupted = true;
        *result = TH_AM(ok);
        return TH_CALLED_RETURNED;
    }
    if (count != 1 || (function != th_atom("echo") && function != th_atom("raise")))
        return TH_CALLED_UNDEFINED;
    *result = th_copy(env, arguments[0]);
    return function == th_atom("echo") ? TH_CALLED_RETURNED : TH_CALLED_RAISED;
}

static bool receive(void *context, int64_t nanoseconds, th_env *env, th_term *message)
{
    struct evaluating *t = context;
    struct th_message *first;

    if (!t->arrived)
        t->arrived = th_process_take(t->process);
    if (!t->arrived && nanoseconds > 0)
        nanosleep(&(struct timespec){0, nanoseconds}, NULL);
    first = t->arrived;
    if (!first)
        return false;
    t->arrived = first->next;
    *message = th_copy(env, first->term);
    th_process_message_free(first);
    return true;
}

static bool interrupted(void *context)
{
    struct evaluating *t = context;

    if (t->pauses > 0 && --t->pauses == 0)
        t->interrupted = true;
    return t->interrupted;
}

static th_term self(void *context)
{
    return th_process_pid(((struct evaluating *)context)->process);
}

static void arrived(void *context, const struct th_message *message)
{
    (void)context, (void)message;
}

void evaluating_start(struct evaluating *t)
{
    static const struct th_shell_host host = {
        call, receive, interrupted, self, NULL, NULL, th_cli_call_functions,
    };

    *t = (struct evaluating){.process = th_process_start_mailbox(arrived, NULL, NULL)};
    t->out = open_memstream(&t->output, &t->output_size);
    th_shell_start(&t->e, &host, t, t->out);
}

void evaluating_end(struct evaluating *t)
{
    th_shell_end(&t->e);
    while (t->arrived) {
        struct th_message *message = t->arrived;
        t->arrived = message->next;
        th_process_message_free(message);
    }
    th_process_exit(t->process, TH_AM(normal));
    fclose(t->out);
    free(t->output);
}

static void say_form(struct evaluating *t, const struct th_program *program,
                     const struct th_node *form)
{
    struct th_buffer text = {0};
    th_term value = th_shell_evaluate_form(&t->e, program, form);

    if (t->e.stopped) {
        th_buffer_add_text(&text, "stopped\n");
    } else if (value == TH_NONE) {
        th_shell_print_exception(&t->e, &text);
    } else {
        th_text_print(&text, value);
        th_buffer_add_byte(&text, '\n');
    }
    fwrite(text.data, 1, text.size, t->out);
    th_buffer_free(&text);
    th_shell_collect(&t->e);
}

const char *evaluating_say(struct evaluating *t, const char *text)
{
    struct th_program program;

    rewind(t->out);
    if (th_shell_parse(&program, text, strlen(text), true) == TH_OK)
        for (size_t i = 0; i < program.count && !t->e.stopped; i++)
            say_form(t, &program, program.forms[i]);
    else
        fprintf(t->out, "unreadable: %s\n", th_error_link(0));
    th_error_clear();
    th_shell_program_free(&program);
    fflush(t->out);
    t->output[t->output_size] = 0;
    return t->output;
}

void evaluating_say_rows(const struct evaluating_row rows[], size_t count)
{
    struct evaluating t;

    evaluating_start(&t);
    for (size_t i = 0; i < count; i++) {
        const char *said = evaluating_say(&t, rows[i].text);
        if (strcmp(said, rows[i].said) != 0)
            fail_msg("%s\nis  %s\nnot %s", rows[i].text, said, rows[i].said);
    }
    evaluating_end(&t);
}
