/*
 * Warnings and errors that the program logs while it works: one line each, on stderr. Any thread.
 */
#ifndef TH_LOG_H
#define TH_LOG_H

/* Logs a warning, "tracehost: warning: ..." or "tracehost COMMAND: warning: ...", about a fact that
 * the user should know but that stops nothing. */
void th_warn(const char *format, ...) __attribute__((format(printf, 1, 2), cold));

/* Logs an error, "tracehost COMMAND: ...", for a part that has failed while others go on. */
void th_log_error(const char *format, ...) __attribute__((format(printf, 1, 2), cold));

/*
 * Redirects the calling thread's warnings to LINES: each is appended as a line without a prefix,
 * cut at 1023 bytes, and not printed. NULL ends the redirection. Returns the former LINES. For a
 * thread that works on behalf of a client, who reads the warnings.
 */
struct th_buffer;
struct th_buffer *th_warn_into(struct th_buffer *lines);

/* Sets the program name in warnings and errors; "tracehost" is the default.
 * Owner: NAME must stay valid.
 * Order: before there are threads. */
void th_warn_as(const char *name);

/* The number of warnings so far. */
unsigned long th_warnings(void);

#endif
