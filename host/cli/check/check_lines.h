/*
 * The lines of a library that the trials of `tracehost check` have reached, as gcov counts them.
 *
 * A library that was compiled with --coverage counts in its own memory, and adds its counts to files
 * when it is closed. The files are in a folder of this process, not beside the library's objects. A
 * run that dies adds nothing.
 */
#ifndef TH_CHECK_LINES_H
#define TH_CHECK_LINES_H

struct th_library;

/* Lets later trials write their counts below FOLDER. */
void th_check_lines_begin(const char *folder);

/* Prints the line of the summary, if there are counts below FOLDER. */
void th_check_lines_sum_up(const char *folder);

/* --- In the trial ----------------------------------------------------------------------------- */

/* Notes the function of LIBRARY that writes its counts, if the library may never be closed. */
void th_check_lines_note(const struct th_library *library);

/* Writes the counts of the library that was noted, if it is still open. Order: the last step of a
 * trial, after unload(). */
void th_check_lines_write(void);

#endif
