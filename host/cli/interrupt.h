/* SIGINT, SIGTERM and SIGHUP: the first one asks the work to end in good order, a second one ends
 * it at once. */
#ifndef TH_INTERRUPT_H
#define TH_INTERRUPT_H

/* The signal that came, 0 while none did. For a program of one thread. */
extern volatile int th_interrupted;

/* The same, for any thread. */
int th_interrupt_came(void);

void th_interrupt_install(void);

/* The name of the signal that came. */
const char *th_interrupt_name(void);

/* STATUS, or 128 + the signal that came. */
int th_interrupt_status(int status);

#endif
