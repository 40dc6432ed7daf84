/*
 * Native sites on x86-64. Inner header of breakpoint/ (native_machine.h).
 *
 *     label     the entry word: one NOP of eight bytes, or `cs jmp rel32` and two unused bytes
 *     label+8   the body
 *
 * The entry word is aligned, so one store switches between the two forms. The switch is safe only
 * between two single instructions: so the compiler's NOPs are merged to one NOP before other
 * threads can run them. A breakpoint of a debugger at the label stays in place.
 *
 * The code before the body uses only registers that the C ABI lets a call change: %rax, %r11, the
 * flags.
 */
#ifndef TH_NATIVE_X86_64_H
#define TH_NATIVE_X86_64_H

#include <stdbool.h>
#include <stdint.h>
#include <string.h>

typedef uint64_t th_entry_word;

/* `cs nopl 0(%rax)`, in eight bytes, the first in the lowest byte. The jump of an entry begins with
 * an idle `cs`, too: a debugger with a breakpoint at the first byte later restores the byte that it
 * found, and must not spoil a word that was written since. */
#define TH_ENTRY_NOP UINT64_C(0x00000000801f0f2e)

#define TH_ENTRY_FLAGS "-fpatchable-function-entry=16,8"

#define TH_NATIVE_REACH ((UINT64_C(2) << 30) - (64 << 10))
#define TH_NATIVE_REACH_TEXT "two gigabytes"
#define TH_NATIVE_TOP ((UINT64_C(1) << 47) - 4096)

/* A processor keeps loads and fetches in order. */
#define TH_NATIVE_SYNCS_BEFORE false

enum { TH_NATIVE_STUB = 16 };

/* `lea RECORD(%rip),%r11; jmp *THUNK(%r11)`, and traps. */
static inline void th_native_stub_write(uint8_t *stub, const void *record, uint8_t thunk)
{
    enum { LEA = 7 };
    int32_t displacement = (int32_t)((const uint8_t *)record - (stub + LEA));

    memset(stub, 0xcc, TH_NATIVE_STUB);
    memcpy(stub, (const uint8_t[]){0x4c, 0x8d, 0x1d}, 3);
    memcpy(stub + 3, &displacement, sizeof displacement);
    memcpy(stub + LEA, (const uint8_t[]){0x41, 0xff, 0x63, thunk}, 4);
}

/* `cs jmp` to the stub, and an unused NOP, for disassemblers. */
static inline th_entry_word th_native_jump(const th_entry_word *word, uintptr_t stub)
{
    enum { JUMP = 6 };
    uint32_t displacement = (uint32_t)(stub - ((uintptr_t)word + JUMP));

    return UINT64_C(0x9066000000000000) | (uint64_t)displacement << 16 | 0xe92e;
}

#endif
