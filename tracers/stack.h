/*
 * The calls of one process that have not returned, as far as its events tell.
 *
 * A call goes on top, a return takes it off. What is not that simple:
 *
 * 1. Tail calls. A function that is called last takes its caller's place. Events tell so where a
 *    match specification sends {caller}: the caller is not who is on top but somebody below, or who
 *    called those on top. These have left the picture; but where returns are traced, each return
 *    still comes, the last call's first, so that they stay on the stack, `gone`, to meet them.
 *    Without callers a tail call looks like any other.
 * 2. Returns to (return_to). They end all calls above the function that is returned to. If that is
 *    not on the stack, as it is not traced, they end the call that is on top, unless a return_from
 *    has just done so.
 * 3. What nobody told of: an exception where only returns are traced, calls before tracing began,
 *    lost events. A return from below the top takes off all above it, and what was above is counted
 *    in `cut`; a return of what is not on the stack changes nothing and is counted in `uncalled`.
 * 4. Recordings without returns. A process that is STACK_MOST calls deep, and of which nothing ever
 *    returned, is taken for one whose returns are not traced: from then on, until the first return,
 *    each call ends the one before it.
 */
#ifndef TRACER_STACK_H
#define TRACER_STACK_H

#include <erl_tracer.h>

#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

enum {
    STACK_DRAWN = 512, /* what is deeper is not worth a place of its own in a picture */
    STACK_MOST = 16384
};

/* Atoms are the same words in every environment and for ever. */
struct mfa {
    ERL_NIF_TERM module, function; /* 0: not known */
    unsigned arity;
};

struct frame {
    struct mfa mfa, caller;
    uint32_t mark; /* the tracer's own */
    bool gone;
};

struct repairs {
    uint64_t cut, uncalled;
    uint64_t beyond; /* calls deeper than STACK_MOST, or for which there was no memory */
};

/* Starts as all zero but for the pointers at its end. */
struct stack {
    struct frame *frames;
    size_t used, size;
    size_t shown;  /* of these are not gone */
    size_t beyond; /* calls that are open above them */
    bool told;     /* of an end, or of a caller */
    bool flat;     /* 4. */
    bool returned; /* the latest event was a return_from or exception_from */
    struct repairs *repairs;
    /* Called with OF when a frame comes on top, and before one leaves the picture, from the top
     * downwards; either may be NULL. */
    void (*entered)(void *of, struct frame *frame);
    void (*left)(void *of, struct frame *frame);
    void *of;
};

static inline bool mfa_same(const struct mfa *a, const struct mfa *b)
{
    return a->function == b->function && a->module == b->module && a->arity == b->arity;
}

/* {M, F, Arity} or {M, F, Args}; `undefined` as {undefined, 0, 0}. False if it is anything else. */
static inline bool mfa_read(ErlNifEnv *env, ERL_NIF_TERM term, struct mfa *mfa)
{
    const ERL_NIF_TERM *elements;
    int size;

    if (term == TH_TRACER_ATOM(env, undefined)) {
        *mfa = (struct mfa){term, 0, 0};
        return true;
    }
    if (!enif_get_tuple(env, term, &size, &elements) || size != 3 ||
        !enif_is_atom(env, elements[0]) || !enif_is_atom(env, elements[1]))
        return false;
    mfa->module = elements[0];
    mfa->function = elements[1];
    return enif_get_uint(env, elements[2], &mfa->arity) ||
           enif_get_list_length(env, elements[2], &mfa->arity);
}

/* The function that is running: the highest frame that is not gone. NULL if there is none. */
static inline struct frame *stack_top(const struct stack *stack)
{
    size_t i = stack->used;

    while (i > 0 && stack->frames[i - 1].gone)
        i--;
    return i ? &stack->frames[i - 1] : NULL;
}

static inline void stack_leave(struct stack *stack, struct frame *frame)
{
    if (frame->gone)
        return;
    if (stack->left)
        stack->left(stack->of, frame);
    frame->gone = true;
    stack->shown--;
}

/* Takes all frames off above the first LEFT, and those that are beyond. */
static inline void stack_cut(struct stack *stack, size_t left)
{
    while (stack->used > left)
        stack_leave(stack, &stack->frames[--stack->used]);
    stack->beyond = 0;
}

/* The frames that are gone make room, as nothing may ever return to them. */
static inline bool stack_compact(struct stack *stack)
{
    size_t used = 0;

    for (size_t i = 0; i < stack->used; i++)
        if (!stack->frames[i].gone)
            stack->frames[used++] = stack->frames[i];
    stack->used = used;
    return used < stack->size;
}

static inline bool stack_grow(struct stack *stack)
{
    size_t size = stack->size ? 2 * stack->size : 16;
    struct frame *frames;

    if (stack->size >= STACK_MOST)
        return stack_compact(stack);
    frames = realloc(stack->frames, size * sizeof *frames);
    if (!frames)
        return false;
    stack->frames = frames;
    stack->size = size;
    return true;
}

/* Those above CALLER, or called by it, are not on the process's own stack any more. */
static inline void stack_leave_above(struct stack *stack, const struct mfa *caller)
{
    size_t i = stack->used, end;
    struct frame *frame = NULL;

    stack->told = true;
    for (; i > 0; i--) {
        frame = &stack->frames[i - 1];
        if (!frame->gone && (mfa_same(&frame->mfa, caller) || mfa_same(&frame->caller, caller)))
            break;
    }
    if (i == 0)
        return;
    end = mfa_same(&frame->mfa, caller) ? i : i - 1;
    for (i = stack->used; i > end; i--)
        stack_leave(stack, &stack->frames[i - 1]);
}

/* CALLER is all zero if it is not known. */
static inline void stack_call(struct stack *stack, const struct mfa *mfa, const struct mfa *caller)
{
    struct frame *frame;

    stack->returned = false;
    if (caller->module)
        stack_leave_above(stack, caller);
    stack->flat |= !stack->told && stack->shown >= STACK_MOST;
    if (stack->flat)
        stack_cut(stack, 0);
    if (stack->beyond || (stack->used == stack->size && !stack_grow(stack))) {
        stack->beyond++;
        stack->repairs->beyond++;
        return;
    }
    frame = &stack->frames[stack->used++];
    *frame = (struct frame){.mfa = *mfa, .caller = *caller};
    stack->shown++;
    if (stack->entered)
        stack->entered(stack->of, frame);
}

/* return_from and exception_from. */
static inline void stack_return(struct stack *stack, const struct mfa *mfa)
{
    size_t i = stack->used;

    stack->told = stack->returned = true;
    stack->flat = false;
    if (stack->beyond) {
        stack->beyond--;
        return;
    }
    while (i > 0 && !mfa_same(&stack->frames[i - 1].mfa, mfa))
        i--;
    if (i == 0) {
        stack->repairs->uncalled++;
        return;
    }
    for (size_t above = stack->used; above > i; above--)
        stack->repairs->cut += !stack->frames[above - 1].gone;
    stack_cut(stack, i - 1);
}

/* MFA may be `undefined`: who called first is not known. */
static inline void stack_return_to(struct stack *stack, const struct mfa *mfa)
{
    bool returned = stack->returned;
    size_t i = stack->used;
    struct frame *frame;

    stack->told = true;
    stack->flat = stack->returned = false;
    for (; i > 0; i--) {
        frame = &stack->frames[i - 1];
        if (!frame->gone && (mfa_same(&frame->mfa, mfa) || mfa_same(&frame->caller, mfa)))
            break;
    }
    if (i > 0)
        i -= !mfa_same(&stack->frames[i - 1].mfa, mfa) && !returned;
    else if (returned || !stack_top(stack))
        return;
    else
        i = (size_t)(stack_top(stack) - stack->frames);
    /* Those whose returns are still to come stay. */
    if (!returned)
        stack_cut(stack, i);
    else
        for (size_t above = stack->used; above > i; above--)
            stack_leave(stack, &stack->frames[above - 1]);
}

/* A call, whose caller OPTS may tell, a return_from, exception_from or return_to. */
static inline void stack_event(ErlNifEnv *env, struct stack *stack, ERL_NIF_TERM tag,
                               const struct mfa *mfa, ERL_NIF_TERM opts)
{
    struct mfa caller = {0};
    ERL_NIF_TERM result;

    if (tag == TH_TRACER_ATOM(env, return_to)) {
        stack_return_to(stack, mfa);
        return;
    }
    if (tag != TH_TRACER_ATOM(env, call)) {
        stack_return(stack, mfa);
        return;
    }
    if (enif_get_map_value(env, opts, TH_TRACER_ATOM(env, match_spec_result), &result) &&
        !mfa_read(env, result, &caller))
        caller = (struct mfa){0};
    stack_call(stack, mfa, &caller);
}

static inline void stack_free(struct stack *stack)
{
    free(stack->frames);
}

#endif
