/*
 * The face of cli/: the program. No room is above it; tests and fuzzers alone include this, for the
 * parts that do not need the whole program.
 *
 * A subcommand is a function th_cli_command_NAME() of subcommand.h in a file of its name, but
 * `tracers` and `plugins`, which libraries.c has, and `dump`, which is in convert.c; main.c has the
 * table. Options are tables of options/usage.h, from which help, completion and manual pages are
 * made.
 *
 * Thread: the main thread runs a command. Threads that a command starts are listed in
 * host/README.md.
 */
#ifndef TH_CLI_H
#define TH_CLI_H

#include "call_session.h"

#endif
