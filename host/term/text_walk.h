/*
 * The brackets of nested terms, for the two printers (text_print.c, text_beam.c), which write the
 * leaves between the brackets. The walk has a stack of its own, with one frame for each open
 * bracket.
 *
 *     th_text_walk_begin(&walk, out, " => ");
 *     ... th_text_walk_open(&walk, t) for a term with parts, else its text ...
 *     while (walk.stack.depth > 0)
 *         if (th_text_walk_step(&walk, &t))
 *             ... as above, for T ...
 *     th_stack_end(&walk.stack);
 *
 * Inside term/ only.
 */
#ifndef TH_TEXT_WALK_H
#define TH_TEXT_WALK_H

#include "map.h"
#include "stack.h"

#include "host/base/buffer.h"

/* The parts of a term, behind an open bracket, that are not written yet. */
struct th_text_frame {
    enum { TH_TEXT_LIST, TH_TEXT_TUPLE, TH_TEXT_MAP_KEY, TH_TEXT_MAP_VALUE } kind;
    bool started;         /* an element was written already */
    th_term rest;         /* list: the remaining elements and the tail, as a list */
    size_t left;          /* tuple, map: number of remaining elements or pairs */
    const th_term *next;  /* tuple, map: the next element or key */
    const th_term *value; /* map: the value of the next key */
};

enum { TH_TEXT_SHALLOW = 32 /* open brackets that need no allocation */ };

struct th_text_walk {
    struct th_buffer *out;
    const char *arrow;     /* between a key and its value */
    struct th_stack stack; /* of frames */
    struct th_text_frame shallow[TH_TEXT_SHALLOW];
};

static inline void th_text_walk_begin(struct th_text_walk *walk, struct th_buffer *out,
                                      const char *arrow)
{
    walk->out = out;
    walk->arrow = arrow;
    th_stack_begin(&walk->stack, walk->shallow, TH_TEXT_SHALLOW);
}

/* Writes the opening bracket of T, a tuple, map or cell. Frames may move. */
__attribute__((always_inline)) static inline void th_text_walk_open(struct th_text_walk *walk,
                                                                    th_term t)
{
    struct th_text_frame *frame = th_stack_push(&walk->stack, sizeof *frame);

    if (th_is_list(t)) {
        th_buffer_add(walk->out, "[", 1);
        *frame = (struct th_text_frame){.kind = TH_TEXT_LIST, .rest = t};
    } else if (th_is_tuple(t)) {
        th_buffer_add(walk->out, "{", 1);
        *frame = (struct th_text_frame){
            .kind = TH_TEXT_TUPLE, .left = th_tuple_arity(t), .next = th_tuple_elements(t)};
    } else {
        th_buffer_add(walk->out, "#{", 2);
        *frame = (struct th_text_frame){.kind = TH_TEXT_MAP_KEY,
                                        .left = th_map_size(t),
                                        .next = th_map_keys(t),
                                        .value = th_map_values(t)};
    }
}

/* Continues behind the innermost bracket: writes the separator before the next term, *T, which the
 * caller writes then. False: the bracket was closed. Inlined, as the printers are hot. */
__attribute__((always_inline)) static inline bool th_text_walk_step(struct th_text_walk *walk,
                                                                    th_term *t)
{
    struct th_text_frame *frame = th_stack_top(&walk->stack, sizeof *frame);

    if (frame->kind == TH_TEXT_MAP_VALUE) {
        th_buffer_add_text(walk->out, walk->arrow);
        frame->kind = TH_TEXT_MAP_KEY;
        frame->left--;
        *t = *frame->value++;
        return true;
    }
    if (frame->kind == TH_TEXT_LIST && !th_is_list(frame->rest)) {
        *t = frame->rest;
        frame->rest = TH_NIL;
        th_buffer_add_byte(walk->out, *t == TH_NIL ? ']' : '|');
        walk->stack.depth -= *t == TH_NIL;
        return *t != TH_NIL;
    }
    if (frame->kind != TH_TEXT_LIST && frame->left == 0) {
        th_buffer_add_byte(walk->out, '}');
        walk->stack.depth--;
        return false;
    }
    if (frame->started)
        th_buffer_add_byte(walk->out, ',');
    frame->started = true;
    if (frame->kind == TH_TEXT_LIST) {
        *t = th_cell(frame->rest)[0];
        frame->rest = th_cell(frame->rest)[1];
        return true;
    }
    if (frame->kind == TH_TEXT_MAP_KEY)
        frame->kind = TH_TEXT_MAP_VALUE;
    else
        frame->left--;
    *t = *frame->next++;
    return true;
}

#endif
