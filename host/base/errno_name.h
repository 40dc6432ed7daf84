/*
 * Names of errno values.
 */
#ifndef TH_ERRNO_NAME_H
#define TH_ERRNO_NAME_H

/* The C name in lower case, "enoent", as Erlang has them; "unknown" for what is none. Valid for
 * ever. Any thread. */
const char *th_errno_name(int error);

#endif
