#include "returning.h"

uint64_t th_returning_leave(struct th_returning *returning, const struct th_stack *stack,
                            enum th_tracer_tag tag, uint64_t former)
{
    uint64_t doubtful = 0;

    if (stack->with_former == TH_YES)
        returning->due |= former;
    if (stack->with_former == TH_NO)
        returning->perhaps = 0;
    if (stack->with_former == TH_UNKNOWN)
        returning->perhaps |= former;
    if (stack->undecided)
        returning->perhaps |= returning->doubted;
    if (stack->lower)
        returning->perhaps |= returning->some | returning->latest;
    returning->doubted = 0;
    if (tag == TH_TAG_return_to) {
        returning->due |= returning->perhaps & returning->latest & returning->all;
        doubtful = returning->perhaps & ~returning->due;
        returning->perhaps = 0;
    }
    returning->due |= returning->guessed;
    returning->guessed = 0;
    return doubtful;
}

void th_returning_forget(struct th_returning *returning, uint64_t gone)
{
    returning->due &= ~gone;
    returning->perhaps &= ~gone;
    returning->guessed &= ~gone;
    returning->latest &= ~gone;
    returning->some &= ~gone;
    returning->all &= ~gone;
}
