/* Messages: a term and all that it refers to, in one piece of memory. */
#include "process.h"

#include "host/base/base.h"
#include "host/probe/probe.h"

#include <limits.h>

static size_t message_words(th_term term)
{
    return th_is_immediate(term) ? 0 : th_term_words(term);
}

static th_term copy_to(struct th_message *message, th_term *words, size_t count, th_term term)
{
    return count ? th_copy_into(words, count, &message->offheap, term) : term;
}

struct th_message *th_process_message_create_with(th_term term, th_term token)
{
    size_t words = message_words(term);
    size_t more = token == TH_NONE ? 0 : message_words(token);
    size_t all = words + more;
    struct th_message *message = th_alloc(sizeof *message + all * sizeof message->words[0]);

    TH_PROBE(copy__struct, (uint32_t)all);
    *message = (struct th_message){.words_count = all < UINT_MAX ? (unsigned)all : UINT_MAX};
    message->term = copy_to(message, message->words, words, term);
    message->token = copy_to(message, message->words + words, more, token);
    return message;
}

struct th_message *th_process_message_create(th_term term)
{
    return th_process_message_create_with(term, TH_NONE);
}

void th_process_message_free(struct th_message *message)
{
    struct th_offheap *share = message->offheap;

    while (share) {
        struct th_offheap *next = share->next;
        share->release(share);
        share = next;
    }
    th_free(message);
}

/* What a probe's `int` has of it. */
static int probe_number_of(th_term t)
{
    int64_t number = 0;

    th_get_int64(t, &number);
    return (int)number;
}

struct th_message_numbers th_process_message_numbers_of(th_term term, th_term token)
{
    struct th_message_numbers numbers = {.words = (uint32_t)message_words(term)};

    /* With a user tag that spreads it is {Tag, Token}. */
    if (token != TH_NONE && th_term_is(token, TH_TUPLE) && th_tuple_arity(token) == 2)
        token = th_tuple_elements(token)[1];
    if (token != TH_NONE && th_term_is(token, TH_TUPLE) && th_tuple_arity(token) == 5) {
        const th_term *parts = th_tuple_elements(token);

        numbers.label = th_is_small(parts[1]) ? probe_number_of(parts[1]) : 0;
        numbers.previous = probe_number_of(parts[4]);
        numbers.serial = probe_number_of(parts[2]);
    }
    return numbers;
}

struct th_message_numbers th_process_message_numbers(const struct th_message *message)
{
    return th_process_message_numbers_of(message->term, message->token);
}
