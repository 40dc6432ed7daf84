/* Messages: a term and all that it refers to, in one piece of memory. */
#include "process.h"

#include "host/base/base.h"

struct th_message *th_message_create(th_term term)
{
    size_t words = th_is_immediate(term) ? 0 : th_term_words(term);
    struct th_message *message = th_alloc(sizeof *message + words * sizeof message->words[0]);

    message->next = NULL;
    message->offheap = NULL;
    message->term = words ? th_copy_into(message->words, words, &message->offheap, term) : term;
    return message;
}

void th_message_free(struct th_message *message)
{
    struct th_offheap *share = message->offheap;

    while (share) {
        struct th_offheap *next = share->next;
        share->release(share);
        share = next;
    }
    th_free(message);
}
