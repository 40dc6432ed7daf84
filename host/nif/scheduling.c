/* Scheduling. */
#include "nif.h"

#include "host/trace/trace.h"

/* The thread that replays stands for the one scheduler: it runs callbacks, and load(),
 * destructors.... */
int enif_scheduler_id(void)
{
    return th_callback_current.session || th_library_running ? 1 : 0;
}
