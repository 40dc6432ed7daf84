/*
 * The probes of operations, each fired in one place. Inner header of file/.
 */
#ifndef TH_FILE_TELL_H
#define TH_FILE_TELL_H

#include "file.h"

void th_file_tell_entry(const struct th_file_operation *operation);
void th_file_tell_return(const struct th_file_operation *operation);

/* The thread that carries it out begins, and is done. */
void th_file_tell_begin(const struct th_file_operation *operation);
void th_file_tell_end(const struct th_file_operation *operation);

/* The queue has LENGTH operations, with this one, or without it. */
void th_file_tell_add(const struct th_file_operation *operation, int length);
void th_file_tell_get(const struct th_file_operation *operation, int length);

#endif
