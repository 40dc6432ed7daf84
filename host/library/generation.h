/*
 * Under which name the loader gets a file.
 *
 * The loader takes a path for the file that it opened under that path first, for as long as that is
 * in memory. So another file that has come to lie there, a next generation, is opened by another
 * spelling of the path: dir/x.so, then dir/./x.so, and so on. Each is the file itself, so that what
 * it finds beside itself ($ORIGIN, dladdr()), debuggers, profilers and probes that go by the file
 * all see what is there; the loader does notice one file under two paths.
 *
 * One that was written in place is the same file to the loader, and its code has changed under
 * whoever runs it. A private copy bears that (copy.h), but hides the file from all of these, and is
 * gone when a core dump or a profile is looked at. So what is loaded into a running host, or may be
 * replaced in it, is opened from copies; what is named when a host starts that takes no commands
 * and watches no files, as here.
 *
 * Inner header of library/. One thread at a time for each path: see opening.h.
 */
#ifndef TH_LIBRARY_GENERATION_H
#define TH_LIBRARY_GENERATION_H

#include "examine.h"

/* The first spelling of the path of FACTS under which the loader has nothing, or just this file.
 * The caller frees it. *IN_MEMORY: the loader has it. */
char *th_generation_name(const struct th_examination *facts, bool *in_memory);

#endif
