/*
 * What the program has to say while it works: on stderr, a line each. Any thread.
 */
#ifndef TH_LOG_H
#define TH_LOG_H

/* Prints "tracehost: warning: ..." for something that the user should know but that stops nothing;
 * or "tracehost COMMAND: warning: ...", as errors are told.
 */
void th_warn(const char *format, ...) __attribute__((format(printf, 1, 2), cold));

/* Prints "tracehost COMMAND: ..." likewise, for a part that has failed while others go on. */
void th_log_error(const char *format, ...) __attribute__((format(printf, 1, 2), cold));

/*
 * From now on the calling thread's warnings are appended to LINES, each a line without a prefix,
 * and not printed; NULL: they are printed again. Returns the former LINES. For a thread that works
 * for another who is to read them.
 */
struct th_buffer;
struct th_buffer *th_warn_into(struct th_buffer *lines);

/* Who warns, in place of "tracehost"; NAME stays. Before there are threads. */
void th_warn_as(const char *name);

/* How many warnings there were. */
unsigned long th_warnings(void);

#endif
