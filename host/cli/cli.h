/*
 * The face of cli/: the program. No room is above this one; only tests and fuzzers include this
 * header, for the parts that do not need the whole program.
 *
 * A subcommand is a function th_cli_command_NAME() of subcommand.h, in a file of the same name.
 * Three are elsewhere: `tracers` and `plugins` in libraries.c, and `dump` in convert.c. main.c has
 * the table of subcommands. Options are tables of options/usage.h; help, completion and manual
 * pages are made from these tables.
 *
 * Thread: the main thread runs a command. host/README.md lists the threads that a command starts.
 */
#ifndef TH_CLI_H
#define TH_CLI_H

#include "call_session.h"

#endif
