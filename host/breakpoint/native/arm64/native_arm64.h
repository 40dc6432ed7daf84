/*
 * Native sites on arm64. Inner header of breakpoint/ (native_machine.h).
 *
 *     label       `bti c`, if the compiler has put one there
 *     then        the entry word: NOP, or `b` to the stub
 *     4 bytes on  the body: the compiler's second NOP; `bti jc` in a guarded library
 *
 * The option -fpatchable-function-entry=2 makes two NOPs; of more, the first two after the label
 * are used. All instructions have four bytes and are aligned.
 *
 * Sections of the Arm Architecture Reference Manual (for A-profile) are meant below; no machine but
 * qemu's, which shows neither a missing barrier nor a wrong order of loads, has run this.
 *
 * "Concurrent modification and execution of instructions": while a thread executes an instruction,
 * it may be replaced by one aligned store if the old and the new one are both of a short list with
 * B, BRK and NOP: the thread executes the old or the new one. So the entry word is switched while
 * threads run. `bti jc` is not in the list: it is written when the library was just opened, before
 * other threads can run its code. Neither are the instructions of a stub (`adr`, `ldr`, `br`), which
 * are written, and synchronized as below, before an entry leads to them.
 *
 * The same section, and "Synchronization and coherency issues between data and instruction
 * accesses": a store is sure to be executed after the instruction cache was cleaned to the point of
 * unification by address, with a DSB (__builtin___clear_cache()), and each processor had a context
 * synchronization event: membarrier() with SYNC_CORE makes one on each that runs a thread of this
 * process.
 *
 * "Branch Target Identification": in a page with PROT_BTI, a branch by register must lead to `bti`
 * or `paciasp`, else the thread gets SIGILL. A body is the target of such a branch: by `br x16` in
 * the thunk, by `blr` in a handler; `bti jc` takes both. mprotect() without PROT_BTI drops the
 * guard, so a library's protection has it (th_library_protection()). Stubs and the `b` need no
 * guard: a stub's page is not guarded, and `b` is a branch by address.
 *
 * gcc 12 lets a function's entry in the unwind table begin after the NOPs, so that an unwinder finds
 * no caller in the NOPs or in the `b`.
 *
 * A debugger's breakpoint (BRK) takes the place of a whole instruction. A change overwrites one in
 * the entry word; a debugger that stops the program after that restores the old word, and the entry
 * is not traced until the next change.
 *
 * The code before the body uses only registers that the procedure call standard lets veneers
 * change, x16 and x17, and the vector register d0, which passes no argument.
 */
#ifndef TH_NATIVE_ARM64_H
#define TH_NATIVE_ARM64_H

#include <stdbool.h>
#include <stdint.h>
#include <string.h>

typedef uint32_t th_entry_word;

#define TH_ENTRY_NOP UINT32_C(0xd503201f)
#define TH_ENTRY_FLAGS "-fpatchable-function-entry=2"

/* B reaches 128 MB. */
#define TH_NATIVE_REACH ((UINT64_C(128) << 20) - (64 << 10))
#define TH_NATIVE_REACH_TEXT "128 megabytes"
#define TH_NATIVE_TOP (UINT64_C(1) << 48)

/* A thread may load a record's fields as soon as it executes the new entry word. "Definition of the
 * Armv8 memory model": the fetch of an instruction does not order the loads behind it against
 * those that a processor made ahead, on a predicted path. So each processor has a barrier between
 * the stores to the record and the store to the entry word. */
#define TH_NATIVE_SYNCS_BEFORE true

enum { TH_NATIVE_STUB = 16 };

/* `adr x17,RECORD; ldr x16,[x17,#THUNK]; br x16; brk #0`. The record is less than 1 MB away. */
static inline void th_native_stub_write(uint8_t *stub, const void *record, uint8_t thunk)
{
    uint32_t displacement = (uint32_t)((const uint8_t *)record - stub);
    const uint32_t code[] = {0x10000011 | (displacement & 3) << 29 |
                                 (displacement >> 2 & 0x7ffff) << 5,
                             0xf9400230 | (uint32_t)thunk / 8 << 10, 0xd61f0200, 0xd4200000};

    memcpy(stub, code, TH_NATIVE_STUB);
}

static inline th_entry_word th_native_jump(const th_entry_word *word, uintptr_t stub)
{
    return 0x14000000 | ((uint32_t)(stub - (uintptr_t)word) >> 2 & 0x3ffffff);
}

#endif
