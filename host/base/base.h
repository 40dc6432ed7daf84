/* The face of base/: what every room stands on. */
#ifndef TH_BASE_H
#define TH_BASE_H

#include "buffer.h"
#include "errno_name.h"
#include "error.h"
#include "hash.h"
#include "log.h"
#include "long_array.h"
#include "memory.h"
#include "output.h"
#include "thread.h"
#include "thread_memory.h"

#endif
