/*
 * Jansson's static library, as Debian compiles it, is fit for programs but not for a shared object
 * in one place: json_loadf() compares its stream with `stdin`, just to name it in an error. The
 * build renames that one symbol to this one (see SConscript). The host never calls json_loadf().
 */
#include <stdio.h>

extern FILE *th_jansson_stdin;
FILE *th_jansson_stdin;
