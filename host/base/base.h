/*
 * The face of base/: errors, memory and output, which all rooms use. Begin with error.h.
 *
 *   error.h          a status and the thread's chain of causes
 *   errno_name.h     names of errno values
 *   log.h            warnings on stderr
 *   memory.h         allocation that gives up if there is no memory; allocation that fails, for
 *                    sizes that input decides
 *   thread_memory.h  memory of a thread, behind a thread-local pointer
 *   thread.h         threads that get no signals
 *   buffer.h         struct th_buffer: bytes that grow
 *   long_array.h     very long arrays, whose growth does not delay their thread
 *   hash.h           struct th_table: a hash table from words to pointers
 *   output.h         output files that are complete or not there
 *
 * Owner: what is made here belongs to the caller, who frees it by th_free() or the function that
 * its header names.
 * Thread: any thread calls any function. A struct is used by one thread at a time; an error chain
 * is the calling thread's.
 * Errors: bad input and failures of the system are a status. A bug of the host ends the program; so
 * does memory that is used up, where a header does not say otherwise.
 */
#ifndef TH_BASE_H
#define TH_BASE_H

#include "buffer.h"
#include "error.h"
#include "hash.h"
#include "log.h"
#include "long_array.h"
#include "memory.h"
#include "output.h"
#include "thread.h"

#endif
