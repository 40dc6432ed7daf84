/*
 * The face of base/: errors, memory and output, which all rooms use. Begin with error.h.
 *
 *   error.h       a status and the thread's chain of causes; names of errno values
 *   log.h         warnings on stderr
 *   memory.h      allocation that gives up if there is no memory; allocation that fails, for sizes
 *                 that input decides
 *   thread.h      threads that get no signals; memory of a thread, behind a thread-local pointer
 *   buffer.h      struct th_buffer: a growable run of bytes
 *   long_array.h  very long arrays, whose growth does not delay their thread
 *   hash.h        struct th_table: a hash table from words to pointers
 *   output.h      output files that are complete or do not exist
 *   shared.h      memory that outlives the process, for the supervisor
 *   kept.h        buffers of outputs in that memory
 *
 * Owner: the caller owns an object that a function here creates, and frees the object by th_free()
 * or by the function that the header names.
 * Thread: any thread calls any function. One thread at a time uses a struct. An error chain belongs
 * to the calling thread.
 * Errors: bad input and failures of the system are a status. A bug of the host ends the program; so
 * does a lack of memory, where a header does not state otherwise.
 */
#ifndef TH_BASE_H
#define TH_BASE_H

#include "buffer.h"
#include "error.h"
#include "hash.h"
#include "kept.h"
#include "log.h"
#include "long_array.h"
#include "memory.h"
#include "output.h"
#include "shared.h"
#include "thread.h"

#endif
