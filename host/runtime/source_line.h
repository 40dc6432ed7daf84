/*
 * Where functions are in their source (library's line.h), as terms. Inner header of runtime/.
 *
 * Code is told by an address inside of an instruction; 0: it is not known. Of a call that is one
 * byte before where it returns to.
 */
#ifndef TH_SOURCE_LINE_H
#define TH_SOURCE_LINE_H

#include "runtime_internal.h"

/* {File, Line} as caller_line gives, `undefined` if it is not known. LIBRARY is in use. */
th_term th_runtime_source_place(th_env *env, struct th_library *library, uintptr_t address);

/* [{file, File}, {line, Line}] as in stack traces; [] if it is not known. */
th_term th_runtime_source_location(th_env *env, struct th_library *library, uintptr_t address);

/*
 * A stack trace of which the lines are due: where an entry's location is to be, it has what
 * th_runtime_source_due() made, which costs nothing. (An address is a small integer.) The list is
 * made anew in ENV; its entries' libraries may be gone.
 */
static inline th_term th_runtime_source_due(uintptr_t address)
{
    return address ? th_small((int64_t)address) : TH_NIL;
}
th_term th_runtime_source_locate_all(th_env *env, th_term stack);

#endif
