/*
 * The stack of one process: its calls that have not returned, as far as its events show.
 *
 * A call pushes a frame, a return pops it. The cases that are less simple:
 *
 * 1. Tail calls. A tail call takes its caller's place. Events show this if a match specification
 *    sends {caller}: the caller is then not the function on top, but one below it, or the caller of
 *    the calls on top. These calls have left the picture; but if returns are traced, the return of
 *    each of them is still to come, the last call's first: so their frames stay on the stack,
 *    marked `gone`, to match these returns. Without callers a tail call looks like any other call.
 *    If the caller F is not traced, and also called the function on top, that function may have
 *    made a tail call, or called F again: the stack assumes a tail call, until a return_to F shows
 *    that the call has continued. This is counted in `doubtful`, and from then on the function is
 *    known to call F. If F did not call the function on top, that function has called F. A call
 *    that was assumed to call F is also counted if it ends without a return_to of its own.
 * 2. Returns to (return_to F). A BEAM puts a marker on the stack below the first of a chain of tail
 *    calls, if that call is traced and no marker is on top already. When control passes the marker,
 *    the event names the function that runs next, traced or not. If an exception is caught, there
 *    is an event only if the marker belongs to the frame that the catching function has called;
 *    other markers that the exception passes leave no event. So a return_to ends the call on top,
 *    and all calls above the frame of F, unless exceptions have ended some before, without an
 *    event: only records of ends show that. The frame of F is known in these cases:
 *    a. if F is `undefined`: below all calls, as no function called the first one;
 *    b. if the call on top has a caller: below the nearest call that has the caller F;
 *    c. if a call of F is below the one on top: it is the nearest such call;
 *    d. if F, which is not traced, was returned to before, and the calls below it then are open
 *       still: the stack keeps F there, as a frame that is `met` and never drawn. If more than one
 *       call ends so, this is counted in `doubtful`: one of them may have called F again;
 *    e. if no other call is open: below that one.
 *    Otherwise F is not traced, and its frame may be below any of the calls. The stack assumes that
 *    it is below all of them, as if they were tail calls of each other: so no call is drawn inside
 *    one that may have ended. This is a guess, counted in `doubtful`. The guess was wrong if
 *    control comes back later to one of the calls that it has ended, or to the caller of the first
 *    of them: from then on, that call is known to call F, and the guess is that F's frame is above
 *    the nearest such call. If a function has several calls on the stack, a recording without
 *    callers does not show which of them is returned to, either: the stack assumes the nearest one,
 *    which is counted in `doubtful`, too, if this call and its caller end at once.
 *    If a return_from has come just before, it has ended the call on top: the return_to ends those
 *    above F whose returns are not traced.
 * 3. Missing events: an exception if only returns are traced, calls before tracing began, lost
 *    events. A return from below the top pops all frames above it, which are counted in `cut`; a
 *    return of a function that is not on the stack changes nothing and is counted in `uncalled`.
 * 4. Recordings without returns. If a process is STACK_MOST calls deep and nothing ever returned,
 *    the stack assumes that its returns are not traced: from then on, until the first return, each
 *    call ends the one before it.
 *
 * Long because: the cases of one rule, a third of it the text above.
 */
#ifndef TRACER_STACK_H
#define TRACER_STACK_H

#include "line.h"
#include "loss.h"
#include "mfa.h"

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
    STACK_DRAWN = 512, /* depth of a picture; deeper calls have no place of their own */
    STACK_MOST = 16384,
    STACK_MET = 4,      /* `met` functions kept for one traced call */
    STACK_LEARNED = 64, /* functions known to call one that is not traced */
    STACK_GUESSED = 16, /* calls kept of those that a guess has ended */
};

/* Meaning of `doubtful`, and the way to make a recording without such returns. */
#define STACK_DOUBTFUL "returns that end an unknown number of calls"
#define STACK_CURE "record callers and ends of calls: --match-spec=cx, or dbg:tpl(MODULE, cx)"

enum choice {
    NOT_RETURNED_TO,
    RETURNED_TO, /* ALONE or CHOSEN: stack_was_chosen() finds out */
    ALONE,       /* returned to, and no other call of its function was below it then */
    CHOSEN,      /* returned to while another call of its function was below it */
};

struct frame {
    struct mfa mfa, caller;
    uint32_t mark;          /* data of the tracer */
    bool gone;              /* not drawn, or no longer drawn */
    bool met;               /* a function that is not traced, returned to here; `gone`, too */
    enum choice choice : 8; /* unless `gone` */
    bool held; /* a function that is not traced made a call, and this one is assumed to have
                      called it; of a `gone` frame: this call was found to continue */
};

/* A traced function and one that is not traced, which the first calls, directly or through others
 * that are not traced. */
struct callback {
    struct mfa caller, callee;
};

/* A guess by rule 2. */
struct guess {
    struct mfa to;
    struct mfa ended[STACK_GUESSED]; /* the lowest first */
    size_t used;                     /* number in `ended`; 0: no guess, or a wrong one */
    bool other;                      /* an earlier guess exists, which may have been wrong, too */
};

struct repairs {
    uint64_t cut, uncalled;
    uint64_t beyond;      /* calls deeper than STACK_MOST, or without memory */
    uint64_t doubtful;    /* returns for which the recording does not show how many calls they
                             end */
    struct mfa doubted;   /* function to which the first of these returned */
    uint64_t learned_all; /* number ever put into `learned`, which keeps the latest */
    struct callback learned[STACK_LEARNED];
};

/* Initialised with zeros, except the pointers at its end. */
struct stack {
    struct frame *frames;
    size_t used, size;
    size_t shown;        /* frames that are not `gone` */
    size_t beyond;       /* open calls above `frames` that are not kept */
    bool told;           /* an end or a caller was reported */
    bool flat;           /* rule 4 applies */
    bool returned;       /* the latest event was a return_from or exception_from */
    struct guess *guess; /* the latest; NULL: none yet */
    struct repairs *repairs;
    /* Called with OF when a frame is pushed, and before a frame leaves the picture, from the top
     * downwards; either may be NULL. */
    void (*entered)(void *of, struct frame *frame);
    void (*left)(void *of, struct frame *frame);
    /* Called with OF for each drawn frame whose end is doubtful; may be NULL. */
    void (*doubted)(void *of, const struct frame *frame);
    void *of;
};

/* Returns the running function: the highest frame that is not gone. NULL if there is none. */
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

/* Pops all frames above the first LEFT, and those beyond. */
static inline void stack_cut(struct stack *stack, size_t left)
{
    while (stack->used > left)
        stack_leave(stack, &stack->frames[--stack->used]);
    stack->beyond = 0;
}

/* Returns the index plus 1 of the nearest frame of MFA below number END, called or `met`; 0: none.
 */
static inline size_t stack_find(const struct stack *stack, size_t end, const struct mfa *mfa)
{
    const struct frame *frame;

    for (; end > 0; end--) {
        frame = &stack->frames[end - 1];
        if (mfa_same(&frame->mfa, mfa) && (frame->met || !frame->gone))
            break;
    }
    return end;
}

/* Returns whether frame number I, which is drawn, is CHOSEN. The frames below a drawn one change
 * only after stack_settle_choices(), so the search can wait until the answer is needed. */
static inline bool stack_was_chosen(const struct stack *stack, size_t i)
{
    struct frame *frame = &stack->frames[i];

    if (frame->choice == RETURNED_TO)
        frame->choice = stack_find(stack, i, &frame->mfa) ? CHOSEN : ALONE;
    return frame->choice == CHOSEN;
}

/* Makes all choices that wait for a search, before `met` frames below them go. */
static inline void stack_settle_choices(const struct stack *stack)
{
    for (size_t i = 0; i < stack->used; i++)
        stack_was_chosen(stack, i);
}

/* Removes the `gone` frames to make room, as their returns may never come. */
static inline bool stack_compact(struct stack *stack)
{
    size_t used = 0;

    stack_settle_choices(stack);
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

static inline bool stack_calls_back(const struct repairs *repairs, const struct mfa *caller,
                                    const struct mfa *callee)
{
    for (size_t i = 0; i < repairs->learned_all && i < STACK_LEARNED; i++)
        if (mfa_same(&repairs->learned[i].caller, caller) &&
            mfa_same(&repairs->learned[i].callee, callee))
            return true;
    return false;
}

/* CALLER, which is not traced, makes a call: see rule 1. */
static inline void stack_leave_top(struct stack *stack, struct frame *top, const struct mfa *caller)
{
    if (!mfa_same(&top->caller, caller) || stack_calls_back(stack->repairs, &top->mfa, caller))
        top->held = true;
    else
        stack_leave(stack, top);
}

/* Returns whether a drawn call of MFA is open. */
static inline bool stack_is_traced(const struct stack *stack, const struct mfa *mfa)
{
    size_t i = stack->used;

    while (i > 0 && (stack->frames[i - 1].gone || !mfa_same(&stack->frames[i - 1].mfa, mfa)))
        i--;
    return i > 0;
}

/* Removes from the picture the calls that have ended by tail calls if CALLER makes a call: see rule
 * 1. */
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

/* Pushes a call. CALLER is all zero if it is unknown. */
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

/* Handles return_from and exception_from. */
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

/* --- return_to: rule 2 above --- */

static inline void stack_doubt(struct repairs *repairs, const struct mfa *mfa)
{
    if (!repairs->doubtful++)
        repairs->doubted = *mfa;
}

/* Returns the index plus 1 of the nearest call below number END with the caller MFA; 0: none. */
static inline size_t stack_called_by(const struct stack *stack, size_t end, const struct mfa *mfa)
{
    while (end > 0 &&
           (stack->frames[end - 1].gone || !mfa_same(&stack->frames[end - 1].caller, mfa)))
        end--;
    return end;
}

/* Pushes MFA, a function that is not traced and to which control has returned, as a `met` frame;
 * drops the oldest if there are too many. */
static inline void stack_meet(struct stack *stack, const struct mfa *mfa)
{
    size_t first = stack->used;
    bool there = stack->used && !stack->frames[stack->used - 1].gone &&
                 mfa_same(&stack->frames[stack->used - 1].mfa, mfa);

    for (; first > 0 && stack->frames[first - 1].met; first--)
        there |= mfa_same(&stack->frames[first - 1].mfa, mfa);
    if (there || (stack->used == stack->size && !stack_grow(stack)))
        return;
    if (first > stack->used) /* the room was made by removing `met` frames */
        first = stack->used;
    if (stack->used - first >= STACK_MET) {
        stack->used--;
        memmove(&stack->frames[first], &stack->frames[first + 1],
                (stack->used - first) * sizeof *stack->frames);
    }
    stack->frames[stack->used++] = (struct frame){.mfa = *mfa, .gone = true, .met = true};
}

/* Notes the guess that the calls above LEFT have ended with a return to MFA. */
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

/* Returns whether some function is known to call CALLEE. */
static inline bool stack_is_called_back(const struct repairs *repairs, const struct mfa *callee)
{
    for (size_t i = 0; i < repairs->learned_all && i < STACK_LEARNED; i++)
        if (mfa_same(&repairs->learned[i].callee, callee))
            return true;
    return false;
}

/* Returns how many frames stay when the call at TOP returns to MFA, whose frame is unknown. */
static inline size_t stack_guess_left(struct stack *stack, size_t top, const struct mfa *mfa)
{
    size_t left = stack_is_called_back(stack->repairs, mfa) ? top : 0;

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

/* Finds out that a guess was wrong: control comes back to MFA as the end of a call that the guess
 * had ended, or although the guess had ended MFA's call. True if no call on the stack ends, but one
 * of those. */
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
    if (i == 0 && guess->other) /* perhaps a call that the other guess ended */
        return true;
    open = ended_twice ? i : i - 1;
    stack_learn(repairs, &guess->ended[open], &guess->to);
    stack_settle_choices(stack);
    for (i = 0; i < stack->used; i++)
        stack->frames[i].met &= !mfa_same(&stack->frames[i].mfa, &guess->to);
    guess->used = 0;
    return ended_twice;
}

/* Returns whether more than one call above the first LEFT is drawn. */
static inline bool stack_several(const struct stack *stack, size_t left)
{
    size_t shown = 0;

    for (; left < stack->used && shown < 2; left++)
        shown += !stack->frames[left].gone;
    return shown > 1;
}

/* Returns how many frames stay when the call at TOP returns to MFA. */
static inline size_t stack_left_by(struct stack *stack, size_t top, const struct mfa *mfa)
{
    bool told = stack->frames[top].caller.module;
    size_t left = told ? stack_called_by(stack, top + 1, mfa) : 0;
    struct frame *frame;

    if (mfa->module && !mfa->function)
        return 0;
    if (left)
        return left - 1;
    left = stack_find(stack, top, mfa);
    if (!left)
        return stack_guess_left(stack, top, mfa);
    frame = &stack->frames[left - 1];
    if (!told && !frame->met && frame->choice == NOT_RETURNED_TO)
        frame->choice = RETURNED_TO;
    while (left < top && stack->frames[left].met)
        left++;
    if (!told && stack_several(stack, left) && stack->frames[left - 1].met)
        stack_doubt(stack->repairs, mfa); /* one of them may have called MFA again */
    return left;
}

/* Ends the call at TOP, which returns to MFA. */
static inline void stack_end_with(struct stack *stack, size_t top, const struct mfa *mfa)
{
    uint64_t doubtful = stack->repairs->doubtful;
    size_t left = stack_left_by(stack, top, mfa);
    bool chosen = false;

    for (size_t i = left, shown = 0; i < stack->used; i++)
        if (!stack->frames[i].gone) {
            chosen |= shown++ && stack_was_chosen(stack, i);
            chosen |= stack->frames[i].held && !mfa_same(&stack->frames[i].caller, mfa);
        }
    if (chosen && stack->repairs->doubtful == doubtful)
        stack_doubt(stack->repairs, mfa);
    if (stack->doubted && stack->repairs->doubtful != doubtful)
        for (size_t i = left; i < stack->used; i++)
            if (!stack->frames[i].gone)
                stack->doubted(stack->of, &stack->frames[i]);
    stack_cut(stack, left);
}

/* Handles a return to MFA that did not call TOP, but another frame above TOP, which is `gone` as if
 * it had made a tail call: that call has continued, and made its calls through MFA. True if such a
 * call has ended now, as no return_from came before: it is popped, with all above it. */
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
        if (stack->doubted)
            stack->doubted(stack->of, frame);
    }
    if (!returned)
        stack_cut(stack, i - 1);
    return !returned;
}

/* Handles a return_to after a return_from: removes from the picture the calls above its target. */
static inline void stack_leave_above_target(struct stack *stack, const struct mfa *mfa)
{
    size_t i = stack->used;
    struct frame *frame;

    for (; i > 0; i--) {
        frame = &stack->frames[i - 1];
        if (!frame->gone && (mfa_same(&frame->mfa, mfa) || mfa_same(&frame->caller, mfa)))
            break;
    }
    /* Frames whose returns are still to come stay. */
    for (size_t above = stack->used; i > 0 && above > i; above--)
        stack_leave(stack, &stack->frames[above - 1]);
}

/* Handles most returns: the call on top, whose caller is unknown, returns to the frame below it. The
 * result is that of stack_end_with(). False: another case. */
static inline bool stack_returns_below(struct stack *stack, const struct mfa *mfa)
{
    const struct frame *top;
    struct frame *below;

    if (stack->used < 2 || stack->returned || stack->beyond)
        return false;
    top = &stack->frames[stack->used - 1];
    below = &stack->frames[stack->used - 2];
    if (!mfa_same(&below->mfa, mfa) || (below->gone && !below->met) || top->gone || top->held ||
        top->caller.module)
        return false;
    if (!below->met && below->choice == NOT_RETURNED_TO)
        below->choice = RETURNED_TO;
    stack->told = true;
    stack->flat = false;
    stack_cut(stack, stack->used - 1);
    return true;
}

/* Handles a return_to. MFA may be `undefined`: no function called the first one of a process. */
static inline void stack_return_to(struct stack *stack, const struct mfa *mfa)
{
    bool returned = stack->returned;
    struct frame *top;

    if (stack_returns_below(stack, mfa))
        return;
    top = stack_top(stack);
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

/* Handles a call, whose caller OPTS may contain, a return_from, exception_from or return_to. */
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

/* Handles an event that comes by past_calls(). */
static inline void stack_past(struct stack *stack, const struct th_past_call *call)
{
    const struct mfa mfa = {call->module, call->function, call->arity};

    if (call->tag == TH_TAG_call)
        stack_call(stack, &mfa,
                   &(struct mfa){call->caller_module, call->caller_function, call->caller_arity});
    else if (call->tag == TH_TAG_return_to)
        stack_return_to(stack, &mfa);
    else
        stack_return(stack, &mfa);
}

/* Prints a line on stderr, if any return was doubtful. */
static inline void stack_tell_doubts(const char *tracer, const struct repairs *repairs)
{
    const struct mfa *mfa = &repairs->doubted;
    struct line name;

    if (!repairs->doubtful)
        return;
    line_start(&name);
    line_add_function(&name, mfa->module, mfa->function, mfa->arity);
    fprintf(stderr, "%s: %s: %lu, the first to %s; %s\n", tracer, STACK_DOUBTFUL,
            (unsigned long)repairs->doubtful, name.text, STACK_CURE);
    line_drop(&name);
}

static inline void stack_free(struct stack *stack)
{
    free(stack->frames);
    free(stack->guess);
}

#endif
