/*
 * Chooses the folder of the machine. Inner header of breakpoint/, for C and for the assembler.
 *
 * A folder has a header with the facts of the machine that the C files of native sites use:
 *
 *     th_entry_word           integer of the size of the entry word, the code that a store switches
 *     TH_ENTRY_NOP            its content while the entry is not armed
 *     TH_ENTRY_FLAGS          the options that leave room at entries
 *     TH_NATIVE_REACH         distance of an entry and its stub that a jump covers, in bytes; in
 *                             words TH_NATIVE_REACH_TEXT
 *     TH_NATIVE_TOP           end of the addresses of a program
 *     TH_NATIVE_SYNCS_BEFORE  true if th_native_text_write() synchronizes threads before it writes,
 *                             too
 *     th_native_stub_write()  writes the stub of RECORD, TH_NATIVE_STUB bytes
 *     th_native_jump()        the entry word at WORD while it leads to the code at STUB
 *
 * a file with the thunks (native_thunk.h), and one that knows entries as compilers leave them
 * (native_internal.h): th_native_entry_word(), th_native_entry_prepare(), th_native_entry_check(),
 * th_native_entry_keeping().
 */
#ifndef TH_NATIVE_MACHINE_H
#define TH_NATIVE_MACHINE_H

#if defined(__x86_64__)
#include "x86_64/native_x86_64.h"
#elif defined(__aarch64__)
#include "arm64/native_arm64.h"
#else
#error "native sites of this machine"
#endif

#endif
