/*
 * Threads that carry out operations. Inner header of file/.
 */
#ifndef TH_FILE_POOL_H
#define TH_FILE_POOL_H

#include "file.h"

/* A member that has the least to do. */
unsigned th_file_pool_choose(void);

/* Puts OPERATION, and its share, into the queue of its member. */
void th_file_pool_add(struct th_file_operation *operation);

/* Nobody waits for OPERATION any more. TH_FILE_QUEUED: it was taken out of its queue, and the share
 * is the caller's. TH_FILE_RUNNING: it is, or will be, carried out, and then settled and dropped
 * there. TH_FILE_DONE: it was carried out. */
enum th_file_state th_file_pool_abandon(struct th_file_operation *operation);

#endif
