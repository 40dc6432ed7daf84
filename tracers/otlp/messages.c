#include "messages.h"

#include <stdlib.h>

struct message {
    struct message *next; /* next in its slot */
    struct message *older, *newer;
    ERL_NIF_TERM receiver;
    uint64_t hash;
    struct context sender;
};

static struct message_list *slot_of(const struct messages *messages, ERL_NIF_TERM receiver,
                                    uint64_t hash)
{
    uint64_t sum = (hash + receiver) * 0x9E3779B97F4A7C15;

    return &messages->slots[(sum >> 32) & (messages->size - 1)];
}

static void append(struct messages *messages, struct message *message)
{
    struct message_list *slot = slot_of(messages, message->receiver, message->hash);

    message->next = NULL;
    if (slot->last)
        slot->last->next = message;
    else
        slot->first = message;
    slot->last = message;
}

/* Doubles the slots. Without memory they stay as they are. */
static void grow(struct messages *messages)
{
    size_t size = messages->size ? 2 * messages->size : 64;
    struct message_list *slots = calloc(size, sizeof *slots);

    if (!slots)
        return;
    free(messages->slots);
    messages->slots = slots;
    messages->size = size;
    for (struct message *message = messages->oldest; message; message = message->newer)
        append(messages, message);
}

/* BEFORE is the previous message in its slot, NULL if there is none. */
static void take_out(struct messages *messages, struct message *message, struct message *before)
{
    struct message_list *slot = slot_of(messages, message->receiver, message->hash);

    if (before)
        before->next = message->next;
    else
        slot->first = message->next;
    if (slot->last == message)
        slot->last = before;
    if (message->older)
        message->older->newer = message->newer;
    else
        messages->oldest = message->newer;
    if (message->newer)
        message->newer->older = message->older;
    else
        messages->newest = message->older;
    messages->used--;
    free(message);
}

void messages_send(struct messages *messages, ERL_NIF_TERM receiver, uint64_t hash,
                   const struct context *sender)
{
    struct message *message;

    messages->sent++;
    if (messages->used >= messages->most && messages->used) {
        take_out(messages, messages->oldest, NULL); /* the oldest of all is the first in its slot */
        messages->forgotten++;
    }
    if (messages->used >= messages->size)
        grow(messages);
    message = messages->size && messages->most ? malloc(sizeof *message) : NULL;
    if (!message) {
        messages->lost++;
        return;
    }
    *message = (struct message){
        .older = messages->newest, .receiver = receiver, .hash = hash, .sender = *sender};
    if (messages->newest)
        messages->newest->newer = message;
    else
        messages->oldest = message;
    messages->newest = message;
    messages->used++;
    append(messages, message);
}

bool messages_receive(struct messages *messages, ERL_NIF_TERM receiver, uint64_t hash,
                      struct context *sender)
{
    struct message *before = NULL;
    struct message *message = messages->size ? slot_of(messages, receiver, hash)->first : NULL;

    for (; message; before = message, message = message->next)
        if (message->receiver == receiver && message->hash == hash) {
            *sender = message->sender;
            take_out(messages, message, before);
            messages->matched++;
            return true;
        }
    messages->unsent++;
    return false;
}

void messages_free(struct messages *messages)
{
    while (messages->oldest)
        take_out(messages, messages->oldest, NULL);
    free(messages->slots);
}
