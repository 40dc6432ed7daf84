/* The calling thread's stack. Inner header of runtime/. */
#ifndef TH_THREAD_STACK_H
#define TH_THREAD_STACK_H

#include "host/self/self.h"

#include <stdint.h>

/* What is left of the stack for a callee: for its own frames, and what it calls of the C library
 * and of the host. */
enum { TH_STACK_RESERVE = 256 * 1024 };

/* Below this address the calling thread's stack is in reserve, or ends; 0: it is not known. */
static inline uintptr_t th_runtime_stack_lowest(void)
{
    const struct th_self_stack *stack = th_self_stack();

    return stack->low ? stack->low + stack->guard + TH_STACK_RESERVE : 0;
}

/* The stack pointer of the function that this is a part of: what it is wherever that calls, as long
 * as it takes no memory of variable size and has no more arguments than registers hold. */
static inline __attribute__((always_inline)) uintptr_t th_stack_pointer(void)
{
#ifdef __x86_64__
    uintptr_t pointer;

    __asm__ volatile("mov %%rsp, %0" : "=r"(pointer));
    return pointer;
#else
    return (uintptr_t)__builtin_frame_address(0);
#endif
}

#endif
