/* Fuzzes expressions: any text is parsed or refused, and a parsed one is evaluated without harm.
 * Functions of libraries return their arguments; no expression waits. */
#include "host/base/base.h"
#include "host/cli/cli.h"
#include "host/process/process.h"
#include "host/runtime/runtime.h"
#include "host/term/term.h"

#include <stdlib.h>

enum { PRINTED = 1000, MOST_FORMS = 20, MOST_BYTES = 2000, MUCH = 1 << 24, PAUSES = 20000 };

struct mail {
    struct th_mailbox *process;
    struct th_message *arrived;
    int waits, pauses;
};

static enum th_called call(void *context, th_term module, th_term function, size_t count,
                           const th_term arguments[], th_env *env, th_term *result)
{
    (void)context;
    if (module != th_atom("m"))
        return TH_CALLED_UNDEFINED;
    *result = th_make_list(env, arguments, count);
    return function == th_atom("r") ? TH_CALLED_RAISED : TH_CALLED_RETURNED;
}

static bool receive(void *context, int64_t nanoseconds, th_env *env, th_term *message)
{
    struct mail *mail = context;
    struct th_message *first;

    if (!mail->arrived)
        mail->arrived = th_process_take(mail->process);
    if (!mail->arrived && nanoseconds > 0)
        mail->waits++;
    first = mail->arrived;
    if (!first)
        return false;
    mail->arrived = first->next;
    *message = th_copy(env, first->term);
    th_process_message_free(first);
    return true;
}

/* Stops an evaluation that would wait or that takes long. */
static bool interrupted(void *context)
{
    struct mail *mail = context;

    return mail->waits > 0 || mail->pauses++ > PAUSES;
}

static th_term self(void *context)
{
    return th_process_pid(((struct mail *)context)->process);
}

static void arrived(void *context, const struct th_message *message)
{
    (void)context, (void)message;
}

static void evaluate(const struct th_program *program)
{
    static const struct th_shell_host host = {
        call, receive, interrupted, self, NULL, NULL, th_cli_call_functions,
    };
    struct mail mail = {.process = th_process_start_mailbox(arrived, NULL, NULL)};
    struct th_evaluation e;

    th_shell_start(&e, &host, &mail, NULL);
    for (size_t i = 0; i < program->count && i < MOST_FORMS && !e.stopped; i++) {
        struct th_buffer text = {0};
        th_term value = th_shell_evaluate_form(&e, program, program->forms[i]);
        if (value != TH_NONE)
            th_text_print_limited(&text, value, PRINTED);
        else if (!e.stopped)
            th_shell_print_exception(&e, &text);
        th_buffer_free(&text);
        if (th_env_footprint(&e.heap) > MUCH) /* variables may share a value often, copies do not */
            break;
        th_shell_collect(&e);
    }
    th_shell_end(&e);
    while (mail.arrived) {
        struct th_message *message = mail.arrived;
        mail.arrived = message->next;
        th_process_message_free(message);
    }
    th_process_exit(mail.process, TH_AM(normal));
}

/* Returns false for texts that create files or names, which outlive an input, or that take time:
 * these are only parsed. */
static bool is_harmless(const char *text, size_t size)
{
    static const char *const words[] = {"open_port", "register", "sleep", "console"};

    for (size_t i = 0; i < sizeof words / sizeof words[0]; i++)
        if (memmem(text, size, words[i], strlen(words[i])))
            return false;
    return size < MOST_BYTES;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    const char *text = (const char *)data;
    struct th_program program;
    enum th_typed typed = th_shell_typed(text, size);
    enum th_status status = th_shell_parse(&program, text, size, false);

    if (status == TH_OK &&
        (typed == TH_TYPED_PART || (program.count > 0) != (typed == TH_TYPED_FORMS)))
        abort();
    if (status == TH_OK && is_harmless(text, size))
        evaluate(&program);
    th_error_clear();
    th_shell_program_free(&program);
    return 0;
}
