/*
 * The thunks of native sites, x86-64: see native.h. One for each register in which a handler
 * expects the record.
 *
 * A thunk is entered by a jump and leaves the stack as the function's caller has left it. So the
 * state at the first instruction of any function, which .cfi_startproc describes, holds at each
 * instruction here: the return address is on top of the stack. A backtrace that is taken here lacks
 * the function itself; the thunk stands in its place.
 *
 * %rax and %r11 are free at the entry of a function (%al is the number of vector registers for
 * functions of variable arguments, which none of these is). Argument registers and %r10 are kept.
 *
 * This file has no note (.note.gnu.property) that would allow the kernel to enforce indirect branch
 * tracking, so no program that it is linked with has one: a body is the target of a jump and has no
 * `endbr64`, which would take the place of the NOPs. Shadow stacks would work; but their marks help
 * only if all objects of a program have them, and the compilers' objects have them only with
 * -fcf-protection, which this host is not compiled with.
 */
#ifdef __x86_64__

#include "host/breakpoint/native/native_thunk.h"

        .text
        .hidden th_breakpoint_active_index

        /* The index is loaded before the count: a processor keeps loads in order, so a thread that
         * sees a generation sees its count as staged. */
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
