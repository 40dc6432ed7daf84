/* Bounds of the calling thread's stack. Inner header of runtime/. */
#ifndef TH_THREAD_STACK_H
#define TH_THREAD_STACK_H

#include "host/self/self.h"

#include <stdint.h>

/* Bytes of stack reserved for a callee: for its frames, and for functions of the C library and the
 * host that it calls. */
enum { TH_STACK_RESERVE = 256 * 1024 };

/* Returns the lowest usable address of the calling thread's stack; 0: not known. */
static inline uintptr_t th_runtime_stack_lowest(void)
{
    const struct th_self_stack *stack = th_self_stack();

    return stack->low ? stack->low + stack->guard + TH_STACK_RESERVE : 0;
}

/* Returns the stack pointer of the function that this is inlined into. The value is the same at
 * each call of that function if the function takes no memory of variable size and passes arguments
 * in registers only. */
static inline __attribute__((always_inline)) uintptr_t th_stack_pointer(void)
{
    uintptr_t pointer;

#if defined(__x86_64__)
    __asm__ volatile("mov %%rsp, %0" : "=r"(pointer));
#elif defined(__aarch64__)
    __asm__ volatile("mov %0, sp" : "=r"(pointer));
#else
#error "the stack pointer of this machine"
#endif
    return pointer;
}

#endif
