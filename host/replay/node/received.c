/*
 * Messages from the node, and terms in them. Nothing of them is trusted: each length is compared with
 * the bytes that are there, terms are skipped without recursion, and text has limits.
 *
 * A message is its length in four bytes (0 is a tick, which is answered by a tick), the letter p, a
 * control tuple and the message proper, both in external format. The control tuple tells that the
 * message is sent, to a pid or a name, with or without a token of sequential tracing. The node is told
 * in the handshake to use no other form.
 */
#include "node_internal.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>

enum { VERSION = 131, CHUNK = 65536, DEPTH = 5 };

static const size_t LONGEST_MESSAGE = 256 << 20;

/* --- Bytes ------------------------------------------------------------------------------------------ */

static size_t left_at(const struct th_node_place *place)
{
    return (size_t)(place->end - place->at);
}

/* Returns the big-endian number in SIZE bytes at OFFSET; those that are not there count as 0. */
static uint64_t number_at(const struct th_node_place *place, size_t offset, size_t size)
{
    uint64_t number = 0;

    for (size_t i = offset; i < offset + size; i++)
        number = number << 8 | (i < left_at(place) ? place->at[i] : 0);
    return number;
}

/* Moves over SIZE bytes if they are there. */
static bool pass_bytes(struct th_node_place *place, uint64_t size)
{
    if (size > left_at(place))
        return false;
    place->at += size;
    return true;
}

static int tag_at(const struct th_node_place *place)
{
    return place->at < place->end ? *place->at : -1;
}

/* --- Terms ------------------------------------------------------------------------------------------ */

/* Finds the text of the atom at PLACE. Returns the size of the whole term, 0 if there is no atom. */
static size_t find_atom_text(const struct th_node_place *place, const unsigned char **text,
                             size_t *length)
{
    int tag = tag_at(place);
    size_t of_length = tag == ERL_SMALL_ATOM_EXT || tag == ERL_SMALL_ATOM_UTF8_EXT ? 1 : 2;

    if (of_length == 2 && tag != ERL_ATOM_EXT && tag != ERL_ATOM_UTF8_EXT)
        return 0;
    *length = number_at(place, 1, of_length);
    *text = place->at + 1 + of_length;
    return 1 + of_length + *length <= left_at(place) && *length < MAXATOMLEN_UTF8
               ? 1 + of_length + *length
               : 0;
}

static bool skip_atom(struct th_node_place *place)
{
    const unsigned char *text;
    size_t length, size = find_atom_text(place, &text, &length);

    return size > 0 && pass_bytes(place, size);
}

/* Skips the term at PLACE up to its elements, which it counts in *MORE. */
static bool skip_head(struct th_node_place *place, uint64_t *more)
{
    switch (tag_at(place)) {
    case ERL_SMALL_INTEGER_EXT:
        return pass_bytes(place, 2);
    case ERL_INTEGER_EXT:
        return pass_bytes(place, 5);
    case NEW_FLOAT_EXT:
        return pass_bytes(place, 9);
    case ERL_FLOAT_EXT:
        return pass_bytes(place, 32);
    case ERL_SMALL_BIG_EXT:
        return pass_bytes(place, 3 + number_at(place, 1, 1));
    case ERL_LARGE_BIG_EXT:
        return pass_bytes(place, 6 + number_at(place, 1, 4));
    case ERL_STRING_EXT:
        return pass_bytes(place, 3 + number_at(place, 1, 2));
    case ERL_BINARY_EXT:
        return pass_bytes(place, 5 + number_at(place, 1, 4));
    case ERL_BIT_BINARY_EXT:
        return pass_bytes(place, 6 + number_at(place, 1, 4));
    case ERL_NEW_FUN_EXT:
        return number_at(place, 1, 4) >= 4 && pass_bytes(place, 1 + number_at(place, 1, 4));
    case ERL_NIL_EXT:
        return pass_bytes(place, 1);
    case ERL_LIST_EXT:
        *more = number_at(place, 1, 4) + 1;
        return pass_bytes(place, 5);
    case ERL_SMALL_TUPLE_EXT:
        *more = number_at(place, 1, 1);
        return pass_bytes(place, 2);
    case ERL_LARGE_TUPLE_EXT:
        *more = number_at(place, 1, 4);
        return pass_bytes(place, 5);
    case ERL_MAP_EXT:
        *more = 2 * number_at(place, 1, 4);
        return pass_bytes(place, 5);
    case ERL_EXPORT_EXT:
        *more = 3;
        return pass_bytes(place, 1);
    case ERL_PID_EXT:
        return pass_bytes(place, 1) && skip_atom(place) && pass_bytes(place, 9);
    case ERL_NEW_PID_EXT:
        return pass_bytes(place, 1) && skip_atom(place) && pass_bytes(place, 12);
    case ERL_PORT_EXT:
        return pass_bytes(place, 1) && skip_atom(place) && pass_bytes(place, 5);
    case ERL_NEW_PORT_EXT:
        return pass_bytes(place, 1) && skip_atom(place) && pass_bytes(place, 8);
    case ERL_V4_PORT_EXT:
        return pass_bytes(place, 1) && skip_atom(place) && pass_bytes(place, 12);
    case ERL_NEW_REFERENCE_EXT:
    case ERL_NEWER_REFERENCE_EXT: {
        uint64_t rest =
            (tag_at(place) == ERL_NEW_REFERENCE_EXT ? 1 : 4) + 4 * number_at(place, 1, 2);
        return pass_bytes(place, 3) && skip_atom(place) && pass_bytes(place, rest);
    }
    default:
        return skip_atom(place);
    }
}

bool th_node_skip(struct th_node_place *place)
{
    struct th_node_place at = *place;

    for (uint64_t left = 1; left > 0; left--) {
        uint64_t more = 0;
        /* Each element has a byte at least, so that LEFT has a limit. */
        if (!skip_head(&at, &more) || more + left - 1 > left_at(&at))
            return false;
        left += more;
    }
    *place = at;
    return true;
}

/* Reads the head of a term that has one of two tags, with 1 or 4 bytes of COUNT. */
static bool read_head_of(struct th_node_place *place, int small, int large, size_t *count)
{
    int tag = tag_at(place);
    size_t size = tag == small ? 1 : 4;

    if (tag < 0 || (tag != small && tag != large) || left_at(place) < 1 + size)
        return false;
    *count = number_at(place, 1, size);
    return pass_bytes(place, 1 + size);
}

bool th_node_read_tuple(struct th_node_place *place, size_t *arity)
{
    return read_head_of(place, ERL_SMALL_TUPLE_EXT, ERL_LARGE_TUPLE_EXT, arity);
}

bool th_node_read_list(struct th_node_place *place, size_t *length)
{
    return read_head_of(place, -1, ERL_LIST_EXT, length);
}

bool th_node_read_map(struct th_node_place *place, size_t *pairs)
{
    return read_head_of(place, -1, ERL_MAP_EXT, pairs);
}

bool th_node_read_atom(struct th_node_place *place, const char *name)
{
    const unsigned char *text;
    size_t length, size = find_atom_text(place, &text, &length);

    return size > 0 && length == strlen(name) && memcmp(text, name, length) == 0 &&
           pass_bytes(place, size);
}

bool th_node_read_binary(struct th_node_place *place, const unsigned char **bytes, size_t *size)
{
    struct th_node_place at = *place;

    if (!read_head_of(&at, -1, ERL_BINARY_EXT, size) || *size > left_at(&at))
        return false;
    *bytes = at.at;
    return th_node_skip(place);
}

bool th_node_read_integer(struct th_node_place *place, int64_t *value)
{
    const char *at = (const char *)place->at;
    struct th_node_place after = *place;
    long long number;
    int index = 0;

    if (!th_node_skip(&after) || ei_decode_longlong(at, &index, &number) != 0)
        return false;
    *value = number;
    *place = after;
    return true;
}

bool th_node_read_pid(struct th_node_place *place, erlang_pid *pid)
{
    const char *at = (const char *)place->at;
    int index = 0;

    return (tag_at(place) == ERL_PID_EXT || tag_at(place) == ERL_NEW_PID_EXT) &&
           th_node_skip(place) && ei_decode_pid(at, &index, pid) == 0;
}

/* --- Text ------------------------------------------------------------------------------------------- */

struct text_output {
    char *to;
    size_t left; /* bytes, with the 0 at the end */
};

static void add_bytes(struct text_output *text, const void *bytes, size_t size)
{
    if (text->left <= size)
        size = text->left - 1;
    memcpy(text->to, bytes, size);
    text->to += size;
    text->left -= size;
    *text->to = 0;
}

static void add_words(struct text_output *text, const char *words)
{
    add_bytes(text, words, strlen(words));
}

static void add_term(struct text_output *text, struct th_node_place *place, int depth);

/* Adds COUNT terms between OPEN and CLOSE, as far as there is room. */
static void add_elements(struct text_output *text, struct th_node_place *place, size_t count,
                         const char *open, const char *close, int depth)
{
    add_words(text, open);
    for (size_t i = 0; i < count && text->left > 1 && place->at < place->end; i++) {
        if (i > 0)
            add_words(text, open[0] ? "," : "; ");
        add_term(text, place, depth);
    }
    add_words(text, close);
}

static void add_term(struct text_output *text, struct th_node_place *place, int depth)
{
    const unsigned char *bytes;
    struct th_node_place after = *place;
    char number[24];
    int64_t value;
    size_t size;

    if (!th_node_skip(&after)) {
        place->at = place->end;
        return;
    }
    if (find_atom_text(place, &bytes, &size) > 0 || th_node_read_binary(place, &bytes, &size)) {
        add_bytes(text, bytes, size);
    } else if (tag_at(place) == ERL_STRING_EXT) {
        add_bytes(text, place->at + 3, number_at(place, 1, 2));
    } else if (th_node_read_integer(place, &value)) {
        snprintf(number, sizeof number, "%lld", (long long)value);
        add_words(text, number);
    } else if (depth > 0 && th_node_read_tuple(place, &size)) {
        add_elements(text, place, size, "{", "}", depth - 1);
    } else if (depth == DEPTH && th_node_read_list(place, &size)) {
        add_elements(text, place, size, "", "", depth - 1);
    } else if (depth > 0 && th_node_read_list(place, &size)) {
        add_elements(text, place, size, "[", "]", depth - 1);
    } else {
        add_words(text, tag_at(place) == ERL_NIL_EXT ? "[]" : "...");
    }
    *place = after;
}

void th_node_text(struct th_node_place *place, char *text, size_t size)
{
    struct text_output output = {.to = text, .left = size};

    *text = 0;
    add_term(&output, place, DEPTH);
}

/* --- Messages --------------------------------------------------------------------------------------- */

int th_node_receive(struct th_node_client *client)
{
    unsigned char *room = th_node_bytes_room(&client->in, CHUNK);
    ssize_t got;

    if (!room)
        return ENOMEM;
    got = recv(client->socket, room, CHUNK, MSG_DONTWAIT);
    if (got < 0)
        return errno == EINTR ? EAGAIN : errno;
    client->in.size += (size_t)got;
    return got == 0 ? ENOTCONN : 0;
}

/* Returns whether PLACE, which holds a control tuple and a message, is a message to us; PLACE is then
 * at the message. The pid of an earlier client of our name has another creation. */
static bool is_for_us(const struct th_node_client *client, struct th_node_place *place)
{
    static const unsigned char KINDS[] = {ERL_SEND,        ERL_REG_SEND, ERL_SEND_TT,
                                          ERL_REG_SEND_TT, 22,           23};
    const unsigned creation = ei_self((ei_cnode *)&client->self)->creation;
    struct th_node_place control, message;
    erlang_pid to;
    int64_t kind;
    size_t arity;

    if (tag_at(place) != VERSION || !pass_bytes(place, 1))
        return false;
    control = message = *place;
    if (!th_node_skip(&message) || tag_at(&message) != VERSION || !pass_bytes(&message, 1))
        return false;
    if (!th_node_read_tuple(&control, &arity) || !th_node_read_integer(&control, &kind) ||
        kind < 0 || kind > UINT8_MAX || !memchr(KINDS, (int)kind, sizeof KINDS))
        return false;
    if (kind != ERL_REG_SEND && kind != ERL_REG_SEND_TT &&
        (!th_node_skip(&control) || !th_node_read_pid(&control, &to) || to.creation != creation))
        return false;
    *place = message;
    return th_node_skip(&message);
}

int th_node_next_message(struct th_node_client *client, struct th_node_place *message,
                         const char **wrong)
{
    static const unsigned char TICK[4];
    struct th_node_bytes *in = &client->in;

    for (;;) {
        struct th_node_place all = {in->bytes + in->taken, in->bytes + in->size};
        size_t length = number_at(&all, 0, 4);
        if (left_at(&all) < 4)
            return 0;
        *wrong = "sent a message of more than 256 MiB";
        if (length > LONGEST_MESSAGE)
            return -1;
        if (left_at(&all) - 4 < length)
            return 0;
        in->taken += 4 + length;
        *wrong = "does not take what is sent to it";
        if (length == 0 && th_node_write(client, TICK, sizeof TICK) != 0)
            return -1;
        if (length == 0)
            continue;
        *wrong = "sent bytes that are no message";
        if (all.at[4] != ERL_PASS_THROUGH)
            return -1;
        *message = (struct th_node_place){all.at + 5, all.at + 4 + length};
        if (is_for_us(client, message))
            return 1;
    }
}
