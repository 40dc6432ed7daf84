/* Terms as text, and the reverse. */
#include "embed_sized.h"

#include "host/term/term.h"

#include <string.h>

_Static_assert(TH_NONE == 0, "programs are told so");

enum {
    BYTE_TEXT = 4,    /* the most characters for a byte of a term, but for atoms */
    LEAST_TEXT = 1024 /* those of an atom */
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
