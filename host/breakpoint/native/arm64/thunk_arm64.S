/*
 * The thunks of native sites, arm64: see native.h. One for each register in which a handler expects
 * the record.
 *
 * A thunk is entered by a jump with the record in x17. It leaves the stack and the link register as
 * the function's caller has left them, so the state at the first instruction of any function, which
 * .cfi_startproc describes, holds at each instruction here. A backtrace that is taken here lacks the
 * function itself; the thunk stands in its place.
 */
#ifdef __aarch64__

#include "host/breakpoint/native/native_thunk.h"

        .text
        .hidden th_breakpoint_active_index

        /* The address of the count depends on the index. "Definition of the Armv8 memory model":
         * this address dependency keeps the two loads in order, as a branch would not. So a thread
         * that sees a generation, which was published by a store with release, sees its count as
         * staged. `bti j`, a NOP to old processors, is the target of the stub's `br x16`. */
        .macro  thunk name, hand_over:vararg
        .globl  th_native_thunk_\name
        .hidden th_native_thunk_\name
        .type   th_native_thunk_\name, @function
        .p2align 6
th_native_thunk_\name:
        .cfi_startproc
        hint    #36
        adrp    x16, th_breakpoint_active_index
        ldr     w16, [x16, #:lo12:th_breakpoint_active_index]
        add     x16, x17, x16, lsl #2
        ldr     w16, [x16, #TH_NATIVE_ACTIVE]
        cbnz    w16, 1f
        ldr     x16, [x17, #TH_NATIVE_BODY]
        br      x16
1:      ldr     x16, [x17, #TH_NATIVE_HANDLER]
        \hand_over
        br      x16
        .cfi_endproc
        .size   th_native_thunk_\name, . - th_native_thunk_\name
        .endm

        thunk   terms_0, mov x1, x17
        thunk   terms_1, mov x2, x17
        thunk   terms_2, mov x3, x17
        thunk   terms_3, mov x4, x17
        thunk   terms_4, mov x5, x17
        thunk   terms_5, fmov d0, x17

        /* The note that the linker asks of each object of a guarded program: this code has BTI, and
         * signs no return address. */
        .section .note.gnu.property, "a"
        .balign 8
        .word   4, 16, 5
        .asciz  "GNU"
        .word   0xc0000000, 4, 3, 0

#endif

        .section .note.GNU-stack, "", @progbits
