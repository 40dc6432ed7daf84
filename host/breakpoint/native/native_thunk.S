/*
 * The thunks of native sites, x86-64: see native.h. One for each register that a record can come
 * in.
 *
 * They are entered by a jump, with the stack as the function's caller has left it, and leave it so.
 * So what holds at the first instruction of any function, which .cfi_startproc says, holds at each
 * of these: the return address is on top of the stack. The function itself is missing in a
 * backtrace that is taken here; the thunk stands in its place.
 *
 * %rax and %r11 are nobody's at the entry of a function (%al tells the number of vector registers
 * to functions of variable arguments, which none of these is). Argument registers, and %r10, stay.
 *
 * This file has no note (.note.gnu.property) that would allow the kernel to enforce indirect branch
 * tracking, and so none has what is linked with it: a body begins with no `endbr64`, as it cannot
 * be marked without taking the place of the NOPs, and is jumped to. Shadow stacks would find all as
 * it should be; but marks are of use only if all objects of a program have them, and the compilers'
 * are asked for with -fcf-protection, which this host is not compiled with.
 */
#include "native_thunk.h"

#ifdef __x86_64__

        .text
        .hidden th_breakpoint_active_index

        /* The index is loaded before the count: a processor keeps loads in order, so who sees a
         * generation has it as it was staged. */
        .macro  thunk name, hand_over:vararg
        .globl  th_native_thunk_\name
        .hidden th_native_thunk_\name
        .type   th_native_thunk_\name, @function
        .p2align 5
th_native_thunk_\name:
        .cfi_startproc
        movl    th_breakpoint_active_index(%rip), %eax
        cmpl    $0, TH_NATIVE_ACTIVE(%r11, %rax, 4)
        jne     1f
        jmp     *TH_NATIVE_BODY(%r11)
1:      \hand_over
        jmp     *TH_NATIVE_HANDLER(%r11)
        .cfi_endproc
        .size   th_native_thunk_\name, . - th_native_thunk_\name
        .endm

        thunk   terms_0, movq %r11, %rsi
        thunk   terms_1, movq %r11, %rdx
        thunk   terms_2, movq %r11, %rcx
        thunk   terms_3, movq %r11, %r8
        thunk   terms_4, movq %r11, %r9
        thunk   terms_5, movq %r11, %xmm0

#endif

        .section .note.GNU-stack, "", @progbits
