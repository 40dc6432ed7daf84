/*
 * A process that plays a share, as a child of the one that plays the first share.
 *
 *   fork  -> child:  plays; th_cli_share_process_send(), which never returns
 *         -> parent: plays; th_cli_share_process_receive(); th_cli_share_process_end()
 *
 * Results pass in a file in memory. After it has sent them the child ends, while the parent merges; a
 * child whose files the parent reads waits until it is ended. A child ends with its parent.
 */
#ifndef TH_SHARE_PROCESS_H
#define TH_SHARE_PROCESS_H

#include <stdbool.h>
#include <sys/types.h>

struct th_buffer;

struct th_share_process {
    pid_t pid;   /* in the parent: the child; 0: none */
    int socket;  /* one byte comes when `results` is complete; -1: none */
    int results; /* a file in memory */
    int printed; /* likewise: what the child prints on stdout and stderr */
    char word;   /* in the parent: the byte that came with the results */
};

/* Makes a process; *CHILD is true in the new one, whose stdout and stderr go to a file. A terminal
 * stays stdout's descriptor there, as tracers look at it to choose colours.
 * Order: before other threads, handlers and libraries.
 * Errors: false, with errno. */
bool th_cli_share_process_fork(struct th_share_process *process, bool *child);

/* In the child: returns how many bytes it has printed; -1, with errno. */
off_t th_cli_share_process_printed(const struct th_share_process *process);

/* In the child, or in a process that it has forked: sends DATA with WORD, and ends, with TH_FAILED if that
 * fails; with files (th_trace_share_has_files()) the parent ends it. */
__attribute__((noreturn)) void th_cli_share_process_send(const struct th_share_process *process,
                                                         const struct th_buffer *data, char word);

/* In the parent: waits for the child's data, and appends it to DATA. False if the child has died,
 * or a signal has come that ends the program. */
bool th_cli_share_process_receive(struct th_share_process *process, struct th_buffer *data);

/* In the parent: ends the child. Owner: closes the files of PROCESS. */
void th_cli_share_process_end(struct th_share_process *process);

#endif
