/*
 * The stack of a process as a BEAM's dump prints it: who waits, the nearest first, and which
 * functions catch exceptions. Inner header of runtime/.
 *
 *     Stack dump:
 *     0x00007f2d5a3ffb10 Return addr 0x00007f2d5a61c5f1 (party:call/3 + 113) party.c:160
 *
 *     0x00007f2d4c0012a8 Return addr 0x00007f2d5a61c290 (party:with_kept/2 + 0) party.c:294
 *     y(0)     {kept,term}
 *     y(1)     Catch 0x00007f2d5a61c290 (party:with_kept/2 + 0)
 *
 * A function on the C stack stands where that was when it made its call, and is named with the
 * offset to which the call returns. One that waits for what it has called by th_call_then() stands
 * where its terms are, which are its y registers, and has the name and address of the code that
 * goes on: the handler, if it catches. Who has no symbol is MODULE+0xOFFSET. The place in the
 * source is there where it is known; a BEAM has none.
 */
#ifndef TH_STACK_DUMP_H
#define TH_STACK_DUMP_H

#include "host/runtime/traced/traced_call.h"

/* By the thread that runs PROCESS, in one of its calls. FROM as for th_traced_callers_find(). */
void th_runtime_stack_dump(const struct th_process *process, uintptr_t from,
                           struct th_buffer *text);

#endif
