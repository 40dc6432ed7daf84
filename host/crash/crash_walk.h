/* Where a library has crashed, for the guard's report. Inner header of trace/. */
#ifndef TH_CRASH_WALK_H
#define TH_CRASH_WALK_H

/*
 * Writes to the file OUTPUT a line for each frame of libraries that is on the calling thread's
 * stack, the innermost first: "  at FUNCTION (FILE+0xOFFSET)", and which old code it is, if it is
 * of a module that has other code now; then the command that tells their source lines. Nothing is
 * read of debug information here, as the program may be damaged. CONTEXT is what the signal handler
 * was given, which the walk begins with; NULL: the thread is in none.
 */
void th_crash_walk(int output, const void *context);

#endif
