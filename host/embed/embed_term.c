/* Terms as text, and text as terms; processes of the program, and the console. */
#include "embed_host.h"

#include "host/base/buffer.h"
#include "host/process/process.h"
#include "host/term/text.h"

#include <string.h>

_Static_assert(TH_NONE == 0, "programs are told so");

enum {
    BYTE_TEXT = 4,    /* most characters for a byte of a term, except atoms */
    LEAST_TEXT = 1024 /* most characters of an atom */
};

enum tracehost_status tracehost_term_parse(ErlNifEnv *env, const char *text, ERL_NIF_TERM *term)
{
    th_term parsed;
    enum th_status status = th_embed_need(env, "environment")
                                ?: th_embed_need(text, "text")
                                ?: th_embed_need(term, "result")
                                ?: th_embed_enter()
                                ?: th_text_parse(env, text, strlen(text), &parsed);

    if (status == TH_OK)
        *term = parsed;
    return th_embed_answer(status);
}

char *tracehost_term_to_text(ERL_NIF_TERM term)
{
    struct th_buffer text = {.may_fail = true};

    if (term == TH_NONE || th_embed_enter() != TH_OK ||
        th_embed_find_room(BYTE_TEXT * (sizeof term * th_term_words(term) + LEAST_TEXT)) != TH_OK)
        return NULL;
    th_text_print(&text, term);
    th_buffer_text(&text);
    if (text.failed)
        th_buffer_free(&text);
    return (char *)text.data;
}

void tracehost_free(void *memory)
{
    th_free(memory);
}

/* --- Processes -------------------------------------------------------------------------------- */

struct tracehost_process {
    struct th_mailbox *process;
};

static void ignore(void *context, th_term message)
{
    (void)context;
    (void)message;
}

enum tracehost_status tracehost_process_start(void (*receive)(void *context, ERL_NIF_TERM message),
                                              void *context, tracehost_process **process)
{
    enum th_status status = th_embed_need(process, "result") ?: th_embed_enter();

    if (status != TH_OK)
        return th_embed_answer(status);
    *process = th_alloc(sizeof **process);
    (*process)->process = th_process_start(receive ? receive : ignore, context);
    return TRACEHOST_OK;
}

ERL_NIF_TERM tracehost_process_pid(const tracehost_process *process)
{
    return process ? th_process_pid(process->process) : TH_NONE;
}

void tracehost_process_stop(tracehost_process *process)
{
    if (!process)
        return;
    th_process_exit(process->process, TH_AM(normal));
    th_free(process);
}

ERL_NIF_TERM tracehost_console_pid(void)
{
    return th_process_console_pid();
}

void tracehost_console_set_output(FILE *out)
{
    th_process_console_set_output(out);
}
