/*
 * Static libraries, as Debian compiles them, reach variables of other objects directly. That is fit
 * for programs, which export such a variable from then on, but not for a shared object, nor for a
 * program whose exports are to be its own. So the build renames these symbols (see SConscript):
 *
 * Jansson's json_loadf() compares its stream with `stdin`, just to name it in an error; the host
 * never calls it. liburcu writes to `stderr` before it aborts, and the library of terminals that
 * libedit needs knows both streams.
 */
#include <stdio.h>

extern FILE *th_archive_stdin, *th_archive_stdout, *th_archive_stderr;
FILE *th_archive_stdin;
FILE *th_archive_stdout;
FILE *th_archive_stderr;

static __attribute__((constructor)) void set_streams(void)
{
    th_archive_stdin = stdin;
    th_archive_stdout = stdout;
    th_archive_stderr = stderr;
}
