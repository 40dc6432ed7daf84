/* Streams node:NAME@HOST of the command line. */
#ifndef TH_NODE_OPTIONS_H
#define TH_NODE_OPTIONS_H

#include "host/control/control.h"

struct th_stream_options;

/* The options for running nodes, as members of struct th_stream_options. */
extern const struct th_argument th_cli_node_arguments[];

/* Returns true for an argument of th_control_session_arguments that fits a single session with one
 * tracer at most. */
bool th_cli_node_is_of_session(const struct th_argument *argument);

/* Checks struct th_control_session_options after the last option. Errors: TH_USAGE. */
enum th_status th_cli_node_check(void *input);

/* Prepares COMMAND for a running node among its COUNT streams NAMES: sets in OPTIONS the request to the
 * node, for all that SESSIONS want. Returns false if no stream is a node. Ends the program with
 * TH_USAGE if a node cannot be asked so or is not the only stream, and after --explain.
 * Order: before a stream is opened, and before the sessions begin. */
bool th_cli_node_ask(const char *command, struct th_stream_options *options,
                     const char *const *names, size_t count,
                     struct th_control_session_options *sessions);

/* The same for a command that has sessions for running nodes alone, and one stream, NAME. Ends the
 * program with TH_USAGE also if SESSIONS ask for something and NAME is no running node. */
void th_cli_node_ask_only(const char *command, struct th_stream_options *options,
                          const char *const *names, size_t count,
                          struct th_control_session_options *sessions);

#endif
