/* SIGINT, SIGTERM and SIGHUP: the first one asks the work to end in good order, a second one ends
 * it at once. */
#ifndef TH_INTERRUPT_H
#define TH_INTERRUPT_H

#include <signal.h>
#include <stdint.h>

/* The signal that came, 0 while none did, TH_INTERRUPT_STOP if th_cli_interrupt_stop() was called.
 * For a program of one thread. */
enum { TH_INTERRUPT_STOP = -1 };
extern volatile int th_cli_interrupted;

/* The same, for any thread. */
int th_cli_interrupt_came(void);

/* The calling thread waits for readers of FIFOs until a signal comes, too (th_output_stop). */
void th_cli_interrupt_install(void);

/* The signals, which the calling thread does not get until the mask BEFORE is set again. BEFORE may
 * be NULL. */
enum { TH_INTERRUPT_SIGNALS = 3 };
extern const int th_cli_interrupt_signals[TH_INTERRUPT_SIGNALS];
void th_cli_interrupt_hold(sigset_t *before);

/* Has HANDLER get the signal NUMBER, unless it is ignored, which stays so: a command started in the
 * background must not end with the one in front, nor one under nohup with its terminal. OLD is what
 * was done before. */
void th_cli_interrupt_handle(int number, void (*handler)(int), struct sigaction *old);

/* Stops the program as Ctrl-Z does, until SIGCONT; a shell that has no job control lets it go on at
 * once. */
void th_cli_interrupt_stop_program(void);

/* Signals that come from now on end the program at once. Any thread. */
void th_cli_interrupt_uninstall(void);

/* Waits until DEADLINE (th_clock_real_monotonic(); INT64_MAX: for ever), or until a signal or
 * th_cli_interrupt_wake() has come; sooner, if it likes. One thread at a time. */
void th_cli_interrupt_wait(int64_t deadline);

/* Any thread. What was written before is seen by the thread that waits. */
void th_cli_interrupt_wake(void);

/* Has FUNCTION called, too, at each of these, in a signal handler perhaps. NULL: nothing. Any
 * thread. */
void th_cli_interrupt_report(void (*function)(void));

/* Asks the work to end as a signal does, though none came. Any thread. */
void th_cli_interrupt_stop(void);

/* The name of what came: a signal, or "a request to stop". */
const char *th_cli_interrupt_name(void);

/* Tracers are about to be unloaded. If a signal has come, and the program has not ended a second
 * later, says on stderr what it does and how that is ended. COMMAND must stay. */
void th_cli_interrupt_explain(const char *command);

/* STATUS, or 128 + the signal that came. A request to stop leaves it as it is. */
int th_cli_interrupt_status(int status);

#endif
