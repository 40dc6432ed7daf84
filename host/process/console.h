/* Where the console prints, for the rest of process/. */
#ifndef TH_CONSOLE_H
#define TH_CONSOLE_H

#include "host/term/term.h"

/* Writes the bytes of IODATA there, in one piece, and flushes. Any thread. */
void th_console_write(th_term iodata);

#endif
