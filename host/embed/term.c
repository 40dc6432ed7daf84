/* Terms as text, and the reverse. */
#include "sized.h"

#include "host/term/term.h"

#include <string.h>

_Static_assert(TH_NONE == 0, "programs are told so");

enum tracehost_status tracehost_term_parse(ErlNifEnv *env, const char *text, ERL_NIF_TERM *term)
{
    th_term parsed;
    enum th_status status;

    if (!env || !text || !term)
        return th_answer(th_embed_missing(!env ? "environment" : !text ? "text" : "result"));
    status = th_text_parse(env, text, strlen(text), &parsed);
    if (status == TH_OK)
        *term = parsed;
    return th_answer(status);
}

char *tracehost_term_to_text(ERL_NIF_TERM term)
{
    struct th_buffer text = {0};
    char *copy;

    if (term == TH_NONE)
        return NULL;
    th_text_print(&text, term);
    copy = th_strdup(th_buffer_text(&text));
    th_buffer_free(&text);
    return copy;
}

void tracehost_free(void *memory)
{
    th_free(memory);
}
