/*
 * The calls of one process that have not returned, as far as its events tell.
 *
 * A call goes on top, a return takes it off. What is not that simple:
 *
 * 1. Tail calls. A function that is called last takes its caller's place. Events tell so where a
 *    match specification sends {caller}: the caller is not who is on top but somebody below, or who
 *    called those on top. These have left the picture; but where returns are traced, each return
 *    still comes, the last call's first, so that they stay on the stack, `gone`, to meet them.
 *    Without callers a tail call looks like any other. If the caller F is not traced, and has
 * called the one on top, too, that one may have made a tail call, or have called F again: it is
 * taken for a tail call, until a return_to F shows that it has gone on. That is counted in
 * `doubtful`, and from then on the call is known to call F. If F has not called the one on top,
 * that one has called F. A call that was taken to call F is counted, too, if it ends without a
 * return_to of its own.
 * 2. Returns to (return_to F). A BEAM marks the stack below the first of a chain of tail calls, if
 *    that call is traced and no marker is on top already. When control passes that marker, the
 *    event names the function that runs then, traced or not. If an exception is caught, there is an
 *    event only if the marker is that of the frame which the catching function has called; other
 *    markers that the exception passes leave none. So a return_to ends the call that is on top, and
 *    all calls above the frame of F, unless exceptions have ended some before, without an event:
 *    only records of ends tell that. The frame of F is known:
 *    a. if F is `undefined`: below all calls, as nobody called the first one;
 *    b. if the call on top has a caller: below the nearest call that has the caller F;
 *    c. if a call of F is below the one on top: it is the nearest such call;
 *    d. if F, which is not traced, was returned to before, and what was below it then is open
 *       still: the stack keeps F there, as a frame that is `met` and never drawn. If more than one
 *       call ends so, that is counted in `doubtful`: one of them may have called F again;
 *    e. if no other call is open: below that one.
 *    Else F is not traced, and its frame is below any of the calls. It is taken to be below all, as
 *    if these were tail calls of each other: so no call is drawn inside one that may have ended.
 *    This is a guess, counted in `doubtful`. It was wrong if control comes back later to one of the
 *    calls that it has ended, or to the caller of the first of them: from then on, that call is
 *    known to call F, and the guess is that F's frame is above the nearest such call. Neither does
 *    a recording without callers tell, where a function has several calls on the stack, which one
 *    is returned to: it is the nearest one, which is counted in `doubtful`, too, if that one and
 *    its caller end at once.
 *    If a return_from has come just before, it has ended the call on top: the return_to ends those
 *    above F whose returns are not traced.
 * 3. What nobody told of: an exception where only returns are traced, calls before tracing began,
 *    lost events. A return from below the top takes off all above it, and what was above is counted
 *    in `cut`; a return of what is not on the stack changes nothing and is counted in `uncalled`.
 * 4. Recordings without returns. A process that is STACK_MOST calls deep, and of which nothing ever
 *    returned, is taken for one whose returns are not traced: from then on, until the first return,
 *    each call ends the one before it.
 *
 * Long because: the cases of one rule, a third of it the text above.
 */
#ifndef TRACER_STACK_H
#define TRACER_STACK_H

#include "loss.h"
#include "mfa.h"

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
    STACK_DRAWN = 512, /* what is deeper is not worth a place of its own in a picture */
    STACK_MOST = 16384,
    STACK_MET = 4,      /* functions that are remembered as called by one traced call */
    STACK_LEARNED = 64, /* functions that are known to call one that is not traced */
    STACK_GUESSED = 16, /* calls that a guess has ended, of which it is remembered */
};

/* What `doubtful` counts, and how a recording is made that has none. */
#define STACK_DOUBTFUL "returns of which the recording does not tell how many calls they end"
#define STACK_CURE "record callers and ends of calls, as dbg:tpl(MODULE, cx) does"

struct frame {
    struct mfa mfa, caller;
    uint32_t mark; /* the tracer's own */
    bool gone;     /* not drawn, or not any more */
    bool met;      /* a function that is not traced; `gone`, too */
    bool chosen;   /* was returned to while another call of its function was below it */
    bool held;     /* a function that is not traced made a call, and was taken to be called by it;
                      of one that is gone: it was noticed that this one goes on */
};

/* A function that is traced, and one that is not, which the first one calls, perhaps through others
 * that are not traced. */
struct callback {
    struct mfa caller, callee;
};

/* See 2. above. */
struct guess {
    struct mfa to;
    struct mfa ended[STACK_GUESSED]; /* the lowest first */
    size_t used;                     /* of them; 0: no guess was made, or it was wrong */
    bool other;                      /* there was one before it, which may have been wrong, too */
};

struct repairs {
    uint64_t cut, uncalled;
    uint64_t beyond;      /* calls deeper than STACK_MOST, or for which there was no memory */
    uint64_t doubtful;    /* returns of which the recording does not tell how many calls they end */
    struct mfa doubted;   /* the function that the first of these returned to */
    uint64_t learned_all; /* how many were ever in `learned`, which has the latest ones */
    struct callback learned[STACK_LEARNED];
};

/* Starts as all zero but for the pointers at its end. */
struct stack {
    struct frame *frames;
    size_t used, size;
    size_t shown;        /* of these are not gone */
    size_t beyond;       /* calls that are open above them */
    bool told;           /* of an end, or of a caller */
    bool flat;           /* 4. */
    bool returned;       /* the latest event was a return_from or exception_from */
    struct guess *guess; /* the latest; NULL: there was none yet */
    struct repairs *repairs;
    /* Called with OF when a frame comes on top, and before one leaves the picture, from the top
     * downwards; either may be NULL. */
    void (*entered)(void *of, struct frame *frame);
    void (*left)(void *of, struct frame *frame);
    void *of;
};

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
    if (!frames) {
        loss_add();
        return false;
    }
    stack->frames = frames;
    stack->size = size;
    return true;
}

/* The nearest frame of MFA below number END, called or met, plus 1; 0: there is none. */
static inline size_t stack_find(const struct stack *stack, size_t end, const struct mfa *mfa)
{
    const struct frame *frame;

    for (; end > 0; end--) {
        frame = &stack->frames[end - 1];
        if ((frame->met || !frame->gone) && mfa_same(&frame->mfa, mfa))
            break;
    }
    return end;
}

static inline bool stack_calls_back(const struct repairs *repairs, const struct mfa *caller,
                                    const struct mfa *callee)
{
    for (size_t i = 0; i < repairs->learned_all && i < STACK_LEARNED; i++)
        if (mfa_same(&repairs->learned[i].caller, caller) &&
            mfa_same(&repairs->learned[i].callee, callee))
            return true;
    return false;
}

/* CALLER, which is not traced, makes a call: see 1. */
static inline void stack_leave_top(struct stack *stack, struct frame *top, const struct mfa *caller)
{
    if (!mfa_same(&top->caller, caller) || stack_calls_back(stack->repairs, &top->mfa, caller))
        top->held = true;
    else
        stack_leave(stack, top);
}

/* A call of MFA is open, and drawn. */
static inline bool stack_is_traced(const struct stack *stack, const struct mfa *mfa)
{
    size_t i = stack->used;

    while (i > 0 && (stack->frames[i - 1].gone || !mfa_same(&stack->frames[i - 1].mfa, mfa)))
        i--;
    return i > 0;
}

/* Those above CALLER, or called by it, are not on the process's own stack any more. */
static inline void stack_leave_above(struct stack *stack, const struct mfa *caller)
{
    size_t i = stack->used, end;
    struct frame *frame = stack_top(stack);

    stack->told = true;
    if (frame && !stack_is_traced(stack, caller)) {
        stack_leave_top(stack, frame, caller);
        return;
    }
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
    while (i > 0 && (stack->frames[i - 1].met || !mfa_same(&stack->frames[i - 1].mfa, mfa)))
        i--;
    if (i == 0) {
        stack->repairs->uncalled++;
        return;
    }
    for (size_t above = stack->used; above > i; above--)
        stack->repairs->cut += !stack->frames[above - 1].gone;
    stack_cut(stack, i - 1);
}

/* --- return_to: see 2. above --- */

static inline void stack_doubt(struct repairs *repairs, const struct mfa *mfa)
{
    if (!repairs->doubtful++)
        repairs->doubted = *mfa;
}

/* The nearest call below number END that has the caller MFA, plus 1; 0: there is none. */
static inline size_t stack_called_by(const struct stack *stack, size_t end, const struct mfa *mfa)
{
    while (end > 0 &&
           (stack->frames[end - 1].gone || !mfa_same(&stack->frames[end - 1].caller, mfa)))
        end--;
    return end;
}

/* Another function that is not traced was called from where control is now: the oldest one of too
 * many is forgotten. */
static inline void stack_meet(struct stack *stack, const struct mfa *mfa)
{
    size_t first = stack->used;
    bool there = stack->used && !stack->frames[stack->used - 1].gone &&
                 mfa_same(&stack->frames[stack->used - 1].mfa, mfa);

    for (; first > 0 && stack->frames[first - 1].met; first--)
        there |= mfa_same(&stack->frames[first - 1].mfa, mfa);
    if (there || (stack->used == stack->size && !stack_grow(stack)))
        return;
    if (stack->used - first >= STACK_MET) {
        stack->used--;
        memmove(&stack->frames[first], &stack->frames[first + 1],
                (stack->used - first) * sizeof *stack->frames);
    }
    stack->frames[stack->used++] = (struct frame){.mfa = *mfa, .gone = true, .met = true};
}

/* The calls above LEFT are taken to have ended with a return to MFA. */
static inline void stack_note_guess(struct stack *stack, size_t left, const struct mfa *mfa)
{
    struct guess *guess = stack->guess ? stack->guess : calloc(1, sizeof *guess);

    stack->guess = guess;
    if (!guess) {
        loss_add();
        return;
    }
    guess->to = *mfa;
    guess->other = guess->used > 0;
    guess->used = 0;
    for (; left < stack->used && guess->used < STACK_GUESSED; left++)
        if (!stack->frames[left].gone)
            guess->ended[guess->used++] = stack->frames[left].mfa;
}

/* How many frames stay when the call at TOP returns to MFA, of which no frame is known. */
static inline size_t stack_guess_left(struct stack *stack, size_t top, const struct mfa *mfa)
{
    size_t left = top;

    if (stack->shown == 1)
        return top;
    stack_doubt(stack->repairs, mfa);
    while (left > 0 && (stack->frames[left - 1].gone ||
                        !stack_calls_back(stack->repairs, &stack->frames[left - 1].mfa, mfa)))
        left--;
    while (left < top && stack->frames[left].met)
        left++;
    if (left < top)
        stack_note_guess(stack, left, mfa);
    return left;
}

static inline void stack_learn(struct repairs *repairs, const struct mfa *caller,
                               const struct mfa *callee)
{
    if (!stack_calls_back(repairs, caller, callee))
        repairs->learned[repairs->learned_all++ % STACK_LEARNED] =
            (struct callback){*caller, *callee};
}

/* If control comes back to MFA because a call ends that a guess took to have ended, or in spite of
 * that, the guess was wrong. True if no call on the stack ends, but one of those. */
static inline bool stack_was_wrong(struct stack *stack, const struct frame *top,
                                   const struct mfa *mfa)
{
    bool ended_twice = !top || mfa_same(&top->mfa, mfa);
    struct repairs *repairs = stack->repairs;
    struct guess *guess = stack->guess;
    size_t i = guess ? guess->used : 0, open;

    if (i == 0 || (top && stack_find(stack, (size_t)(top - stack->frames), mfa)))
        return false;
    while (i > 0 && !mfa_same(&guess->ended[i - 1], mfa))
        i--;
    if (ended_twice ? i == guess->used : i == 0)
        return false;
    if (i == 0 && guess->other) /* it may be a call that the other one ended */
        return true;
    open = ended_twice ? i : i - 1;
    stack_learn(repairs, &guess->ended[open], &guess->to);
    for (i = 0; i < stack->used; i++)
        stack->frames[i].met &= !mfa_same(&stack->frames[i].mfa, &guess->to);
    guess->used = 0;
    return ended_twice;
}

/* More than one call above the first LEFT is drawn. */
static inline bool stack_several(const struct stack *stack, size_t left)
{
    size_t shown = 0;

    for (; left < stack->used && shown < 2; left++)
        shown += !stack->frames[left].gone;
    return shown > 1;
}

/* How many frames stay when the call at TOP returns to MFA. */
static inline size_t stack_left_by(struct stack *stack, size_t top, const struct mfa *mfa)
{
    bool told = stack->frames[top].caller.module;
    size_t left = told ? stack_called_by(stack, top + 1, mfa) : 0;

    if (mfa->module && !mfa->function)
        return 0;
    if (left)
        return left - 1;
    left = stack_find(stack, top, mfa);
    if (!left)
        return stack_guess_left(stack, top, mfa);
    if (!stack->frames[left - 1].met)
        stack->frames[left - 1].chosen |= !told && stack_find(stack, left - 1, mfa);
    while (left < top && stack->frames[left].met)
        left++;
    if (!told && stack_several(stack, left) && stack->frames[left - 1].met)
        stack_doubt(stack->repairs, mfa); /* they may have called MFA again */
    return left;
}

/* The call at TOP returns to MFA. */
static inline void stack_end_with(struct stack *stack, size_t top, const struct mfa *mfa)
{
    uint64_t doubtful = stack->repairs->doubtful;
    size_t left = stack_left_by(stack, top, mfa);
    bool chosen = false;

    for (size_t i = left, shown = 0; i < stack->used; i++)
        if (!stack->frames[i].gone) {
            chosen |= shown++ && stack->frames[i].chosen;
            chosen |= stack->frames[i].held && !mfa_same(&stack->frames[i].caller, mfa);
        }
    if (chosen && stack->repairs->doubtful == doubtful)
        stack_doubt(stack->repairs, mfa);
    stack_cut(stack, left);
}

/* Control comes back to MFA, which has not called TOP, but another one above it that is gone, as if
 * it were a tail call's caller: it has gone on, and made its calls through MFA. True if there is
 * one that has ended now, as no return_from says that: it goes, with all above it. */
static inline bool stack_was_open(struct stack *stack, const struct frame *top,
                                  const struct mfa *mfa, bool returned)
{
    size_t end = top ? (size_t)(top - stack->frames) + 1 : 0, i = stack->used;
    struct frame *frame;

    if (top && (!top->caller.module || mfa_same(&top->caller, mfa) || mfa_same(&top->mfa, mfa)))
        return false;
    while (i > end && (stack->frames[i - 1].met || !mfa_same(&stack->frames[i - 1].caller, mfa)))
        i--;
    if (i == end)
        return false;
    frame = &stack->frames[i - 1];
    if (!frame->held) {
        frame->held = true;
        stack_learn(stack->repairs, &frame->mfa, mfa);
        stack_doubt(stack->repairs, mfa);
    }
    if (!returned)
        stack_cut(stack, i - 1);
    return !returned;
}

/* After a return_from. */
static inline void stack_leave_above_target(struct stack *stack, const struct mfa *mfa)
{
    size_t i = stack->used;
    struct frame *frame;

    for (; i > 0; i--) {
        frame = &stack->frames[i - 1];
        if (!frame->gone && (mfa_same(&frame->mfa, mfa) || mfa_same(&frame->caller, mfa)))
            break;
    }
    /* Those whose returns are still to come stay. */
    for (size_t above = stack->used; i > 0 && above > i; above--)
        stack_leave(stack, &stack->frames[above - 1]);
}

/* MFA may be `undefined`: nobody called the first function of a process. */
static inline void stack_return_to(struct stack *stack, const struct mfa *mfa)
{
    bool returned = stack->returned;
    struct frame *top = stack_top(stack);

    stack->told = true;
    stack->flat = stack->returned = false;
    if (returned) {
        stack_was_open(stack, top, mfa, true);
        stack_leave_above_target(stack, mfa);
        return;
    }
    if (stack_was_open(stack, top, mfa, false) || stack_was_wrong(stack, top, mfa) || !top)
        ;
    else if (stack->beyond && (mfa_same(&top->mfa, mfa) || !stack_find(stack, stack->used, mfa)))
        stack->beyond--;
    else
        stack_end_with(stack, (size_t)(top - stack->frames), mfa);
    if (mfa->function && !stack->beyond)
        stack_meet(stack, mfa);
}

/* A call, whose caller OPTS may tell, a return_from, exception_from or return_to. */
static inline void stack_event(ErlNifEnv *env, struct stack *stack, ERL_NIF_TERM tag,
                               const struct mfa *mfa, ERL_NIF_TERM opts)
{
    struct mfa caller;

    if (tag == TH_TRACER_ATOM(env, return_to)) {
        stack_return_to(stack, mfa);
        return;
    }
    if (tag != TH_TRACER_ATOM(env, call)) {
        stack_return(stack, mfa);
        return;
    }
    caller = mfa_of_caller(env, opts);
    stack_call(stack, mfa, &caller);
}

/* A line on stderr, if there is anything to tell. */
static inline void stack_tell_doubts(const char *tracer, const struct repairs *repairs)
{
    const struct mfa *mfa = &repairs->doubted;

    if (repairs->doubtful)
        enif_fprintf(stderr, "%s: %s: %lu, the first to %#T:%#T/%u; %s\n", tracer, STACK_DOUBTFUL,
                     (unsigned long)repairs->doubtful, mfa->module, mfa->function, mfa->arity,
                     STACK_CURE);
}

static inline void stack_free(struct stack *stack)
{
    free(stack->frames);
    free(stack->guess);
}

#endif
