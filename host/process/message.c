/* Messages: a term and all that it refers to, in one piece of memory. */
#include "process.h"

#include "host/base/base.h"

#include <limits.h>

static size_t words_of(th_term term)
{
    return th_is_immediate(term) ? 0 : th_term_words(term);
}

static th_term copy_to(struct th_message *message, th_term *words, size_t count, th_term term)
{
    return count ? th_copy_into(words, count, &message->offheap, term) : term;
}

struct th_message *th_message_create_with(th_term term, th_term token)
{
    size_t words = words_of(term);
    size_t more = token == TH_NONE ? 0 : words_of(token);
    size_t all = words + more;
    struct th_message *message = th_alloc(sizeof *message + all * sizeof message->words[0]);

    *message = (struct th_message){.words_count = all < UINT_MAX ? (unsigned)all : UINT_MAX};
    message->term = copy_to(message, message->words, words, term);
    message->token = copy_to(message, message->words + words, more, token);
    return message;
}

struct th_message *th_message_create(th_term term)
{
    return th_message_create_with(term, TH_NONE);
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
