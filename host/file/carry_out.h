/*
 * Carrying out, by a thread of the pool. Inner header of file/.
 *
 * Each function returns 0, and has set `result`, or an errno. A result that is not set is `ok`.
 */
#ifndef TH_CARRY_OUT_H
#define TH_CARRY_OUT_H

#include "file.h"

struct stat;

/* Sets `error` and `result`: {error, Posix} if there is an error. */
void th_file_carry_out(struct th_file_operation *operation);

#define TH_FILE_CARRY_OUT(number, NAME, name, ...) \
    int th_file_carry_out_##name(struct th_file_operation *operation);
TH_FILE_OPERATIONS(TH_FILE_CARRY_OUT)
#undef TH_FILE_CARRY_OUT

/* The result is {ok, TERM}, or `eof`; 0. */
int th_file_gives(struct th_file_operation *operation, th_term term);
int th_file_gives_eof(struct th_file_operation *operation);

/* What is known of a file, as a map. */
th_term th_file_info(th_env *env, const struct stat *info);

/* BINARY, of which SIZE bytes are used, as a term; its share is the term's. */
th_term th_file_term_of(th_env *env, struct th_binary *binary, size_t size);

/* Reads from FD until there are SIZE bytes, or no more: at POSITION, or if that is negative where
 * the descriptor stands. 0 or an errno, after which what was read before is lost. */
int th_file_read_fully(int fd, unsigned char *to, size_t size, int64_t position, size_t *count);
int th_file_write_fully(int fd, const unsigned char *from, size_t size, int64_t position);

/* Makes the descriptor stand where the user of FILE thinks that it does: what was read ahead is
 * dropped. And writes what was given to be written. */
struct th_file;
void th_file_unread(struct th_file *file);
int th_file_flush(struct th_file *file);

#endif
