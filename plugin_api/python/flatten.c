/*
 * Lays terms out as a tape, without the interpreter's lock.
 *
 * The walk keeps a frame for each container that is open, and does not recurse: the depth of a
 * recorded term has no limit but the memory for one event.
 */
#include "binding.h"

#include <stdlib.h>

struct th_python_frame {
    size_t container; /* item whose count grows with each element */
    enum th_python_item_kind kind;
    union {
        struct {
            const ERL_NIF_TERM *next, *end;
        } tuple;
        ERL_NIF_TERM rest; /* of a list; 0: the tail was taken */
        struct {
            ErlNifMapIterator iterator;
            bool at_value;
        } map;
    };
};

/* Makes an array of *ROOM elements larger. Returns NULL if memory runs out; ARRAY then stays. */
static void *enlarge(void *array, size_t *room, size_t element)
{
    size_t more = *room ? 2 * *room : 64;
    void *grown = realloc(array, more * element);

    if (grown)
        *room = more;
    return grown;
}

static struct th_python_item *add_item(struct th_python_tape *tape, enum th_python_item_kind kind)
{
    struct th_python_item *item = tape->items;

    if (tape->count == tape->room)
        item = enlarge(tape->items, &tape->room, sizeof *item);
    if (!item)
        return NULL;
    tape->items = item;
    item = &tape->items[tape->count++];
    item->kind = kind;
    item->count = 0;
    return item;
}

static bool add_bytes(struct th_python_tape *tape, enum th_python_item_kind kind,
                      const unsigned char *bytes, size_t size)
{
    struct th_python_item *item = add_item(tape, kind);

    if (!item)
        return false;
    item->bytes = bytes;
    item->count = size;
    tape->bytes += size;
    return true;
}

/* Adds a term by its external format. The environment owns the bytes. */
static bool add_external(struct th_python_tape *tape, ErlNifEnv *env, ERL_NIF_TERM term,
                         enum th_python_item_kind kind)
{
    ErlNifBinary bytes;

    if (!enif_term_to_binary(env, term, &bytes))
        return false;
    enif_make_binary(env, &bytes);
    return add_bytes(tape, kind, bytes.data, bytes.size);
}

static bool add_word(struct th_python_tape *tape, enum th_python_item_kind kind, ERL_NIF_TERM word)
{
    struct th_python_item *item = add_item(tape, kind);

    if (item)
        item->word = word;
    return item != NULL;
}

static bool add_integer(struct th_python_tape *tape, ErlNifEnv *env, ERL_NIF_TERM term)
{
    ErlNifSInt64 integer;
    struct th_python_item *item;

    if (!enif_get_int64(env, term, &integer))
        return add_external(tape, env, term, TH_PYTHON_BIG);
    item = add_item(tape, TH_PYTHON_INTEGER);
    if (item)
        item->integer = integer;
    return item != NULL;
}

static bool add_float(struct th_python_tape *tape, ErlNifEnv *env, ERL_NIF_TERM term)
{
    struct th_python_item *item = add_item(tape, TH_PYTHON_FLOAT);

    return item && enif_get_double(env, term, &item->number);
}

static bool add_bits(struct th_python_tape *tape, ErlNifEnv *env, ERL_NIF_TERM term)
{
    ErlNifBinary binary;

    if (!enif_is_binary(env, term))
        return add_external(tape, env, term, TH_PYTHON_BITSTRING);
    return enif_inspect_binary(env, term, &binary) &&
           add_bytes(tape, TH_PYTHON_BINARY, binary.data, binary.size);
}

static bool is_local(ErlNifEnv *env, ERL_NIF_TERM term, ErlNifTermType type)
{
    ErlNifPid pid;
    ErlNifPort port;

    return type == ERL_NIF_TERM_TYPE_PID ? enif_get_local_pid(env, term, &pid)
                                         : enif_get_local_port(env, term, &port);
}

/* Adds a container without elements and its frame. Returns NULL if memory runs out. */
static struct th_python_frame *open_container(struct th_python_tape *tape, size_t depth,
                                              enum th_python_item_kind kind)
{
    struct th_python_frame *frame = tape->frames;

    if (depth == tape->frame_room)
        frame = enlarge(tape->frames, &tape->frame_room, sizeof *frame);
    if (!frame)
        return NULL;
    tape->frames = frame;
    if (!add_item(tape, kind))
        return NULL;
    frame = &tape->frames[depth];
    frame->container = tape->count - 1;
    frame->kind = kind;
    return frame;
}

static bool open_tuple(struct th_python_tape *tape, ErlNifEnv *env, ERL_NIF_TERM term, size_t depth)
{
    struct th_python_frame *frame = open_container(tape, depth, TH_PYTHON_TUPLE);
    const ERL_NIF_TERM *elements;
    int arity;

    if (!frame || !enif_get_tuple(env, term, &arity, &elements))
        return false;
    frame->tuple.next = elements;
    frame->tuple.end = elements + arity;
    return true;
}

static bool open_list(struct th_python_tape *tape, ERL_NIF_TERM term, size_t depth)
{
    struct th_python_frame *frame = open_container(tape, depth, TH_PYTHON_LIST);

    if (frame)
        frame->rest = term;
    return frame != NULL;
}

static bool open_map(struct th_python_tape *tape, ErlNifEnv *env, ERL_NIF_TERM term, size_t depth)
{
    struct th_python_frame *frame = open_container(tape, depth, TH_PYTHON_MAP);

    if (frame)
        frame->map.at_value = false;
    return frame &&
           enif_map_iterator_create(env, term, &frame->map.iterator, ERL_NIF_MAP_ITERATOR_FIRST);
}

/* Adds TERM; if TERM is a container, without its elements, and *DEPTH grows. */
static bool add_term(struct th_python_tape *tape, ErlNifEnv *env, ERL_NIF_TERM term, size_t *depth)
{
    ErlNifTermType type = enif_term_type(env, term);

    switch (type) {
    case ERL_NIF_TERM_TYPE_ATOM:
        return add_word(tape, TH_PYTHON_ATOM, term);
    case ERL_NIF_TERM_TYPE_INTEGER:
        return add_integer(tape, env, term);
    case ERL_NIF_TERM_TYPE_FLOAT:
        return add_float(tape, env, term);
    case ERL_NIF_TERM_TYPE_BITSTRING:
        return add_bits(tape, env, term);
    case ERL_NIF_TERM_TYPE_TUPLE:
        return open_tuple(tape, env, term, (*depth)++);
    case ERL_NIF_TERM_TYPE_LIST:
        return open_list(tape, term, (*depth)++);
    case ERL_NIF_TERM_TYPE_MAP:
        return open_map(tape, env, term, (*depth)++);
    case ERL_NIF_TERM_TYPE_PID:
    case ERL_NIF_TERM_TYPE_PORT:
        if (is_local(env, term, type))
            return add_word(tape, TH_PYTHON_LOCAL, term);
        return add_external(tape, env, term, TH_PYTHON_IDENTIFIER);
    default:
        return add_external(tape, env, term, TH_PYTHON_IDENTIFIER);
    }
}

/* Takes the next element of a list, or the tail of an improper one. */
static bool next_of_list(struct th_python_tape *tape, ErlNifEnv *env, struct th_python_frame *frame,
                         ERL_NIF_TERM *term)
{
    if (!frame->rest)
        return false;
    if (enif_get_list_cell(env, frame->rest, term, &frame->rest))
        return true;
    if (enif_is_empty_list(env, frame->rest))
        return false;
    *term = frame->rest;
    frame->rest = 0;
    tape->items[frame->container].kind = TH_PYTHON_IMPROPER;
    return true;
}

static bool next_of_map(ErlNifEnv *env, struct th_python_frame *frame, ERL_NIF_TERM *term)
{
    ERL_NIF_TERM key, value;

    if (!enif_map_iterator_get_pair(env, &frame->map.iterator, &key, &value)) {
        enif_map_iterator_destroy(env, &frame->map.iterator);
        return false;
    }
    *term = frame->map.at_value ? value : key;
    if (frame->map.at_value)
        enif_map_iterator_next(env, &frame->map.iterator);
    frame->map.at_value = !frame->map.at_value;
    return true;
}

/* Takes the next element of the innermost container that has one left. Returns false if none has. */
static bool next_element(struct th_python_tape *tape, ErlNifEnv *env, size_t *depth,
                         ERL_NIF_TERM *term)
{
    for (; *depth; (*depth)--) {
        struct th_python_frame *frame = &tape->frames[*depth - 1];
        bool found;

        if (frame->kind == TH_PYTHON_TUPLE) {
            found = frame->tuple.next < frame->tuple.end;
            if (found)
                *term = *frame->tuple.next++;
        } else {
            found = frame->kind == TH_PYTHON_LIST ? next_of_list(tape, env, frame, term)
                                                  : next_of_map(env, frame, term);
        }
        if (found) {
            tape->items[frame->container].count++;
            return true;
        }
    }
    return false;
}

/* Ends the iterations of maps that are open when memory runs out. */
static void close_frames(struct th_python_tape *tape, ErlNifEnv *env, size_t depth)
{
    while (depth--)
        if (tape->frames[depth].kind == TH_PYTHON_MAP)
            enif_map_iterator_destroy(env, &tape->frames[depth].map.iterator);
}

bool th_python_flatten(struct th_python_tape *tape, ErlNifEnv *env, ERL_NIF_TERM term)
{
    size_t begin = tape->count, bytes = tape->bytes, depth = 0;

    do {
        size_t outer = depth;

        if (!add_term(tape, env, term, &depth)) {
            close_frames(tape, env, outer);
            tape->count = begin;
            tape->bytes = bytes;
            return false;
        }
    } while (next_element(tape, env, &depth, &term));
    return true;
}

void th_python_tape_free(struct th_python_tape *tape)
{
    free(tape->items);
    free(tape->frames);
    *tape = (struct th_python_tape){0};
}
