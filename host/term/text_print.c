/*
 * The printer: a walk over a term with a stack of its own, one frame for each bracket that is open.
 */
#include "text.h"

#include "make.h"
#include "map.h"
#include "text_leaf.h"

#include <string.h>

enum kind { LIST, TUPLE, MAP_KEY, MAP_VALUE };

/* What is to come behind an open bracket. */
struct frame {
    enum kind kind;
    bool started;         /* something stands behind the bracket already */
    th_term rest;         /* list: the elements and the tail to come, as a list */
    size_t left;          /* tuple, map: how many elements or pairs */
    const th_term *next;  /* tuple, map: the first of them, or its key */
    const th_term *value; /* map: the value of the first of them */
};

enum { SHALLOW = 32 /* open brackets that need no memory of their own */ };

struct printer {
    struct th_buffer *out;
    size_t end; /* the size of *out at which no more is wanted; SIZE_MAX: never */
    bool cut;   /* something was left out */
    enum th_text_encoding encoding;
    struct frame *frames;
    size_t depth;
    size_t capacity;
    struct frame shallow[SHALLOW];
};

static void deepen(struct printer *p)
{
    bool first = p->frames == p->shallow;
    struct frame *frames = th_realloc(first ? NULL : p->frames, 2 * p->capacity * sizeof *frames);

    if (first)
        memcpy(frames, p->shallow, sizeof p->shallow);
    p->frames = frames;
    p->capacity *= 2;
}

static void push(struct printer *p, struct frame frame)
{
    if (p->depth == p->capacity)
        deepen(p);
    p->frames[p->depth++] = frame;
}

static void put(struct printer *p, const char *text, size_t bytes)
{
    th_buffer_add(p->out, text, bytes);
}

static void put_leaf(struct printer *p, enum th_leaf leaf)
{
    p->cut = leaf == TH_LEAF_CUT;
}

static void begin_list(struct printer *p, th_term t, size_t room)
{
    enum th_leaf leaf = th_leaf_string(p->out, t, room, p->encoding);

    put_leaf(p, leaf);
    if (leaf != TH_LEAF_OTHER)
        return;
    put(p, "[", 1);
    push(p, (struct frame){.kind = LIST, .rest = t});
}

static void begin_boxed(struct printer *p, th_term t, size_t room)
{
    switch (th_subtag(t)) {
    case TH_TUPLE:
        put(p, "{", 1);
        push(p, (struct frame){
                    .kind = TUPLE, .left = th_tuple_arity(t), .next = th_tuple_elements(t)});
        break;
    case TH_MAP:
        put(p, "#{", 2);
        push(p, (struct frame){.kind = MAP_KEY,
                               .left = th_map_size(t),
                               .next = th_map_keys(t),
                               .value = th_map_values(t)});
        break;
    case TH_FLOAT:
        th_leaf_float(p->out, t);
        break;
    case TH_POS_BIG:
    case TH_NEG_BIG:
        put_leaf(p, th_leaf_integer(p->out, t, room));
        break;
    case TH_HEAP_BINARY:
    case TH_SHARED_BINARY:
    case TH_SUB_BINARY:
        put_leaf(p, th_leaf_bits(p->out, t, room, p->encoding));
        break;
    case TH_FUN:
    case TH_EXPORT:
        th_leaf_fun(p->out, t);
        break;
    case TH_REF:
    case TH_EXTERNAL_PID:
    case TH_EXTERNAL_PORT:
        th_leaf_identifier(p->out, t);
        break;
    }
}

/* Writes a leaf, or the opening bracket of anything else. Frames may move. */
static void begin(struct printer *p, th_term t)
{
    size_t room = p->out->size < p->end ? p->end - p->out->size : 0;

    if (th_is_small(t))
        th_leaf_integer(p->out, t, room);
    else if (th_is_atom(t))
        th_leaf_atom(p->out, t, p->encoding);
    else if (th_is_boxed(t))
        begin_boxed(p, t, room);
    else if (th_is_list(t))
        begin_list(p, t, room);
    else if (t == TH_NIL)
        put(p, "[]", 2);
    else
        th_leaf_identifier(p->out, t);
}

static void end(struct printer *p, char bracket)
{
    th_buffer_add_byte(p->out, (unsigned char)bracket);
    p->depth--;
}

static void separate(struct printer *p, struct frame *frame)
{
    if (frame->started)
        th_buffer_add_byte(p->out, ',');
    frame->started = true;
}

static void step_list(struct printer *p, struct frame *frame)
{
    th_term rest = frame->rest;

    if (rest == TH_NIL) {
        end(p, ']');
    } else if (th_is_list(rest)) {
        separate(p, frame);
        frame->rest = th_cell(rest)[1];
        begin(p, th_cell(rest)[0]);
    } else {
        th_buffer_add_byte(p->out, '|');
        frame->rest = TH_NIL;
        begin(p, rest);
    }
}

static void step_tuple(struct printer *p, struct frame *frame)
{
    if (frame->left == 0) {
        end(p, '}');
        return;
    }
    separate(p, frame);
    frame->left--;
    begin(p, *frame->next++);
}

static void step_map(struct printer *p, struct frame *frame)
{
    if (frame->kind == MAP_VALUE) {
        put(p, " => ", 4);
        frame->kind = MAP_KEY;
        frame->left--;
        begin(p, *frame->value++);
    } else if (frame->left == 0) {
        end(p, '}');
    } else {
        separate(p, frame);
        frame->kind = MAP_VALUE;
        begin(p, *frame->next++);
    }
}

static void walk(struct printer *p, th_term t)
{
    begin(p, t);
    while (p->depth > 0 && !p->cut) {
        struct frame *frame = &p->frames[p->depth - 1];
        if (p->out->size >= p->end)
            p->cut = true;
        else if (frame->kind == LIST)
            step_list(p, frame);
        else if (frame->kind == TUPLE)
            step_tuple(p, frame);
        else
            step_map(p, frame);
    }
}

static void print(struct th_buffer *out, th_term t, size_t end, enum th_text_encoding encoding)
{
    struct printer p; /* not cleared: most of it is frames */

    p.out = out;
    p.end = end;
    p.cut = false;
    p.encoding = encoding;
    p.frames = p.shallow;
    p.depth = 0;
    p.capacity = SHALLOW;
    walk(&p, t);
    if (p.cut)
        put(&p, "...", 3);
    if (p.frames != p.shallow)
        th_free(p.frames);
}

/* The size of OUT with LIMIT bytes more. */
static size_t end_of(const struct th_buffer *out, size_t limit)
{
    return limit < SIZE_MAX - out->size ? out->size + limit : SIZE_MAX;
}

void th_text_print(struct th_buffer *out, th_term t)
{
    print(out, t, SIZE_MAX, TH_TEXT_LATIN1);
}

void th_text_print_limited(struct th_buffer *out, th_term t, size_t limit)
{
    print(out, t, end_of(out, limit), TH_TEXT_LATIN1);
}

void th_text_print_atom(struct th_buffer *out, th_term atom)
{
    th_leaf_atom(out, atom, TH_TEXT_LATIN1);
}

static enum th_text_encoding shown_in; /* written before other threads show terms */

void th_text_show_in(enum th_text_encoding encoding)
{
    shown_in = encoding;
}

void th_text_show(struct th_buffer *out, th_term t)
{
    print(out, t, SIZE_MAX, shown_in);
}

void th_text_show_limited(struct th_buffer *out, th_term t, size_t limit)
{
    print(out, t, end_of(out, limit), shown_in);
}

void th_text_show_atom(struct th_buffer *out, th_term atom)
{
    th_leaf_atom(out, atom, shown_in);
}

const char *th_text_fit(char *text, size_t size, th_term t)
{
    struct th_buffer whole = {0};
    size_t length;

    th_text_print_limited(&whole, t, size);
    length = whole.size;
    if (length >= size)
        for (length = size - 1; length > 0 && (whole.data[length] & 0xC0) == 0x80; length--)
            ;
    memcpy(text, whole.data, length);
    text[length] = 0;
    th_buffer_free(&whole);
    return text;
}
