/*
 * Messages between processes: their number by sender and receiver, and their waiting times.
 *
 * A message that is received is the first one with that content that was sent to the process and
 * not received yet; messages that were sent before recording began do not disturb this.
 */
#include "merge.h"

/* --- pairs --- */

static struct pair *place_of(const struct messages *messages, const struct process *from,
                             const struct process *to)
{
    uint64_t sum = (from ? from->serial : 0) * 0x2545F491 + (to ? to->serial : 0);
    size_t i = (sum * 0x9E3779B97F4A7C15 >> 32) & (messages->size - 1);

    while (messages->pairs[i].there &&
           (messages->pairs[i].from != from || messages->pairs[i].to != to))
        i = (i + 1) & (messages->size - 1);
    return &messages->pairs[i];
}

static void put(struct messages *messages, struct pair *pair)
{
    struct pair *place = place_of(messages, pair->from, pair->to);

    if (!place->there) {
        *place = *pair;
        messages->used++;
        return;
    }
    place->sent += pair->sent;
    place->matched += pair->matched;
    place->total += pair->total;
    histogram_move(&place->times, &pair->times);
}

/* Makes a table of SIZE slots with the same pairs; without memory it stays as it was. */
static bool rebuild(struct messages *messages, size_t size)
{
    struct messages old = *messages;
    struct pair *pairs = calloc(size, sizeof *pairs);

    if (!pairs)
        return false;
    messages->pairs = pairs;
    messages->size = size;
    messages->used = 0;
    for (size_t i = 0; i < old.size; i++)
        if (old.pairs[i].there)
            put(messages, &old.pairs[i]);
    free(old.pairs);
    return true;
}

static struct pair *pair_of(struct report *report, struct process *from, struct process *to)
{
    struct messages *messages = &report->messages;
    struct pair *place = messages->size ? place_of(messages, from, to) : NULL;

    if (place && place->there)
        return place;
    if (messages->used >= PAIRS_MOST)
        pairs_forget(messages, PAIRS_MOST / 2);
    if (2 * (messages->used + 1) > messages->size &&
        !rebuild(messages, messages->size ? 2 * messages->size : 64)) {
        report->lost++;
        return NULL;
    }
    place = place_of(messages, from, to);
    if (!place->there) {
        *place = (struct pair){.from = from, .to = to, .there = true};
        messages->used++;
    }
    return place;
}

static int compare(const void *left, const void *right)
{
    uint64_t a = *(const uint64_t *)left, b = *(const uint64_t *)right;

    return (a < b) - (a > b);
}

/* Returns how many messages a pair must have sent to be among the MOST; *TIES: number of kept pairs
 * with just this number. UINT64_MAX if there is no memory. */
static uint64_t least_sent(const struct messages *messages, size_t most, size_t *ties)
{
    uint64_t *sent = calloc(messages->used, sizeof *sent), least = UINT64_MAX;
    size_t used = 0;

    if (!sent)
        loss_add();
    for (size_t i = 0; sent && i < messages->size; i++)
        if (messages->pairs[i].there)
            sent[used++] = messages->pairs[i].sent;
    if (sent) {
        qsort(sent, used, sizeof *sent, compare);
        least = sent[most - 1];
    }
    for (*ties = 0; sent && *ties < most && sent[most - 1 - *ties] == least;)
        ++*ties;
    free(sent);
    return least;
}

void pairs_forget(struct messages *messages, size_t most)
{
    uint64_t least;
    size_t ties;

    if (messages->used <= most)
        return;
    least = least_sent(messages, most, &ties);
    for (size_t i = 0; i < messages->size; i++) {
        struct pair *pair = &messages->pairs[i];
        if (!pair->there || pair->sent > least || (pair->sent == least && ties && ties--))
            continue;
        pair->from = pair->to = NULL;
        messages->merged++;
    }
    rebuild(messages, messages->size);
}

/* --- mailboxes --- */

static void take(struct messages *messages, struct mailbox *mailbox, struct message **at)
{
    struct message *message = *at;

    *at = message->next;
    if (!message->next)
        mailbox->end = at;
    mailbox->waiting--;
    messages->waiting--;
    free(message);
}

void mailbox_clear(struct messages *messages, struct mailbox *mailbox)
{
    while (mailbox->first)
        take(messages, mailbox, &mailbox->first);
}

static void put_message(const struct event *event, struct process *to, ErlNifUInt64 hash)
{
    struct messages *messages = &event->report->messages;
    struct mailbox *mailbox = &to->mailbox;
    struct message *message;

    if (mailbox->waiting >= WAITING_MOST ||
        (messages->waiting >= WAITING_OF_ALL && mailbox->waiting)) {
        take(messages, mailbox, &mailbox->first);
        messages->forgotten++;
    }
    message = messages->waiting < WAITING_OF_ALL ? malloc(sizeof *message) : NULL;
    if (!message) {
        if (messages->waiting < WAITING_OF_ALL)
            loss_add();
        messages->forgotten++;
        return;
    }
    *message = (struct message){NULL, event->process, hash, event->now};
    *mailbox->end = message;
    mailbox->end = &message->next;
    mailbox->waiting++;
    messages->waiting++;
}

/* --- events --- */

/* Returns the receiver of a message; NULL if it is no process of this node that is known and kept.
 */
static struct process *receiver_of(const struct event *event, ERL_NIF_TERM to)
{
    struct report *report = event->report;
    ErlNifEnv *env = event->env;
    ErlNifPort port;
    ErlNifPid pid;

    if (names_are_key(env, to))
        to = names_find(&report->messages.names, to);
    else if (enif_is_ref(env, to))
        to = aliases_owner(&report->messages.aliases, to);
    if (!to)
        return NULL;
    if (enif_get_local_pid(env, to, &pid))
        return process_of(report, pid.pid, false);
    return enif_get_local_port(env, to, &port) ? process_of(report, port.port_id, true) : NULL;
}

void send_event(const struct event *event)
{
    bool gone = event->tag == TH_TRACER_ATOM(event->env, send_to_non_existing_process);
    ERL_NIF_TERM word = event->extra ? receivers_name(event->env, event->tracee, event->extra) : 0;
    ErlNifUInt64 hash = enif_hash(ERL_NIF_INTERNAL_HASH, event->term, 0);
    struct messages *messages = &event->report->messages;
    struct process *to;
    struct pair *pair;

    aliases_note(event->env, &messages->aliases, event->tracee, event->term);
    to = word ? receiver_of(event, word) : NULL;
    if (word && !gone)
        receivers_sent(
            &messages->receivers, hash,
            to && (!names_are_key(event->env, word) || names_are_told(&messages->names, word))
                ? to->tracee.term
                : word);
    pair = pair_of(event->report, event->process, to);
    if (pair)
        pair->sent++;
    if (to && !gone)
        put_message(event, to, hash);
}

static void received(const struct event *event, const struct message *message)
{
    struct pair *pair = pair_of(event->report, message->from, event->process);
    uint64_t waited;

    if (!pair)
        return;
    pair->matched++;
    if (message->sent == TIME_NONE || event->now == TIME_NONE)
        return;
    waited = event->now > message->sent ? (uint64_t)(event->now - message->sent) : 0;
    pair->total += waited;
    if (!histogram_add(&pair->times, waited))
        event->report->lost++;
}

void receive_event(const struct event *event)
{
    struct mailbox *mailbox = event->process ? &event->process->mailbox : NULL;
    struct message **at = mailbox ? &mailbox->first : NULL;
    ErlNifUInt64 hash = enif_hash(ERL_NIF_INTERNAL_HASH, event->term, 0);
    struct messages *messages = &event->report->messages;
    ERL_NIF_TERM name;

    name = receivers_received(event->env, &messages->receivers, hash, event->tracee);
    if (name)
        names_guess(&messages->names, name, event->tracee, NAMES_MOST);
    if (!mailbox)
        return;
    while (*at && (*at)->hash != hash)
        at = &(*at)->next;
    if (!*at)
        return;
    received(event, *at);
    take(messages, mailbox, at);
}

void name_event(const struct event *event, bool registered)
{
    struct messages *messages = &event->report->messages;
    ERL_NIF_TERM key = names_key(event->term, event->tracee);

    if (!enif_is_atom(event->env, event->term))
        return;
    if (!registered)
        names_give(&messages->names, key, 0, 0);
    else if (!names_give(&messages->names, key, event->tracee, NAMES_MOST))
        messages->nameless++;
    if (registered && event->process)
        event->process->tracee.name = event->term;
}

/* --- the end --- */

void messages_forget(struct report *report)
{
    struct messages *messages = &report->messages;

    for (struct process *process = report->first; process; process = process->next)
        for (struct message *message = process->mailbox.first; message; message = message->next)
            if (message->from && message->from->forgotten)
                message->from = NULL;
    for (size_t i = 0; i < messages->size; i++) {
        struct pair *pair = &messages->pairs[i];
        if (pair->from && pair->from->forgotten)
            pair->from = NULL;
        if (pair->to && pair->to->forgotten)
            pair->to = NULL;
    }
    if (messages->size)
        rebuild(messages, messages->size);
}

void messages_clear(struct report *report)
{
    for (struct process *process = report->first; process; process = process->next)
        mailbox_clear(&report->messages, &process->mailbox);
    names_free(&report->messages.names);
    report->messages.aliases = (struct aliases){0};
    report->messages.receivers = (struct receivers){0};
}

static void free_pairs(struct messages *messages)
{
    for (size_t i = 0; i < messages->size; i++)
        histogram_free(&messages->pairs[i].times);
    free(messages->pairs);
}

void messages_free(struct messages *messages)
{
    free_pairs(messages);
    names_free(&messages->names);
}

/* --- shares --- */

static const struct field fields[] = {
    FIELD(struct pair, there), FIELD(struct pair, sent),        FIELD(struct pair, matched),
    FIELD(struct pair, total), FIELD(struct pair, times.count), FIELD(struct pair, times.max),
};

enum { FIELDS = sizeof fields / sizeof fields[0] };

static ERL_NIF_TERM word_of(ErlNifEnv *env, const struct process *process)
{
    return process ? process->tracee.term : enif_make_uint(env, 0);
}

/* {Size, Pairs}: Pairs are {Slot, From or 0, To or 0, Fields, Times}, as pairs_forget() depends on
 * the slots. */
ERL_NIF_TERM messages_save(ErlNifEnv *env, const struct messages *messages)
{
    ERL_NIF_TERM list = enif_make_list(env, 0), numbers, times;

    for (size_t i = 0; i < messages->size; i++) {
        const struct pair *pair = &messages->pairs[i];
        if (!pair->there)
            continue;
        numbers = fields_save(env, pair, fields, FIELDS);
        times = figures_save_histogram(env, &pair->times);
        if (!numbers || !times)
            return 0;
        list = enif_make_list_cell(env,
                                   enif_make_tuple5(env, enif_make_uint64(env, i),
                                                    word_of(env, pair->from),
                                                    word_of(env, pair->to), numbers, times),
                                   list);
    }
    return enif_make_tuple2(env, enif_make_uint64(env, messages->size), list);
}

static bool take_pair(ErlNifEnv *env, struct report *report, ERL_NIF_TERM saved)
{
    struct messages *messages = &report->messages;
    const ERL_NIF_TERM *elements;
    struct pair *pair;
    ErlNifUInt64 slot;
    int size;

    if (!enif_get_tuple(env, saved, &size, &elements) || size != 5 ||
        !enif_get_uint64(env, elements[0], &slot) || slot >= messages->size)
        return false;
    pair = &messages->pairs[slot];
    pair->from = tracees_find(&report->processes, elements[1]);
    pair->to = tracees_find(&report->processes, elements[2]);
    messages->used++;
    return fields_take(env, elements[3], pair, fields, FIELDS) &&
           figures_take_histogram(env, &pair->times, elements[4]);
}

bool messages_take(ErlNifEnv *env, struct report *report, ERL_NIF_TERM saved)
{
    struct messages *messages = &report->messages;
    const ERL_NIF_TERM *elements;
    ErlNifUInt64 slots;
    ERL_NIF_TERM list, head;
    int size;

    if (!enif_get_tuple(env, saved, &size, &elements) || size != 2 ||
        !enif_get_uint64(env, elements[0], &slots))
        return false;
    free_pairs(messages);
    messages->used = messages->size = 0;
    messages->pairs = calloc(slots + !slots, sizeof *messages->pairs);
    if (!messages->pairs)
        return false;
    messages->size = slots;
    for (list = elements[1]; enif_get_list_cell(env, list, &head, &list);)
        if (!take_pair(env, report, head))
            return false;
    return true;
}
