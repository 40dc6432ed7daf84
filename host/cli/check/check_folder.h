/*
 * The folder of a run of `tracehost check`, below $TMPDIR or /tmp: the current folder of calls, and the
 * counts of lines. It is removed with all that is in it, however this process ends: another process
 * waits for that.
 */
#ifndef TH_CHECK_FOLDER_H
#define TH_CHECK_FOLDER_H

#include "host/base/error.h"

#include <sys/types.h>

struct th_check_folder {
    char *path;
    pid_t keeper; /* the process that waits */
};

/* Makes an empty folder. Order: this process has one thread. Errors: TH_FAILED. */
enum th_status th_check_folder_make(struct th_check_folder *folder);

/* Removes the folder. */
void th_check_folder_remove(struct th_check_folder *folder);

#endif
