/* The calling thread's stack. Inner header of runtime/. */
#ifndef TH_THREAD_STACK_H
#define TH_THREAD_STACK_H

#include <stdbool.h>
#include <stdint.h>

/* What is left of the stack for a callee: for its own frames, and what it calls of the C library
 * and of the host. */
enum { TH_STACK_RESERVE = 256 * 1024 };

struct th_thread_stack {
    uintptr_t lowest; /* what is below is in reserve, or not the stack's */
    uintptr_t end;    /* above all of it; 0: it could not be found out, and LOWEST is 0 */
    bool known;       /* it has been tried */
};

/* Found when it is first asked for. (Initial-exec: looking is no call.) */
extern _Thread_local struct th_thread_stack th_runtime_thread_stack_own
    __attribute__((tls_model("initial-exec"), visibility("hidden")));
__attribute__((cold)) void th_thread_stack_find(void);
static inline const struct th_thread_stack *th_runtime_thread_stack(void)
{
    if (__builtin_expect(!th_runtime_thread_stack_own.known, 0))
        th_thread_stack_find();
    return &th_runtime_thread_stack_own;
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
